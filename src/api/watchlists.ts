import { idParameter, nameField } from "../discovery/discovery.js";
import { type HttpRequest, json, noContent, quotaOf, type Reply } from "../http/http.js";
import type { ErrorCode } from "../lib/errors.js";
import { z } from "../lib/schema.js";
import { type Adding, DEFAULT_NAME, type Precondition, type Watchlist } from "../watchlists/watchlists.js";
import { type ApiServices, dataResponse, errorResponses, operation } from "./operation.js";
import { idsField, tokenParameter } from "./parameters.js";
import { createdWatchlistSchema, watchlistSchema, watchlistView } from "./views.js";
import {
  idNumber,
  namingUnknown,
  sumsQuery,
  sumsResponse,
  watchedPage,
  watchedQuery,
  watchedResponse,
  watchedSums,
} from "./watchlist-page.js";

const tags = ["Watchlists"];
const token = z.object({ token: tokenParameter });
const precondition = z.object({
  "if-match": z
    .string()
    .max(500)
    .optional()
    .openapi({ description: "ETag of the version that was read; 412 if the list has changed since." }),
});
/** The errors of every request with a body, and those of every change of a list. */
const BODY_ERRORS = ["PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const;
const changeErrors = (...codes: ErrorCode[]) =>
  errorResponses("VALIDATION_FAILED", "NOT_FOUND", "FORBIDDEN", "PRECONDITION_FAILED", ...codes);

/** The ETag of the current version of a list; strong, so that it works with If-Match. */
function etag({ version, canEdit }: Watchlist): string {
  return `"${version}${canEdit ? "" : "r"}"`;
}

/** Whether an If-Match header (RFC 9110, 13.1.1) allows the change: `*` or a matching tag; weak tags never match. */
function preconditionOf(header: string | undefined): Precondition | undefined {
  if (header === undefined || header.trim() === "*") return undefined;
  const tags = header.split(",").map((tag) => tag.trim());
  return (version) => tags.includes(`"${version}"`);
}

/** Who adds something, for the daily quota; undefined where none is set. */
function addingOf({ http, services }: { http: HttpRequest; services: ApiServices }): Adding | undefined {
  return quotaOf(http.caller, services.config.watchlistQuota);
}

/** A watchlist as a response; `shown` is the token of the request. */
function watchlistReply(watchlist: Watchlist, shown: string, status = 200): Reply {
  return json({ data: watchlistView(watchlist, shown) }, { status, headers: { ETag: etag(watchlist) } });
}

export const watchlistBody = z.strictObject({
  name: nameField.default(DEFAULT_NAME),
  ids: idsField.default([]),
});

export const createWatchlist = operation({
  id: "createWatchlist",
  tags,
  summary: "Create a watchlist",
  description:
    "Both tokens are returned only here. `token` can change the list; `shareToken` can only read it.",
  params: null,
  query: null,
  body: watchlistBody,
  responses: {
    201: {
      ...dataResponse("The list.", createdWatchlistSchema),
      headers: z.object({ Location: z.string(), ETag: z.string() }),
    },
    ...errorResponses("VALIDATION_FAILED", "FORBIDDEN", ...BODY_ERRORS),
  },
  handle: async (request) => {
    const { name, ids } = request.body;
    const { watchlists } = request.services.modules;
    const creating = watchlists.create(name, ids.map(idNumber), addingOf(request));
    const created = await namingUnknown("ids", ids, creating);
    const { watchlist, token, shareToken } = created;
    const data = { ...watchlistView(watchlist, token), shareToken };
    const headers = { Location: `/api/watchlists/${token}`, ETag: etag(watchlist) };
    return json({ data }, { status: 201, headers });
  },
});

export const getWatchlist = operation({
  id: "getWatchlist",
  tags,
  summary: "A watchlist, by either token",
  params: token,
  query: null,
  body: null,
  responses: { 200: dataResponse("The list.", watchlistSchema), ...errorResponses("NOT_FOUND") },
  handle: async (request) => {
    const { token } = request.params;
    return watchlistReply(await request.services.modules.watchlists.get({ token }), token);
  },
});

export const updateWatchlist = operation({
  id: "updateWatchlist",
  tags,
  summary: "Rename a watchlist",
  params: token,
  query: null,
  body: z.strictObject({ name: nameField }),
  headers: precondition,
  responses: {
    200: dataResponse("The list.", watchlistSchema),
    ...changeErrors(...BODY_ERRORS),
  },
  handle: async (request) => {
    const { token } = request.params;
    const { name } = request.body;
    const condition = preconditionOf(request.headers["if-match"]);
    return watchlistReply(
      await request.services.modules.watchlists.rename({ token }, name, condition),
      token,
    );
  },
});

const removed = { 204: { description: "Done." }, ...changeErrors() };
const itemsRemoved = {
  204: {
    description: "Done, also if there was nothing to remove.",
    headers: z.object({ ETag: z.string().openapi({ description: "Of the list as it is now." }) }),
  },
  ...changeErrors(),
};

export const removeWatchlist = operation({
  id: "removeWatchlist",
  tags,
  summary: "Delete a watchlist",
  params: token,
  query: null,
  body: null,
  headers: precondition,
  responses: removed,
  handle: async (request) => {
    const condition = preconditionOf(request.headers["if-match"]);
    await request.services.modules.watchlists.remove(request.params, condition);
    return noContent();
  },
});

export const addWatchlistItem = operation({
  id: "addWatchlistItem",
  tags,
  summary: "Add a repository to a watchlist",
  params: token,
  query: null,
  body: z.strictObject({ repositoryId: idParameter }),
  headers: precondition,
  responses: {
    200: dataResponse("It was on the list already.", watchlistSchema),
    201: dataResponse("The list with it.", watchlistSchema),
    ...changeErrors("LIMIT_REACHED", ...BODY_ERRORS),
  },
  handle: async (request) => {
    const { token } = request.params;
    const { repositoryId } = request.body;
    const options = { precondition: preconditionOf(request.headers["if-match"]), adding: addingOf(request) };
    const work = request.services.modules.watchlists.add({ token }, [repositoryId], options);
    const { watchlist, added } = await namingUnknown("repositoryId", undefined, work);
    return watchlistReply(watchlist, token, added > 0 ? 201 : 200);
  },
});

export const removeWatchlistItem = operation({
  id: "removeWatchlistItem",
  tags,
  summary: "Remove a repository from a watchlist",
  params: token.extend({ repositoryId: idParameter }),
  query: null,
  body: null,
  headers: precondition,
  responses: itemsRemoved,
  handle: async (request) => {
    const { token, repositoryId } = request.params;
    const condition = preconditionOf(request.headers["if-match"]);
    const { watchlists } = request.services.modules;
    return noContent({ ETag: etag(await watchlists.removeItems({ token }, repositoryId, condition)) });
  },
});

export const clearWatchlist = operation({
  id: "clearWatchlist",
  tags,
  summary: "Remove all repositories from a watchlist",
  params: token,
  query: null,
  body: null,
  headers: precondition,
  responses: itemsRemoved,
  handle: async (request) => {
    const condition = preconditionOf(request.headers["if-match"]);
    const { watchlists } = request.services.modules;
    return noContent({ ETag: etag(await watchlists.removeItems(request.params, "all", condition)) });
  },
});

export const listWatchlistRepositories = operation({
  id: "listWatchlistRepositories",
  tags,
  summary: "The repositories of a watchlist, with their growth",
  description: "A repository that is gone stays on the list; its availability says so.",
  params: token,
  query: watchedQuery,
  body: null,
  responses: { 200: watchedResponse, ...errorResponses("VALIDATION_FAILED", "NOT_FOUND") },
  handle: ({ params: access, query, services, http }) =>
    watchedPage({ services, http, query, access, file: "sidereal-watchlist" }),
});

export const listWatchlistMetrics = operation({
  id: "listWatchlistMetrics",
  tags,
  summary: "The summed counts of a watchlist's repositories over time",
  description:
    "Between snapshots a repository counts with its latest one; before its first snapshot it does not count.",
  params: token,
  query: sumsQuery,
  body: null,
  responses: { 200: sumsResponse, ...errorResponses("VALIDATION_FAILED", "NOT_FOUND") },
  handle: ({ params: access, query, services }) =>
    watchedSums({ services, query, access, file: "sidereal-watchlist" }),
});
