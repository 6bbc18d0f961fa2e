import type { z } from "@hono/zod-openapi";
import { isoTime } from "../clock.js";
import { type ListPage, type ListQuery, listPage } from "../lists/lists.js";
import type { ApiContext } from "./endpoint.js";
import { type RepositoryView, type repositoryPageMetaSchema, repositoryView } from "./views.js";

export interface RepositoryPageView {
  data: RepositoryView[];
  meta: z.output<typeof repositoryPageMetaSchema>;
}

/** Answers a list; sets the Link header. */
export async function answerList(context: ApiContext, query: ListQuery): Promise<RepositoryPageView> {
  return pageView(context, await listPage(context.var.modules, query), query);
}

/** A page of a list as it is answered; sets the Link header. */
export function pageView(
  context: ApiContext,
  { rows, asOf, ...found }: ListPage,
  { limit, window }: Pick<ListQuery, "limit" | "window">,
): RepositoryPageView {
  linkPages(context, found);
  return {
    data: rows.map(({ repository, trend }) => repositoryView(repository, trend)),
    meta: { ...found, limit, window, asOf: asOf === null ? null : isoTime(asOf) },
  };
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
