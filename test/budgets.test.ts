/** What may not grow unnoticed. A commit that lowers a value lowers its limit too, and one that must raise a limit says why. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { filesEntered, type Walk } from "../bench/files-entered.js";
import { sourceFiles } from "../scripts/floors.js";

interface Measured {
  value: number;
  /** What adds up to the value. */
  parts: [name: string, count: number][];
}

interface Budget {
  name: string;
  measure: () => Measured | Promise<Measured>;
  limit: number;
  reason: string;
}

const linesOf = (file: string): string[] => readFileSync(file, "utf8").split("\n").slice(0, -1);

function sumOf(counts: Iterable<[string, number]>): Measured {
  const parts = new Map<string, number>();
  for (const [name, count] of counts) parts.set(name, (parts.get(name) ?? 0) + count);
  return { value: [...parts.values()].reduce((sum, count) => sum + count, 0), parts: [...parts] };
}

/** Lines of TypeScript, styles and everything else below a folder, by folder of it. */
const lines = (folder: string) => () =>
  sumOf(
    readdirSync(folder, { recursive: true, withFileTypes: true, encoding: "utf8" })
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath}/${entry.name}`)
      .map((file) => [file.split("/").slice(0, 2).join("/"), linesOf(file).length]),
  );

const folders = readdirSync("src", { withFileTypes: true, encoding: "utf8" })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

let walks: Promise<Map<Walk, string[]>> | undefined;
/** Files of `src` that work enters, by folder. */
const filesOf = (walk: Walk) => async () => {
  walks ??= filesEntered();
  return sumOf(((await walks).get(walk) ?? []).map((file) => [file.split("/")[0] ?? "", 1]));
};

const WALKED = "whoever follows it reads these files";

const BUDGETS: readonly Budget[] = [
  { name: "lines of src", measure: lines("src"), limit: 87_500, reason: "each is read and kept" },
  { name: "lines of test", measure: lines("test"), limit: 83_650, reason: "one behaviour, one test" },
  { name: "files of a cached list", measure: filesOf("cached list"), limit: 14, reason: WALKED },
  { name: "files of a search", measure: filesOf("search"), limit: 36, reason: WALKED },
  { name: "files of a repository page", measure: filesOf("repository page"), limit: 84, reason: WALKED },
  { name: "files of a refresh", measure: filesOf("refresh"), limit: 34, reason: WALKED },
];

for (const { name, measure, limit, reason } of BUDGETS)
  test(`${name}: at most ${limit}`, async () => {
    const { value, parts } = await measure();
    const largest = parts
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, 5)
      .map(([part, count]) => `${count} ${part}`)
      .join(", ");
    const fitting = `set the limit to ${Math.ceil(value * 1.01)} or less`;
    assert.ok(value <= limit, `${value} are over ${limit} (${reason}). The largest: ${largest}`);
    assert.ok(limit <= value * 1.03 || limit - value <= 1, `${value} are far below ${limit}: ${fitting}`);
  });

const MAX_LINES = 60;

/** The head of a named function: declared, in a variable or a property, or a method. */
const HEAD =
  /^( *)(?:(?:export|default|async|static|override|private|readonly|get|set) )*(?:function\*? (\w+)|const (\w+)(?:: [^=]+)? = (?:async )?[(<]|(#?\w+)(?::| =) (?:async )?[(<]|\*?(#?\w+)(?:<.*>)?\()/;
const STATEMENTS = new Set(["if", "for", "while", "switch", "catch"]);

/** Lines of each function of a file that has more than `MAX_LINES`, by the indentation that the formatter gives them. */
function longFunctions(file: string): [string, number][] {
  const text = linesOf(file);
  return text.flatMap((head, start): [string, number][] => {
    const [, indent = "", ...names] = HEAD.exec(head) ?? [];
    const name = names.find((one) => one !== undefined);
    if (name === undefined || STATEMENTS.has(name) || /[;,]$/.test(head)) return [];
    let signature = head;
    let end = start + 1;
    for (; end < text.length; end++) {
      const line = text[end] ?? "";
      if (line === "" || line.startsWith(`${indent} `)) continue;
      // A line such as `): Promise<void> {` only ends its parameters.
      if (!/^ *[)\]}].*[[({]$/.test(line)) break;
      signature += line;
    }
    const [declared, , , method] = names;
    // Neither a value in parentheses nor a call.
    const isFunction =
      declared ?? (method === undefined ? signature.includes("=>") : /^ *\},?$/.test(text[end] ?? ""));
    const length = end - start + 1;
    return isFunction && length > MAX_LINES ? [[`${file} ${name}`, length]] : [];
  });
}

test(`a function has at most ${MAX_LINES} lines`, () => {
  assert.deepEqual(sourceFiles("src").flatMap(longFunctions), []);
});

test("each folder's front door begins with what it owns, in at least two sentences", () => {
  // The files of lib stand alone.
  for (const folder of folders.filter((name) => name !== "lib")) {
    const door = [".ts", ".tsx"].map((ending) => `src/${folder}/${folder}${ending}`).find(existsSync);
    assert.ok(door, `src/${folder} has no front door`);
    const [, paragraph = ""] = /^\/\*\*([\s\S]*?)\*\//.exec(readFileSync(door, "utf8")) ?? [];
    const sentences = paragraph.match(/[.;:](?:\s|$)/g)?.length ?? 0;
    assert.ok(sentences >= 2, `${door} begins with ${sentences} sentences on the folder`);
  }
});

test("each folder of src has tests in a folder of its name", () => {
  // It joins the modules and decides nothing: it is tested by whole programs, in test/install and test/reliability.
  for (const folder of folders.filter((name) => name !== "app"))
    assert.ok(existsSync(`test/${folder}`), `there is no test/${folder}`);
});
