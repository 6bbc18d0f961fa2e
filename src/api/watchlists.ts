import { idParameter, nameField } from "../discovery/discovery.js";
import { type HttpRequest, json, noContent, quotaOf, type Reply } from "../http/http.js";
import type { ErrorCode } from "../lib/errors.js";
import { z } from "../lib/schema.js";
import { type Adding, DEFAULT_NAME, type Watchlist, type WatchlistAccess } from "../watchlists/watchlists.js";
import { fullNamesField } from "./named.js";
import { type ApiRequest, type ApiServices, dataResponse, type Operation, operation } from "./operation.js";
import { idsField, tokenParameter } from "./parameters.js";
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

/** Who adds something, for the daily quota; undefined without one. */
function addingOf({ http, services }: { http: HttpRequest; services: ApiServices }): Adding | undefined {
  return quotaOf(http.caller, services.config.watchlistQuota);
}

/** A watchlist as a response; `shown` is the token of the request. */
function watchlistReply(watchlist: Watchlist, shown: string, status = 200): Reply {
  return json({ data: watchlistView(watchlist, shown) }, { status, headers: { ETag: etag(watchlist) } });
}

const personalSchema = watchlistSchema
  .pick({ name: true, ids: true, items: true })
  .openapi("PersonalWatchlist");

function personalReply(watchlist: Watchlist, status = 200): Reply {
  const { name, ids, items } = watchlistView(watchlist, "");
  return json({ data: { name, ids, items } }, { status, headers: { ETag: etag(watchlist) } });
}

/** The watchlist of a request. */
interface Target {
  access: WatchlistAccess;
  /** Who adds to it, if that has a quota. */
  adding: Adding | undefined;
  reply: (watchlist: Watchlist, status?: number) => Reply;
  /** Name of CSV files. */
  file: string;
}

interface Both<Q extends z.ZodObject | null, B extends z.ZodType | null, H extends z.ZodObject | null> {
  ids: readonly [withToken: string, ofAccount: string];
  summary: (list: string) => string;
  description?: string;
  query?: Q;
  body?: B;
  /** Only changes have some. */
  headers?: H;
  responses: (list: z.ZodType) => Operation["responses"];
  errors?: readonly ErrorCode[];
  handle: (
    request: Omit<ApiRequest<null, Q, B, H>, "params" | "account">,
    target: Target,
  ) => Reply | Promise<Reply>;
}

/** An operation on a watchlist with a token, and the same on the watchlist of the account. */
function onBoth<
  Q extends z.ZodObject | null = null,
  B extends z.ZodType | null = null,
  H extends z.ZodObject | null = null,
