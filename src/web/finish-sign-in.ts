import { browserOf, cookiesAfterSignIn } from "./link-browser.js";
import type { PageRequest, Redirect } from "./page-request.js";

/**
 * Signs this browser in with the link or the code of a mail that it requested, and continues to the page it was requested on.
 * Undefined if that is refused. Records either.
 */
export async function finishSignIn(
  request: PageRequest,
  proof: { token: string } | { code: string },
): Promise<Redirect | undefined> {
  const { accounts, security } = request.members;
  const source = request.source();
  const method = "token" in proof ? "link" : "code";
  const client = { cookie: request.cookie ?? undefined, source };
  const signedIn = await accounts.signInByMail({ ...proof, browser: browserOf(request) }, client);
  if (signedIn === undefined) {
    security.record({ event: "sign_in_refused", source, accountId: null, detail: { method } });
    return undefined;
  }
  security.recordSignIn(signedIn, { method, source });
  const mark = await accounts.mail.markFor(signedIn.account.email);
  const cookies = [...signedIn.cookies, ...cookiesAfterSignIn(request, mark)];
  return { location: accounts.safeNext(signedIn.next) ?? "/", status: 303, cookies };
}
