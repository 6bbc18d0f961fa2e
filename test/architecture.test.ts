import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { test } from "node:test";
import { CLIENT_TYPES } from "../scripts/client-types.js";
import { FLOORS, folderOf, importsOf, sourceFiles } from "../scripts/floors.js";

const ORDER = Object.values(FLOORS).flat();
/** Faces know nothing of each other, but `mcp` serves the API's operations. */
const FACES = ["api", "web", "cli"];

const MAX_LINES = 500;

const files = sourceFiles("src");
const pathOf = (file: string): string => relative("src", file).replace(/\.tsx?$/, "");
const imports = files.flatMap(importsOf);

test("every folder has its place, and imports run downward only", () => {
  assert.ok(imports.length > 100, "the imports were not read");
  for (const { from, to } of imports) {
    const [importer, imported] = [ORDER.indexOf(folderOf(from)), ORDER.indexOf(folderOf(to))];
    assert.ok(importer >= 0, `${from} has no floor`);
    assert.ok(imported >= 0, `${to} has no floor`);
    assert.ok(importer >= imported, `${from} must not import ${to}`);
  }
  assert.deepEqual(
    imports.filter(({ to }) => to.startsWith("..")),
    [],
    "src imports nothing from outside",
  );
});

test("API, pages and commands never import each other", () => {
  for (const { from, to } of imports) {
    const [importer, imported] = [folderOf(from), folderOf(to)];
    if (importer !== imported && FACES.includes(importer))
      assert.ok(!FACES.includes(imported), `${from} must not import ${to}`);
  }
});

test("across folders only the front door is imported", () => {
  for (const { from, to } of imports) {
    const [folder, file] = to.split("/");
    // The leaves in lib stand alone.
    if (file === undefined || folder === "lib" || folderOf(from) === folder) continue;
    assert.equal(to, `${folder}/${folder}`, `${from} reaches past the front door: ${to}`);
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

test("nothing outside src/database depends on the engine", () => {
  for (const file of files.filter((name) => !name.startsWith("src/database/"))) {
    assert.doesNotMatch(readFileSync(file, "utf8"), /\.engine\b|node:sqlite|from "pg"/, file);
  }
});

const ON_ENVIRONMENT = ["launcher", "main", "lib/node-flags", "app/app"];

test("only configuration and entries look at the environment", () => {
  const looking = files.filter((file) => /process\.env\b/.test(readFileSync(file, "utf8")));
  assert.deepEqual(looking.map(pathOf).toSorted(), ON_ENVIRONMENT.toSorted());
});

/** Entries of programs and threads, and what waits for things that know only the time of the machine. */
const ON_SYSTEM_TIME = ["app/app", "transfer/reader-thread", "database/database", "accounts/sessions"];

test("time comes from a clock, which is chosen at the start of a program or a thread", () => {
  const others = files.filter((name) => name !== "src/lib/clock.ts");
  for (const file of others)
    assert.doesNotMatch(
      readFileSync(file, "utf8"),
      /\bDate\.now\b|\bperformance\.now\b|new Date\(\)|\bhrtime\b/,
      file,
    );
  const onSystemTime = others.filter((file) => /\bsystemClock\b/.test(readFileSync(file, "utf8")));
  assert.deepEqual(onSystemTime.map(pathOf).toSorted(), ON_SYSTEM_TIME.toSorted());
});

test("no file is longer than a person can hold in mind", () => {
  const tests = [
    ...sourceFiles("test"),
    ...sourceFiles("client/src").filter((file) => file !== CLIENT_TYPES),
  ];
  for (const [folder, names] of Object.entries({ src: files, "src and test": [...files, ...tests] })) {
    for (const file of names) {
      const lines = readFileSync(file, "utf8").split("\n").length - 1;
      assert.ok(lines <= MAX_LINES, `${file} in ${folder} has ${lines} lines`);
    }
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
