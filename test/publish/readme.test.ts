import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fillReadme, type Shown } from "../../src/publish/readme.js";
import { historyStateOf } from "../../src/repositories/history-state.js";
import { temporaryFolder } from "../support/imports.js";
import { fc } from "../support/properties.js";

const folder = temporaryFolder();
const BEGIN = "<!-- sidereal -->";
const END = "<!-- /sidereal -->";
const KITE = "[![Stars of acme/kite over time](out/acme/kite.svg)](https://forge.example/acme/kite)";

const addressOf = (fullName: string) => ({ provider: "GITHUB", fullName });
const published: Shown[] = ["acme/kite", "acme/loom"].map((fullName) => ({
  listed: addressOf(fullName),
  files: { chart: `${fullName}.svg` },
  repository: { fullName, url: `https://forge.example/${fullName}` },
  history: historyStateOf("", null),
  since: Date.UTC(2024, 2, 3),
}));

/** The bytes of a README after it was filled, and what was wrong. */
function fill(
  content: string | Buffer,
  shown = published.slice(0, 1),
): { bytes: Buffer; problems: string[] } {
  const path = join(folder, "README.md");
  writeFileSync(path, content);
  const read = (name: string) => (name.includes("/") ? addressOf(name) : "no name of a repository");
  const problems = fillReadme(path, "out", { published: shown, read });
  return {
    bytes: readFileSync(path),
    problems: problems.map((problem) => problem.replace(path, "README.md")),
  };
}

/** The text of a README that is filled without a problem. */
function filled(content: string | Buffer, shown = published.slice(0, 1)): string {
  const { bytes, problems } = fill(content, shown);
  assert.deepEqual(problems, []);
  return bytes.toString("latin1");
}

/** The problem of a README that stays as it is, to the byte. */
function doubted(content: string | Buffer): string {
  const { bytes, problems } = fill(content);
  assert.ok(bytes.equals(Buffer.from(content)), `${bytes}`);
  assert.equal(problems.length, 1);
  return problems[0] ?? "";
}

test("lines between two markers are replaced by charts, the second time without a change", () => {
  const once = filled(`# Mine\n\n${BEGIN}\nold\n${END}\ntext\n${BEGIN}\n${END}`);
  assert.equal(once, `# Mine\n\n${BEGIN}\n${KITE}\n${END}\ntext\n${BEGIN}\n${KITE}\n${END}`);
  assert.equal(filled(once), once);
  const two = filled(`<!-- sidereal acme/loom  acme/KITE --> \n${END}\n`, published);
  assert.deepEqual(
    two.split("\n").map((line) => /of (\S+) over/.exec(line)?.[1]),
    [undefined, "acme/loom", "acme/kite", undefined, undefined],
  );
});

test("markers in text and in code are text", () => {
  const code = [
    "The marker `<!-- sidereal -->` begins a block.",
    `Text ${BEGIN} and ${END}`,
    "",
    `- ${BEGIN}`,
    `  ${BEGIN}`,
    `  ${END}`,
    `    ${END}`,
    `> ${BEGIN}`,
    `| ${BEGIN} | ${END} |`,
    "```markdown",
    BEGIN,
    "precious",
    END,
    "```",
    "~~~~",
    "~~~",
    "```",
    BEGIN,
    "~~~~~",
    "``` `not a fence` ```",
    "- In a list:",
    "  ```sh",
    `  ${BEGIN}`,
    "  ```",
    "Important paragraph of mine.",
    "## Chart",
    "",
  ].join("\n");
  assert.equal(filled(`${code}${BEGIN}\n${END}\nend\n`), `${code}${BEGIN}\n${KITE}\n${END}\nend\n`);
  assert.match(doubted(code), /^README\.md: has no lines <!-- sidereal --> and <!-- \/sidereal -->/);
  assert.equal(
    filled(`${BEGIN}\n${END}\n\`\`\`\ntext \`${BEGIN}\` here`),
    `${BEGIN}\n${KITE}\n${END}\n\`\`\`\ntext \`${BEGIN}\` here`,
  );
});

