/** A package of the lockfile that an installation contains: in the bundle, or next to it. */
export interface InstalledPackage {
  name: string;
  version: string;
  licence: string | undefined;
  /** SHA-512 of its archive. */
  integrity: string | undefined;
  /** Whether its installation runs a program. */
  hasInstallScript: boolean;
  /** Only on some systems, or only on request. */
  isOptional: boolean;
}

interface LockedPackage {
  version: string;
  license?: string;
  integrity?: string;
  resolved?: string;
  dev?: boolean;
  devOptional?: boolean;
  optional?: boolean;
  peer?: boolean;
  hasInstallScript?: boolean;
  /** Of a workspace. */
  link?: boolean;
}

/** All packages of a lockfile by their place in node_modules, without those of the project itself. */
export function lockedPackages(lockfile: string): [place: string, LockedPackage][] {
  const { packages }: { packages: Record<string, LockedPackage> } = JSON.parse(lockfile);
  return Object.entries(packages).filter(([place, { link }]) => place.includes("node_modules/") && !link);
}

/** The packages in the bundle by their place, and the packages that npm may install with it, by name and version, each once. */
export function installedPackages(lockfile: string, bundled: readonly string[]): InstalledPackage[] {
  const found = new Map<string, InstalledPackage>();
  for (const [place, { version, license, integrity, dev, optional, hasInstallScript }] of lockedPackages(
    lockfile,
  )) {
    if (dev === true && !bundled.includes(place)) continue;
    const name = place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
    found.set(`${name} ${version}`, {
      name,
      version,
      licence: license,
      integrity,
      hasInstallScript: hasInstallScript === true,
      isOptional: optional === true,
    });
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** A bill of materials in the form of CycloneDX 1.5. `npm sbom` leaves out dependencies of development tools, too. */
export function billOfMaterials(version: string, packages: readonly InstalledPackage[]): object {
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.5.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: {
      component: { type: "application", name: "sidereal", version, purl: `pkg:npm/sidereal@${version}` },
    },
    components: packages.map(({ name, version: own, licence = "", integrity = "", isOptional }) => ({
      type: "library",
      "bom-ref": `${name}@${own}`,
      name,
      version: own,
      scope: isOptional ? "optional" : "required",
      purl: `pkg:npm/${name.replace("@", "%40")}@${own}`,
      hashes: [
        { alg: "SHA-512", content: Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex") },
      ],
      licenses: [{ license: /^[\w.-]+$/.test(licence) ? { id: licence } : { name: licence } }],
    })),
  };
}

/** The page that lists them. */
export function licencesDocument(packages: readonly InstalledPackage[]): string {
  const byLicence = Map.groupBy(packages, ({ licence }) => licence ?? "none");
  const counts = [...byLicence]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { length }]) => `| ${name} | ${length} |`);
  const rows = packages.map(
    ({ name, version, licence, isOptional }) =>
      `| ${name} | ${version} | ${licence} |${isOptional ? " on some systems" : ""} |`,
  );
  return `# Licences

What an installation contains, in the bundle and next to it. \`npm run licences\` writes this page. The full texts are in
\`dist/bundle/LICENSES.txt\`, and in the packages next to the bundle. Sidereal itself is under the [Apache License 2.0](../LICENSE).

| Licence | Packages |
| --- | --- |
${counts.join("\n")}

The licence of \`dejavu-fonts-ttf\` is that of the fonts: Bitstream Vera and Arev, with changes in the public domain.

| Package | Version | Licence | |
| --- | --- | --- | --- |
${rows.join("\n")}
`;
}
