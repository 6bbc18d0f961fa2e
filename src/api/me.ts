import { createRoute, z } from "@hono/zod-openapi";
import type { ErrorCode } from "../errors.js";
import { idParameter, idText, watchlistQuery } from "../lists/lists.js";
import {
  accountSchema,
  accountView,
  apiKeySchema,
  apiKeyView,
  createdApiKeySchema,
  personalWatchlistSchema,
  personalWatchlistView,
} from "./account-views.js";
import { setCookies } from "./auth.js";
import { formatParameter, orCsv } from "./csv.js";
import { dataMetaResponse, dataResponse, endpoint, errorResponses } from "./endpoint.js";
import { idsField, jsonBody, nameField } from "./parameters.js";
import { sendPage } from "./repository-list.js";
import { repositoryPageMetaSchema, repositorySchema } from "./views.js";
import { answerWatchlistPage, idNumber, namingUnknown } from "./watchlist-page.js";

const tags = ["Account"];

/** What every route of somebody signed in can answer besides. */
const errors = (...codes: ErrorCode[]) => errorResponses("UNAUTHENTICATED", ...codes);
const changeErrors = (...codes: ErrorCode[]) => errors("FORBIDDEN", ...codes);
const bodyErrors = (...codes: ErrorCode[]) =>
  changeErrors("VALIDATION_FAILED", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", ...codes);

export const getMe = endpoint(
  createRoute({
    method: "get",
    path: "/api/me",
    operationId: "getMe",
    tags,
    summary: "Who is signed in",
    responses: { 200: dataResponse("The account.", accountSchema), ...errors() },
  }),
  async (context) => {
    const { account, members } = context.var;
    return context.json({ data: accountView(account, await members.accounts.sitesOf(account.id)) }, 200);
  },
  { bucket: "default" },
);

export const removeMe = endpoint(
  createRoute({
    method: "delete",
    path: "/api/me",
    operationId: "removeMe",
    tags,
    summary: "Remove the account for good, with its sessions, keys and watchlist",
    responses: { 204: { description: "Done." }, ...changeErrors() },
  }),
  async (context) => {
    const { account, members } = context.var;
    setCookies(context, await members.accounts.remove(account));
    return context.body(null, 204);
  },
  { bucket: "write" },
);

export const signOutEverywhere = endpoint(
  createRoute({
    method: "post",
    path: "/api/me/sign-out-everywhere",
    operationId: "signOutEverywhere",
    tags,
    summary: "End all sessions of the account, this one too",
    responses: { 204: { description: "Done." }, ...changeErrors() },
  }),
  async (context) => {
    const { account, members } = context.var;
    setCookies(context, await members.accounts.signOutEverywhere(account));
    return context.body(null, 204);
  },
  { bucket: "write" },
);

export const listMyWatchlist = endpoint(
  createRoute({
    method: "get",
    path: "/api/me/watchlist",
    operationId: "listMyWatchlist",
    tags,
    summary: "The repositories of your watchlist, with their growth",
    description: "One that is gone stays in the list; its availability says so.",
    request: { query: watchlistQuery.extend({ format: formatParameter }) },
    responses: {
      200: orCsv(
        dataMetaResponse("A page of repositories.", z.array(repositorySchema), repositoryPageMetaSchema),
      ),
      ...errors("VALIDATION_FAILED"),
    },
  }),
  async (context) => {
    const { account, modules } = context.var;
    const id = await modules.watchlists.idOf({ accountId: account.id });
    const { format, ...query } = context.req.valid("query");
    const scope = { kind: "watchlist", id } as const;
    const page = await answerWatchlistPage(context, modules, scope, query);
    return sendPage(context, page, format, "sidereal-my-watchlist");
  },
  { bucket: "default" },
);

export const addToMyWatchlist = endpoint(
  createRoute({
    method: "post",
    path: "/api/me/watchlist",
    operationId: "addToMyWatchlist",
    tags,
    summary: "Add a repository to your watchlist, or several at once",
    description: "All or none are added; those that are there already stay where they are.",
    request: jsonBody(
      z.union([z.strictObject({ repositoryId: idText }), z.strictObject({ ids: idsField })], {
        error:
          "must hold either repositoryId, an identifier, or ids, at most 500 that differ from each other",
      }),
    ),
    responses: {
      200: dataResponse("All were there already.", personalWatchlistSchema),
      201: dataResponse("The list with them.", personalWatchlistSchema),
      ...bodyErrors("LIMIT_REACHED"),
    },
  }),
  async (context) => {
    const { account, modules } = context.var;
    const body = context.req.valid("json");
    const isOne = "repositoryId" in body;
    const parameter = isOne ? "repositoryId" : "ids";
    const ids = isOne ? [body.repositoryId] : body.ids;
    const adding = modules.watchlists.add({ accountId: account.id }, ids.map(idNumber));
    const { watchlist, added } = await namingUnknown(parameter, ids, adding);
    const answer = { data: personalWatchlistView(watchlist.items) };
    return added > 0 ? context.json(answer, 201) : context.json(answer, 200);
  },
  { bucket: "write" },
);

export const removeFromMyWatchlist = endpoint(
  createRoute({
    method: "delete",
    path: "/api/me/watchlist/{repositoryId}",
    operationId: "removeFromMyWatchlist",
    tags,
    summary: "Take a repository out of your watchlist",
    request: { params: z.object({ repositoryId: idParameter }) },
    responses: {
      204: { description: "Done; also when it was not there." },
      ...changeErrors("VALIDATION_FAILED"),
    },
  }),
  async (context) => {
    const { account, modules } = context.var;
    await modules.watchlists.removeItems({ accountId: account.id }, context.req.valid("param").repositoryId);
    return context.body(null, 204);
  },
  { bucket: "write" },
);

export const listKeys = endpoint(
  createRoute({
    method: "get",
    path: "/api/me/keys",
    operationId: "listKeys",
    tags,
    summary: "Your active API keys, oldest first",
    responses: { 200: dataResponse("The keys, without their secrets.", z.array(apiKeySchema)), ...errors() },
  }),
  async (context) => {
    const { account, members } = context.var;
    return context.json({ data: (await members.keys.list(account.id)).map(apiKeyView) }, 200);
  },
  { bucket: "default" },
);

export const createKey = endpoint(
  createRoute({
    method: "post",
    path: "/api/me/keys",
    operationId: "createKey",
    tags,
    summary: "Make an API key",
    description: "The key itself is shown only here. An account has at most five active ones.",
    request: jsonBody(z.strictObject({ name: nameField })),
    responses: {
      201: dataResponse("The key.", createdApiKeySchema),
      ...bodyErrors("LIMIT_REACHED"),
    },
  }),
  async (context) => {
    const { account, members } = context.var;
    const { key, secret } = await members.keys.create(account.id, context.req.valid("json").name);
    return context.json({ data: { ...apiKeyView(key), key: secret } }, 201);
  },
  { bucket: "write" },
);

export const revokeKey = endpoint(
  createRoute({
    method: "delete",
    path: "/api/me/keys/{keyId}",
    operationId: "revokeKey",
    tags,
    summary: "Revoke an API key, at once and for good",
    request: { params: z.object({ keyId: idParameter }) },
    responses: {
      204: { description: "Done; also when it was revoked before." },
      ...changeErrors("VALIDATION_FAILED", "NOT_FOUND"),
    },
  }),
  async (context) => {
    const { account, members } = context.var;
    await members.keys.revoke(account.id, context.req.valid("param").keyId);
    return context.body(null, 204);
  },
  { bucket: "write" },
);
