import { createRoute, z } from "@hono/zod-openapi";
import { emailField, SITES } from "../accounts/accounts.js";
import { invalidParameter } from "../errors.js";
import { accountSchema, accountView } from "./account-views.js";
import { type ApiContext, dataResponse, endpoint, errorResponses } from "./endpoint.js";
import { jsonBody } from "./parameters.js";

const tags = ["Signing in"];

const next = z
  .string()
  .max(2_000)
  .default("/")
  .openapi({ description: "Where to go on after signing in: a path of this service, such as /account." });

/** Throws VALIDATION_FAILED for a place to go on to that is not a path of this service. */
function checkedNext(context: ApiContext, path: string): string {
  const safe = context.var.members.accounts.safeNext(path);
  if (safe === undefined) throw invalidParameter("next", "must be a path of this service");
  return safe;
}

export function setCookies(context: ApiContext, cookies: readonly string[]): void {
  for (const cookie of cookies) context.header("Set-Cookie", cookie, { append: true });
}

const BODY_ERRORS = [
  "VALIDATION_FAILED",
  "FORBIDDEN",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
] as const;

export const requestMagicLink = endpoint(
  createRoute({
    method: "post",
    path: "/api/auth/magic-link",
    operationId: "requestMagicLink",
    tags,
    summary: "Ask for a link that signs in, by e-mail",
    description:
      "The answer is the same whether the address is known or not. Three links go to one address in 15 minutes at most; further wishes are answered alike, and no mail is sent.",
    request: jsonBody(z.strictObject({ email: emailField, next })),
    responses: {
      202: dataResponse("The link is on its way.", z.object({ expiresInSeconds: z.int() })),
      ...errorResponses(...BODY_ERRORS),
    },
  }),
  async (context) => {
    const { email, next } = context.req.valid("json");
    const { accounts } = context.var.members;
    await accounts.requestLink(email, checkedNext(context, next));
    return context.json({ data: { expiresInSeconds: accounts.linkSeconds } }, 202);
  },
  { bucket: "auth" },
);

export const verifyMagicLink = endpoint(
  createRoute({
    method: "post",
    path: "/api/auth/verify",
    operationId: "verifyMagicLink",
    tags,
    summary: "Sign in by the token of a link, which works once",
    request: jsonBody(z.strictObject({ token: z.string().max(200) })),
    responses: {
      200: {
        ...dataResponse("Signed in; the answer sets the cookie of the session.", accountSchema),
        headers: z.object({ "Set-Cookie": z.string() }),
      },
      ...errorResponses(...BODY_ERRORS),
    },
  }),
  async (context) => {
    const { accounts } = context.var.members;
    const signedIn = await accounts.signInByLink(context.req.valid("json").token);
    if (signedIn === undefined)
      throw invalidParameter("token", "is not valid: it was used before, is too old, or never was");
    setCookies(context, signedIn.cookies);
    const { account } = signedIn;
    return context.json({ data: accountView(account, await accounts.sitesOf(account.id)) }, 200);
  },
  { bucket: "auth" },
);

const site = z.object({ site: z.enum(SITES).openapi({ description: "A site that is configured here." }) });

export const startSiteSignIn = endpoint(
  createRoute({
    method: "post",
    path: "/api/auth/sign-in/{site}",
    operationId: "startSiteSignIn",
    tags,
    summary: "Begin to sign in by a site that vouches for you",
    request: { params: site, ...jsonBody(z.strictObject({ next })) },
    responses: {
      200: {
        ...dataResponse("Go there with the browser that gets this answer.", z.object({ url: z.string() })),
        headers: z.object({ "Set-Cookie": z.string() }),
      },
      ...errorResponses(...BODY_ERRORS, "NOT_FOUND"),
    },
  }),
  async (context) => {
    const path = checkedNext(context, context.req.valid("json").next);
    const { cookies, location } = await context.var.members.accounts.startOAuth(
      context.req.valid("param").site,
      path,
    );
    setCookies(context, cookies);
    return context.json({ data: { url: location } }, 200);
  },
  { bucket: "auth" },
);

const told = z.string().max(4_000).optional();

export const finishSiteSignIn = endpoint(
  createRoute({
    method: "get",
    path: "/api/auth/callback/{site}",
    operationId: "finishSiteSignIn",
    tags,
    summary: "Where a site sends the browser back to",
    request: {
      params: site,
      query: z.object({ code: told, state: told, error: told, iss: told }),
    },
    responses: {
      302: { description: "Signed in, on to where it was asked for; else to a page that says it failed." },
      ...errorResponses("VALIDATION_FAILED"),
    },
  }),
  async (context) => {
    const query = Object.fromEntries(
      Object.entries(context.req.valid("query")).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      ),
    );
    const { cookies, location } = await context.var.members.accounts.finishOAuth(
      context.req.valid("param").site,
      query,
      context.req.header("cookie") ?? "",
    );
    setCookies(context, cookies);
    return context.redirect(location, 302);
  },
  { bucket: "auth" },
);

export const signOut = endpoint(
  createRoute({
    method: "post",
    path: "/api/auth/sign-out",
    operationId: "signOut",
    tags,
    summary: "End this session",
    responses: {
      204: { description: "Done; also when nobody was signed in." },
      ...errorResponses("FORBIDDEN"),
    },
  }),
  async (context) => {
    const { accounts } = context.var.members;
    const account = await accounts.find(context.req.header("cookie"));
    setCookies(context, account === undefined ? [accounts.clearingCookie] : await accounts.signOut(account));
    return context.body(null, 204);
  },
  { bucket: "auth" },
);
