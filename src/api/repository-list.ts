import { z } from "@hono/zod-openapi";
import { checkDepth, type Filters, type ListRequest, type Order, plainOrder } from "../catalog/catalog.js";
import { isoTime } from "../clock.js";
import { invalidParameter } from "../errors.js";
import type { Modules } from "../modules.js";
import { GROWTH_ORDERS, type GrowthOrder } from "../rankings/rankings.js";
import { decodeCursor, encodeCursor } from "./cursor.js";
import type { ApiContext } from "./endpoint.js";
import {
  count,
  cursorParameter,
  exactText,
  limitParameter,
  pageParameter,
  providerParameter,
  repeatable,
  searchText,
  timeParameter,
  windowParameter,
} from "./parameters.js";
import { type RepositoryView, type repositoryPageMetaSchema, repositoryView } from "./views.js";

const SORTS = [
  "relevance",
  "trending",
  "rising",
  "new_hot",
  "activity",
  "stars_gained",
  "forks_gained",
  "stars",
  "forks",
  "pushed",
  "created",
] as const;
export type Sort = (typeof SORTS)[number];

const flag = z.enum(["true", "false", "any"]);
const choice = z.enum(["true", "false"]).default("false");
const MAX_STARS = 1e12;

/** Parameters of every list of repositories. */
export const listQuery = z.object({
  q: searchText(200)
    .optional()
    .openapi({ description: "Words that must all occur; the last may be the beginning of one." }),
  provider: providerParameter.optional(),
  language: repeatable("Any of these languages, whatever their case."),
  topic: repeatable("Any of these topics."),
  license: exactText.optional().openapi({ description: "SPDX expression, exactly." }),
  minStars: count(0, MAX_STARS).optional(),
  maxStars: count(0, MAX_STARS).optional(),
  createdAfter: timeParameter.optional(),
  createdBefore: timeParameter.optional(),
  pushedAfter: timeParameter.optional(),
  archived: flag
    .optional()
    .openapi({ description: "Without it plain sorts hold all; sorts by growth leave archived ones out." }),
  fork: flag
    .optional()
    .openapi({ description: "Without it plain sorts hold all; sorts by growth leave forks out." }),
  sort: z
    .enum(SORTS)
    .optional()
    .openapi({ description: "relevance with q (and only then), else trending, unless given." }),
  reliableOnly: choice.openapi({ description: "Only repositories whose trend in the window is reliable." }),
  excludeAnomalous: choice.openapi({ description: "Only repositories without an anomaly in the window." }),
  order: z.enum(["asc", "desc"]).default("desc").openapi({ description: "Not for relevance." }),
  window: windowParameter,
  limit: limitParameter,
  page: pageParameter,
  cursor: cursorParameter,
});

function isGrowthOrder(sort: Sort): sort is GrowthOrder {
  return (GROWTH_ORDERS as readonly string[]).includes(sort);
}

export type ListQuery = z.output<typeof listQuery>;

export interface RepositoryPageView {
  data: RepositoryView[];
  meta: z.output<typeof repositoryPageMetaSchema>;
}

