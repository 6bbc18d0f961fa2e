/** Results for models: foreign text made harmless, and one text for every result. */
import { cleanText } from "../repositories/repositories.js";

/**
 * Characters that nobody sees: formats such as joiners and tags, private and unassigned ones, variation selectors and blank letters.
 * Instructions to models can be hidden in them.
 */
const UNSEEN = /[\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu;

/** Most repositories of a result that says much about each. */
export const MAX_TOGETHER = 6;

/** A stranger's text on one line, without unseen characters, cut to a length; null if nothing is left. */
export function foreignText(text: string | null, maxLength: number): string | null {
  if (text === null) return null;
  const start = text
    .slice(0, 4 * maxLength)
    .replaceAll(UNSEEN, "")
    .replaceAll(/\s+/g, " ");
  const whole = cleanText(start, start.length + 1);
  if (whole === null || whole.length <= maxLength) return whole;
  const cut = cleanText(whole, maxLength - 1);
  return cut === null ? null : `${cut}…`;
}

/** A result as JSON in which every text is on one line and has no unseen characters, as strangers wrote some of them. */
export function cleaned(value: unknown): unknown {
  if (typeof value === "string") return foreignText(value, value.length) ?? "";
  if (Array.isArray(value)) return value.map(cleaned);
  if (!isRecord(value)) return value;
  const fields = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(fields.map(([name, one]) => [name, cleaned(one)]));
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * The text of a result: a line for each value that is known, and a table in Markdown for each list of records. Lists within the rows of
 * a table follow it, named after their row. Nothing in a cell can end it.
 */
export function resultText(result: Fields): string {
  return linesOf(result, "").join("\n").replaceAll("\n\n\n", "\n\n").trim();
}

/** `of`: the names of the list and the row that this is a part of. */
function linesOf(result: Fields, of: string): string[] {
  return Object.entries(result).flatMap(([name, value]) => {
    if (value === null) return [];
    const title = of + name;
    if (!isTable(value)) return [`${title}: ${cell(value)}`];
    const names = new Set(value.flatMap((row) => Object.keys(row).filter((one) => !isTable(row[one]))));
    // In long tables addresses would take more than everything else.
    if (value.length > MAX_TOGETHER) for (const address of ["url", "page"]) names.delete(address);
    const heads = [...names];
    const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
    return [
      ...["", `${title}:`, line(heads), `|${" --- |".repeat(heads.length)}`],
      ...value.map((row) => line(heads.map((head) => cell(row[head])))),
      "",
      ...value.flatMap((row) => {
        const tables = Object.entries(row).filter(([, one]) => isTable(one));
        return linesOf(
          Object.fromEntries(tables),
          `${title} ${cell(row.repository ?? row[heads[0] ?? ""])} `,
        );
      }),
    ];
  });
}

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isTable = (value: unknown): value is Fields[] =>
  Array.isArray(value) && value.length > 0 && value.every(isRecord);

/** Made once: making one takes longer than formatting a hundred numbers. */
const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });

/** A value on one line. Numbers have their thousands separated, so that a model reads the digits in groups; times have no seconds. */
function cell(value: unknown): string {
  if (value === undefined) return "";
  if (value === null) return "?";
  if (typeof value === "number") return grouped.format(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.map(cell).join("; ") || "none";
  if (isRecord(value))
    return Object.entries(value)
      .map(([name, one]) => `${name} ${cell(one)}`)
      .join(", ");
  return String(value)
    .replaceAll("|", "/")
    .replace(/^(\d{4}-\d\d-\d\dT\d\d:\d\d):\d\d\.\d{3}Z$/, "$1Z");
}

/** A share as percent, such as `2.31`; null stays null. */
export function percent(share: number | null): number | null {
  return share === null ? null : Math.round(share * 10_000) / 100;
}
