import { type Passkey, requireRecentSignIn } from "../accounts/accounts.js";
import { nameField } from "../discovery/discovery.js";
import { json, noContent } from "../http/http.js";
import { isoTime } from "../lib/clock.js";
import { invalidParameter } from "../lib/errors.js";
import { time, z } from "../lib/schema.js";
import { signedInReply, signedInResponse } from "./me.js";
import { cookieResponse, dataResponse, operation } from "./operation.js";

const SIGN_IN = ["Signing in"];
const ACCOUNT = ["Account"];

/** Bytes in Base64url without padding, of at most this many characters. */
const bytes = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .regex(/^[\w-]+$/, "must be Base64url without padding");

/** WebAuthn limits the id of a credential to 1,023 bytes. */
const credentialId = bytes(1_364);
const clientDataJSON = bytes(2_000);
const transports = z.array(z.string().regex(/^[a-z-]{1,20}$/)).max(8);

/** Parts of the result of `PublicKeyCredential.toJSON()`; all other fields are ignored. */
const newCredential = z.object({
  id: credentialId,
  response: z.object({ clientDataJSON, attestationObject: bytes(8_000), transports: transports.default([]) }),
});

const assertion = z.object({
  id: credentialId,
  response: z.object({ clientDataJSON, authenticatorData: bytes(2_000), signature: bytes(2_000) }),
});

const rpId = z.string().openapi({ description: "The host of the base URL." });
const challenge = z.string().openapi({ description: "Base64url. Works once, for five minutes." });
const timeout = z.int().openapi({ description: "Milliseconds." });
const userVerification = z.literal("required");

const requestOptionsSchema = z
  .object({ challenge, rpId, timeout, userVerification })
  .openapi("PasskeyRequestOptions");

const creationOptionsSchema = z
  .object({
    challenge,
    rp: z.object({ id: rpId, name: z.string() }),
    user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
    pubKeyCredParams: z.array(z.object({ type: z.literal("public-key"), alg: z.int() })),
    timeout,
    excludeCredentials: z.array(z.object({ id: z.string(), type: z.literal("public-key") })),
    authenticatorSelection: z.object({
      residentKey: z.literal("required"),
      requireResidentKey: z.literal(true),
      userVerification,
    }),
    attestation: z.literal("none"),
  })
  .openapi("PasskeyCreationOptions");

export const passkeySchema = z
  .object({
    id: z.string(),
    name: z.string(),
    createdAt: time,
    synced: z
      .boolean()
      .openapi({ description: "Whether it is backed up or on several devices, as of its last use." }),
  })
  .openapi("Passkey");

export function passkeyView({ id, name, createdAt, isSynced }: Passkey): z.output<typeof passkeySchema> {
  return { id, name, createdAt: isoTime(createdAt), synced: isSynced };
}

export const startPasskeySignIn = operation({
  id: "startPasskeySignIn",
  tags: SIGN_IN,
  summary: "Options to sign in with a passkey",
  description:
    "Pass them to `navigator.credentials.get()` in the browser that received this response: its cookie belongs to the challenge. 404 if the base URL is neither https nor localhost.",
  responses: {
    200: cookieResponse("The options, as PublicKeyCredentialRequestOptionsJSON.", requestOptionsSchema),
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
  description: "Ends the previous session of the browser.",
  body: z.strictObject({ credential: assertion }),
  responses: { 200: signedInResponse },
  errors: ["NOT_FOUND"],
  handle: async ({ body: { credential }, http, services: { members } }) => {
    const signedIn = await members.accounts.signInByPasskey(credential, http);
    if (signedIn === undefined)
      throw invalidParameter("credential", "is not accepted: unknown, expired, or for another page");
    return signedInReply(signedIn, members.accounts);
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
    200: cookieResponse("The options, as PublicKeyCredentialCreationOptionsJSON.", creationOptionsSchema),
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
  description: "It can no longer sign in; sessions stay. Needs a sign-in within the last 15 minutes.",
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