>({ ids, summary, responses, errors = [], handle, ...rest }: Both<Q, B, H>): readonly [Operation, Operation] {
  const isChange = rest.headers !== undefined;
  return [
    operation({
      ...{ ...rest, id: ids[0], tags, summary: summary("a watchlist"), params: token },
      responses: responses(watchlistSchema),
      errors: ["NOT_FOUND", ...(isChange ? (["FORBIDDEN"] as const) : []), ...errors],
      handle: (request) => {
        const { params: access } = request;
        const reply: Target["reply"] = (watchlist, status) => watchlistReply(watchlist, access.token, status);
        return handle(request, { access, adding: addingOf(request), reply, file: "sidereal-watchlist" });
      },
    }),
    operation({
      ...{ ...rest, id: ids[1], tags: ["Account"], summary: summary("your watchlist") },
      responses: responses(personalSchema),
      errors,
      handle: (request) => {
        const access = { accountId: request.account.id };
        const file = "sidereal-my-watchlist";
        return handle(request, { access, adding: undefined, reply: personalReply, file });
      },
    }),
  ];
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

export const [getWatchlist, getMyWatchlist] = onBoth({
  ids: ["getWatchlist", "getMyWatchlist"],
  summary: (list) => `The name and the repositories of ${list}`,
  responses: (list) => ({ 200: dataResponse("The list, with its version as ETag.", list) }),
  handle: async ({ services: { modules } }, { access, reply }) => reply(await modules.watchlists.get(access)),
});

export const [updateWatchlist, updateMyWatchlist] = onBoth({
  ids: ["updateWatchlist", "updateMyWatchlist"],
  summary: (list) => `Rename ${list}`,
  body: z.strictObject({ name: nameField }),
  headers: precondition,
  responses: (list) => ({ 200: dataResponse("The list.", list) }),
  errors: ["PRECONDITION_FAILED"],
  handle: async ({ body, headers, services: { modules } }, { access, reply }) =>
    reply(await modules.watchlists.rename(access, body.name, preconditionOf(headers))),
});

export const [addWatchlistItem, addToMyWatchlist] = onBoth({
  ids: ["addWatchlistItem", "addToMyWatchlist"],
  summary: (list) => `Add one or several repositories to ${list}`,
  description: "Adds all or none. Repositories already on the list keep their position.",
  body: namedBody,
  headers: precondition,
  responses: (list) => ({
    200: dataResponse("All were on the list already.", list),
    201: dataResponse("The list with them.", list),
  }),
  errors: ["LIMIT_REACHED", "PRECONDITION_FAILED"],
  handle: async ({ body, headers, services: { modules } }, { access, adding, reply }) => {
    const options = { precondition: preconditionOf(headers), adding };
    const { watchlist, added } = await addNamed(modules, body, (ids) =>
      modules.watchlists.add(access, ids, options),
    );
    return reply(watchlist, added > 0 ? 201 : 200);
  },
});

export const [clearWatchlist, clearMyWatchlist] = onBoth({
  ids: ["clearWatchlist", "clearMyWatchlist"],
  summary: (list) => `Remove all repositories from ${list}`,
  headers: precondition,
  responses: () => itemsRemoved,
  errors: ["VALIDATION_FAILED", "PRECONDITION_FAILED"],
  handle: async ({ headers, services: { modules } }, { access }) =>
    noContent({ ETag: etag(await modules.watchlists.removeItems(access, "all", preconditionOf(headers))) }),
});

export const [listWatchlistRepositories, listMyWatchlist] = onBoth({
  ids: ["listWatchlistRepositories", "listMyWatchlist"],
  summary: (list) => `The repositories of ${list}, with their growth`,
  description: "A repository that is gone stays on the list; its availability says so.",
  query: watchedQuery,
  responses: () => ({ 200: watchedResponse }),
  handle: ({ query, services, http }, { access, file }) =>
    watchedPage({ services, http, query, access, file }),
});

export const [listWatchlistMetrics, listMyWatchlistMetrics] = onBoth({
  ids: ["listWatchlistMetrics", "listMyWatchlistMetrics"],
  summary: (list) => `The summed counts of ${list}'s repositories over time`,
  description:
    "All points sum the same repositories: those known at both ends, and those created in between, from 0. Each repository ends with its own newest counts, and the series begins when four fifths of them (all but one of fewer than ten) are known.",
  query: sumsQuery,
  responses: () => ({ 200: sumsResponse }),
  handle: ({ query, services }, { access, file }) => watchedSums({ services, query, access, file }),
});

export const removeFromMyWatchlist = operation({
  id: "removeFromMyWatchlist",
  tags: ["Account"],
  summary: "Remove a repository from your watchlist",
  params: z.object({ repositoryId: idParameter }),
  headers: precondition,
  responses: itemsRemoved,
  errors: ["VALIDATION_FAILED", "PRECONDITION_FAILED"],
  handle: async ({ account, params: { repositoryId }, headers, services: { modules } }) => {
    const access = { accountId: account.id };
    const left = await modules.watchlists.removeItems(access, [repositoryId], preconditionOf(headers));
    return noContent({ ETag: etag(left) });
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
