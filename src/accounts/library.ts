/** The sign-in library with our settings, names of tables, and storage. It takes as long to load as the whole other program. */
import { passkey } from "@better-auth/passkey";
import type { BetterAuthOptions, DBAdapter, Where } from "better-auth";
import { APIError } from "better-auth/api";
import { getAdapter } from "better-auth/db/adapter";
import { betterAuth } from "better-auth/minimal";
import { magicLink } from "better-auth/plugins/magic-link";
import { type GoogleOptions, google, verifyGoogleIdToken } from "better-auth/social-providers";
import type { Database } from "../database/database.js";
import { cookieScope } from "../lib/base-url.js";
import { DAY_MS } from "../lib/clock.js";
import { hashToken } from "../lib/tokens.js";
import type { AccountsContext } from "./context.js";
import { readSecret } from "./secret.js";
import { libraryNow } from "./sessions.js";

/** How long a session lasts; use does not extend it. */
const SESSION_MS = 30 * DAY_MS;

const NO_TOKENS = {
  accessToken: null,
  refreshToken: null,
  idToken: null,
  accessTokenExpiresAt: null,
  refreshTokenExpiresAt: null,
};

function columnsOf<const Field extends string>(...fields: Field[]): Record<Field, string> {
  const columns = fields.map((field) => [field, field.replace(/[A-Z]/g, (big) => `_${big.toLowerCase()}`)]);
  return Object.fromEntries(columns);
}

/** Our names for the library's tables and columns. */
const TABLES = {
  user: { modelName: "accounts", fields: columnsOf("emailVerified", "createdAt", "updatedAt") },
  session: {
    modelName: "sessions",
    fields: {
      ...columnsOf("ipAddress", "userAgent", "expiresAt", "createdAt", "updatedAt"),
      token: "token_hash",
      userId: "account_id",
    },
  },
  account: {
    modelName: "identities",
    fields: {
      ...columnsOf("accessToken", "refreshToken", "idToken", "accessTokenExpiresAt", "refreshTokenExpiresAt"),
      ...columnsOf("createdAt", "updatedAt"),
      providerId: "provider",
      accountId: "provider_account_id",
      userId: "account_id",
    },
  },
  verification: { modelName: "verifications", fields: columnsOf("expiresAt", "createdAt", "updatedAt") },
} satisfies Pick<BetterAuthOptions, "user" | "session" | "account" | "verification">;

const PASSKEY_TABLE = {
  modelName: "passkeys",
  fields: {
    ...columnsOf("publicKey", "deviceType", "backedUp", "createdAt"),
    userId: "account_id",
    credentialID: "credential_id",
  },
};

const SESSIONS = {
  ...TABLES.session,
  expiresIn: SESSION_MS / 1_000,
  disableSessionRefresh: true,
  // Each request looks its session up: a cookie that proves it would outlive its end.
  cookieCache: { enabled: false },
  additionalFields: {
    seenAt: {
      type: "number",
      bigint: true,
      fieldName: "seen_at",
      input: false,
      required: true,
      defaultValue: () => libraryNow().getTime(),
    },
  },
} satisfies BetterAuthOptions["session"];

/** OAuth tokens are not needed after the sign-in, so they are not stored. */
const withoutTokens = async (account: Record<string, unknown>) => ({ data: { ...account, ...NO_TOKENS } });

/** Settings of the sign-in library, except for its storage. Its own routes are never served. */
export function libraryOptions({ config, log }: Pick<AccountsContext, "config" | "log">, secret: string) {
  const { baseUrl, github, google } = config;
  const { prefix, path, secure } = cookieScope(baseUrl);
  return {
    appName: "Sidereal",
    baseURL: `${baseUrl}/api/auth`,
    secret,
    trustedOrigins: [new URL(baseUrl).origin],
    user: {
      ...TABLES.user,
      // An unverified address neither creates an account nor joins one.
      validateUserInfo: ({ user }) =>
        user.emailVerified === true ? undefined : { error: "email_not_verified" },
    },
    session: SESSIONS,
    account: { ...TABLES.account, storeStateStrategy: "cookie", updateAccountOnSignIn: false },
    verification: TABLES.verification,
    socialProviders: { ...(github && { github }), ...(google && { google: googleOptions(google) }) },
    databaseHooks: {
      account: { create: { before: withoutTokens }, update: { before: withoutTokens } },
    },
    advanced: {
      useSecureCookies: false,
      cookiePrefix: `${prefix}sidereal`,
      defaultCookieAttributes: { httpOnly: true, sameSite: "lax", path, secure },
      ipAddress: { disableIpTracking: true },
      database: { validateSchema: false },
    },
    plugins: [
      // Only the half that signs in is used: see `signInVerified`.
      magicLink({
        storeToken: { type: "custom-hasher", hash: async (token) => hashToken(token) },
        sendMagicLink: () => {},
      }),
      passkeys(baseUrl),
    ],
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: {
      level: "warn",
      // Only the message: its arguments may contain tokens and addresses. Never as an error: the library calls wrong requests
      // errors too, and the front logs failures from here.
      log: (level, message) => log[level === "error" ? "warn" : level]({ library: "better-auth" }, message),
    },
  } satisfies BetterAuthOptions;
}

