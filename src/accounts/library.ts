import type { BetterAuthOptions } from "better-auth";
import { betterAuth } from "better-auth/minimal";
import { magicLink } from "better-auth/plugins/magic-link";
import { cookieScope } from "../base-url.js";
import type { Config } from "../config/config.js";
import type { Database } from "../database/database.js";
import type { Logger } from "../log.js";
import { hashToken } from "../tokens.js";
import { googleOptions } from "./google.js";
import { libraryStore } from "./library-store.js";
import { libraryNow } from "./library-time.js";

/** How long a session lasts; use does not extend it. */
export const SESSION_MS = 30 * 86_400_000;

export interface LibraryOptions {
  database: Database;
  config: Pick<Config, "baseUrl" | "github" | "google">;
  secret: string;
  log: Logger;
}

/** OAuth tokens are not needed after the sign-in, so they are not stored. */
const NO_TOKENS = {
  accessToken: null,
  refreshToken: null,
  idToken: null,
  accessTokenExpiresAt: null,
  refreshTokenExpiresAt: null,
};

/** Our names for the library's tables and columns. */
const TABLES = {
  user: {
    modelName: "accounts",
    fields: { emailVerified: "email_verified", createdAt: "created_at", updatedAt: "updated_at" },
  },
  session: {
    modelName: "sessions",
    fields: {
      token: "token_hash",
      userId: "account_id",
      ipAddress: "ip_address",
      userAgent: "user_agent",
      expiresAt: "expires_at",
      createdAt: "created_at",
      updatedAt: "updated_at",
    },
  },
  account: {
    modelName: "identities",
    fields: {
      providerId: "provider",
      accountId: "provider_account_id",
      userId: "account_id",
      accessToken: "access_token",
      refreshToken: "refresh_token",
      idToken: "id_token",
      accessTokenExpiresAt: "access_token_expires_at",
      refreshTokenExpiresAt: "refresh_token_expires_at",
      createdAt: "created_at",
      updatedAt: "updated_at",
    },
  },
  verification: {
    modelName: "verifications",
    fields: { expiresAt: "expires_at", createdAt: "created_at", updatedAt: "updated_at" },
  },
} satisfies Pick<BetterAuthOptions, "user" | "session" | "account" | "verification">;

/** Settings of the sign-in library, except for its storage. Its own routes are never served. */
export function libraryOptions({ config, secret, log }: Omit<LibraryOptions, "database">) {
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
    session: {
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
    },
    account: { ...TABLES.account, storeStateStrategy: "cookie", updateAccountOnSignIn: false },
    verification: TABLES.verification,
    socialProviders: { ...(github && { github }), ...(google && { google: googleOptions(google) }) },
    databaseHooks: {
      account: {
        create: { before: async (account) => ({ data: { ...account, ...NO_TOKENS } }) },
        update: { before: async (account) => ({ data: { ...account, ...NO_TOKENS } }) },
      },
    },
    advanced: {
      useSecureCookies: false,
      cookiePrefix: `${prefix}sidereal`,
      defaultCookieAttributes: { httpOnly: true, sameSite: "lax", path, secure },
      ipAddress: { disableIpTracking: true },
      database: { validateSchema: false },
    },
    plugins: [
      // Only the half that signs in is used: see verified-sign-in.ts.
      magicLink({
        storeToken: { type: "custom-hasher", hash: async (token) => hashToken(token) },
        sendMagicLink: () => {},
      }),
    ],
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: {
      level: "warn",
      // Only the message: its arguments may contain tokens and addresses. Never as an error: the library calls wrong requests
      // errors too, and what fails here is logged by the front.
      log: (level, message) => log[level === "error" ? "warn" : level]({ library: "better-auth" }, message),
    },
  } satisfies BetterAuthOptions;
}

/** The sign-in library on our database. */
export async function openLibrary({ database, ...rest }: LibraryOptions) {
  const options = libraryOptions(rest);
  const store = await libraryStore(options, database);
  return betterAuth({ ...options, database: () => store });
}

export type Library = Awaited<ReturnType<typeof openLibrary>>;
