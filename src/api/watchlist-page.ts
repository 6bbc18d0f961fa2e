import { z } from "@hono/zod-openapi";
import type { RawBuilder } from "kysely";
import { plainOrder, repositoryId } from "../catalog/catalog.js";
import { isoTime } from "../clock.js";
import { invalidParameter } from "../errors.js";
import type { Modules } from "../modules.js";
import type { ApiContext } from "./endpoint.js";
import { cursorParameter, limitParameter, pageParameter, windowParameter } from "./parameters.js";
import { linkPages, nextCursorOf, placeOf } from "./repository-list.js";
import { repositoryView } from "./views.js";

const WATCHLIST_SORTS = ["added", "stars", "forks", "pushed", "created"] as const;

/** How the repositories of a watchlist may be asked for. */
export const watchlistPageQuery = z.object({
  window: windowParameter,
  sort: z.enum(WATCHLIST_SORTS).default("added"),
  order: z
    .enum(["asc", "desc"])
    .optional()
    .openapi({ description: "asc for added, desc for the others, unless given." }),
  limit: limitParameter,
  page: pageParameter,
  cursor: cursorParameter,
});

/** A list whose repositories are asked for; `watchlist` names it in cursors. */
interface List {
  watchlist: number | string;
  within: RawBuilder<unknown>;
}

/** A page of the repositories of a list, with their growth. */
export async function answerWatchlistPage(
  context: ApiContext,
  { catalog, rankings, watchlists }: Modules,
  { watchlist, within }: List,
  query: z.output<typeof watchlistPageQuery>,
) {
  const { window, sort, limit } = query;
  const direction = query.order ?? (sort === "added" ? "asc" : "desc");
  const order = sort === "added" ? watchlists.addedOrder(direction) : plainOrder(sort, direction);
  const identity = { watchlist, order: order.name };
  const place = placeOf(query, identity);
  const page = await catalog.list({ filters: {}, order, within, withUnavailable: true, ...place });
  const trends = await rankings.trends(
    page.repositories.map((repository) => repository.id),
    window,
  );
  const { asOf } = await rankings.summary();
  const nextCursor = nextCursorOf(page, identity);
  const number = query.cursor === undefined ? (query.page ?? 1) : null;
  linkPages(context, { nextCursor, page: number });
  const { total, totalIsExact, hasMore } = page;
  const meta = {
    page: number,
    limit,
    total,
    totalIsExact,
    hasMore,
    nextCursor,
    window,
    sort,
    asOf: asOf === null ? null : isoTime(asOf),
  };
  const data = page.repositories.map((repository) => repositoryView(repository, trends.get(repository.id)));
  return { data, meta };
}

/** The ids of repositories that exist; throws VALIDATION_FAILED with the others, as they were written. */
export async function existingIds(
  { catalog }: Modules,
  ids: readonly string[],
  parameter = "ids",
): Promise<number[]> {
  const numbers = ids.map((id) => repositoryId(id) ?? 0);
  const found = await catalog.findMany(numbers);
  const known = new Set(found.map((repository) => repository.id));
  const values = ids.filter((_, i) => !known.has(numbers[i] ?? 0));
  if (values.length > 0) throw invalidParameter(parameter, "no repository has this id", { values });
  return numbers;
}
