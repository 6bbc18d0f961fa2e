import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";

/** The register of expensive operations names code and tests; what it names exists. */
const REGISTER = "docs/EXPENSIVE.md";

/** A row: what it is about, where its bound is in the code, and the test that holds it. */
interface Row {
  operation: string;
  code: string;
  heldBy: string;
}

function rowsOf(text: string): Row[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (?:-+|Operation) /.test(line))
    .map((line) => {
      const [, operation = "", , code = "", heldBy = ""] = line.split("|").map((cell) => cell.trim());
      return { operation, code, heldBy };
    });
}

const rows = rowsOf(readFileSync(REGISTER, "utf8"));

test("the register of expensive operations has rows", () => {
  assert.ok(rows.length > 30, `${rows.length} rows`);
  assert.equal(new Set(rows.map(({ operation }) => operation)).size, rows.length);
});

test("the bound of every expensive operation is in the file that the register names", () => {
  for (const { operation, code } of rows) {
    const places = code
      .split(";")
      .map((place) => [...place.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));
    for (const [file = "", ...names] of places) {
      assert.ok(existsSync(file), `${operation}: there is no ${file}`);
      assert.ok(names.length > 0, `${operation}: ${file} without a name`);
      const text = readFileSync(file, "utf8");
      for (const name of names) assert.ok(text.includes(name), `${operation}: ${file} has no ${name}`);
    }
  }
});

test("the bound of every expensive operation is held by a test that exists", () => {
  for (const { operation, heldBy } of rows) {
    const [, file = "", title = ""] = /^`([^`]+\.test\.ts)`: (.+)$/.exec(heldBy) ?? [];
    assert.ok(existsSync(file), `${operation}: there is no test file "${file}"`);
    assert.ok(readFileSync(file, "utf8").includes(title), `${operation}: ${file} has no test "${title}"`);
  }
});
