import { SCORE_NAMES } from "../growth/growth.js";
import { content, type Reply } from "../http/http.js";
import { ageInDays } from "../lib/clock.js";
import { z } from "../lib/schema.js";
import type { ResponseContract } from "./operation.js";
import type { RepositoryView } from "./views.js";

/** CSV: one writer for all responses. */

/** Parameter of routes that return JSON or CSV. */
export const formatParameter = z
  .enum(["json", "csv"])
  .default("json")
  .openapi({ description: "csv: the rows as a file (RFC 4180), without meta." });

/** A response that is available as CSV too, with these columns. */
export function orCsv(response: ResponseContract, columns: readonly { name: string }[]): ResponseContract {
  const example = `${columns.map(({ name }) => name).join(",")}\r\n`;
  const csv = { "text/csv": { schema: z.string().openapi({ description: "With a header line.", example }) } };
  return { ...response, content: { ...response.content, ...csv } };
}

/** A column: its name, and its value in a row; null if unknown. */
export interface CsvColumn<Row> {
  name: string;
  /** Whether its text comes from a forge and could be interpreted as a formula. */
  isForeign?: boolean;
  value: (row: Row) => string | number | boolean | null;
}

/** Columns named after the fields of a row. */
export function fieldColumns<Name extends string>(
  names: readonly Name[],
): CsvColumn<Readonly<Record<Name, string | number | boolean | null>>>[] {
  return names.map((name) => ({ name, value: (row) => row[name] }));
}

/** Which repository a row is about. */
export const REPOSITORY_NAME_COLUMNS: readonly CsvColumn<{
  repositoryId: string;
  provider: string;
  fullName: string;
}>[] = [
  ...fieldColumns(["repositoryId", "provider"]),
  { name: "fullName", isForeign: true, value: ({ fullName }) => fullName },
];

/** The rows as a file of this name. */
export function csv<Row>(name: string, columns: readonly CsvColumn<Row>[], rows: readonly Row[]): Reply {
  return csvFile(name, csvText(columns, rows));
}

/** A file of this name, from its text. */
export function csvFile(name: string, text: string): Reply {
  return content("text/csv; charset=utf-8", text, {
    headers: { "Content-Disposition": `attachment; filename="${name}.csv"` },
  });
}

/** A table as in RFC 4180: header line, CRLF line ends, quotes if needed. */
export function csvText<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string {
  return [csvHeader(columns), ...rows.map((row) => csvLine(columns, row))].join("");
}

/** Without it, Excel reads a file in the code page of its system instead of UTF-8. */
const BYTE_ORDER_MARK = "\uFEFF";

/** The line with the names of the columns, which begins a file. */
export function csvHeader<Row>(columns: readonly CsvColumn<Row>[]): string {
  return `${BYTE_ORDER_MARK}${columns.map(({ name }) => name).join(",")}\r\n`;
}

export function csvLine<Row>(columns: readonly CsvColumn<Row>[], row: Row): string {
  return `${columns.map((column) => cell(column.value(row), column.isForeign ?? false)).join(",")}\r\n`;
}

/**
 * The beginning of a formula, also in full width: of a cell, or of a part that is a cell to programs that separate at semicolons, bars
 * or tabs. Such a program does not see that a quote after a comma covers them.
 */
const FORMULA = /(?<=^|[;|\t\r\n])["\p{Zs}\p{Cf}]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/gu;

/** A text without any of these needs no guard. */
const SIGN = /[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]/;

function cell(value: string | number | boolean | null, isForeign: boolean): string {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  // Spreadsheets execute text that looks like a formula; an apostrophe in front of it prevents that.
  const safe = isForeign && SIGN.test(value) ? value.replaceAll(FORMULA, "'$&") : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A repository with the time of its own counts, and their age. */
export type RepositoryRow = RepositoryView & { asOf: string | null; ageDays: number | null };

/** The columns of a repository at the time of the response. */
export function repositoryRow<View extends RepositoryView>(view: View, now: number): View & RepositoryRow {
  const asOf = view.trend?.to ?? view.lastSeenAt;
  return { ...view, asOf, ageDays: ageInDays(asOf === null ? null : Date.parse(asOf), now) };
}

type Column = CsvColumn<RepositoryRow>;
type Trend = NonNullable<RepositoryView["trend"]>;

/** Columns with text written by users of the forges. */
const foreign = (
  ...names: ("owner" | "name" | "fullName" | "url" | "description" | "homepage" | "language" | "license")[]
): Column[] => names.map((name) => ({ name, isForeign: true, value: (row) => row[name] }));

const ofTrend = (name: string, value: (trend: Trend) => string | number | boolean | null): Column => ({
  name,
  value: ({ trend }) => (trend === null ? null : value(trend)),
});

const GROWTH = [
  "window",
  "from",
  "to",
  "fromSource",
  "starsDelta",
  "forksDelta",
  "openIssuesDelta",
  "starsGrowth",
] as const;

/** A repository and its trend as one line, with the names of the JSON fields. */
export const REPOSITORY_COLUMNS: readonly Column[] = [
  ...fieldColumns(["id", "provider"]),
  ...foreign("owner", "name", "fullName", "url", "description", "homepage", "language", "license"),
  { name: "topics", isForeign: true, value: ({ topics }) => topics.join(";") },
  ...fieldColumns(["stars", "forks", "openIssues", "watchers", "fork", "archived", "availability"]),
  ...fieldColumns(["createdAt", "pushedAt", "discoveredAt", "refreshedAt", "nextRefreshAt"]),
  ...GROWTH.map((name) => ofTrend(name, (trend) => trend[name])),
  ...SCORE_NAMES.map((name) => ofTrend(name, ({ scores }) => scores[name])),
  ofTrend("confidence", ({ confidence }) => confidence),
  ofTrend("reliable", ({ reliable }) => reliable),
  ofTrend("anomalies", ({ anomalies }) => anomalies.map(({ kind }) => kind).join(";")),
  // At the end, as readers may know columns by their number.
  ofTrend("starsCounted", ({ starsCounted }) => starsCounted),
  ofTrend("newSince", ({ newSince }) => newSince),
  ofTrend("confidenceReasons", ({ confidenceReasons }) => confidenceReasons.join(";")),
  ...fieldColumns(["lastSeenAt", "stale", "asOf", "ageDays"]),
  ofTrend("basis", ({ basis }) => basis),
  ofTrend("usualPerDay", ({ usualPerDay }) => usualPerDay),
  ofTrend("hours", ({ hours }) => hours),
  ofTrend("parts", ({ parts }) => parts.map(({ basis, gained }) => `${basis}:${gained}`).join(";")),
];
