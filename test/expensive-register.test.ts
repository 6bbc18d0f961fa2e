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

/** The places in a cell, each a file and the names in it. */
function placesOf(code: string): string[][] {
  return code.split(";").map((place) => [...place.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name));
}

/** Every name in the code column, with the text of its file. */
function namesOf(all: readonly Row[]) {
  return all.flatMap(({ operation, code }) =>
    placesOf(code).flatMap(([file = "", ...names]) => {
      const text = readFileSync(file, "utf8");
      return names.map((name) => ({ operation, file, text, name }));
    }),
  );
}

const rows = rowsOf(readFileSync(REGISTER, "utf8"));

test("the register of expensive operations has rows", () => {
  assert.ok(rows.length > 30, `${rows.length} rows`);
  assert.equal(new Set(rows.map(({ operation }) => operation)).size, rows.length);
});

test("the bound of every expensive operation is in the file that the register names", () => {
  for (const { operation, code } of rows) {
    for (const [file = "", ...names] of placesOf(code)) {
      assert.ok(existsSync(file), `${operation}: there is no ${file}`);
      assert.ok(names.length > 0, `${operation}: ${file} without a name`);
      const text = readFileSync(file, "utf8");
      for (const name of names) assert.ok(text.includes(name), `${operation}: ${file} has no ${name}`);
    }
  }
});

test("every constant of the register has its value in the code", () => {
  for (const { operation, file, text, name } of namesOf(rows)) {
    // A longer number must not pass for one that it begins with.
    const isWhole = text
      .split(name)
      .slice(1)
      .some((rest) => /^[;,\n]/.test(rest));
    if (/[=:]/.test(name)) assert.ok(isWhole, `${operation}: ${file} lacks "${name}"`);
    else
      assert.doesNotMatch(
        text,
        new RegExp(`const ${RegExp.escape(name)} = \\d`),
        `${operation}: ${name} without a value`,
      );
  }
});

test("the bound of every expensive operation is held by a test that exists", () => {
  for (const { operation, heldBy } of rows) {
    const [, file = "", title = ""] = /^`([^`]+\.test\.ts)`: (.+)$/.exec(heldBy) ?? [];
    assert.ok(existsSync(file), `${operation}: there is no test file "${file}"`);
    assert.ok(readFileSync(file, "utf8").includes(title), `${operation}: ${file} has no test "${title}"`);
  }
});
