import type { FC } from "hono/jsx";
import { finishSignIn } from "../finish-sign-in.js";
import { browserOf } from "../link-browser.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";

/**
 * The page that a mailed link opens. Opening it changes nothing, because mail scanners open links too; only its button
 * signs in. It works only in the browser that requested it; otherwise an attacker could sign somebody in to the attacker's
 * account, or sign in with a link from a mailbox or a log that is not the attacker's. Other browsers are referred to the code.
 */
export async function showSignInLink(request: PageRequest): Promise<Page> {
  const token = request.url.searchParams.get("token") ?? "";
  const isOwn = await request.members.accounts.mail.isLinkOf(token, browserOf(request));
  if (isOwn === undefined) return refused(NO_LINK, 400);
  return isOwn
    ? { title: "Sign in", body: <Confirm token={token} /> }
    : { title: "Sign in elsewhere", body: <Elsewhere /> };
}

/** Signs in with the link, if this browser requested it. */
export async function submitSignInLink(
  request: PageRequest,
  form: URLSearchParams,
): Promise<Page | Redirect> {
  return (await finishSignIn(request, { token: form.get("token") ?? "" })) ?? refused(NO_LINK, 400);
}

/** Shown after a failed sign-in with another site. */
export function showSignInFailed(): Page {
  return refused("The site did not confirm a verified e-mail address, or it took too long.", 200);
}

const NO_LINK =
  "The link was already used, has expired, was requested in another browser, or is invalid. Request a new one.";

function refused(reason: string, status: 200 | 400): Page {
  return { title: "Not signed in", status, body: <Refused reason={reason} /> };
}

/** The address contains the token, so the page is not cached and sends no referrer. */
const Confirm: FC<{ token: string }> = ({ token }) => (
  <div class="narrow">
    <h1>Sign in</h1>
    <p>This link signs you in. It works once.</p>
    <form method="post" action="/sign-in/link">
      <input type="hidden" name="token" value={token} />
      <button type="submit" class="press">
        Sign in
      </button>
    </form>
    <p class="soft">If you did not request it, close this page. Nothing has changed.</p>
  </div>
);

const Elsewhere: FC = () => (
  <div class="narrow">
    <h1>Go back to the page you requested it on</h1>
    <p class="lead">The link works only in the browser in which you requested it.</p>
    <p>
      If that is on another device, type the code from the same email there. To sign in here,{" "}
      <a href="/sign-in">request an email in this browser</a>.
    </p>
    <p class="soft">If you did not request it, close this page. Nothing has changed.</p>
  </div>
);

const Refused: FC<{ reason: string }> = ({ reason }) => (
  <>
    <h1>Not signed in</h1>
    <p class="note wrong" role="alert">
      {reason}
    </p>
    <p>
      <a href="/sign-in">Try again</a>
    </p>
  </>
);
