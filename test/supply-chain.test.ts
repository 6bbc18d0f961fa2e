import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { installedPackages, licencesDocument, lockedPackages } from "../scripts/packages.js";

const lockfile = readFileSync("package-lock.json", "utf8");
const locked = lockedPackages(lockfile);
const bundled: string[] = JSON.parse(readFileSync("dist/bundled.json", "utf8")).packages;
const installed = installedPackages(lockfile, bundled);
const manifest: Record<"dependencies" | "devDependencies", Record<string, string>> = JSON.parse(
  readFileSync("package.json", "utf8"),
);
const ofTests: typeof manifest = JSON.parse(readFileSync("test/package.json", "utf8"));

/** Licences that a service may be distributed and run under, without conditions for its own code. */
const ALLOWED = [
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
  "MIT-0",
  "MPL-2.0",
];
/** Packages whose licence has no such name, read by a person. */
const READ = ["dejavu-fonts-ttf"];

test("every package of the lockfile has a checksum", () => {
  assert.ok(locked.length > 100, "the lockfile was not read");
  for (const [place, { integrity }] of locked) assert.match(integrity ?? "", /^sha512-[\w+/]{86}==$/, place);
});

test("no package of the lockfile comes from anywhere but the registry that npm is configured for", () => {
  const hosts = new Set<string>();
  for (const [place, { resolved }] of locked) {
    if (resolved === undefined) continue;
    assert.match(resolved, /^https:\/\/[^/]+\/(@[\w.-]+\/)?[\w.-]+\/-\/[\w.-]+\.tgz$/, place);
    hosts.add(new URL(resolved).host);
  }
  assert.ok(hosts.size <= 1, [...hosts].join());
});

test("the manifests name exact versions, and the lockfile the same ones", () => {
  const { packages } = JSON.parse(lockfile);
  for (const [place, { dependencies, devDependencies }] of [
    ["", manifest],
    ["test", ofTests],
  ] as const) {
    assert.deepEqual(packages[place].dependencies, dependencies);
    assert.deepEqual(packages[place].devDependencies, devDependencies);
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
      assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/, name);
      assert.equal(packages[`node_modules/${name}`]?.version, version, name);
    }
  }
});

test("what a workflow installs to build the bundle is the bundle's libraries and its builder, without those of the tests", () => {
  assert.deepEqual(
    Object.keys(manifest.devDependencies).filter((name) => !bundled.includes(`node_modules/${name}`)),
    ["esbuild"],
    "packages of checks, tests and benchmarks belong to test/package.json",
  );
  assert.deepEqual(
    Object.keys(ofTests.devDependencies).filter((name) => bundled.includes(`node_modules/${name}`)),
    [],
  );
});

test("no package is both in the bundle and installed next to it", () => {
  const names = Object.keys(manifest.dependencies);
  assert.ok(bundled.includes("node_modules/kysely"), "the list of the bundle was not read");
  assert.deepEqual(
    names.filter((name) => bundled.includes(`node_modules/${name}`)),
    [],
    "libraries in the bundle are development dependencies",
  );
});

test("no package of an installation runs a program while it is installed", () => {
  assert.ok(installed.length > 50);
  assert.deepEqual(
    installed.filter(({ hasInstallScript }) => hasInstallScript).map(({ name }) => name),
    [],
  );
});

test("every package of an installation has a licence that is allowed, and the page lists it", () => {
  for (const { name, licence = "" } of installed) {
    const others = licence.split(" AND ").filter((one) => !ALLOWED.includes(one));
    assert.ok(READ.includes(name) || others.length === 0, `${name}: ${licence}`);
  }
  assert.equal(readFileSync("docs/LICENCES.md", "utf8"), licencesDocument(installed), "run npm run licences");
});

test("the bill of materials lists every package of an installation with its checksum", () => {
  const script = fileURLToPath(new URL("../scripts/sbom.js", import.meta.url));
  const text = execFileSync(process.execPath, [script], { encoding: "utf8" });
  const { bomFormat, components } = JSON.parse(text);
  assert.equal(bomFormat, "CycloneDX");
  const listed = new Map<string, { hashes: { alg: string; content: string }[] }>(
    components.map((one: { name: string; version: string }) => [`${one.name} ${one.version}`, one]),
  );
  assert.equal(components.length, installed.length);
  for (const { name, version, integrity } of installed) {
    const own = listed.get(`${name} ${version}`);
    const sha512 = Buffer.from((integrity ?? "").replace("sha512-", ""), "base64").toString("hex");
    assert.deepEqual(own?.hashes, [{ alg: "SHA-512", content: sha512 }], `${name} ${version}`);
  }
});
