import type { FC } from "hono/jsx";
import { EmailField } from "../components/field.js";
import { browserOf, clearingCookie } from "../link-browser.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";

/**
 * The page that a mailed link opens. Opening it changes nothing, because mail scanners open links too; only its button
 * signs in. A browser that did not request the link must enter the address it was sent to; otherwise an attacker could
 * sign somebody in to the attacker's account.
 */
export async function showSignInLink(request: PageRequest): Promise<Page> {
  const { searchParams } = request.url;
  const token = searchParams.get("token") ?? "";
  const isOwn = await request.members.accounts.isLinkOf(token, browserOf(request));
  return isOwn === undefined ? refused(NO_LINK, 400) : confirmPage({ token, isOwn });
}

/** Signs in with the link, if this browser requested it or its user knows the address it was sent to. */
export async function submitSignInLink(
  request: PageRequest,
  form: URLSearchParams,
): Promise<Page | Redirect> {
  const { accounts } = request.members;
  const token = form.get("token") ?? "";
  const isOwn = await accounts.isLinkOf(token, browserOf(request));
  if (isOwn === false) {
    const email = form.get("email")?.trim() ?? "";
    if (email === "") return confirmPage({ token, isOwn, email, problem: "Enter the address." });
    const isKnown = await accounts.isLinkTo(token, email);
    if (isKnown === undefined) return refused(NO_LINK, 400);
    if (!isKnown)
      return confirmPage({ token, isOwn, email, problem: "The link was not sent to this address." });
  }
  const signedIn = isOwn === undefined ? undefined : await accounts.signInByLink(token);
  const { security } = request.members;
  const source = request.source();
  if (signedIn === undefined) {
    security.record({ event: "sign_in_refused", source, accountId: null, detail: { method: "link" } });
    return refused(NO_LINK, 400);
  }
  security.recordSignIn(signedIn, { method: "link", source });
  const cookies = [...signedIn.cookies, clearingCookie(request)];
  return { location: accounts.safeNext(signedIn.next) ?? "/", status: 303, cookies };
}

/** Shown after a failed sign-in with another site. */
export function showSignInFailed(): Page {
  return refused("The site did not confirm a verified e-mail address, or it took too long.", 200);
}

const NO_LINK =
  "The link was already used, has expired, was tried with too many addresses, or is invalid. Request a new one.";

function refused(reason: string, status: 200 | 400): Page {
  return { title: "Not signed in", status, body: <Refused reason={reason} /> };
}

interface ConfirmProps {
  token: string;
  /** Whether this browser requested the link. */
  isOwn: boolean;
  /** The address that was typed. */
  email?: string;
  problem?: string;
}

/** The address contains the token, so the page is not cached and sends no referrer. */
function confirmPage(props: ConfirmProps): Page {
  const status = props.problem === undefined ? 200 : 400;
  return { title: "Sign in", status, body: <Confirm {...props} /> };
}

const Confirm: FC<ConfirmProps> = ({ token, isOwn, email, problem }) => (
  <div class="narrow">
    <h1>Sign in</h1>
    {isOwn ? (
      <p>This link signs you in. It works once.</p>
    ) : (
      <p>
        This link was requested in another browser. To use it here, enter the address it was sent to. If
        somebody else gave you the link, close this page: it would sign you in to their account.
      </p>
    )}
    <form method="post" action="/sign-in/link" class={isOwn ? undefined : "box"}>
      <input type="hidden" name="token" value={token} />
      {isOwn ? null : <EmailField problem={problem} value={email} />}
      <button type="submit" class="press">
        Sign in
      </button>
    </form>
    <p class="soft">If you did not request it, close this page. Nothing has changed.</p>
  </div>
);

const Refused: FC<{ reason: string }> = ({ reason }) => (
  <>
    <h1>Not signed in</h1>
    <p class="note" role="alert">
      {reason}
    </p>
    <p>
      <a href="/sign-in">Try again</a>
    </p>
  </>
);
