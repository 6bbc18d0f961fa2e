/**
 * Bundles the program with its libraries into dist/bundle, as the last step of `npm run build`. Loading a thousand files takes
 * most of the time that the program takes to start; the bundle has some dozens. The files keep their relative addresses: all
 * entries are beside each other, and dist/bundle is as deep in the project as dist/src.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const FROM = fileURLToPath(new URL("../src/", import.meta.url));
const TO = fileURLToPath(new URL("../bundle/", import.meta.url));

/** The program, and the entries of its threads. */
const ENTRIES = [
  "main.js",
  "embeds/png-thread.js",
  "lists/index/builder-thread.js",
  "threads/serving-thread.js",
  "transfer/reader-thread.js",
];
/** The modules that browsers load, which are sent as they are. */
const BROWSER_MODULES = "web/client";
/** How long files of earlier builds stay: a program that was started from one may still load them. */
const KEPT_MS = 7 * 86_400_000;

const { outputFiles } = await build({
  entryPoints: ENTRIES.map((entry) => join(FROM, entry)),
  outdir: TO,
  entryNames: "[name]",
  chunkNames: "[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node22.19",
  // It finds its binary by its own path.
  external: ["@resvg/resvg-js"],
  // For the libraries that are CommonJS.
  banner: {
    js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
  },
  logLevel: "warning",
  write: false,
});

const files = new Map(outputFiles.map(({ path, contents }) => [relative(TO, path), Buffer.from(contents)]));
for (const name of readdirSync(join(FROM, BROWSER_MODULES)))
  if (name.endsWith(".js"))
    files.set(join(basename(BROWSER_MODULES), name), readFileSync(join(FROM, BROWSER_MODULES, name)));

// A running program loads some files late, so those that are still right are not touched, and others are replaced at once.
mkdirSync(join(TO, basename(BROWSER_MODULES)), { recursive: true });
for (const [name, contents] of files) {
  const path = join(TO, name);
  if (isUnchanged(path, contents)) continue;
  const written = `${path}.${process.pid}`;
  writeFileSync(written, contents);
  renameSync(written, path);
}
for (const name of readdirSync(TO, { recursive: true, encoding: "utf8" })) {
  const path = join(TO, name);
  if (name.endsWith(".js") && !files.has(name) && Date.now() - statSync(path).mtimeMs > KEPT_MS)
    rmSync(path, { force: true });
}

function isUnchanged(path: string, contents: Buffer): boolean {
  try {
    return readFileSync(path).equals(contents);
  } catch {
    return false;
  }
}
