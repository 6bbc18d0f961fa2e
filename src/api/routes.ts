import { MAX_SERIES } from "../charts/charts.js";
import {
  type Access,
  type CachePolicy,
  DEFAULT_LIMIT,
  type Form,
  FREE_LIMIT,
  type Method,
  PER_ROWS,
  type RateLimit,
  type Route,
  type Surcharge,
  UNKNOWN_TOKEN_COST,
} from "../http/http.js";
import * as auth from "./auth.js";
import { listChanges } from "./changes.js";
import { getDumpFile, listDumps } from "./dumps.js";
import { getBadge, getCard } from "./embed-badges.js";
import { getChart, getChartData, getChartPng } from "./embeds.js";
import { listEvents } from "./events.js";
import { exportMe } from "./export.js";
import { getFeed } from "./feeds.js";
import { getHealth, getReadiness } from "./health.js";
import { getHome } from "./home.js";
import { getIndex } from "./index-document.js";
import { getKeyUsage, getOwnUsage } from "./key-usage.js";
import { getLimits } from "./limits.js";
import {
  listNewHot,
  listRepositories,
  listRising,
  listTrending,
  streamRepositories,
  streamRepositoriesCsv,
} from "./lists.js";
import * as me from "./me.js";
import { listMetrics, listRanks } from "./metrics.js";
import { MAX_REFERENCES } from "./named.js";
import type { Operation } from "./operation.js";
import { getSummary, listLanguages, listTopics, suggest } from "./overview.js";
import * as passkeys from "./passkeys.js";
import { EMBED_CACHE } from "./pictures.js";
import {
  getRepository,
  getRepositoryByFullName,
  getRepositoryByFullNamePath,
  getRepositoryById,
} from "./repositories.js";
import * as sessions from "./sessions.js";
import { listSeveralMetrics } from "./several-metrics.js";
import { getTrackRequest, requestTracking } from "./track.js";
import { getWatchlistFeed } from "./watchlist-feed.js";
import * as watchlists from "./watchlists.js";

/** A route of the API, and the operation behind it. */
export interface ApiRoute {
  route: Omit<Route, "handle">;
  operation: Operation;
}

interface Facts {
  access: Access;
  limit: RateLimit;
  cache: CachePolicy;
  form?: Form;
  foldedQuery?: readonly string[];
  aliases?: Readonly<Record<string, string>>;
}

function route(
  method: Method,
  path: string,
  { operation, ...facts }: Facts & { operation: Operation },
): ApiRoute {
  const query = Object.keys(operation.query?.shape ?? {});
  const body = operation.body === null ? "none" : "json";
  const hasCsv = operation.responses[200]?.content?.["text/csv"] !== undefined && query.includes("format");
  const csv = hasCsv ? { csv: true as const } : {};
  return { operation, route: { form: "json", ...facts, ...csv, method, path, query, body } };
}

const limit = (bucket: RateLimit["bucket"], more: Partial<RateLimit> = {}): RateLimit => ({
  bucket,
  cost: 1,
  ...more,
});
const HEAVY = limit("heavy");
/** A list with search words counts as a search. */
const LIST = limit({ withQ: "search", without: "default" }, { surcharges: [PER_ROWS] });
/** Repositories by id and name cost as much as a page with as many rows. */
const NAMED: Surcharge = {
  parameter: ["id", "fullName"],
  counts: "values",
  included: 40,
  step: 30,
  most: MAX_REFERENCES,
};
const ROWS = limit("default", { surcharges: [PER_ROWS] });
/** Of a chart. */
const repositories = { parameter: "repo", counts: "values", most: MAX_SERIES } as const;
/** Of a picture of one. */
const OTHER_LINES: Surcharge = { ...repositories, included: 1, step: 2 };
/** A PNG takes tens of milliseconds of the rendering thread. */
const CARD = 8;
/** The renderer bends each pixel of a sketch, which takes ten times as long. */
const SKETCH: Surcharge = { parameter: "style", counts: "value", value: "sketch", units: 3 * CARD };
const unknownCost = UNKNOWN_TOKEN_COST;

const SHARED: CachePolicy = { kind: "shared" };
const NO_STORE: CachePolicy = { kind: "none" };
/** A whole list. Without a key it is one request. */
const STREAM: Facts = {
  access: "key",
  limit: limit("heavy", { cost: 10, streams: true }),
  cache: NO_STORE,
};
/** Pictures on other sites, and the data in them. Image proxies send requests for many readers, so pictures have a bucket of their own. */
const EMBED: Partial<Facts> = {
  limit: limit("embed"),
  cache: { kind: "shared", control: EMBED_CACHE },
  foldedQuery: ["repo"],
};
const CHART: Partial<Facts> = { ...EMBED, aliases: { range: "window" } };

