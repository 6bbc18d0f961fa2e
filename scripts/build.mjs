/**
 * Builds what runs, see `bundle.ts`. `--if-changed` does nothing if no source has changed since the last build. This is no TypeScript, as Node.js
 * takes longer to load its compiler than this takes to look.
 */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const STAMP = `${ROOT}dist/bundle.stamp`;
const SOURCES = ["src", "bench/synthetic", "client/src", "scripts"];

const listed = SOURCES.flatMap((folder) =>
  readdirSync(ROOT + folder, { recursive: true }).map((name) => `${folder}/${name}`),
);
const files = [
  ...listed.filter((name) => /\.(?:m?ts|tsx|mjs)$/.test(name)),
  "package-lock.json",
  "tsconfig.json",
];
/** The names, sizes and times of all sources. */
const stamp = files
  .sort()
  .map((file) => {
    const { size, mtimeMs } = statSync(ROOT + file);
    return `${file} ${size} ${mtimeMs}`;
  })
  .join("\n");

const isBuilt = existsSync(STAMP) && readFileSync(STAMP, "utf8") === stamp;
if (!process.argv.includes("--if-changed") || !isBuilt) {
  await import("./bundle.ts");
  writeFileSync(STAMP, stamp);
}
