/** Hostile texts and numbers as the records of files and of forges. */
import { csvRow } from "../../support/imports.js";
import { NOW } from "../../support/world.js";

/** Names of providers: some are the schemes of addresses that browsers run, others names of built-in properties. */
const PROVIDERS = ["GITHUB", "JAVASCRIPT", "DATA", "VBSCRIPT", "CONSTRUCTOR", "HASOWNPROPERTY"] as const;

/** Values of a count, as they are written in JSON. */
const COUNTS = [
  ...["-1", "0.5", "1e13", "1e400", "NaN", "Infinity", "9007199254740993", "1000000000000", "-0"],
  ...['"1"', '"constructor"', "null", "true", "[]", '{"__proto__":{"polluted":1}}'],
];
/** Values of a time. */
const TIMES = [
  ...["9999-12-31T23:59:59Z", "1969-12-31", "0000-00-00", "2026-02-30", "+275760-09-13T00:00:00.001Z"],
  ...[
    "2100-01-01T00:00:01Z",
    "1999-12-31T23:59:59Z",
    "-271821-04-20",
    "now",
    "1e9",
    "",
    "2026-04-30T25:00:00Z",
  ],
];

const at = <T>(values: readonly T[], index: number, none: T): T => values[index % values.length] ?? none;

/** A text as a name that the doors let in, as close to it as can be; empty where nothing of it is left. */
function possibleName(text: string): string {
  return text
    .replaceAll(/[\s\p{C}\\?#%/]/gu, "")
    .replaceAll(/(?<=\p{M}{8})\p{M}+/gu, "")
    .slice(0, 100)
    .toWellFormed()
    .replaceAll("\uFFFD", "")
    .replace(/^\.+$/, "");
}

/** A text as a topic or a language that the doors let in. */
function possibleLabel(text: string): string {
  return text
    .replaceAll(/[\p{C}\p{Z}]/gu, "")
    .replaceAll(/(?<=\p{M}{8})\p{M}+/gu, "")
    .slice(0, 99)
    .toWellFormed()
    .replaceAll("\uFFFD", "");
}

/** The lines of an NDJSON file: a few for each text. Some must be refused, and each text also gets in as far as it can. */
export function ndjsonOf(texts: readonly string[]): string[] {
  return texts.flatMap((text, i) => {
    const provider = at(PROVIDERS, i, "GITHUB");
    const own = { type: "repository", provider, fullName: `owner${i}/name` };
    const label = text.slice(0, 100);
    const all = { description: text, homepage: text, language: label, license: label, topics: [label] };
    const possible = {
      ...own,
      fullName: `o${i}${possibleName(text)}/${possibleName(text)}${i}`,
      refreshedAt: new Date(NOW).toISOString(),
      description: text.slice(0, 100_000),
      language: possibleLabel(text) || "Go",
      license: possibleLabel(text) || null,
      topics: [possibleLabel(text) || "web", `t;${possibleLabel(text)}`],
      stars: 100 + i,
    };
    const snapshots = [2, 1, 0].map((day) =>
      JSON.stringify({
        type: "snapshot",
        capturedAt: new Date(NOW - day * 86_400_000).toISOString(),
        stars: 100 + i - day,
      }),
    );
    const fields = ["stars", "forks", "openIssues", "watchers"] as const;
    return [
      JSON.stringify(possible),
      ...snapshots,
      JSON.stringify({ ...own, ...all }),
      ...Object.entries(all).map(([field, value]) => JSON.stringify({ ...own, [field]: value })),
      JSON.stringify({ ...own, fullName: `${text}/${text}` }),
      JSON.stringify({ ...own, fullName: `o/${text}`, providerId: text, url: text }),
      JSON.stringify({ ...own, provider: text }),
      JSON.stringify({ ...own, previousFullNames: [{ fullName: text, until: text }] }),
      `{"type":"repository","provider":"GITHUB","fullName":"count/${i}","${at(fields, i, "stars")}":${at(COUNTS, i, "0")}}`,
      JSON.stringify({ type: "snapshot", provider, fullName: "a/b", capturedAt: at(TIMES, i, ""), stars: 1 }),
      JSON.stringify({ ...own, createdAt: at(TIMES, i + 1, ""), pushedAt: at(TIMES, i + 2, "") }),
      `{${JSON.stringify(text)}:1,"__proto__":{"polluted":1},"type":"repository","constructor":{"prototype":{"polluted":1}}}`,
      text.replaceAll(/[\r\n]/g, " "),
    ];
  });
}

/** A file of daily lists with the texts in its rows. */
export function csvOf(texts: readonly string[]): string {
  const header = ["item", "stars", "forks", "language", "repo_url", "issues", "last_commit", "description"];
  const rows = texts.flatMap((text, i) => [
    ["x", 10 + i, 1, text, "https://github.com/csv/language", 1, "2026-04-01", text],
    ["x", 10 + i, 1, possibleLabel(text), `https://github.com/csv/${i}-${possibleName(text)}`, 1, "", text],
    [text, 10 + i, 1, "Go", `https://github.com/csv/${text}`, "", at(TIMES, i, ""), ""],
    ["x", at(COUNTS, i, "1"), text, "Go", text, text, text, text],
  ]);
  return [header, ...rows].map((row) => `${csvRow(row)}\n`).join("");
}

/** What a forge says of its repository with this index; the texts repeat. */
export function forgeFactsOf(texts: readonly string[], index: number) {
  const text = at(texts, index, "");
  const numbers = [-1, 0.5, 1e13, Number.NaN, Number.MAX_VALUE, 1e12];
  return {
    description: text,
    homepage: text,
    language: index % 2 === 0 ? text : possibleLabel(text),
    license: text,
    topics: [text, possibleLabel(text), `x ${text}`, "constructor", "__proto__"],
    forks: at(numbers, index, 0),
    openIssues: at(numbers, index + 1, 0),
    watchers: at(numbers, index + 2, 0),
  };
}
