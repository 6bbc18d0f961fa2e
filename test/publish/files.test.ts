import assert from "node:assert/strict";
import { test } from "node:test";
import { fileName, writtenPath } from "../../src/publish/files.js";
import { fc } from "../support/properties.js";

test("ordinary names are those of their files, and C++ and C# keep theirs", () => {
  for (const name of ["kite", "Kite.js", "my_face", "-x", "a".repeat(100), "_y"])
    assert.equal(fileName(name), name);
  assert.deepEqual(
    ["C++", "C#", ".github", "github:acme/kite"].map((name) => fileName(name)),
    ["C_2b_2b", "C_23", "_2egithub", "github_3aacme_2fkite"],
  );
});

test("what no system can hold, or something else has, gets another name", () => {
  for (const name of [
    "con",
    "NUL.svg",
    "aux.",
    "日".repeat(60),
    "x".repeat(500),
    "lpt1.txt",
    "é",
    "\u0000",
  ]) {
    const file = fileName(name);
    assert.match(file, /^[\w-]*(?:~[0-9a-f]{20}|_2e)$/, name);
    assert.ok(file.length < 70, file);
  }
  assert.match(fileName("window-24h", /^window-24h$/i), /^window-24h~/);
});

test("no two names have one file, also if case is ignored", () => {
  const pieces = ["c", "+", "_", "2b", "2B", "5f", ".", "~", "A", "a", "日", "é", "É", "con", "/", "ab"];
  const name = fc
    .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 })
    .map((some) => some.join(""));
  fc.assert(
    fc.property(name, name, (a, b) => {
      assert.ok(writtenPath.safeParse(fileName(a)).success, fileName(a));
      if (a.toLowerCase() !== b.toLowerCase())
        assert.notEqual(fileName(a).toLowerCase(), fileName(b).toLowerCase(), `${a} ${b}`);
    }),
    { numRuns: 5_000 },
  );
});
