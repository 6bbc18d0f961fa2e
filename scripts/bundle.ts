/**
 * Builds what runs: the program with its libraries into dist/bundle, the scripts of the pages, and the client for programs. It reads the
 * sources themselves, so it needs no compilation first; `npm run check` has the types checked. Most of the start-up time went into
 * loading a thousand files; the bundle has a few dozen. All its entries are in one folder, with unique names.
 *
 * The bundle contains its libraries, so an installed package needs none of them: files that it loads of them are copied to
 * `files/`, and their licences are in LICENSES.txt. `dist/bundled.json` lists them for the bill of materials, and the files of
 * this build.
 *
 * `--tidy`, as before packing, deletes files of earlier builds immediately.
 */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
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
import { type BuildOptions, build } from "esbuild";
import { nodePackageFor } from "../src/lib/node-packages.ts";
import { licenceTexts, packageOf } from "./licence-texts.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const FROM = join(ROOT, "src");
const TO = join(ROOT, "dist/bundle");
/** Next to the compiled sources too, as tests load those. */
const BROWSER_SCRIPTS = join(ROOT, "dist/src/web/client");
/** Compiled programs that Node.js keeps, see `src/main.ts`. */
const COMPILED = join(ROOT, "dist/compiled");

/** The program, and the entries of its threads. */
const ENTRIES = [
  "main.ts",
  "tracking/avatar-process.ts",
  "charts/png-thread.ts",
  "transfer/reader-thread.ts",
];
/** The language of Node.js 20 and the browsers of 2024. */
const FOR_BROWSERS = {
  bundle: true,
  format: "esm",
  target: "es2022",
  logLevel: "warning",
} satisfies BuildOptions;
const CLIENT = "client";
/** Files of libraries that are loaded as they are, see `src/lib/library-file.ts`. */
const LIBRARY_FILES = ["Sans", "Sans-Bold", "Serif", "Serif-Bold"].map(
  (face) => `dejavu-fonts-ttf/ttf/DejaVu${face}.ttf`,
);
const COPIES = "files";
/** How long files of earlier builds are kept: a program started from one of them may still load them. */
const KEPT_MS = process.argv.includes("--tidy") ? -1 : 7 * 86_400_000;

refuseUnknownNode();
await bundleBrowserScripts();
await bundleClient();

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
  // It loads a binary from a path relative to its own files.
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
  entryPoints: [join(FROM, "launcher.ts")],
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
files.set("build.json", Buffer.from(`${JSON.stringify({ commit: commitOf() })}\n`));
files.set("LICENSES.txt", Buffer.from(licenceTexts(ROOT, bundled)));
for (const name of readdirSync(BROWSER_SCRIPTS))
  if (name.endsWith(".js")) files.set(join(CLIENT, name), readFileSync(join(BROWSER_SCRIPTS, name)));

// A running program may load files later: those that have not changed are left alone, and the others are replaced atomically.
for (const folder of [CLIENT, COPIES]) mkdirSync(join(TO, folder), { recursive: true });
writeFileSync(
  join(ROOT, "dist/bundled.json"),
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
rmSync(COMPILED, { recursive: true, force: true });

function isUnchanged(path: string, contents: Buffer): boolean {
  try {
    return readFileSync(path).equals(contents);
  } catch {
    return false;
  }
}

/** The commit of this checkout, with `-dirty` after it if it has changes; undefined outside of git. */
function commitOf(): string | undefined {
  if (!existsSync(join(ROOT, ".git"))) return undefined;
  const args = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"];
  const { status, stdout } = spawnSync("git", args, { cwd: ROOT, encoding: "utf8" });
  return status === 0 ? stdout.trim() : undefined;
}

/**
 * The package `node` installs the one with the executable itself, past the lockfile. Refuses one whose archive was not the known one, by
 * the hash that npm checked when it fetched it.
 */
function refuseUnknownNode(): void {
  const { platform, arch } = process;
  const known = nodePackageFor({ platform, arch, hasGlibc: true });
  const lock = join(ROOT, "node_modules/node/node_modules/.package-lock.json");
  if (known === undefined || !existsSync(lock)) return;
  const { packages }: { packages: Record<string, { version: string; integrity: string }> } = JSON.parse(
    readFileSync(lock, "utf8"),
  );
  const installed = packages[`node_modules/${known.name}`];
  if (installed?.version !== known.version || installed.integrity === known.integrity) return;
  process.stderr.write(
    `The Node.js in node_modules is not the release that is known: ${known.name}@${known.version} has another hash. Run npm ci again; if that does not help, do not run it.\n`,
  );
  process.exit(1);
}

/**
 * Minified, with one file for each script that a page names, and few for those that several share or load later. Files of an earlier
 * build would be served too, so they go first.
 */
async function bundleBrowserScripts(): Promise<void> {
  const folder = join(FROM, "web/client");
  const modules = readdirSync(folder).filter((name) => name.endsWith(".ts"));
  const imported = new Set(
    modules.flatMap((name) =>
      [
        ...readFileSync(join(folder, name), "utf8").matchAll(/(?:from|import)\s*\(?\s*"\.\/([\w-]+)\.js"/g),
      ].map(([, module]) => `${module}.ts`),
    ),
  );
  rmSync(BROWSER_SCRIPTS, { recursive: true, force: true });
  await build({
    ...FOR_BROWSERS,
    entryPoints: modules.filter((name) => !imported.has(name)).map((name) => join(folder, name)),
    outdir: BROWSER_SCRIPTS,
    entryNames: "[name]",
    chunkNames: "[name]-[hash]",
    splitting: true,
    minify: true,
  });
}

/** One file, short, but with names and lines that a stack trace can show. */
async function bundleClient(): Promise<void> {
  await build({
    ...FOR_BROWSERS,
    entryPoints: [join(ROOT, "client/src/client.ts")],
    outfile: join(ROOT, "client/dist/client.js"),
    minifySyntax: true,
    minifyWhitespace: true,
    lineLimit: 120,
    sourcemap: true,
  });
}
