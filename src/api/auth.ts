import { emailField, SITES } from "../accounts/accounts.js";
import { invalidParameter } from "../errors.js";
import { json, noContent, redirect } from "../http/http.js";
import { z } from "../schema.js";
import { accountSchema, accountView } from "./account-views.js";
import { type ApiServices, dataResponse, errorResponses, operation } from "./operation.js";

const tags = ["Signing in"];

const next = z
  .string()
  .max(2_000)
  .default("/")
  .openapi({ description: "Where to continue after signing in: a path of this service, such as /account." });

/** The validated path to continue at after signing in. Throws VALIDATION_FAILED for anything but a path of this service. */
function checkedNext({ members }: ApiServices, path: string): string {
  const safe = members.accounts.safeNext(path);
  if (safe === undefined) throw invalidParameter("next", "must be a path of this service");
  return safe;
}

const BODY_ERRORS = [
  "VALIDATION_FAILED",
  "FORBIDDEN",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
] as const;

export const requestMagicLink = operation({
  id: "requestMagicLink",
  tags,
  summary: "Send a sign-in link by e-mail",
  description:
    "The response is the same whether the address is known or not. At most three links are sent to one address in 15 minutes; further requests get the same response, and no mail is sent.",
  params: null,
  query: null,
  body: z.strictObject({ email: emailField, next }),
  responses: {
    202: dataResponse("The link is on its way.", z.object({ expiresInSeconds: z.int() })),
    ...errorResponses(...BODY_ERRORS),
  },
  handle: (request) => {
    const { email, next } = request.body;
    const { accounts } = request.services.members;
    accounts.requestLink(email, checkedNext(request.services, next));
    return json({ data: { expiresInSeconds: accounts.linkSeconds } }, { status: 202 });
  },
});

export const verifyMagicLink = operation({
  id: "verifyMagicLink",
  tags,
  summary: "Sign in with the token of a link, which works once",
  params: null,
  query: null,
  body: z.strictObject({ token: z.string().max(200) }),
  responses: {
    200: {
      ...dataResponse("Signed in; the response sets the session cookie.", accountSchema),
      headers: z.object({ "Set-Cookie": z.string() }),
    },
    ...errorResponses(...BODY_ERRORS),
  },
  handle: async (request) => {
    const { accounts, security } = request.services.members;
    const source = request.http.source();
    const signedIn = await accounts.signInByLink(request.body.token);
    if (signedIn === undefined) {
      security.record({ event: "sign_in_refused", source, accountId: null, detail: { method: "link" } });
      throw invalidParameter("token", "is not valid: used before, expired, or unknown");
    }
    security.recordSignIn(signedIn, { method: "link", source });
    const { account, cookies } = signedIn;
    const data = accountView(account, await accounts.sitesOf(account.id));
    return json({ data }, { headers: { "Set-Cookie": cookies } });
  },
});

const site = z.object({ site: z.enum(SITES).openapi({ description: "A configured sign-in site." }) });

export const startSiteSignIn = operation({
  id: "startSiteSignIn",
  tags,
  summary: "Start signing in with another site",
  params: site,
  query: null,
  body: z.strictObject({ next }),
  responses: {
    200: {
      ...dataResponse(
        "Open this address in the browser that received this response.",
        z.object({ url: z.string() }),
      ),
      headers: z.object({ "Set-Cookie": z.string() }),
    },
    ...errorResponses(...BODY_ERRORS, "NOT_FOUND"),
  },
  handle: async (request) => {
    const path = checkedNext(request.services, request.body.next);
    const { cookies, location } = await request.services.members.accounts.startOAuth(
      request.params.site,
      path,
    );
    return json({ data: { url: location } }, { headers: { "Set-Cookie": cookies } });
  },
});

const callbackValue = z.string().max(4_000).optional();

export const finishSiteSignIn = operation({
  id: "finishSiteSignIn",
  tags,
  summary: "Callback of a sign-in site",
  params: site,
  query: z.object({ code: callbackValue, state: callbackValue, error: callbackValue, iss: callbackValue }),
  body: null,
  responses: {
    302: { description: "Redirects to the requested page, or to a page that reports the failure." },
    ...errorResponses("VALIDATION_FAILED"),
  },
  handle: async (request) => {
    const query = Object.fromEntries(
      Object.entries(request.query).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const { accounts, security } = request.services.members;
    const { site: method } = request.params;
    const { cookie = "" } = request.http.headers;
    const { cookies, location, signedIn } = await accounts.finishOAuth(method, query, cookie);
    const source = request.http.source();
    if (signedIn !== undefined) security.recordSignIn(signedIn, { method, source });
    else security.record({ event: "sign_in_refused", source, accountId: null, detail: { method } });
    return redirect(location, 302, { "Set-Cookie": cookies });
  },
});

export const signOut = operation({
  id: "signOut",
  tags,
  summary: "End this session",
  params: null,
  query: null,
  body: null,
  responses: {
    204: { description: "Done, also if nobody was signed in." },
    ...errorResponses("FORBIDDEN"),
  },
  handle: async (request) => {
    const { accounts, security } = request.services.members;
    const account = await accounts.find(request.http.headers.cookie);
    const cookies = account === undefined ? [accounts.clearingCookie] : await accounts.signOut(account);
    if (account !== undefined)
      security.record({ event: "signed_out", source: request.http.source(), accountId: account.id });
    return noContent({ "Set-Cookie": cookies });
  },
});
