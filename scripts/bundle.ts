/**
 * Bundles the program with its libraries into dist/bundle, as the last step of `npm run build`. Most of the start-up time went into
 * loading a thousand files; the bundle has a few dozen. Relative paths stay valid: all entries are in one folder, and dist/bundle
 * is at the same depth as dist/src.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
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
const BROWSER_MODULES = join(FROM, "web/client");
const CLIENT = "client";
/** How long files of earlier builds are kept: a program started from one of them may still load them. */
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
  // It loads a binary from a path relative to its own file.
  external: ["@resvg/resvg-js"],
  // For CommonJS libraries.
  banner: {
    js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
  },
  logLevel: "warning",
  write: false,
});

const files = new Map(outputFiles.map(({ path, contents }) => [relative(TO, path), Buffer.from(contents)]));
for (const name of readdirSync(BROWSER_MODULES))
  if (name.endsWith(".js")) files.set(join(CLIENT, name), readFileSync(join(BROWSER_MODULES, name)));

// A running program may load files later: those that have not changed are left alone, and the others are replaced atomically.
mkdirSync(join(TO, CLIENT), { recursive: true });
for (const [name, contents] of files) {
  const path = join(TO, name);
  if (isUnchanged(path, contents)) continue;
  // Ends in .js, so that one left behind is deleted like a file of an earlier build.
  const written = `${path}.${process.pid}.js`;
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
