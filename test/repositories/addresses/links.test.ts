import assert from "node:assert/strict";
import { test } from "node:test";
import { addressReader, linksIn } from "../../../src/repositories/addresses.js";
import { examples, fc } from "../../support/properties.js";

const FORGES = [
  { name: "GITHUB", kind: "github", url: "https://github.com" },
  { name: "GITLAB", kind: "gitlab", url: "https://gitlab.com" },
] as const;
const read = addressReader(FORGES);
const linked = (text: string) => {
  const { addresses } = linksIn(text, read);
  const shown = addresses.map(({ provider, fullName }) => `${provider.toLowerCase()}:${fullName}`);
  return { shown };
};

test("the links of Markdown, HTML and plain text are found, each repository once", () => {
  const { shown } = linked(`# Awesome things
[![badge](https://img.shields.io/github/stars/a/x)](https://github.com/a/one)
* [One](https://github.com/A/One/tree/main "title"), [Two](<https://github.com/a/two>).
1. <a href="https://github.com/a/three?x=1&amp;y=2">Three</a>, <a href=https://github.com/a/four>Four</a>
See https://github.com/a/five. Or github.com/a/six; or (www.gitlab.com/g/s/seven)!
[ref]: https://gitlab.com/g/s/eight/-/issues
\`git clone git@github.com:a/nine.git\` and **https://github.com/a/ten**
Not these: https://github.com/topics/x https://github.com/sponsors/a https://github.com/orgs/a
https://web.archive.org/web/2020/https://github.com/a/archived and/or src/main.ts, Node.js/Express
`);
  const names = ["one", "two", "three", "four", "five", "six"].map((name) => `github:a/${name}`);
  assert.deepEqual(shown, [
    ...names,
    "gitlab:g/s/seven",
    "gitlab:g/s/eight",
    "github:a/nine",
    "github:a/ten",
  ]);
});

test("a list may name repositories alone, one a line; a text with sentences may not", () => {
  assert.deepEqual(
    linked("# list\n- a/one\n* gitlab:g/s/two\n3. https://github.com/a/three\n\nnothing\n").shown,
    ["github:a/one", "gitlab:g/s/two", "github:a/three"],
  );
  assert.deepEqual(linked("Some words here.\nsrc/main\n").shown, []);
});

test("hostile texts of megabytes take time in proportion to their length", () => {
  for (const piece of [
    "https://",
    "a://",
    "://",
    "[",
    "git@",
    "a@",
    "https://github.com/",
    "x/",
    "* ",
    ".",
    "%2F",
  ]) {
    const began = process.hrtime.bigint();
    linked(piece.repeat(Math.ceil(500_000 / piece.length)));
    linked(`${piece}\n`.repeat(Math.ceil(120_000 / piece.length)));
    const ms = Number(process.hrtime.bigint() - began) / 1e6;
    assert.ok(ms < 5_000, `${piece}: ${ms} ms`);
  }
});

test("no text makes an exception", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
      linked(text);
      linked(`https://github.com/${text}`);
    }),
    { numRuns: examples(5_000) },
  );
});
