import { requireRecentSignIn } from "../accounts/accounts.js";
import { nameField } from "../discovery/discovery.js";
import { json, noContent } from "../http/http.js";
import { invalidParameter } from "../lib/errors.js";
import { z } from "../lib/schema.js";
import { accountSchema, accountView } from "./account-views.js";
import { dataResponse, operation } from "./operation.js";
import {
  assertion,
  creationOptionsSchema,
  newCredential,
  passkeySchema,
  passkeyView,
  requestOptionsSchema,
} from "./passkey-schemas.js";

const SIGN_IN = ["Signing in"];
const ACCOUNT = ["Account"];

const cookieHeader = { headers: z.object({ "Set-Cookie": z.string() }) };
export const startPasskeySignIn = operation({
  id: "startPasskeySignIn",
  tags: SIGN_IN,
  summary: "Options to sign in with a passkey",
  description:
    "Pass them to `navigator.credentials.get()` in the browser that received this response: its cookie belongs to the challenge. 404 where the base URL is neither https nor localhost.",
  responses: {
    200: {
      ...dataResponse("The options, as PublicKeyCredentialRequestOptionsJSON.", requestOptionsSchema),
      ...cookieHeader,
    },
  },
  errors: ["NOT_FOUND"],
  handle: async (request) => {
    const { accounts } = request.services.members;
    const { challenge, rpId, timeoutMs, cookies } = await accounts.passkeys.startSignIn();
    const data = { challenge, rpId, timeout: timeoutMs, userVerification: "required" };
    return json({ data }, { headers: { "Set-Cookie": cookies } });
  },
});

export const verifyPasskey = operation({
  id: "verifyPasskey",
  tags: SIGN_IN,
  summary: "Sign in with a passkey",
  description: "Ends the session that the browser had before.",
  body: z.strictObject({ credential: assertion }),
  responses: {
    200: {
      ...dataResponse("Signed in; the response sets the session cookie.", accountSchema),
      ...cookieHeader,
    },
  },
  errors: ["NOT_FOUND"],
  handle: async ({ body: { credential }, http, services: { members } }) => {
    const { accounts } = members;
    const client = { cookie: http.headers.cookie, source: http.source() };
    const signedIn = await accounts.signInByPasskey(credential, client);
    if (signedIn === undefined)
      throw invalidParameter("credential", "is not accepted: unknown, expired, or for another page");
    const { account, cookies } = signedIn;
    const data = accountView(account, await accounts.sitesOf(account.id));
    return json({ data }, { headers: { "Set-Cookie": cookies } });
  },
});

export const listPasskeys = operation({
  id: "listPasskeys",
  tags: ACCOUNT,
  summary: "Your passkeys, oldest first",
  responses: { 200: dataResponse("The passkeys, without their keys.", z.array(passkeySchema)) },
  handle: async ({ account, services: { members } }) =>
    json({ data: (await members.accounts.passkeys.list(account.id)).map(passkeyView) }),
});

export const startAddingPasskey = operation({
  id: "startAddingPasskey",
  tags: ACCOUNT,
  summary: "Options to create a passkey",
  description:
    "Pass them to `navigator.credentials.create()` in the browser that received this response: its cookie belongs to the challenge. Needs a sign-in within the last 15 minutes.",
  responses: {
    200: {
      ...dataResponse("The options, as PublicKeyCredentialCreationOptionsJSON.", creationOptionsSchema),
      ...cookieHeader,
    },
  },
  errors: ["REAUTHENTICATION_REQUIRED", "NOT_FOUND", "LIMIT_REACHED"],
  handle: async ({ account, http, services: { members } }) => {
    requireRecentSignIn(account);
    const { passkeys } = members.accounts;
    const { options, cookies } = await passkeys.startAdding(account.id, http.headers.cookie ?? "");
    const data = creationOptionsSchema.parse(options);
    return json({ data }, { headers: { "Set-Cookie": cookies } });
  },
});

export const addPasskey = operation({
  id: "addPasskey",
  tags: ACCOUNT,
  summary: "Add the passkey that a browser created",
  description: "An account has at most ten passkeys. Needs a sign-in within the last 15 minutes.",
  body: z.strictObject({ name: nameField, credential: newCredential }),
  responses: { 201: dataResponse("The passkey.", passkeySchema) },
  errors: ["REAUTHENTICATION_REQUIRED", "NOT_FOUND", "LIMIT_REACHED"],
  handle: async ({ account, body, http, services: { members } }) => {
    requireRecentSignIn(account);
    const { name, credential: created } = body;
    const cookie = http.headers.cookie ?? "";
    const passkey = await members.accounts.passkeys.add(account.id, { name, created, cookie });
    if (passkey === undefined)
      throw invalidParameter("credential", "is not accepted: expired, for another page, or known already");
    members.events.record("passkey_added", http, { passkey: passkey.id });
    return json({ data: passkeyView(passkey) }, { status: 201 });
  },
});

export const removePasskey = operation({
  id: "removePasskey",
  tags: ACCOUNT,
  summary: "Remove a passkey",
  description: "It cannot sign in any more; sessions go on. Needs a sign-in within the last 15 minutes.",
  params: z.object({ passkeyId: z.string().max(100) }),
  responses: { 204: { description: "Done." } },
  errors: ["VALIDATION_FAILED", "REAUTHENTICATION_REQUIRED", "NOT_FOUND"],
  handle: async ({ account, params: { passkeyId }, http, services: { members } }) => {
    requireRecentSignIn(account);
    await members.accounts.passkeys.remove(account.id, passkeyId);
    members.events.record("passkey_removed", http, { passkey: passkeyId });
    return noContent();
  },
});
