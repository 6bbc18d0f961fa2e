import { CODE_MS, createBrowserSecret, emailField, SITES, safeNext } from "../accounts/accounts.js";
import { json, noContent, redirect } from "../http/http.js";
import { invalidParameter } from "../lib/errors.js";
import { z } from "../lib/schema.js";
import { signedInReply, signedInResponse } from "./me.js";
import { type ApiServices, cookieResponse, dataResponse, operation } from "./operation.js";

const tags = ["Signing in"];

const next = z
  .string()
  .max(2_000)
  .default("/")
  .openapi({ description: "Path of this service to continue to after signing in, such as /account." });

/** The validated path to continue at after signing in. Throws VALIDATION_FAILED for anything but a path of this service. */
function checkedNext({ config }: ApiServices, path: string): string {
  const safe = safeNext(path, config.baseUrl);
  if (safe === undefined) throw invalidParameter("next", "must be a path of this service");
  return safe;
}

export const requestMagicLink = operation({
  id: "requestMagicLink",
  tags,
  summary: "Send a sign-in link and code by e-mail",
  description:
    "Link and code work once, for ten minutes, together with the requestToken of this response. The response is the same whether the address is known or not, and whether a mail limit is reached or not.",
  body: z.strictObject({ email: emailField, next }),
  responses: {
    202: dataResponse(
      "The mail is on its way.",
      z.object({
        expiresInSeconds: z.int(),
        requestToken: z.string().openapi({ description: "A secret that is needed to use the link or code." }),
      }),
    ),
  },
  handle: ({ body: { email, next }, services }) => {
    const requestToken = createBrowserSecret();
    services.members.accounts.mail.request(email, checkedNext(services, next), requestToken);
    return json({ data: { expiresInSeconds: CODE_MS / 1_000, requestToken } }, { status: 202 });
  },
});

const secret = z.string().max(200);
const requestToken = secret.openapi({ description: "From the response that sent the mail." });

export const verifyMagicLink = operation({
  id: "verifyMagicLink",
  tags,
  summary: "Sign in with the token of a link or with a code, which work once",
  description: "A session that the request carries ends.",
  body: z.union(
    [
      z.strictObject({ requestToken, token: secret.openapi({ description: "From the link." }) }),
      z.strictObject({ requestToken, code: secret.openapi({ description: "From the mail." }) }),
    ],
    { error: "must hold requestToken, and either token or code" },
  ),
  responses: { 200: signedInResponse },
  handle: async ({ body, http, services }) => {
    const { accounts } = services.members;
    const signedIn = await accounts.signInByMail({ ...body, browser: body.requestToken }, http);
    if (signedIn === undefined) throw invalidParameter("token" in body ? "token" : "code", NOT_VALID);
    return signedInReply(signedIn, accounts);
  },
});

const NOT_VALID = "is not valid: wrong, used before, expired, tried too often, or of another request";

const site = z.object({ site: z.enum(SITES).openapi({ description: "A configured sign-in site." }) });

export const startSiteSignIn = operation({
  id: "startSiteSignIn",
  tags,
  summary: "Start signing in with another site",
  params: site,
  body: z.strictObject({ next }),
  responses: {
    200: cookieResponse(
      "Open this address in the browser that received this response.",
      z.object({ url: z.string() }),
    ),
  },
  errors: ["NOT_FOUND"],
  handle: async ({ body, params, services }) => {
    const next = checkedNext(services, body.next);
    const { cookies, location } = await services.members.accounts.startOAuth(params.site, next);
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
  responses: {
    302: { description: "Redirects to the requested page, or to a page that reports the failure." },
  },
  handle: async ({ http, params, query, services }) => {
    const { cookies, location } = await services.members.accounts.finishOAuth(params.site, query, http);
    return redirect(location, 302, { "Set-Cookie": cookies });
  },
});

export const signOut = operation({
  id: "signOut",
  tags,
  summary: "End this session",
  responses: { 204: { description: "Done, even if nobody was signed in." } },
  handle: async ({ http, services }) => {
    const { accounts, events } = services.members;
    const account = await accounts.find(http.headers.cookie);
    if (account !== undefined) {
      await accounts.sessions.end(account.id, account.sessionId);
      events.record("signed_out", { account, source: http.source });
    }
    return noContent({ "Set-Cookie": [accounts.sessions.clearingCookie] });
  },
});
