import { createHash } from "node:crypto";
import { watchlistPage } from "../discovery/discovery.js";
import { WINDOW_LABELS } from "../growth/growth.js";
import { content } from "../http/http.js";
import { isoDay } from "../lib/clock.js";
import { z } from "../lib/schema.js";
import type { Repository } from "../repositories/repositories.js";
import {
  type EntryContext,
  feedDocument,
  feedQuery,
  feedResponse,
  growthEntry,
  periodStart,
  repositoryEntry,
} from "./feeds.js";
import { operation } from "./operation.js";

/** Entries about growth, and as many about other changes. */
const MAX_ENTRIES = 50;

export const getWatchlistFeed = operation({
  id: "getWatchlistFeed",
  tags: ["Watchlists"],
  summary: "The gains of a watchlist's repositories, as an Atom feed",
  description: "Also renames, and repositories that are not available.",
  params: z.object({ token: z.string().openapi({ description: "A share token or feed token." }) }),
  query: feedQuery.pick({ window: true }),
  responses: { 200: feedResponse },
  errors: ["FORBIDDEN", "NOT_FOUND"],
  handle: async ({ params: { token }, query: { window }, services: { modules, config } }) => {
    const { baseUrl } = config;
    const { feeds } = modules.watchlists;
    const { id, name } = await feeds.get(token);
    const rowsQuery = {
      window,
      sort: "stars-gained",
      limit: MAX_ENTRIES,
      page: 1,
      cursor: undefined,
    } as const;
    const page = await watchlistPage(modules, { kind: "watchlist", id }, { ...rowsQuery, order: "desc" });
    const since = periodStart(window, page.asOf ?? 0);
    const news = await feeds.news({ id }, since);
    const renamed = news.renamed.slice(0, MAX_ENTRIES);
    const unavailable = news.unavailable.slice(0, MAX_ENTRIES - renamed.length);
    const named = await modules.catalog.findMany([
      ...renamed.map(({ repositoryId }) => repositoryId),
      ...unavailable,
    ]);
    const byId = new Map(named.map((repository) => [repository.id, repository]));
    // Not the address of the feed, which is a secret: people share entries.
    const context: EntryContext = { feed: "stars-gained", window, baseUrl, path: "/watchlist" };
    const body = feedDocument({
      id: `${baseUrl}/watchlist#${feedKey(token)}-${window}`,
      title: `Sidereal, ${name}: stars gained in ${WINDOW_LABELS[window]}`,
      asOf: page.asOf,
      ageDays: page.ageDays,
      measured: page.measured,
      page: `${baseUrl}/watchlist`,
      entries: [
        ...renamed.flatMap(({ repositoryId, from }) => {
          const repository = byId.get(repositoryId);
          return repository === undefined ? [] : [renamedEntry(context, repository, { from, since })];
        }),
        ...unavailable.flatMap((repositoryId) => {
          const repository = byId.get(repositoryId);
          return repository === undefined ? [] : absentEntry(context, repository);
        }),
        ...page.rows
          .filter(({ trend }) => trend !== undefined && trend.starsDelta !== 0)
          .map((row) => growthEntry(context, row)),
      ],
    });
    return content("application/atom+xml; charset=utf-8", body);
  },
});

/** Part of a hash of the token, which names its feed without giving the token away. */
function feedKey(token: string): string {
  return createHash("sha256").update(`feed ${token}`).digest("hex").slice(0, 16);
}

function renamedEntry(
  context: EntryContext,
  repository: Repository,
  { from, since }: { from: string; since: number },
) {
  return repositoryEntry(context, repository, {
    key: `${repository.id}-renamed-${context.window}-${isoDay(since)}`,
    title: `${repository.fullName} was renamed from ${from}`,
    at: since,
    summary: repository.description ?? `Its name was ${from}.`,
  });
}

const ABSENCE = {
  PRIVATE: "is private",
  BLOCKED: "is blocked by its forge",
  GONE: "is no longer available",
  RENAMED: "renamed",
  HIDDEN: "hidden",
} as const;

/** One entry for as long as the repository is not available. */
function absentEntry(context: EntryContext, repository: Repository) {
  const { availability, id, fullName, countedAt, discoveredAt } = repository;
  // Read after the list: it may be available again.
  if (availability === "AVAILABLE") return [];
  const at = countedAt ?? discoveredAt;
  const entry = {
    key: `${id}-${availability.toLowerCase()}-${isoDay(at)}`,
    title: `${fullName} ${ABSENCE[availability]}`,
    at,
    summary: `Not seen since ${isoDay(at)}.`,
  };
  return [repositoryEntry(context, repository, entry)];
}
