import type { z } from "zod";
import { LAST_NUMBERED, type ListPage, type ListQuery, type ListRow } from "../discovery/discovery.js";
import { addressOf, type HttpRequest, json, type Reply } from "../http/http.js";
import { timeOrNull } from "../lib/clock.js";
import {
  type CsvColumn,
  csv,
  fieldColumns,
  REPOSITORY_COLUMNS,
  type RepositoryRow,
  repositoryRow,
} from "./csv.js";
import { measuredView } from "./freshness.js";
import { type repositoryPageMetaSchema, repositoryView } from "./views.js";

type PageMeta = z.output<typeof repositoryPageMetaSchema>;

/** When the repositories of a watchlist were added to it, by id. */
type AddedAt = ReadonlyMap<number, number>;

/** The same, with the time at which a repository was added to a watchlist. */
export const WATCHED_COLUMNS: readonly CsvColumn<RepositoryRow & { addedAt: string | null }>[] = [
  ...REPOSITORY_COLUMNS,
  ...fieldColumns(["addedAt"]),
];

interface PageOptions {
  http: HttpRequest;
  baseUrl: string;
  query: Pick<ListQuery, "limit" | "window"> & { format: "json" | "csv" };
  /** The time of the response. */
  now: number;
  /** Name of the CSV file. */
  file: string;
  /** Of a watchlist only. A row without an entry was removed meanwhile. */
  addedAt?: AddedAt;
}

/** A page with what only some lists have in their meta. */
type ShownPage = Omit<ListPage, "sort"> & Pick<PageMeta, "sort" | "requested" | "missing">;

/** What the response with a page says about it. */
export function pageMeta(
  { rows: _, asOf, ageDays, measured, renamed, ...found }: ShownPage,
  { limit, window }: Pick<ListQuery, "limit" | "window">,
): PageMeta {
  return {
    ...found,
    totalIsExact: true,
    limit,
    window,
    asOf: timeOrNull(asOf),
    ageDays,
    measured: measuredView(measured),
    ...(renamed && { renamed: { ...renamed, to: { ...renamed.to, id: String(renamed.to.id) } } }),
  };
}

/** A page of a list in the requested format, with its Link header. CSV has no meta, so only the header leads to the next page. */
export function repositoryPage(
  page: ShownPage,
  { http, baseUrl, query, now, file, addedAt }: PageOptions,
): Reply {
  const { rows: all } = page;
  const rows = addedAt === undefined ? all : all.filter(({ repository }) => addedAt.has(repository.id));
  const { limit, format } = query;
  const meta = pageMeta(page, query);
  const viewOf = (row: ListRow) => ({
    ...repositoryView(row),
    addedAt: timeOrNull(addedAt?.get(row.repository.id)),
  });
  const recordOf = addedAt === undefined ? repositoryView : viewOf;
  const table = () => {
    const views = rows.map((row) => repositoryRow(viewOf(row), now));
    return csv(file, addedAt === undefined ? REPOSITORY_COLUMNS : WATCHED_COLUMNS, views);
  };
  const reply = format === "csv" ? table() : json({ data: rows.map((row) => recordOf(row)), meta });
  return { ...reply, headers: { ...reply.headers, Link: linkHeader(http, baseUrl, { ...page, limit }) } };
}

interface PageLinks {
  nextCursor: string | null;
  /** Page number; null for a page requested by cursor. */
  page: number | null;
  /** Number of the next page, for lists without cursors. */
  nextPage?: number;
  limit: number;
  total: number;
}

/** The number of the last page; undefined if it cannot be reached by number. */
function lastPage({ limit, total }: PageLinks): number | undefined {
  const last = Math.ceil(total / limit);
  return last > 0 && last * limit <= LAST_NUMBERED ? last : undefined;
}

/** The Link header (RFC 8288) of a page: the first page, the previous one that has rows, the next, and the last. */
export function linkHeader(http: HttpRequest, baseUrl: string, links: PageLinks): string {
  const { nextCursor, page, nextPage } = links;
  const last = lastPage(links);
  const link = (rel: string, changes: Record<string, string | undefined>): string => {
    const query = new URLSearchParams(http.query);
    for (const [name, value] of Object.entries(changes)) {
      query.delete(name);
      if (value !== undefined) query.set(name, value);
    }
    return `<${baseUrl}${addressOf({ path: http.path, query })}>; rel="${rel}"`;
  };
  const byNumber = (rel: string, number: number) =>
    link(rel, { page: number === 1 ? undefined : String(number), cursor: undefined });
  const all = [byNumber("first", 1)];
  if (page !== null && page > 1 && links.total > 0)
    all.push(byNumber("prev", Math.min(page - 1, last ?? page)));
  if (nextCursor !== null) all.push(link("next", { page: undefined, cursor: nextCursor }));
  else if (nextPage !== undefined) all.push(byNumber("next", nextPage));
  if (last !== undefined) all.push(byNumber("last", last));
  return all.join(", ");
}
