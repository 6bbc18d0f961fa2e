import { z } from "@hono/zod-openapi";
import type { ApiContext } from "./endpoint.js";

/** Answers as CSV: one writer for all of them. */

/** A parameter of routes that have both forms. */
export const formatParameter = z
  .enum(["json", "csv"])
  .default("json")
  .openapi({ description: "csv: the rows as a file (RFC 4180), without meta." });

/** A response that is also there as CSV. */
export function orCsv<Response extends { content: object }>(response: Response) {
  const csv = { "text/csv": { schema: z.string().openapi({ description: "With a line of column names." }) } };
  return { ...response, content: { ...response.content, ...csv } };
}

/** A column: its name, and what stands there for a row; null where it is not known. */
export interface CsvColumn<Row> {
  name: string;
  /** Whether its texts come from elsewhere, and so might be taken for a formula. */
  isForeign?: boolean;
  value: (row: Row) => string | number | boolean | null;
}

/** Columns that are the fields of the row of the same name. */
export function fieldColumns<Name extends string>(
  names: readonly Name[],
): CsvColumn<Readonly<Record<Name, string | number | boolean | null>>>[] {
  return names.map((name) => ({ name, value: (row) => row[name] }));
}

/** Answers with the rows as a file of this name. */
export function sendCsv<Row>(
  context: ApiContext,
  name: string,
  columns: readonly CsvColumn<Row>[],
  rows: readonly Row[],
) {
  return context.body(csvText(columns, rows), 200, {
    "Content-Type": "text/csv; charset=utf-8",
    "Content-Disposition": `attachment; filename="${name}.csv"`,
  });
}

/** A table as RFC 4180 has it: a line of names, lines that end with CRLF, quotes where they are needed. */
export function csvText<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string {
  const lines = rows.map((row) =>
    columns.map((column) => cell(column.value(row), column.isForeign ?? false)),
  );
  return [columns.map(({ name }) => name), ...lines].map((line) => `${line.join(",")}\r\n`).join("");
}

function cell(value: string | number | boolean | null, isForeign: boolean): string {
  if (value === null) return "";
  const text = String(value);
  // A spreadsheet would run what begins like a formula; with an apostrophe before it, it is text there.
  const safe = isForeign && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
