import { idParameter, nameField } from "../discovery/discovery.js";
import { type HttpRequest, json, noContent, quotaOf, type Reply } from "../http/http.js";
import { z } from "../lib/schema.js";
import { type Adding, DEFAULT_NAME, type Watchlist } from "../watchlists/watchlists.js";
import { type ApiServices, dataResponse, operation } from "./operation.js";
import { idsField, tokenParameter } from "./parameters.js";
import { fullNamesField } from "./references.js";
import { createdWatchlistSchema, watchlistSchema, watchlistView } from "./views.js";
import {
  addNamed,
  etag,
  itemsRemoved,
  namedBody,
  precondition,
  preconditionOf,
  readNamed,
  sumsQuery,
  sumsResponse,
  watchedPage,
  watchedQuery,
  watchedResponse,
  watchedSums,
} from "./watchlist-page.js";

const tags = ["Watchlists"];
const token = z.object({ token: tokenParameter });
/** The errors of every change of a list. */
const CHANGE_ERRORS = ["VALIDATION_FAILED", "NOT_FOUND", "FORBIDDEN", "PRECONDITION_FAILED"] as const;

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
  fullNames: fullNamesField.default([]),
});

export const createWatchlist = operation({
  id: "createWatchlist",
  tags,
  summary: "Create a watchlist",
  description:
    "Both tokens are returned only here. `token` can change the list; `shareToken` can only read it. With an Idempotency-Key, a repeat within a day creates nothing and returns the same tokens; 410 if the list was deleted.",
  body: watchlistBody,
  headers: z.object({
    "idempotency-key": z
      .string()
      .regex(/^"?[\x21\x23-\x7e]{16,200}"?$/, "must be 16 to 200 characters without spaces, such as a UUID")
      .transform((text) => text.replaceAll('"', ""))
      .optional()
      .openapi({
        type: "string",
        minLength: 16,
        maxLength: 202,
        description: "A secret name of the request, such as a UUID; 422 with another body.",
        example: '"8e03978e-40d5-43e8-bc93-6894a57f9324"',
      }),
  }),
  responses: {
    201: {
      ...dataResponse("The list.", createdWatchlistSchema),
      headers: z.object({ Location: z.string(), ETag: z.string() }),
    },
  },
  errors: ["FORBIDDEN", "WATCHLIST_DELETED", "IDEMPOTENCY_KEY_REUSED"],
  handle: async (request) => {
    const { body, http } = request;
    const { name, ...named } = body;
    const { watchlists, ...modules } = request.services.modules;
    const { kind, account, name: sender } = http.caller;
    const key = request.headers["idempotency-key"];
    const adding = addingOf(request);
    const created = await addNamed(modules, named, (ids) =>
      key === undefined
        ? watchlists.create(name, ids, adding)
        : watchlists.createOnce(
            { name, repositoryIds: ids, adding },
            { caller: account ?? `${kind} ${sender}`, key, body },
          ),
    );
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
  responses: { 200: dataResponse("The list.", watchlistSchema) },
  errors: ["NOT_FOUND"],
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
  body: z.strictObject({ name: nameField }),
  headers: precondition,
  responses: { 200: dataResponse("The list.", watchlistSchema) },
  errors: ["FORBIDDEN", "NOT_FOUND", "PRECONDITION_FAILED"],
  handle: async (request) => {
    const { token } = request.params;
    const { name } = request.body;
    const condition = preconditionOf(request.headers);
    return watchlistReply(
      await request.services.modules.watchlists.rename({ token }, name, condition),
      token,
    );
  },
});

const removed = { 204: { description: "Done." } };
export const removeWatchlist = operation({
  id: "removeWatchlist",
  tags,
  summary: "Delete a watchlist",
  params: token,
  headers: precondition,
  responses: removed,
  errors: CHANGE_ERRORS,
  handle: async (request) => {
    const condition = preconditionOf(request.headers);
    await request.services.modules.watchlists.remove(request.params, condition);
    return noContent();
  },
});

export const addWatchlistItem = operation({
  id: "addWatchlistItem",
  tags,
  summary: "Add one or several repositories to a watchlist",
  description: "Adds all or none. Repositories already on the list keep their position.",
  params: token,
  body: namedBody,
  headers: precondition,
  responses: {
    200: dataResponse("All were on the list already.", watchlistSchema),
    201: dataResponse("The list with them.", watchlistSchema),
  },
  errors: ["FORBIDDEN", "NOT_FOUND", "LIMIT_REACHED", "PRECONDITION_FAILED"],
  handle: async (request) => {
    const { token } = request.params;
    const { modules } = request.services;
    const options = { precondition: preconditionOf(request.headers), adding: addingOf(request) };
    const { watchlist, added } = await addNamed(modules, request.body, (ids) =>
      modules.watchlists.add({ token }, ids, options),
    );
    return watchlistReply(watchlist, token, added > 0 ? 201 : 200);
  },
});

export const removeWatchlistItem = operation({
  id: "removeWatchlistItem",
  tags,
  summary: "Remove a repository from a watchlist",
  params: token.extend({ repositoryId: idParameter }),
  headers: precondition,
  responses: itemsRemoved,
  errors: CHANGE_ERRORS,
  handle: async (request) => {
    const { token, repositoryId } = request.params;
    const condition = preconditionOf(request.headers);
    const { watchlists } = request.services.modules;
    return noContent({ ETag: etag(await watchlists.removeItems({ token }, [repositoryId], condition)) });
  },
});

// Not a DELETE with parameters, as a misspelt one would remove all.
export const removeWatchlistItems = operation({
  id: "removeWatchlistItems",
  tags,
  summary: "Remove several repositories from a watchlist",
  description: "Those that are not on the list are ignored.",
  params: token,
  body: namedBody,
  headers: precondition,
  responses: { 200: dataResponse("The list without them.", watchlistSchema) },
  errors: ["FORBIDDEN", "NOT_FOUND", "PRECONDITION_FAILED"],
  handle: async (request) => {
    const { token } = request.params;
    const { modules } = request.services;
    const condition = preconditionOf(request.headers);
    const { ids } = await readNamed(modules, request.body);
    return watchlistReply(await modules.watchlists.removeItems({ token }, ids, condition), token);
  },
});

export const clearWatchlist = operation({
  id: "clearWatchlist",
  tags,
  summary: "Remove all repositories from a watchlist",
  params: token,
  headers: precondition,
  responses: itemsRemoved,
  errors: CHANGE_ERRORS,
  handle: async (request) => {
    const condition = preconditionOf(request.headers);
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
  responses: { 200: watchedResponse },
  errors: ["NOT_FOUND"],
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
  responses: { 200: sumsResponse },
  errors: ["NOT_FOUND"],
  handle: ({ params: access, query, services }) =>
    watchedSums({ services, query, access, file: "sidereal-watchlist" }),
});
