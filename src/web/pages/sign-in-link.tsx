import type { FC } from "hono/jsx";
import { Field } from "../components/field.js";
import { browserOf, forgettingCookie } from "../link-browser.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";

/**
 * The page that a mailed link opens. Opening it changes nothing, as scanners of mail open links too; only its button
 * signs in. In a browser that has not asked for the link it wants to be told where the link was sent: otherwise somebody
 * could be led into an account that is not theirs.
 */
export async function showSignInLink(request: PageRequest): Promise<Page> {
  const { searchParams } = request.url;
  const link = { token: searchParams.get("token") ?? "", next: searchParams.get("next") ?? "/" };
  const isOwn = await request.members.accounts.isLinkOf(link.token, browserOf(request));
  return isOwn === undefined ? refused(NO_LINK, 400) : confirmPage({ ...link, isOwn });
}

/** Signs in with the link, if this browser requested it or its user knows the address it was sent to. */
export async function submitSignInLink(
  request: PageRequest,
  form: URLSearchParams,
): Promise<Page | Redirect> {
  const { accounts } = request.members;
  const link = { token: form.get("token") ?? "", next: form.get("next") ?? "/" };
  const isOwn = await accounts.isLinkOf(link.token, browserOf(request));
  if (isOwn === false) {
    const email = form.get("email")?.trim() ?? "";
    if (email === "") return confirmPage({ ...link, isOwn, email, problem: "The address is missing." });
    const isKnown = await accounts.isLinkTo(link.token, email);
    if (isKnown === undefined) return refused(NO_LINK, 400);
    if (!isKnown)
      return confirmPage({ ...link, isOwn, email, problem: "The link was not sent to this address." });
  }
  const signedIn = isOwn === undefined ? undefined : await accounts.signInByLink(link.token);
  if (signedIn === undefined) return refused(NO_LINK, 400);
  const cookies = [...signedIn.cookies, forgettingCookie(request)];
  return { location: accounts.safeNext(link.next) ?? "/", status: 303, cookies };
}

/** Where a site sends the browser when signing in failed. */
export function showSignInFailed(): Page {
  return refused("The site did not confirm a verified e-mail address, or it took too long.", 200);
}

const NO_LINK =
  "The link was used before, is too old, was tried with too many addresses, or never was one. Ask for another.";

function refused(reason: string, status: 200 | 400): Page {
  return { title: "Not signed in", status, body: <Refused reason={reason} /> };
}

interface ConfirmProps {
  token: string;
  next: string;
  /** Whether this browser has asked for the link. */
  isOwn: boolean;
  /** The address that was typed. */
  email?: string;
  problem?: string;
}

/** The token stands in the address, so the address goes nowhere else, and nobody keeps the page. */
function confirmPage(props: ConfirmProps): Page {
  const status = props.problem === undefined ? 200 : 400;
  return { title: "Sign in", status, body: <Confirm {...props} /> };
}

const Confirm: FC<ConfirmProps> = ({ token, next, isOwn, email, problem }) => (
  <div class="narrow">
    <h1>Sign in</h1>
    {isOwn ? (
      <p>You have opened a link that signs in. It works once.</p>
    ) : (
      <p>
        This link was asked for in another browser. To use it here, tell the address it was sent to. If
        somebody else gave you the link, close this page: it would sign you in to their account.
      </p>
    )}
    <form method="post" action="/sign-in/link" class={isOwn ? undefined : "box"}>
      <input type="hidden" name="token" value={token} />
      <input type="hidden" name="next" value={next} />
      {isOwn ? null : (
        <Field
          name="email"
          label="The address it was sent to"
          problem={problem}
          value={email}
          type="email"
          required
          maxlength={254}
          autocomplete="email"
        />
      )}
      <button type="submit" class="press">
        Sign in here
      </button>
    </form>
    <p class="soft">If you have not asked for it, close this page: nothing has happened.</p>
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
