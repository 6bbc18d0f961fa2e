import { decodeCursor, type ListRow, type ListSpec, type Lists, listKey } from "../discovery/discovery.js";
import type { StreamPart } from "../http/http.js";
import { ageInDays, isoTime } from "../lib/clock.js";
import { csvHeader, csvLine, REPOSITORY_COLUMNS } from "./csv.js";
import { selectRepositoryFields } from "./fields.js";
import type { StreamedList } from "./list-stream.js";
import { rowAsJson } from "./repository-list.js";
import { repositoryView } from "./views.js";

/** Rows that are read at a time, each time by statements of their own: so no read lasts long, however slow the client is. */
const ROWS_PER_READ = 100;
/** Characters after which a part is sent, as a row may have a hundred thousand. */
const PART_CHARACTERS = 256 * 1024;
/** Rows that the units of the route pay for, and rows for each further unit. */
export const INCLUDED_ROWS = 10_000;
export const ROWS_PER_UNIT = 1_000;

/** All rows of a list as text, in parts: page after page by cursor, so rows neither repeat nor are skipped while data changes. */
export async function* listParts(
  lists: Pick<Lists, "read">,
  { spec, format, fields, now }: StreamedList,
): AsyncGenerator<StreamPart, undefined> {
  const selection = fields && selectRepositoryFields(fields);
  const jsonOf = (row: ListRow) =>
    selection === undefined ? rowAsJson(row) : JSON.stringify(selection.pick(repositoryView(row)));
  let text = format !== "csv" ? "" : csvHeader(selection?.columns ?? REPOSITORY_COLUMNS);
  let rows = 0;
  let paid = 0;
  const part = (): StreamPart => {
    const due = unitsOf(rows);
    // In memory of its own, so that it can be given to another thread.
    const made = { bytes: new TextEncoder().encode(text), units: due - paid };
    paid = due;
    text = "";
    return made;
  };
  let page: ListSpec["page"] = { limit: ROWS_PER_READ, offset: 0 };
  for (;;) {
    const found = await lists.read({ ...spec, page });
    const { asOf } = found;
    const freshness = { asOf: asOf === null ? null : isoTime(asOf), ageDays: ageInDays(asOf, now) };
    const csvOf = (row: ListRow) =>
      selection === undefined
        ? csvLine(REPOSITORY_COLUMNS, { ...repositoryView(row), ...freshness })
        : csvLine(selection.columns, repositoryView(row));
    const lineOf = (row: ListRow): string => (format === "csv" ? csvOf(row) : `${jsonOf(row)}\n`);
    for (const row of found.rows) {
      text += lineOf(row);
      rows++;
      if (text.length >= PART_CHARACTERS) yield part();
    }
    if (text !== "") yield part();
    if (found.nextCursor === null) return undefined;
    page = { limit: ROWS_PER_READ, after: decodeCursor(listKey(spec), found.nextCursor) };
  }
}

/** Units of a number of rows, besides those of the route. */
function unitsOf(rows: number): number {
  return Math.max(0, Math.ceil((rows - INCLUDED_ROWS) / ROWS_PER_UNIT));
}
