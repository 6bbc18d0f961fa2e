import {
  type Account,
  type Accounts,
  type ApiKey,
  requireRecentSignIn,
  type SignedIn,
} from "../accounts/accounts.js";
import { idParameter, nameField, timeParameter } from "../discovery/discovery.js";
import { json, noContent, type Reply } from "../http/http.js";
import { isoTime, timeOrNull } from "../lib/clock.js";
import { idSchema, time, z } from "../lib/schema.js";
import { cookieResponse, dataResponse, operation } from "./operation.js";

const tags = ["Account"];

export const accountSchema = z
  .object({
    email: z.string(),
    name: z.string().nullable().openapi({ description: "As reported by a sign-in site." }),
    sites: z.array(z.string()).openapi({ description: "Sites that can sign in to this account." }),
    createdAt: time,
    sessionExpiresAt: time,
  })
  .openapi("Account");

export async function accountView(
  account: Account,
  accounts: Accounts,
): Promise<z.output<typeof accountSchema>> {
  return {
    email: account.email,
    name: account.name === "" ? null : account.name,
    sites: await accounts.sitesOf(account.id),
    createdAt: isoTime(account.createdAt),
    sessionExpiresAt: isoTime(account.sessionExpiresAt),
  };
}

/** The contract of `signedInReply`. */
export const signedInResponse = cookieResponse(
  "Signed in; the response sets the session cookie.",
  accountSchema,
);

export async function signedInReply({ account, cookies }: SignedIn, accounts: Accounts): Promise<Reply> {
  return json({ data: await accountView(account, accounts) }, { headers: { "Set-Cookie": cookies } });
}

export const getMe = operation({
  id: "getMe",
  tags,
  summary: "The signed-in account",
  responses: { 200: dataResponse("The account.", accountSchema) },
  handle: async ({ account, services: { members } }) =>
    json({ data: await accountView(account, members.accounts) }),
});

export const removeMe = operation({
  id: "removeMe",
  tags,
  summary: "Delete the account with its sessions, keys and watchlist",
  description: "Needs a sign-in within the last 15 minutes.",
  responses: { 204: { description: "Done." } },
  errors: ["REAUTHENTICATION_REQUIRED"],
  handle: async ({ account, http, services: { members } }) => {
    requireRecentSignIn(account);
    const cookies = await members.accounts.remove(account);
    members.events.record("account_deleted", http);
    return noContent({ "Set-Cookie": cookies });
  },
});

export const signOutEverywhere = operation({
  id: "signOutEverywhere",
  tags,
  summary: "End all sessions of the account, including this one",
  responses: { 204: { description: "Done." } },
  handle: async ({ account, http, services: { members } }) => {
    await members.accounts.sessions.endAll(account.id);
    members.events.record("sessions_ended", http);
    return noContent({ "Set-Cookie": [members.accounts.sessions.clearingCookie] });
  },
});

export const apiKeySchema = z
  .object({
    id: idSchema,
    name: z.string(),
    hint: z.string().openapi({ description: "The last four characters of the key." }),
    createdAt: time,
    lastUsedAt: time.nullable().openapi({ description: "To the minute; null: never." }),
    expiresAt: time
      .nullable()
      .openapi({ description: "From when on it is refused; null: it does not expire." }),
  })
  .openapi("ApiKey");

const createdApiKeySchema = apiKeySchema
  .extend({ key: z.string().openapi({ description: "The key itself. Shown only here." }) })
  .openapi("CreatedApiKey");

export function apiKeyView(key: ApiKey): z.output<typeof apiKeySchema> {
  const { id, name, hint, createdAt, lastUsedAt, endsAt } = key;
  const times = { createdAt: isoTime(createdAt), lastUsedAt: timeOrNull(lastUsedAt) };
  return { id: String(id), name, hint, ...times, expiresAt: timeOrNull(endsAt) };
}

export const listKeys = operation({
  id: "listKeys",
  tags,
  summary: "Your active API keys, oldest first",
  responses: { 200: dataResponse("The keys, without their secrets.", z.array(apiKeySchema)) },
  handle: async ({ account, services: { members } }) =>
    json({ data: (await members.keys.list(account.id)).map(apiKeyView) }),
});

export const createKey = operation({
  id: "createKey",
  tags,
  summary: "Create an API key",
  description:
    "The key itself is returned only here. An account has at most five active keys. Needs a sign-in within the last 15 minutes.",
  body: z.strictObject({
    name: nameField,
    expiresAt: timeParameter.optional().openapi({
      description: "From when on it is refused: a day, or a time with a zone. Absent: it does not expire.",
      example: "2027-04-30",
    }),
  }),
  responses: { 201: dataResponse("The key.", createdApiKeySchema) },
  errors: ["REAUTHENTICATION_REQUIRED", "LIMIT_REACHED"],
  handle: async ({ account, body, http, services: { members } }) => {
    requireRecentSignIn(account);
    const { key, secret } = await members.keys.create(account.id, body.name, body.expiresAt);
    members.events.record("key_created", http, { key: String(key.id) });
    return json({ data: { ...apiKeyView(key), key: secret } }, { status: 201 });
  },
});

export const revokeKey = operation({
  id: "revokeKey",
  tags,
  summary: "Revoke an API key, permanently and immediately",
  params: z.object({ keyId: idParameter }),
  responses: { 204: { description: "Done, even if it was revoked before." } },
  errors: ["VALIDATION_FAILED", "NOT_FOUND"],
  handle: async ({ account, params: { keyId }, http, services: { members } }) => {
    if (await members.keys.revoke(account.id, keyId))
      members.events.record("key_revoked", http, { key: String(keyId) });
    return noContent();
  },
});
