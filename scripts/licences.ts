/** Writes docs/LICENCES.md: the content of an installation. Run by `npm run licences`. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { installedPackages, licencesDocument } from "./packages.js";

const file = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

writeFileSync(
  file("docs/LICENCES.md"),
  licencesDocument(
    installedPackages(
      readFileSync(file("package-lock.json"), "utf8"),
      JSON.parse(readFileSync(file("dist/bundled.json"), "utf8")).packages,
    ),
  ),
);