function passkeys(baseUrl: string) {
  const { hostname, origin } = new URL(baseUrl);
  return passkey({
    rpID: hostname,
    rpName: "Sidereal",
    origin,
    schema: { passkey: PASSKEY_TABLE },
    // Discoverable, as nobody types an address before it is used; with a PIN or biometrics, as it is the only factor.
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    advanced: { webAuthnChallengeCookie: "passkey" },
    registration: {
      afterVerification: async ({ ctx, verification: { registrationInfo } }) => {
        if (registrationInfo === undefined || !registrationInfo.userVerified) throw refused();
        const where = [{ field: "credentialID", value: registrationInfo.credential.id }];
        if ((await ctx.context.adapter.findOne({ model: "passkey", where })) !== null) throw refused();
      },
    },
    authentication: {
      afterVerification: async ({ ctx, verification: { authenticationInfo } }) => {
        const { userVerified, credentialID, credentialBackedUp } = authenticationInfo;
        if (!userVerified) throw refused();
        // It may have been synced since it was added.
        await ctx.context.adapter.updateMany({
          model: "passkey",
          where: [
            { field: "credentialID", value: credentialID },
            { field: "backedUp", value: !credentialBackedUp },
          ],
          update: { backedUp: credentialBackedUp },
        });
      },
    },
  });
}

/** The sign-in library on our database. */
export async function openLibrary(context: AccountsContext) {
  const options = libraryOptions(context, await readSecret(context));
  const store = await libraryStore(options, context.database);
  return betterAuth({ ...options, database: () => store });
}

export type Library = Awaited<ReturnType<typeof openLibrary>>;

/**
 * Settings of the sign-in library for Google. The library takes the claims of an ID token as they are, as it comes from Google over
 * TLS. Here its signature, issuer, audience and age are checked first; a token that fails signs nobody in.
 */
function googleOptions(client: { clientId: string; clientSecret: string }) {
  const { getUserInfo } = google(client);
  return {
    ...client,
    getUserInfo: async (tokens) => {
      const { idToken = "" } = tokens;
      const claims = await verifyGoogleIdToken({ token: idToken, audience: client.clientId });
      return claims === null ? null : getUserInfo(tokens);
    },
  } satisfies GoogleOptions;
}

interface Query {
  model: string;
  where?: Where[] | undefined;
}

interface Creation<T> extends Query {
  data: Omit<T, "id">;
  select?: string[] | undefined;
  forceAllowId?: boolean | undefined;
}

/** Replaces session tokens in a query by their hashes. */
function hashed<Q extends Query>(query: Q): Q {
  if (query.model !== "session" || query.where === undefined) return query;
  const where = query.where.map((condition): Where => {
    const { field, value } = condition;
    if (field !== "token") return condition;
    if (typeof value === "string") return { ...condition, value: hashToken(value) };
    return {
      ...condition,
      value: Array.isArray(value) ? value.map((token) => hashToken(String(token))) : value,
    };
  });
  return { ...query, where };
}

/** The session token that a query filters by. */
function tokenOf({ model, where }: Query): string | undefined {
  const value = model === "session" ? where?.find(({ field }) => field === "token")?.value : undefined;
  return typeof value === "string" ? value : undefined;
}

/**
 * The storage of the sign-in library: on our connections, and with hashes instead of session tokens, which the library would
 * store in plain text. Its transactions are ignored: the features we use need none, and one of its queries runs outside of the
 * transaction it belongs to and would wait for it forever. Failed writes are errors of the library's own kind, as it takes others for
 * wrong credentials.
 */
async function libraryStore(options: BetterAuthOptions, database: Database): Promise<DBAdapter> {
  const type = database.dialect.libraryName;
  const writer = await getAdapter({ ...options, database: { db: database.durable, type } });
  const reader = await getAdapter({ ...options, database: { db: database.read, type } });
  const store: DBAdapter = {
    ...writer,
    create: async <T extends Record<string, unknown>, R = T>(query: Creation<T>): Promise<R> => {
      const token = "token" in query.data ? query.data.token : undefined;
      if (query.model !== "session" || typeof token !== "string")
        return writer.create<T, R>(query).catch(unavailable);
      const data = { ...query.data, token: hashToken(token) };
      const created = await writer.create<T, R>({ ...query, data }).catch(unavailable);
      return { ...created, token };
    },
    findOne: async <T>(query: Parameters<DBAdapter["findOne"]>[0]) => {
      const found = await reader.findOne<T>(hashed(query));
      const token = tokenOf(query);
      return found === null || token === undefined ? found : { ...found, token };
    },
    findMany: (query) => reader.findMany(hashed(query)),
    count: (query) => reader.count(hashed(query)),
    update: async <T>(query: Parameters<DBAdapter["update"]>[0]): Promise<T | null> => {
      const { counter } = query.update;
      if (query.model !== "passkey" || typeof counter !== "number" || counter === 0)
        return writer.update<T>(hashed(query)).catch(unavailable);
      // Of two sign-ins at the same time with one signature counter, one is refused.
      const isLower: Where = { field: "counter", operator: "lt", value: counter };
      const where = [...query.where, isLower];
      if ((await writer.updateMany({ ...query, where }).catch(unavailable)) === 0) throw refused();
      return null;
    },
    updateMany: (query) => writer.updateMany(hashed(query)).catch(unavailable),
    delete: (query) => writer.delete(hashed(query)),
    deleteMany: (query) => writer.deleteMany(hashed(query)),
    consumeOne: (query) => writer.consumeOne(hashed(query)),
    incrementOne: (query) => writer.incrementOne(hashed(query)),
    transaction: (work) => work(store),
  };
  return store;
}

function refused(): APIError {
  return new APIError("UNAUTHORIZED", { message: "The passkey is not accepted." });
}

function unavailable(cause: unknown): never {
  throw Object.assign(new APIError("SERVICE_UNAVAILABLE", { message: "The database failed." }), { cause });
}
