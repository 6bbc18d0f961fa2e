import type { MiddlewareHandler } from "hono";
import { AppError } from "../errors.js";
import type { ApiEnv } from "./endpoint.js";

/**
 * Who may use a route. `public`: everybody, and all get the same. `watchlist token`: who knows the token in the path; the
 * handler looks it up. `sign-in`: everybody, from our own pages. `session`: who is signed in, from our own pages; a key is
 * of no use there.
 */
export type Access = "public" | "watchlist token" | "sign-in" | "session";

/** What the contract says of each. A key may be sent to all; where it opens nothing, it is checked all the same. */
export const SECURITY: Readonly<Record<Access, Record<string, string[]>[]>> = {
  public: [{}, { bearerKey: [] }, { headerKey: [] }],
  "watchlist token": [{}, { bearerKey: [] }, { headerKey: [] }],
  "sign-in": [{}],
  session: [{ session: [] }],
};

/** What SECURITY names, as OpenAPI has it. */
export const SECURITY_SCHEMES = {
  bearerKey: { type: "http", scheme: "bearer", description: "An API key." },
  headerKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "An API key." },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "sidereal.session_token",
    description: "Set by signing in; with https the name begins with __Host-.",
  },
} as const;

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

const fromOwnOrigin: MiddlewareHandler<ApiEnv> = async (context, next) => {
  const { method } = context.req;
  if (!SAFE_METHODS.has(method) && !context.var.members.accounts.isOwnOrigin(context.req.header()))
    throw new AppError("FORBIDDEN", "This is possible from the pages of this service only.");
  await next();
};

const signedIn: MiddlewareHandler<ApiEnv> = async (context, next) => {
  const account = await context.var.members.accounts.find(context.req.header("cookie"));
  if (account === undefined)
    throw new AppError("UNAUTHENTICATED", "Sign in first; API keys are of no use here.", {
      headers: { "WWW-Authenticate": 'Cookie realm="sidereal"' },
    });
  context.set("account", account);
  await next();
};

/** What stands before the handler of a route with this access. */
export const GUARDS: Readonly<Record<Access, readonly MiddlewareHandler<ApiEnv>[]>> = {
  public: [],
  "watchlist token": [],
  "sign-in": [fromOwnOrigin],
  session: [fromOwnOrigin, signedIn],
};
