/**
 * Bundles the scripts of the pages into dist/src/web/client, as a step of `npm run build`: minified, with one file for each script that
 * a page names, and few for what they share or load later. With `--watch` it does so after every change.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuildOptions, build, context } from "esbuild";

const FROM = fileURLToPath(new URL("../../src/web/client/", import.meta.url));
const TO = fileURLToPath(new URL("../src/web/client/", import.meta.url));

const modules = readdirSync(FROM).filter((name) => name.endsWith(".ts"));
/** Modules that others import. Pages name the rest. */
const imported = new Set(modules.flatMap((name) => importsOf(readFileSync(join(FROM, name), "utf8"))));

const options: BuildOptions = {
  entryPoints: modules.filter((name) => !imported.has(name)).map((name) => join(FROM, name)),
  outdir: TO,
  entryNames: "[name]",
  chunkNames: "[name]-[hash]",
  bundle: true,
  splitting: true,
  minify: true,
  format: "esm",
  target: "es2022",
  logLevel: "warning",
};

// What an earlier build left would be served too.
rmSync(TO, { recursive: true, force: true });
mkdirSync(TO, { recursive: true });
if (process.argv.includes("--watch")) await (await context(options)).watch();
else await build(options);

/** The modules beside it that a module imports at its start or later. */
function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"\.\/([\w-]+)\.js"/g)].map(
    ([, name = ""]) => `${name}.ts`,
  );
}
