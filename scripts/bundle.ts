/**
 * Bundles the program with its libraries into dist/bundle, as the last step of `npm run build`. Most of the start-up time went into
 * loading a thousand files; the bundle has a few dozen. Relative paths stay valid: all entries are in one folder, and dist/bundle
 * is at the same depth as dist/src.
 *
 * The bundle contains its libraries, so an installed package needs none of them: what it loads of them as files is copied to
 * `files/`, and their licences are in LICENSES.txt. `dist/bundled.json` lists them for the bill of materials, and the files of
 * this build.
 *
 * With `--tidy`, as before packing, files of earlier builds are deleted immediately.
 */
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { licenceTexts, packageOf } from "./licence-texts.js";

const FROM = fileURLToPath(new URL("../src/", import.meta.url));
const TO = fileURLToPath(new URL("../bundle/", import.meta.url));
const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The program, and the entries of its threads. */
const ENTRIES = [
  "main.js",
  "api/stream-maker-thread.js",
  "tracking/avatars/shrink-process.js",
  "database/scanner-thread.js",
  "charts/png-thread.js",
  "discovery/lists/index/builder-thread.js",
  "app/threads/serving-thread.js",
  "transfer/reader-thread.js",
];
/** What bundle-browser.ts has made for browsers. */
const BROWSER_SCRIPTS = join(FROM, "web/client");
const CLIENT = "client";
/** Files of libraries that are loaded as they are, see `src/lib/library-file.ts`. */
const LIBRARY_FILES = ["dejavu-fonts-ttf/ttf/DejaVuSans.ttf", "dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf"];
const COPIES = "files";
/** How long files of earlier builds are kept: a program started from one of them may still load them. */
const KEPT_MS = process.argv.includes("--tidy") ? -1 : 7 * 86_400_000;

const { outputFiles, metafile } = await build({
  absWorkingDir: ROOT,
  entryPoints: ENTRIES.map((entry) => join(FROM, entry)),
  outdir: TO,
  entryNames: "[name]",
  chunkNames: "[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node22.19",
  // V8 keeps the text of the program, and with two bytes per character if one comment has a character beyond Latin-1. Lines stay
  // short, as traces of errors name them.
  minifyWhitespace: true,
  lineLimit: 160,
  // It loads a binary from a path relative to its own file.
  external: ["@resvg/resvg-js"],
  // For CommonJS libraries.
  banner: {
    js: 'import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);',
  },
  logLevel: "warning",
  metafile: true,
  write: false,
});

const launcher = await build({
  absWorkingDir: ROOT,
  entryPoints: [join(FROM, "launcher.js")],
  outfile: join(TO, "sidereal.cjs"),
  bundle: true,
  format: "cjs",
  platform: "node",
  // Old versions can read it. They have no `import`, which becomes a `require`: versions that may run the program can do that.
  target: "node8",
  supported: { "dynamic-import": false },
  external: ["./main.js"],
  banner: { js: "#!/usr/bin/env node" },
  logLevel: "warning",
  write: false,
});

const files = new Map(
  [...outputFiles, ...launcher.outputFiles].map(({ path, contents }) => [
    relative(TO, path),
    Buffer.from(contents),
  ]),
);
const copied = LIBRARY_FILES.map((path) => join("node_modules", path));
for (const path of copied) files.set(join(COPIES, basename(path)), readFileSync(join(ROOT, path)));
const places = new Set([...Object.keys(metafile.inputs), ...copied].flatMap((path) => packageOf(path) ?? []));
const bundled = [...places].sort();
files.set("LICENSES.txt", Buffer.from(licenceTexts(ROOT, bundled)));
for (const name of readdirSync(BROWSER_SCRIPTS))
  if (name.endsWith(".js")) files.set(join(CLIENT, name), readFileSync(join(BROWSER_SCRIPTS, name)));

// A running program may load files later: those that have not changed are left alone, and the others are replaced atomically.
for (const folder of [CLIENT, COPIES]) mkdirSync(join(TO, folder), { recursive: true });
writeFileSync(
  fileURLToPath(new URL("../bundled.json", import.meta.url)),
  JSON.stringify({ packages: bundled, files: [...files.keys()].sort() }, null, 2),
);
for (const [name, contents] of files) {
  const path = join(TO, name);
  if (isUnchanged(path, contents)) continue;
  // Ends in .js, so that one left behind is deleted like a file of an earlier build.
  const written = `${path}.${process.pid}.js`;
  writeFileSync(written, contents);
  chmodSync(written, name === "sidereal.cjs" ? 0o755 : 0o644);
  renameSync(written, path);
}
for (const name of readdirSync(TO, { recursive: true, encoding: "utf8" })) {
  const path = join(TO, name);
  if (/\.c?js$/.test(name) && !files.has(name) && Date.now() - statSync(path).mtimeMs > KEPT_MS)
    rmSync(path, { force: true });
}

function isUnchanged(path: string, contents: Buffer): boolean {
  try {
    return readFileSync(path).equals(contents);
  } catch {
    return false;
  }
}