/** Answers a list; sets the Link header. */
export async function answerList(context: ApiContext, query: ListQuery): Promise<RepositoryPageView> {
  const { catalog, search, rankings } = context.var.modules;
  const { window, limit } = query;
  const sort = sortOf(query);
  const q = query.q === undefined || query.q === "" ? undefined : query.q;
  const within = q === undefined ? undefined : search.matches(q);
  const meta = { page: query.cursor === undefined ? (query.page ?? 1) : null, limit, window, sort };
  const summary = await rankings.summary();
  const own = summary.providers.find(({ provider }) => provider === query.provider);
  const asOf = query.provider === undefined ? summary.asOf : (own?.asOf ?? null);
  const times = { asOf: asOf === null ? null : isoTime(asOf) };
  const filters = await filtersOf(context.var.modules, query, sort);
  const order = orderOf(context.var.modules, sort, query, q ?? "");
  const through = rankings.trusted({
    window,
    reliableOnly: query.reliableOnly === "true",
    excludeAnomalous: query.excludeAnomalous === "true",
  });
  const trusted = through === undefined ? "" : `${window} ${query.reliableOnly} ${query.excludeAnomalous}`;
  const identity = { filters, order: order.name, q, trusted };
  const place = placeOf(query, identity);
  if (q !== undefined && within === undefined) {
    linkPages(context, { nextCursor: null, page: meta.page });
    return {
      data: [],
      meta: { ...meta, ...times, total: 0, totalIsExact: true, hasMore: false, nextCursor: null },
    };
  }
  const page = await catalog.list({
    filters,
    order,
    ...(within === undefined ? {} : { within, isWithinBounded: true }),
    ...(through === undefined ? {} : { through }),
    ...place,
  });
  const trends = await rankings.trends(
    page.repositories.map((repository) => repository.id),
    window,
  );
  const nextCursor = nextCursorOf(page, identity);
  linkPages(context, { nextCursor, page: meta.page });
  return {
    data: page.repositories.map((repository) => repositoryView(repository, trends.get(repository.id))),
    meta: {
      ...meta,
      ...times,
      total: page.total,
      totalIsExact: page.totalIsExact,
      hasMore: page.hasMore,
      nextCursor,
    },
  };
}

function sortOf({ q, sort }: ListQuery): Sort {
  const hasQuery = q !== undefined && q !== "";
  if (sort === "relevance" && !hasQuery) {
    const allowed = SORTS.filter((name) => name !== "relevance");
    throw invalidParameter("sort", `relevance needs q; without it, one of ${allowed.join(", ")}`, {
      allowed,
    });
  }
  return sort ?? (hasQuery ? "relevance" : "trending");
}

async function filtersOf({ rankings }: Modules, query: ListQuery, sort: Sort): Promise<Filters> {
  const isGrowth = isGrowthOrder(sort);
  const truth = (value: ListQuery["archived"]): boolean | undefined =>
    value === "any" || (value === undefined && !isGrowth) ? undefined : value === "true";
  const { provider, license, minStars, maxStars, createdAfter, createdBefore, pushedAfter } = query;
  const given = {
    provider,
    languages: query.language && (await rankings.languageNames(query.language)),
    topics: query.topic?.map((topic) => topic.toLowerCase()),
    license,
    minStars,
    maxStars,
    createdAfter,
    createdBefore,
    pushedAfter,
    archived: truth(query.archived),
    fork: truth(query.fork),
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function orderOf({ rankings, search }: Modules, sort: Sort, { window, order }: ListQuery, q: string): Order {
  switch (sort) {
    case "relevance":
      return search.relevanceOrder(q);
    default:
      return isGrowthOrder(sort) ? rankings.growthOrder(sort, window, order) : plainOrder(sort, order);
  }
}

/** Where the page is: after a cursor's place, or so many rows in. */
export function placeOf(
  query: { limit: number; page?: number | undefined; cursor?: string | undefined },
  identity: unknown,
): Pick<ListRequest, "limit" | "offset" | "after"> {
  const { limit, page, cursor } = query;
  if (cursor === undefined) {
    checkDepth(page ?? 1, limit);
    return { limit, offset: ((page ?? 1) - 1) * limit };
  }
  if (page !== undefined) throw invalidParameter("page", "cannot be given together with cursor");
  return { limit, offset: 0, after: decodeCursor(identity, cursor) };
}

export function nextCursorOf(
  page: { repositories: readonly { id: number }[]; keys: readonly number[]; hasMore: boolean },
  identity: unknown,
): string | null {
  const id = page.repositories.at(-1)?.id;
  const key = page.keys.at(-1);
  return page.hasMore && id !== undefined && key !== undefined ? encodeCursor(identity, { key, id }) : null;
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
