import { requireRecentSignIn } from "../accounts/accounts.js";
import { idParameter, idText, nameField } from "../discovery/discovery.js";
import { json, noContent } from "../http/http.js";
import { z } from "../lib/schema.js";
import {
  accountSchema,
  accountView,
  apiKeySchema,
  apiKeyView,
  createdApiKeySchema,
  personalWatchlistSchema,
  personalWatchlistView,
} from "./account-views.js";
import { dataResponse, operation } from "./operation.js";
import { idsField } from "./parameters.js";
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

const tags = ["Account"];

export const getMe = operation({
  id: "getMe",
  tags,
  summary: "The signed-in account",
  responses: { 200: dataResponse("The account.", accountSchema) },
  handle: async (request) => {
    const { account } = request;
    const { members } = request.services;
    return json({ data: accountView(account, await members.accounts.sitesOf(account.id)) });
  },
});

export const removeMe = operation({
  id: "removeMe",
  tags,
  summary: "Delete the account with its sessions, keys and watchlist",
  description: "Needs a sign-in within the last 15 minutes.",
  responses: { 204: { description: "Done." } },
  errors: ["REAUTHENTICATION_REQUIRED"],
  handle: async (request) => {
    const { account } = request;
    const { members } = request.services;
    requireRecentSignIn(account);
    const cookies = await members.accounts.remove(account);
    members.events.record("account_deleted", request.http);
    return noContent({ "Set-Cookie": cookies });
  },
});

export const signOutEverywhere = operation({
  id: "signOutEverywhere",
  tags,
  summary: "End all sessions of the account, including this one",
  responses: { 204: { description: "Done." } },
  handle: async (request) => {
    const { account } = request;
    const { members } = request.services;
    await members.accounts.sessions.endAll(account.id);
    members.events.record("sessions_ended", request.http);
    return noContent({ "Set-Cookie": [members.accounts.sessions.clearingCookie] });
  },
});

export const listMyWatchlist = operation({
  id: "listMyWatchlist",
  tags,
  summary: "The repositories of your watchlist, with their growth",
  description: "A repository that is gone stays on the list; its availability says so.",
  query: watchedQuery,
  responses: { 200: watchedResponse },
  handle: ({ account, query, services, http }) => {
    const access = { accountId: account.id };
    return watchedPage({ services, http, query, access, file: "sidereal-my-watchlist" });
  },
});

export const listMyWatchlistMetrics = operation({
  id: "listMyWatchlistMetrics",
  tags,
  summary: "The summed counts of your watchlist's repositories over time",
  description:
    "Between snapshots a repository counts with its latest one; before its first snapshot it does not count.",
  query: sumsQuery,
  responses: { 200: sumsResponse },
  handle: ({ account, query, services }) => {
    const access = { accountId: account.id };
    return watchedSums({ services, query, access, file: "sidereal-my-watchlist" });
  },
});

export const addToMyWatchlist = operation({
  id: "addToMyWatchlist",
  tags,
  summary: "Add one or several repositories to your watchlist",
  description: "Adds all or none. Repositories already on the list keep their position.",
  body: z.union([z.strictObject({ repositoryId: idText }), z.strictObject({ ids: idsField })], {
    error: "must hold either repositoryId, an identifier, or ids, at most 500 that differ from each other",
  }),
  responses: {
    200: dataResponse("All were on the list already.", personalWatchlistSchema),
    201: dataResponse("The list with them.", personalWatchlistSchema),
  },
  errors: ["LIMIT_REACHED"],
  handle: async (request) => {
    const { account } = request;
    const { watchlists } = request.services.modules;
    const { body } = request;
    const isOne = "repositoryId" in body;
    const parameter = isOne ? "repositoryId" : "ids";
    const ids = isOne ? [body.repositoryId] : body.ids;
    const adding = watchlists.add({ accountId: account.id }, ids.map(idNumber));
    const { watchlist, added } = await namingUnknown(parameter, ids, adding);
    return json({ data: personalWatchlistView(watchlist.items) }, { status: added > 0 ? 201 : 200 });
  },
});

export const removeFromMyWatchlist = operation({
  id: "removeFromMyWatchlist",
  tags,
  summary: "Remove a repository from your watchlist",
  params: z.object({ repositoryId: idParameter }),
  responses: { 204: { description: "Done, also if it was not on the list." } },
  errors: ["VALIDATION_FAILED"],
  handle: async (request) => {
    const { account } = request;
    const { watchlists } = request.services.modules;
    await watchlists.removeItems({ accountId: account.id }, request.params.repositoryId);
    return noContent();
  },
});

export const listKeys = operation({
  id: "listKeys",
  tags,
  summary: "Your active API keys, oldest first",
  responses: { 200: dataResponse("The keys, without their secrets.", z.array(apiKeySchema)) },
  handle: async (request) => {
    const { account } = request;
    const { members } = request.services;
    return json({ data: (await members.keys.list(account.id)).map(apiKeyView) });
  },
});

export const createKey = operation({
  id: "createKey",
  tags,
  summary: "Create an API key",
  description:
    "The key itself is returned only here. An account has at most five active keys. Needs a sign-in within the last 15 minutes.",
  body: z.strictObject({ name: nameField }),
  responses: { 201: dataResponse("The key.", createdApiKeySchema) },
  errors: ["REAUTHENTICATION_REQUIRED", "LIMIT_REACHED"],
  handle: async (request) => {
    const { account } = request;
    const { members } = request.services;
    requireRecentSignIn(account);
    const { key, secret } = await members.keys.create(account.id, request.body.name);
    members.events.record("key_created", request.http, { key: String(key.id) });
    return json({ data: { ...apiKeyView(key), key: secret } }, { status: 201 });
  },
});

export const revokeKey = operation({
  id: "revokeKey",
  tags,
  summary: "Revoke an API key, permanently and immediately",
  params: z.object({ keyId: idParameter }),
  responses: { 204: { description: "Done, also if it was revoked before." } },
  errors: ["VALIDATION_FAILED", "NOT_FOUND"],
  handle: async (request) => {
    const { account } = request;
    const { members } = request.services;
    const { keyId } = request.params;
    if (await members.keys.revoke(account.id, keyId))
      members.events.record("key_revoked", request.http, { key: String(keyId) });
    return noContent();
  },
});