/** Public data: the same for everybody, cached briefly. */
const open = (path: string, operation: Operation, facts: Partial<Facts> = {}): ApiRoute =>
  route("GET", path, { access: "public", limit: DEFAULT_LIMIT, cache: SHARED, ...facts, operation });
const PROBE = { limit: FREE_LIMIT, cache: NO_STORE } as const;
/** A watchlist addressed by its token. */
const BY_TOKEN = { access: "token", cache: { kind: "private" } } as const;
const byToken = (method: Method, path: string, operation: Operation): ApiRoute =>
  route(method, path, {
    ...BY_TOKEN,
    limit: limit(method === "GET" ? "default" : "write", { surcharges: [PER_ROWS], unknownCost }),
    operation,
  });
const signIn = (method: Method, path: string, operation: Operation): ApiRoute =>
  route(method, path, { access: "browser", limit: limit("auth"), cache: NO_STORE, operation });
const mine = (method: Method, path: string, operation: Operation): ApiRoute =>
  route(method, path, {
    access: "session",
    limit: method === "GET" ? ROWS : limit("write"),
    cache: NO_STORE,
    operation,
  });
/** Counted by address, as leaked keys use up the limits of their account: they must not keep its owner from revoking them. */
const mineByAddress = (method: Method, path: string, operation: Operation): ApiRoute =>
  route(method, path, { access: "session", limit: limit("auth"), cache: NO_STORE, operation });
const USAGE = { limit: ROWS, cache: NO_STORE, aliases: { period: "window" } } as const;

const endsSession = ({ route, operation }: ApiRoute): ApiRoute => ({
  route: { ...route, endsSession: true },
  operation,
});

/** A repository has several addresses, all with the same ETag. */
const DETAIL: Partial<Facts> = { cache: { kind: "shared", tag: "body" } };

