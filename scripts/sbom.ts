/** Prints the bill of materials of an installation. Run by `npm run -s sbom`. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { billOfMaterials, installedPackages } from "./packages.js";

const file = (name: string) => readFileSync(fileURLToPath(new URL(`../../${name}`, import.meta.url)), "utf8");

const { version }: { version: string } = JSON.parse(file("package.json"));
const bill = billOfMaterials(
  version,
  installedPackages(file("package-lock.json"), JSON.parse(file("dist/bundled.json")).packages),
);
process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`);
