import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { test } from "node:test";
import { CLIENT_TYPES } from "../scripts/client-types.js";

/** Imports run downward only: a folder may import those of a lower rank, and of its own rank only what is named below. */
const RANKS: Readonly<Record<string, number>> = {
  errors: 0,
  "node-flags": 0,
  "stop-signal": 0,
  clock: 0,
  log: 0,
  forges: 0,
  "record-rules": 0,
  "base-url": 0,
  "nearest-name": 0,
  "host-names": 0,
  "packed-numbers": 0,
  "loop-turns": 0,
  "library-file": 0,
  "node-packages": 0,
  version: 0,
  schema: 0,
  "page-addresses": 0,
  xml: 0,
  backups: 2,
  config: 2,
  tokens: 0,
  "background-writes": 1,
  redis: 1,
  validation: 1,
  "node-version": 0,
  database: 1,
  providers: 1,
  "repository-addresses": 1,
  "daily-quota": 2,
  "forge-states": 2,
  avatars: 2,
  accounts: 3,
  "forge-tokens": 3,
  catalog: 2,
  rankings: 3,
  search: 3,
  watchlists: 3,
  "track-requests": 3,
  transfer: 3,
  metering: 3,
  demo: 3,
  dumps: 4,
  embeds: 4,
  http: 4,
  tracking: 4,
  lists: 4,
  doctor: 5,
  modules: 5,
  sample: 6,
  api: 6,
  web: 6,
  cli: 6,
  mcp: 7,
  app: 8,
  tracker: 9,
  threads: 9,
  run: 10,
  main: 11,
  launcher: 12,
};

/** Files other than the front door that may be imported from outside, with the reason in docs/ARCHITECTURE.md. */
const NAMED_EXCEPTIONS: readonly string[] = [];

const MAX_LINES = 400;

interface Import {
  from: string;
  to: string;
}

function sourceFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => join(directory, file));
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) => ({
    from: relative("src", file),
    to: normalize(join(dirname(relative("src", file)), (match[1] ?? "").replace(/\.js$/, ""))),
  }));
}

const moduleOf = (path: string): string => (path.split("/")[0] ?? "").replace(/\.tsx?$/, "");
const files = sourceFiles("src");
const imports = files.flatMap(importsOf);

test("every module has a rank, and imports run downward only", () => {
  assert.ok(imports.length > 100, "the imports were not read");
  for (const { from, to } of imports) {
    const [importer, imported] = [moduleOf(from), moduleOf(to)];
    assert.ok(importer in RANKS, `${importer} has no rank`);
    assert.ok(imported in RANKS, `${imported} has no rank`);
    if (importer === imported) continue;
    assert.ok((RANKS[importer] ?? 0) > (RANKS[imported] ?? 0), `${from} must not import ${to}`);
  }
});

test("modules of the same rank never import each other", () => {
  for (const { from, to } of imports) {
    const [importer, imported] = [moduleOf(from), moduleOf(to)];
    if (importer !== imported)
      assert.notEqual(RANKS[importer], RANKS[imported], `${from} must not import ${to}`);
  }
});

test("across folders only the front door is imported", () => {
  for (const { from, to } of imports) {
    const [folder, file] = to.split("/");
    if (file === undefined || moduleOf(from) === folder || NAMED_EXCEPTIONS.includes(to)) continue;
    assert.equal(file, folder === "cli" ? "program" : folder, `${from} reaches past the front door: ${to}`);
  }
});

/** Modules in which a subfolder is imported only through its own front door, `<subfolder>/<subfolder>.ts`. */
const WITH_SUBMODULES = ["rankings"];

test("inside a module with submodules only the front door of a submodule is imported", () => {
  for (const { from, to } of imports) {
    const [module = "", folder, file] = to.split("/");
    if (!WITH_SUBMODULES.includes(module) || file === undefined) continue;
    if (from.startsWith(`${module}/${folder}/`))
      assert.notEqual(file, folder, `${from} imports its own front door`);
    else assert.equal(file, folder, `${from} reaches past the front door: ${to}`);
  }
});

