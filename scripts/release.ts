/**
 * Makes a release of the checkout in dist/release: the package, the package of the client, a bill of materials and SHA256SUMS. Run by
 * `npm run release`. Refuses changes that are not committed, and versions that differ. The same commit gives the same files.
 *
 * `--check` writes nothing. `--rehearse` names the problems, and makes the files nevertheless. Nothing is published.
 */
import { execFileSync, type StdioOptions } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parse } from "yaml";
import { openApiDocument } from "../src/api/openapi.js";
import { billOfMaterials, installedPackages } from "./packages.js";
import { releaseProblems } from "./release-problems.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TO = join(ROOT, "dist/release");

const { check, rehearse } = parseArgs({
  options: { check: { type: "boolean" }, rehearse: { type: "boolean" } },
}).values;
const read = (file: string): string => readFileSync(join(ROOT, file), "utf8");
const git = (...args: string[]): string =>
  execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trimEnd();
const { version }: { version: string } = JSON.parse(read("package.json"));

function findProblems(): string[] {
  const image: string = parse(read("compose.yaml")).services.sidereal.image;
  const tag = `v${version}`;
  return releaseProblems({
    versions: {
      "package.json": version,
      "package-lock.json": JSON.parse(read("package-lock.json")).version,
      "client/package.json": JSON.parse(read("client/package.json")).version,
      "the OpenAPI document": openApiDocument("https://sidereal.example").info.version,
      "compose.yaml": image.split(":")[1],
    },
    changelog: read("CHANGELOG.md"),
    changed: git("status", "--porcelain")
      .split("\n")
      .filter((line) => line !== ""),
    commit: git("rev-parse", "HEAD"),
    tagged: git("tag", "--list", tag) === "" ? undefined : git("rev-list", "--max-count=1", tag),
  });
}

interface Packed {
  filename: string;
  files: { path: string; mode: number }[];
}

function npmPack(folder: string, ...options: string[]): Packed {
  const args = ["pack", folder, "--json", "--loglevel=error", ...options];
  const stdio: StdioOptions = ["ignore", "pipe", "inherit"];
  const text = execFileSync("npm", args, { cwd: ROOT, encoding: "utf8", stdio });
  const [packed] = Object.values<Packed>(JSON.parse(text));
  if (packed === undefined) throw new Error(`npm did not pack ${folder}`);
  return packed;
}

/** Packs a folder, and returns the name of the file. The modes of files are part of it, so they must not depend on the umask. */
function pack(folder: string): string {
  for (const { path, mode } of npmPack(folder, "--dry-run").files)
    chmodSync(join(ROOT, folder, path), (mode & 0o100) === 0 ? 0o644 : 0o755);
  return npmPack(folder, "--ignore-scripts", "--pack-destination", TO).filename;
}

function writeBill(): string {
  const { packages } = JSON.parse(read("dist/bundled.json"));
  const bill = billOfMaterials(version, installedPackages(read("package-lock.json"), packages));
  const name = `sidereal-${version}.cdx.json`;
  writeFileSync(join(TO, name), `${JSON.stringify(bill, null, 2)}\n`);
  return name;
}

const problems = findProblems();
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0 && rehearse !== true) process.exitCode = 1;
else if (check !== true) {
  rmSync(TO, { recursive: true, force: true });
  mkdirSync(TO, { recursive: true });
  const names = [pack("."), pack("./client"), writeBill()].sort();
  const rows = names.map((name) => {
    const bytes = readFileSync(join(TO, name));
    return { name, size: bytes.length, sum: createHash("sha256").update(bytes).digest("hex") };
  });
  writeFileSync(join(TO, "SHA256SUMS"), rows.map(({ name, sum }) => `${sum}  ${name}\n`).join(""));
  for (const { name, size, sum } of rows)
    process.stdout.write(`${sum}  ${String(size).padStart(9)}  ${name}\n`);
}
