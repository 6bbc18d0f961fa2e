import type { z } from "@hono/zod-openapi";
import { isoTime } from "../clock.js";
import { type ListPage, type ListQuery, listPage } from "../lists/lists.js";
import { sendCsv } from "./csv.js";
import type { ApiContext } from "./endpoint.js";
import type { RouteLimit } from "./meter.js";
import { REPOSITORY_COLUMNS } from "./repository-csv.js";
import { type RepositoryView, type repositoryPageMetaSchema, repositoryView } from "./views.js";

export interface RepositoryPageView {
  data: RepositoryView[];
  meta: z.output<typeof repositoryPageMetaSchema>;
}

/** A list with words to look for is a search. */
export const LIST_LIMIT: RouteLimit = { bucket: { withQ: "search", without: "default" } };

/** Answers a list; sets the Link header. */
export async function answerList(context: ApiContext, query: ListQuery): Promise<RepositoryPageView> {
  return pageView(context, await listPage(context.var.modules, query), query);
}

/** A page of a list as it is answered; sets the Link header. */
export function pageView(
  context: ApiContext,
  { rows, asOf, plan: _, ...found }: ListPage,
  { limit, window }: Pick<ListQuery, "limit" | "window">,
): RepositoryPageView {
  linkPages(context, found);
  return {
    data: rows.map(({ repository, trend }) => repositoryView(repository, trend)),
    meta: { ...found, limit, window, asOf: asOf === null ? null : isoTime(asOf) },
  };
}

/** Sends a page in the asked form; as CSV it is a file of this name, and the Link header alone leads on. */
export function sendPage(
  context: ApiContext,
  page: RepositoryPageView,
  format: "json" | "csv",
  file: string,
) {
  return format === "csv" ? sendCsv(context, file, REPOSITORY_COLUMNS, page.data) : context.json(page, 200);
}

/**
 * Sets the Link header (RFC 8288) from the present address: the first page, the one before, and the next, which is by
 * cursor, or by number where `nextPage` gives one.
 */
export function linkPages(
  context: ApiContext,
  { nextCursor, page, nextPage }: { nextCursor: string | null; page: number | null; nextPage?: number },
): void {
  const links: string[] = [];
  const link = (rel: string, changes: Record<string, string | undefined>) => {
    const url = new URL(context.req.url);
    const parameters = new URLSearchParams(url.search);
    for (const [name, value] of Object.entries(changes)) {
      parameters.delete(name);
      if (value !== undefined) parameters.set(name, value);
    }
    const search = parameters.size === 0 ? "" : `?${parameters}`;
    links.push(`<${context.var.config.baseUrl}${url.pathname}${search}>; rel="${rel}"`);
  };
  link("first", { page: undefined, cursor: undefined });
  if (page !== null && page > 1) link("prev", { page: String(page - 1) });
  if (nextCursor !== null) link("next", { page: undefined, cursor: nextCursor });
  else if (nextPage !== undefined) link("next", { page: String(nextPage) });
  context.header("Link", links.join(", "));
}