/** The groups of files that import each other, directly or through others (Tarjan's strongly connected components). */
function cycles(): string[][] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of imports) {
    const file = from.replace(/\.tsx?$/, "");
    targets.set(file, [...(targets.get(file) ?? []), to]);
  }
  const found: string[][] = [];
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const visit = (file: string): number => {
    const index = order.size;
    order.set(file, index);
    lowest.set(file, index);
    stack.push(file);
    for (const target of targets.get(file) ?? []) {
      const reached = order.has(target)
        ? stack.includes(target)
          ? order.get(target)
          : undefined
        : visit(target);
      lowest.set(file, Math.min(lowest.get(file) ?? index, reached ?? index));
    }
    if (lowest.get(file) === index) {
      const group = stack.splice(stack.indexOf(file)).sort();
      if (group.length > 1 || targets.get(file)?.includes(file)) found.push(group);
    }
    return lowest.get(file) ?? index;
  };
  for (const file of targets.keys()) if (!order.has(file)) visit(file);
  return found;
}

test("no files import each other in a cycle, types included", () => {
  assert.deepEqual(cycles(), []);
});

test("no engine is asked for outside src/database", () => {
  for (const file of files.filter((name) => !name.startsWith("src/database/"))) {
    assert.doesNotMatch(readFileSync(file, "utf8"), /\.engine\b|node:sqlite|from "pg"/, file);
  }
});

test("only configuration and entries look at the environment", () => {
  for (const file of files.filter(
    (name) => !/src\/(config\/config|launcher|main|node-flags|run)\.ts$/.test(name),
  )) {
    assert.doesNotMatch(readFileSync(file, "utf8"), /process\.env\b/, file);
  }
});

/** Entries of programs and threads, and what waits for things that know only the time of the machine. */
const ON_SYSTEM_TIME = [
  "run",
  "threads/serving-thread",
  "api/stream-maker-thread",
  "lists/index/builder-thread",
  "transfer/reader-thread",
  "database/database",
  "accounts/library-time",
];

test("time comes from a clock, which is chosen where a program or a thread begins", () => {
  for (const file of files.filter((name) => name !== "src/clock.ts")) {
    const text = readFileSync(file, "utf8");
    assert.doesNotMatch(text, /\bDate\.now\b|\bperformance\.now\b|new Date\(\)|\bhrtime\b/, file);
    const path = relative("src", file).replace(/\.tsx?$/, "");
    if (!ON_SYSTEM_TIME.includes(path)) assert.doesNotMatch(text, /\bsystemClock\b/, file);
  }
});

test("no file is longer than a person can hold in mind", () => {
  const tests = [
    ...sourceFiles("test"),
    ...sourceFiles("client/src").filter((file) => file !== CLIENT_TYPES),
  ];
  for (const [folder, names] of Object.entries({ src: files, "src and test": [...files, ...tests] })) {
    const lengths = names.map((file) => ({ file, lines: readFileSync(file, "utf8").split("\n").length - 1 }));
    for (const { file, lines } of lengths) assert.ok(lines <= MAX_LINES, `${file} has ${lines} lines`);
    const sorted = lengths.map(({ lines }) => lines).sort((a, b) => a - b);
    const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)] ?? 0;
    const figures = `median ${at(0.5)}, 95th percentile ${at(0.95)}, longest ${at(1)}`;
    process.stdout.write(`# lines per file in ${folder}: ${figures}\n`);
    assert.ok(at(0.95) <= (folder === "src" ? 250 : 300), `too many long files in ${folder}`);
  }
});

test("no SQL fragment crosses a module boundary", () => {
  for (const file of files.filter((name) => !name.startsWith("src/database/"))) {
    const text = readFileSync(file, "utf8");
    const [module = "", ...rest] = relative("src", file).split("/");
    // Other modules see only front doors and single files.
    const isSeen = rest.length === 0 || rest.join("/").replace(/\.tsx?$/, "") === module;
    if (isSeen) assert.doesNotMatch(text, /RawBuilder|SelectQueryBuilder|CompiledQuery/, file);
    if (["api", "web", "http", "cli"].includes(module)) assert.doesNotMatch(text, /from "kysely"/, file);
  }
});