/** All routes of the API. If two match a path, the first one wins. */
export const API_ROUTES: readonly ApiRoute[] = [
  open("/api", getIndex),
  open("/api/repos", listRepositories, { limit: { ...LIST, surcharges: [PER_ROWS, NAMED] } }),
  route("GET", "/api/repos.ndjson", { ...STREAM, operation: streamRepositories }),
  route("GET", "/api/repos.csv", { ...STREAM, operation: streamRepositoriesCsv }),
  open("/api/trending", listTrending, { limit: LIST }),
  open("/api/rising", listRising, { limit: LIST }),
  open("/api/new-hot", listNewHot, { limit: LIST }),
  open("/api/feeds/{ranking}.atom", getFeed, { limit: LIST }),
  open("/api/home", getHome),
  open("/api/search/suggest", suggest, { limit: limit("search") }),
  open("/api/repos/{provider}/by-full-name", getRepositoryByFullName, DETAIL),
  open("/api/repos/{provider}/by-full-name/{fullName*}", getRepositoryByFullNamePath, DETAIL),
  open("/api/metrics", listSeveralMetrics, { limit: HEAVY }),
  open("/api/repos/{id}/metrics", listMetrics, { limit: HEAVY }),
  open("/api/repos/{id}/ranks", listRanks, { limit: HEAVY }),
  open("/api/repos/{provider}/{owner}/{name}", getRepository, DETAIL),
  open("/api/repos/{id}", getRepositoryById, DETAIL),
  // The announced changes also depend on the time since each.
  open("/api/changes", listChanges, { limit: ROWS, cache: NO_STORE }),
  open("/api/stats/summary", getSummary),
  open("/api/facets/languages", listLanguages, { limit: ROWS }),
  open("/api/facets/topics", listTopics, { limit: ROWS }),
  open("/api/embed/chart.svg", getChart, {
    ...CHART,
    limit: limit("embed", { surcharges: [OTHER_LINES] }),
    form: "picture",
  }),
  open("/api/embed/chart.png", getChartPng, {
    ...CHART,
    limit: limit("embed", { cost: CARD, surcharges: [OTHER_LINES, SKETCH] }),
  }),
  open("/api/embed/chart", getChartData, {
    ...CHART,
    limit: limit("heavy", { surcharges: [{ ...repositories, included: 1, step: 1 }] }),
  }),
  open("/api/embed/badge.svg", getBadge, { ...EMBED, form: "picture" }),
  open("/api/embed/card.png", getCard, { ...EMBED, limit: limit("embed", { cost: CARD }) }),
  // The list changes without a change of the catalogue.
  open("/api/dumps", listDumps, { cache: { kind: "private" } }),
  open("/api/dumps/{file}", getDumpFile, { cache: { kind: "private" } }),
  open("/api/limits", getLimits, { limit: limit("default", { cost: 0 }), cache: NO_STORE }),
  open("/healthz", getHealth, PROBE),
  open("/readyz", getReadiness, PROBE),

  route("POST", "/api/track", {
    access: "public",
    limit: limit("write", { cost: 3 }),
    cache: NO_STORE,
    operation: requestTracking,
  }),
  route("GET", "/api/track/{requestId}", {
    access: "token",
    limit: limit("default", { unknownCost }),
    cache: NO_STORE,
    operation: getTrackRequest,
  }),

  route("POST", "/api/watchlists", {
    access: "public",
    limit: limit("write", { cost: 3 }),
    cache: { kind: "private" },
    operation: watchlists.createWatchlist,
  }),
  byToken("GET", "/api/watchlists/{token}", watchlists.getWatchlist),
  byToken("PATCH", "/api/watchlists/{token}", watchlists.updateWatchlist),
  byToken("DELETE", "/api/watchlists/{token}", watchlists.removeWatchlist),
  byToken("GET", "/api/watchlists/{token}/repositories", watchlists.listWatchlistRepositories),
  route("GET", "/api/watchlists/{token}/metrics", {
    ...BY_TOKEN,
    limit: limit("heavy", { cost: 3, unknownCost }),
    operation: watchlists.listWatchlistMetrics,
  }),
  route("GET", "/api/watchlists/{token}/feed.atom", {
    ...BY_TOKEN,
    limit: limit("default", { cost: 3, unknownCost }),
    operation: getWatchlistFeed,
  }),
  byToken("POST", "/api/watchlists/{token}/items", watchlists.addWatchlistItem),
  byToken("POST", "/api/watchlists/{token}/removals", watchlists.removeWatchlistItems),
  byToken("DELETE", "/api/watchlists/{token}/items", watchlists.clearWatchlist),
  byToken("DELETE", "/api/watchlists/{token}/items/{repositoryId}", watchlists.removeWatchlistItem),

  signIn("POST", "/api/auth/magic-link", auth.requestMagicLink),
  signIn("POST", "/api/auth/verify", auth.verifyMagicLink),
  signIn("POST", "/api/auth/passkey/options", passkeys.startPasskeySignIn),
  signIn("POST", "/api/auth/passkey/verify", passkeys.verifyPasskey),
  signIn("POST", "/api/auth/sign-in/{site}", auth.startSiteSignIn),
  signIn("GET", "/api/auth/callback/{site}", auth.finishSiteSignIn),
  endsSession(signIn("POST", "/api/auth/sign-out", auth.signOut)),

  mine("GET", "/api/me", me.getMe),
  endsSession(mine("DELETE", "/api/me", me.removeMe)),
  endsSession(mineByAddress("POST", "/api/me/sign-out-everywhere", me.signOutEverywhere)),
  mine("GET", "/api/me/events", listEvents),
  route("GET", "/api/me/export", {
    access: "session",
    limit: limit("heavy", { cost: 10 }),
    cache: NO_STORE,
    operation: exportMe,
  }),
  mineByAddress("GET", "/api/me/sessions", sessions.listSessions),
  mineByAddress("DELETE", "/api/me/sessions", sessions.endOtherSessions),
  mineByAddress("DELETE", "/api/me/sessions/{sessionId}", sessions.endSession),
  mine("GET", "/api/me/watchlist", watchlists.listMyWatchlist),
  route("GET", "/api/me/watchlist/metrics", {
    access: "session",
    limit: limit("heavy", { cost: 3 }),
    cache: NO_STORE,
    operation: watchlists.listMyWatchlistMetrics,
  }),
  mine("POST", "/api/me/watchlist", watchlists.addToMyWatchlist),
  mine("PATCH", "/api/me/watchlist", watchlists.updateMyWatchlist),
  mine("GET", "/api/me/watchlist/items", watchlists.getMyWatchlist),
  mine("DELETE", "/api/me/watchlist/items", watchlists.clearMyWatchlist),
  mine("DELETE", "/api/me/watchlist/{repositoryId}", watchlists.removeFromMyWatchlist),
  mineByAddress("GET", "/api/me/keys", me.listKeys),
  mine("POST", "/api/me/keys", me.createKey),
  mineByAddress("DELETE", "/api/me/keys/{keyId}", me.revokeKey),
  route("GET", "/api/me/keys/{keyId}/usage", { ...USAGE, access: "session", operation: getKeyUsage }),
  route("GET", "/api/key/usage", { ...USAGE, access: "key", operation: getOwnUsage }),
  mine("GET", "/api/me/passkeys", passkeys.listPasskeys),
  mine("POST", "/api/me/passkeys", passkeys.addPasskey),
  mine("POST", "/api/me/passkey-options", passkeys.startAddingPasskey),
  mine("DELETE", "/api/me/passkeys/{passkeyId}", passkeys.removePasskey),
];
