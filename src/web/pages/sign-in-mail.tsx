import { CODE_LENGTH, CODE_MS, safeNext, typedCode } from "../../accounts/accounts.js";
import { ActionButton, Field, MainButton, Notice } from "../components/elements.js";
import { browserOf, cookieAfterSignIn, requestingBrowser } from "../cookies.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";
import { namesOf, pendingRepositories } from "../saving.js";

/** Signing in with the code or the link of a mail. */

/** The page after requesting a mail. It takes the code in the mail, as many people read their mail on another device. */
export function showSignInSent(request: PageRequest): Promise<Page> {
  return sentPage(request, { isAgain: request.url.searchParams.has("again") });
}

/** Signs in with the code of a mail that this browser requested. */
export async function submitSignInCode(
  request: PageRequest,
  form: URLSearchParams,
): Promise<Page | Redirect> {
  const code = form.get("code")?.trim() ?? "";
  if (typedCode(code) === undefined)
    return sentPage(request, { code, problem: `The code has ${CODE_LENGTH} digits.` });
  return (await finishSignIn(request, { code })) ?? sentPage(request, { problem: NOT_VALID });
}

/** Repeats the mail that this browser requested last, with another link and code. */
export function resendSignInMail(request: PageRequest): Redirect {
  const { browser, cookie } = requestingBrowser(request);
  request.members.accounts.mail.requestAgain(browser);
  return { location: "/sign-in/sent?again=1", status: 303, cookies: [cookie] };
}

/** One message for everything that can be wrong with a code. */
const NOT_VALID =
  "The code is wrong, was used before, or has expired. After five wrong codes, send the email again.";

/**
 * Signs this browser in with the link or the code of a mail that it requested, and continues to the page it was requested on.
 * Undefined if it is refused.
 */
async function finishSignIn(
  request: PageRequest,
  proof: { token: string } | { code: string },
): Promise<Redirect | undefined> {
  const { accounts } = request.members;
  const signedIn = await accounts.signInByMail({ ...proof, browser: browserOf(request) }, request.http);
  if (signedIn === undefined) return undefined;
  const cookies = [...signedIn.cookies, cookieAfterSignIn(request)];
  return { location: safeNext(signedIn.next, request.site.baseUrl) ?? "/", status: 303, cookies };
}

interface SentProps {
  /** The code as it was typed. */
  code?: string;
  problem?: string;
  /** Whether the mail was requested again. */
  isAgain?: boolean;
}

async function sentPage(request: PageRequest, { code, problem, isAgain }: SentProps): Promise<Page> {
  const { isLogged } = request.members.accounts.mail;
  const pending = await pendingRepositories(request);
  return {
    title: "Check your inbox",
    status: problem === undefined ? 200 : 400,
    body: (
      <div class="narrow">
        <h1>Check your inbox</h1>
        {isAgain ? (
          <Notice isDone>{isLogged ? "The log has another code." : "We have sent the email again."}</Notice>
        ) : null}
        <p class="lead">
          {isLogged
            ? "This server has no mail server configured, so the code is in its log: look for “this link signs in”."
            : "We have sent you an email with a code. You can read it on any device."}
          {pending.length === 0 ? null : (
            <>
              {" "}
              Once you have signed in, we save <bdi>{namesOf(pending)}</bdi>.
            </>
          )}
        </p>
        <form method="post" action="/sign-in/code" class="box">
          <Field
            name="code"
            label={`Code, ${CODE_LENGTH} digits`}
            problem={problem}
            value={code}
            required
            maxlength={2 * CODE_LENGTH}
            autocomplete="one-time-code"
            inputmode="numeric"
            isLiteral
          />
          <MainButton>Sign in</MainButton>
          <p class="soft small">
            The link next to it works too, but only in this browser. Both work once and expire after{" "}
            {CODE_MS / 60_000} minutes.
          </p>
        </form>
        <h2>{isLogged ? "No code?" : "No email?"}</h2>
        {isLogged ? null : (
          <p>
            Wait a minute and check your spam folder. An address gets only a few emails in an hour. If you may
            have mistyped it, <a href="/sign-in">start again</a>.
          </p>
        )}
        <ActionButton action="/sign-in/resend">Send again</ActionButton>
      </div>
    ),
  };
}

/**
 * The page that a mailed link opens. Opening it changes nothing, because mail scanners open links too; only its button
 * signs in. The address contains the token, so the page is not cached and sends no referrer. It works only in the browser that requested it; otherwise an attacker could sign somebody in to the attacker's
 * account, or sign in with a link from a mailbox or a log that is not the attacker's. Other browsers are referred to the code.
 */
export async function showSignInLink(request: PageRequest): Promise<Page> {
  const token = request.url.searchParams.get("token") ?? "";
  const isOwn = await request.members.accounts.mail.codes.isOf(token, browserOf(request));
  if (isOwn === undefined) return refused(NO_LINK, 400);
  if (!isOwn)
    return {
      title: "Sign in elsewhere",
      body: (
        <div class="narrow">
          <h1>Go back to the page you requested it on</h1>
          <p class="lead">The link works only in the browser in which you requested it.</p>
          <p>
            If that is on another device, type the code from the same email there. To sign in here,{" "}
            <a href="/sign-in">request an email in this browser</a>.
          </p>
          <p class="soft">If you did not request it, close this page. Nothing has changed.</p>
        </div>
      ),
    };
  return {
    title: "Sign in",
    body: (
      <div class="narrow">
        <h1>Sign in</h1>
        <p>This link signs you in. It works once.</p>
        <form method="post" action="/sign-in/link">
          <input type="hidden" name="token" value={token} />
          <MainButton>Sign in</MainButton>
        </form>
        <p class="soft">If you did not request it, close this page. Nothing has changed.</p>
      </div>
    ),
  };
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
  return {
    title: "Not signed in",
    status,
    body: (
      <>
        <h1>Not signed in</h1>
        <p class="note wrong" role="alert">
          {reason}
        </p>
        <p>
          <a href="/sign-in">Try again</a>
        </p>
      </>
    ),
  };
}