test("line ends, a byte order mark and bytes of another encoding stay", () => {
  assert.equal(
    filled(`# B\r\n${BEGIN}\r\nold\r\n${END}\r\nend\n`),
    `# B\r\n${BEGIN}\r\n${KITE}\r\n${END}\r\nend\n`,
  );
  assert.equal(filled(`a\r${BEGIN}\r${END}\r`), `a\r${BEGIN}\r${KITE}\r${END}\r`);
  const latin = Buffer.from(`Caf\xe9 \x80\xff\xfe\n${BEGIN}\nold\n${END}\nna\xefve`, "latin1");
  assert.equal(filled(latin), `Caf\xe9 \x80\xff\xfe\n${BEGIN}\n${KITE}\n${END}\nna\xefve`);
  const marked = Buffer.from(`\ufeff${BEGIN}\n${END}\n`);
  assert.equal(filled(marked), `\xef\xbb\xbf${BEGIN}\n${KITE}\n${END}\n`);
  const named = published
    .slice(0, 1)
    .map((one): Shown => ({ ...one, repository: { ...one.repository, fullName: "acme/凧" } }));
  assert.match(filled(`${BEGIN}\n${END}\n`, named), /Stars of acme\/\xe5/);
  assert.match(fill(latin, named).problems[0] ?? "", /^README\.md:2: .* not UTF-8.*stays as it is$/);
  assert.match(doubted(Buffer.from(`\ufeff${BEGIN}\n${END}\n`, "utf16le")), /has no lines/);
});

test("the text of a picture says from when it shows while the history is not whole", () => {
  const part = published.slice(0, 1).map((one): Shown => ({ ...one, history: historyStateOf(null, 1) }));
  assert.match(filled(`${BEGIN}\n${END}\n`, part), /!\[Stars of acme\/kite since 3 Mar 2024\]/);
});

test("whatever is doubtful leaves the file as it is, and says which line", () => {
  const cases: readonly [text: string, problem: RegExp][] = [
    [`${BEGIN}\na\n${BEGIN}\nb\n${END}\nc\n${END}\n`, /:3: a block begins before that of line 1 ends/],
    [`${BEGIN}\n${END}\ntext\n${END}\n`, /:4: <!-- \/sidereal --> ends no block/],
    [`text\n${BEGIN}\nprecious\n`, /:2: the block has no line <!-- \/sidereal --> after it/],
    [`${BEGIN}\nprecious ${END}\n`, /:1: the block has no line/],
    [`${BEGIN}\n\`\`\`\n${END}\n`, /:1: the block has no line/],
    [`<!-- Sidereal -->\nprecious\n${END}\n`, /:3: .*ends no block/],
    [
      `<!-- sidereal acme/none -->\nmy old chart\n${END}\n`,
      /:1: acme\/none is not in the list, or was never read/,
    ],
    [`${BEGIN}\n${END}\n<!-- sidereal nonsense -->\n${END}\n`, /:3: nonsense is not in the list/],
    [`- \`\`\`md\n  x\n  \`\`\`\n\n\`\`\`\n${BEGIN}\n${END}\n\`\`\`\n`, /:6: .* may be in a block of code/],
  ];
  for (const [text, problem] of cases) {
    assert.match(doubted(text), problem);
    assert.match(doubted(text.replaceAll("\n", "\r\n")), problem);
    assert.match(doubted(text), /; the file stays as it is$/);
  }
});

test("no byte outside a block changes, whatever it is", (t) => {
  const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
  t.diagnostic(`seed ${seed}`);
  const bytes = fc.uint8Array({ maxLength: 8 }).map((some) => Buffer.from(some).toString("latin1"));
  const end = fc.constantFrom("\n", "\r\n", "\r");
  const text = fc
    .array(bytes.map((some) => `x${some.replaceAll(/[`~]/g, "")}`))
    .map((lines) => lines.join("\n"));
  const piece = fc.tuple(text, end);
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 4 }), bytes, (pieces, last) => {
      const withBody = (body: (eol: string) => string) =>
        `${pieces.map(([before, eol]) => `${before}${eol}${BEGIN}${eol}${body(eol)}${END}${eol}`).join("")}x${last}`;
      const before = withBody((eol) => `old${eol}`);
      assert.equal(
        filled(Buffer.from(before, "latin1")),
        withBody((eol) => KITE + eol),
      );
    }),
    { seed, numRuns: 200 },
  );
  const line = fc.oneof(bytes, fc.constantFrom(BEGIN, END, "```", "~~~", "  ```", "- ```", `\`${BEGIN}\``));
  fc.assert(
    fc.property(fc.array(fc.tuple(line, end), { maxLength: 12 }), (lines) => {
      const content = Buffer.from(lines.flat().join(""), "latin1");
      const once = fill(content);
      if (once.problems.length > 0) assert.ok(once.bytes.equals(content));
      assert.ok(fill(once.bytes).bytes.equals(once.bytes));
    }),
    { seed, numRuns: 400 },
  );
});
