/** The tables of `docs/CONFIGURATION.md`, made from the settings. As a program it writes them: `node dist/scripts/settings-tables.js`. */
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { LIMITS } from "../src/config/limits.js";
import { SETTINGS } from "../src/config/settings.js";

const FILE = "docs/CONFIGURATION.md";

const TABLES: Readonly<Record<string, () => string>> = {
  general: () => settingsTable("general"),
  "signing-in": () => settingsTable("signing-in"),
  operators: () => settingsTable("operators"),
  limits: () =>
    table(
      ["Limit", "Default", "Meaning"],
      Object.entries(LIMITS).map(([name, [most, meaning]]) => [`\`${name}\``, `\`${most}\``, meaning]),
    ),
};

function settingsTable(section: string): string {
  const rows = Object.entries(SETTINGS).flatMap(([name, rule]) => {
    const words = rule.meta() ?? {};
    if ((words.section ?? "general") !== section) return [];
    return [
      [`\`${name}\``, String(words.standard ?? defaultOf(rule)), String(words.rule), String(words.meaning)],
    ];
  });
  return table(["Setting", "Default", "Rule", "Meaning"], rows);
}

function defaultOf(rule: (typeof SETTINGS)[keyof typeof SETTINGS]): string {
  const value: unknown = rule.safeParse(undefined).data;
  const isNone = value === undefined || typeof value === "object" || value === "";
  return isNone ? "none" : `\`${String(value)}\``;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

/** The text of the document with its tables as they should be, between `<!-- settings: … -->` and `<!-- end -->`. */
export function withTables(text: string): string {
  let result = text;
  for (const [name, make] of Object.entries(TABLES)) {
    const [before = "", rest = ""] = result.split(`<!-- settings: ${name} -->\n\n`);
    const after = rest.slice(rest.indexOf("\n<!-- end -->"));
    result = `${before}<!-- settings: ${name} -->\n\n${make()}${after}`;
  }
  return result;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  writeFileSync(FILE, withTables(readFileSync(FILE, "utf8")));
