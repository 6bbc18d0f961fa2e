/** Texts that break assumptions, and changes of good ones. */
import type { Random } from "../../../bench/synthetic/random.js";

const NUMBERS = [
  "0",
  "-0",
  "-1",
  "1",
  "100",
  "101",
  "10001",
  "1.0",
  "1e3",
  "1e999",
  "0x10",
  "010",
  "+1",
  " 1",
  "1 ",
  "١",
  "NaN",
  "Infinity",
  "9007199254740993",
  "9223372036854775807",
  "9223372036854775808",
  "1".repeat(19),
  "9".repeat(400),
];

const NAMES = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "__defineGetter__",
  "__proto__[x]",
  "constructor.prototype",
  "length",
  "then",
  "null",
  "undefined",
  "true",
  "[object Object]",
];

const SYNTAX = [
  "'",
  '"',
  "`",
  "\\",
  "%",
  "%00",
  "%2f",
  "%252f",
  "..",
  ".",
  "../../etc/passwd",
  "/",
  "//",
  "//evil.example",
  "/\\evil.example",
  "https://evil.example/",
  "javascript:alert(1)",
  ":",
  ":/",
  "github:",
  "github:a",
  "github:a/b/c",
  "https://github.com/a/one",
  "git@github.com:a/one.git",
  "' or 1=1 --",
  "1; drop table repositories",
  "%_%",
  "*",
  '"a b"',
  "a OR b",
  "NEAR(a b)",
  "-a",
  "c++",
  "c#",
  ".net",
  "next.js",
  "=1+1",
  "@x",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text itself is what a template would read.
  "${7*7}",
  "{{7*7}}",
];

/** Part of every text that would be an element if it reached a document unescaped. */
export const MARKUP = "<fuzz";
const DOCUMENTS = [
  `">${MARKUP}>`,
  `'>${MARKUP}>`,
  `${MARKUP} onload=x>`,
  `</script>${MARKUP}>`,
  `]]>${MARKUP}>`,
  `<!--${MARKUP}`,
  "&lt;fuzz",
];

const CHARACTERS = [
  "",
  " ",
  "\t",
  "\n",
  "\r\n",
  "\0",
  "\x1b[31m",
  "\x7f",
  "\u0085",
  "\u2028",
  "\u202e",
  "\ufeff",
  "\u200b",
  "é",
  "e\u0301",
  "İ",
  "ß",
  "ﬁ",
  "Ａ",
  "😀",
  "👨‍👩‍👧",
  "\ud800",
  "\udc00x",
  "\ufffe",
];

const TIMES = [
  "2026-02-30",
  "2026-13-01",
  "0000-00-00",
  "9999-12-31",
  "+275760-09-13",
  "-000001-01-01",
  "2026-04-30T12:00:00Z",
  "2026-04-30T25:00:00Z",
  "2026-04-30T12:00:00+99:99",
  "1700000000000",
];

const LONG = [
  "a".repeat(100),
  "a".repeat(101),
  "a".repeat(201),
  "a".repeat(301),
  "a".repeat(5_000),
  "a b ".repeat(60),
  "é".repeat(201),
  "😀".repeat(101),
  "x,".repeat(200),
  "/".repeat(300),
  "a/".repeat(300),
];

const GROUPS = [NUMBERS, NAMES, SYNTAX, DOCUMENTS, CHARACTERS, TIMES, LONG];

/** A text that no parameter expects. */
export function hostile(random: Random): string {
  return random.pick(random.pick(GROUPS));
}

/** A text with one to three small changes. */
export function changed(random: Random, text: string): string {
  let result = text;
  for (let i = random.between(1, 3); i > 0; i--) result = changedOnce(random, result);
  return result;
}

function changedOnce(random: Random, text: string): string {
  const at = random.between(0, text.length);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  switch (random.between(0, 6)) {
    case 0:
      return before + after.slice(1);
    case 1:
      return before + String.fromCharCode(random.between(0, 255)) + after.slice(1);
    case 2:
      return before + hostile(random) + after;
    case 3:
      return before;
    case 4:
      return before + after + after;
    case 5:
      return text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase();
    default:
      return before + String.fromCodePoint(random.between(1, 0x1ffff)) + after;
  }
}
