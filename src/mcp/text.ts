/** Text for models: foreign text made harmless, numbers with units, tables. */
import { cleanText } from "../repositories/repositories.js";

/**
 * Characters that nobody sees: formats such as joiners and tags, private and unassigned ones, variation selectors and blank letters.
 * Instructions to models can be hidden in them.
 */
const UNSEEN = /[\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu;

/** Longest description in a row, and in the detail of a repository. */
export const ROW_TEXT = 120;
export const DETAIL_TEXT = 400;

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

/** The columns of a table: the value in a row under each heading. */
export type Columns<Row> = Readonly<Record<string, (row: Row) => string | number | null>>;

/** A table in Markdown. Nothing in a cell can end it. */
export function table<Row>(rows: readonly Row[], columns: Columns<Row>): string {
  const cell = (value: string | number | null): string =>
    value === null ? "?" : typeof value === "number" ? number(value) : value.replaceAll("|", "/");
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const heads = Object.keys(columns);
  const values = Object.values(columns);
  return [
    line(heads),
    `|${" --- |".repeat(heads.length)}`,
    ...rows.map((row) => line(values.map((value) => cell(value(row))))),
  ].join("\n");
}

/** Made once: making one takes longer than formatting a hundred numbers. */
const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });

/** A number with thousands separated, so that a model reads the digits in groups. */
export const number = (value: number): string => grouped.format(value);

/** A change with its sign. */
export function signed(value: number | null): string {
  return value === null ? "unknown" : value > 0 ? `+${number(value)}` : number(value);
}

/** A share as percent, such as `2.31`; null stays null. */
export function percent(share: number | null): number | null {
  return share === null ? null : Math.round(share * 10_000) / 100;
}

export function day(time: string): string {
  return time.slice(0, 10);
}

/** Where windows end, in words. */
export function freshness({ asOf, ageDays }: { asOf: string | null; ageDays: number | null }): string {
  if (asOf === null) return "Nothing was measured yet.";
  const age =
    ageDays === null || ageDays <= 0 ? "today" : ageDays === 1 ? "1 day ago" : `${ageDays} days ago`;
  return `Data as of ${asOf} (${age}); windows end there, not now.`;
}
