import type { z } from "zod";
import { isoTime } from "../clock.js";
import { addressOf, type HttpRequest, json, type Reply } from "../http/http.js";
import type { ListPage, ListQuery } from "../lists/lists.js";
import { csv } from "./csv.js";
import { REPOSITORY_COLUMNS } from "./repository-csv.js";
import { type RepositoryView, type repositoryPageMetaSchema, repositoryView } from "./views.js";

export interface RepositoryPageView {
  data: RepositoryView[];
  meta: z.output<typeof repositoryPageMetaSchema>;
}

interface PageOptions {
  http: HttpRequest;
  baseUrl: string;
  query: Pick<ListQuery, "limit" | "window"> & { format: "json" | "csv" };
  /** Name of the CSV file. */
  file: string;
}

/** A page of a list in the requested format, with its Link header. CSV has no meta, so only the header leads to the next page. */
export function repositoryPage(page: ListPage, { http, baseUrl, query, file }: PageOptions): Reply {
  const { rows, asOf, plan: _, ...found } = page;
  const { limit, window, format } = query;
  const data = rows.map(({ repository, trend }) => repositoryView(repository, trend));
  const meta = { ...found, limit, window, asOf: asOf === null ? null : isoTime(asOf) };
  const view: RepositoryPageView = { data, meta };
  const reply = format === "csv" ? csv(file, REPOSITORY_COLUMNS, data) : json(view);
  return { ...reply, headers: { ...reply.headers, Link: linkHeader(http, baseUrl, found) } };
}

/** The position of a page in its list. */
export interface PageLinks {
  nextCursor: string | null;
  /** Page number; null for a page requested by cursor. */
  page: number | null;
  /** Number of the next page, for lists without cursors. */
  nextPage?: number;
}

/** The Link header (RFC 8288) of a page: the first page, the previous one, and the next. */
export function linkHeader(
  http: HttpRequest,
  baseUrl: string,
  { nextCursor, page, nextPage }: PageLinks,
): string {
  const link = (rel: string, changes: Record<string, string | undefined>): string => {
    const query = new URLSearchParams(http.query);
    for (const [name, value] of Object.entries(changes)) {
      query.delete(name);
      if (value !== undefined) query.set(name, value);
    }
    return `<${baseUrl}${addressOf({ path: http.path, query })}>; rel="${rel}"`;
  };
  const links = [link("first", { page: undefined, cursor: undefined })];
  if (page !== null && page > 1) links.push(link("prev", { page: String(page - 1) }));
  if (nextCursor !== null) links.push(link("next", { page: undefined, cursor: nextCursor }));
  else if (nextPage !== undefined) links.push(link("next", { page: String(nextPage) }));
  return links.join(", ");
}
