import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

/** The assessment against ASVS is complete, and what it names exists. `asvs-ids.txt` has the ids of the standard with their levels. */
const ASSESSMENT = "docs/ASVS.md";
const STATUSES = ["met", "n/a", "open"] as const;

interface Row {
  /** An id, or the first and last of a range. */
  ids: string;
  requirement: string;
  status: string;
  where: string;
}

const text = readFileSync(ASSESSMENT, "utf8");
const levels = new Map(
  readFileSync("test/asvs-ids.txt", "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" ") as [string, string]),
);
const known = [...levels.keys()];
const rows: Row[] = text
  .split("\n")
  .filter((line) => line.startsWith("| V"))
  .map((line) => {
    const [, ids = "", requirement = "", status = "", where = ""] = line
      .split("|")
      .map((cell) => cell.trim());
    return { ids, requirement, status, where };
  });

/** The ids that a row is about, in the order of the standard. */
function idsOf({ ids }: Row): string[] {
  const [first = "", last = first] = ids.split("–");
  const [from, to] = [known.indexOf(first), known.indexOf(last)];
  assert.ok(from !== -1 && to >= from, `${ids} is not in the standard`);
  return known.slice(from, to + 1);
}

test("every requirement of level 1 and 2 has one row, in the order of the standard and in its chapter", () => {
  assert.equal(known.length, 253);
  assert.deepEqual(rows.flatMap(idsOf), known);
  let chapter = "";
  for (const line of text.split("\n")) {
    chapter = /^## (V\d+) /.exec(line)?.[1] ?? chapter;
    if (line.startsWith("| V")) assert.ok(line.startsWith(`| ${chapter}.`), `${chapter}: ${line}`);
  }
});

test("every row has a status, and says why or where", () => {
  for (const { ids, requirement, status, where } of rows) {
    assert.ok(
      STATUSES.some((one) => one === status),
      `${ids}: "${status}" is no status`,
    );
    assert.ok(requirement !== "" && where.length >= 4, `${ids} says too little`);
    if (status === "met") assert.match(where, /[`[]|[a-z]{4}/, ids);
  }
});

test("the totals are those of the rows", () => {
  const expected = ["L1", "L2"].map((level) => {
    const counts = STATUSES.map(
      (status) =>
        rows
          .filter((row) => row.status === status)
          .flatMap(idsOf)
          .filter((id) => levels.get(id) === level).length,
    );
    return [level, ...counts, counts.reduce((sum, count) => sum + count)].join(" | ");
  });
  for (const line of expected) assert.ok(text.includes(`| ${line} |`), `the totals lack "| ${line} |"`);
});

test("the files and tests that rows name exist", () => {
  for (const { ids, where } of rows) {
    for (const [, file = ""] of where.matchAll(/`((?:src|test|docs|scripts)\/[^`]+|[\w-]+\.json)`/g))
      assert.ok(existsSync(file), `${ids}: there is no ${file}`);
    for (const [, file = "", titles = ""] of where.matchAll(/`([^`]+\.test\.ts)`: ((?:“[^”]+”(?:, )?)+)/g)) {
      for (const [, title = ""] of titles.matchAll(/“([^”]+)”/g))
        assert.ok(readFileSync(file, "utf8").includes(title), `${ids}: ${file} has no test "${title}"`);
    }
  }
});

/** What may keep a choice of the reader in the browser: nothing of an account. */
const STORING = ["web/client/base.ts", "web/client/theme.ts", "web/client/filters.ts"];

/** What no file of the program contains, by the reason, except for those named. */
const ABSENT: readonly (readonly [what: string, pattern: RegExp, allowed?: readonly string[]])[] = [
  ["evaluates text", /(?<!connection\.)\beval\(|\bnew Function\(|node:vm/],
  ["builds regular expressions from texts", /\bnew RegExp\(|[^\w.]RegExp\(/],
  ["writes markup from scripts", /\b(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write/],
  ["stores data in browsers, other than cookies", /\b(?:local|session)Storage\b|indexedDB/, STORING],
  ["receives messages of other windows", /window\.postMessage|addEventListener\("message"/],
  ["weakens TLS", /rejectUnauthorized|minVersion|secureProtocol|ciphers:|TLS_REJECT/],
];

test("nothing in the program evaluates text, writes markup from scripts, stores data in browsers, or weakens TLS", () => {
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((file) =>
    /\.tsx?$/.test(file),
  );
  assert.ok(files.length > 300, `${files.length} files`);
  for (const file of files) {
    const code = readFileSync(join("src", file), "utf8");
    for (const [what, pattern, allowed = []] of ABSENT)
      if (!allowed.includes(file)) assert.doesNotMatch(code, pattern, `${file} ${what}`);
  }
});
