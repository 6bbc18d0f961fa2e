import type { FC } from "hono/jsx";
import { CODE_LENGTH, typedCode } from "../../accounts/accounts.js";
import { Field } from "../components/field.js";
import { Notice } from "../components/notice.js";
import { finishSignIn } from "../finish-sign-in.js";
import { requestingBrowser } from "../link-browser.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";
import { pendingNames } from "../pending-save.js";

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

/** Mails another link and code for what this browser requested last. */
export function resendSignInMail(request: PageRequest): Redirect {
  const { requester, cookie } = requestingBrowser(request);
  request.members.accounts.mail.requestAgain(requester);
  return { location: "/sign-in/sent?again=1", status: 303, cookies: [cookie] };
}

/** The same whatever is wrong with a code. */
const NOT_VALID =
  "The code is wrong, was used before, or has expired. After five wrong codes, send the email again.";

interface SentProps {
  /** What was typed. */
  code?: string;
  problem?: string;
  /** Whether the mail was requested again. */
  isAgain?: boolean;
}

async function sentPage(request: PageRequest, props: SentProps): Promise<Page> {
  const { isLogged, linkSeconds } = request.members.accounts.mail;
  const pending = await pendingNames(request);
  return {
    title: "Check your inbox",
    status: props.problem === undefined ? 200 : 400,
    body: <Sent {...props} {...{ isLogged, pending }} minutes={linkSeconds / 60} />,
  };
}

interface SentFacts {
  isLogged: boolean;
  minutes: number;
  /** What is saved after sign-in; undefined for nothing. */
  pending: string | undefined;
}

const Sent: FC<SentProps & SentFacts> = ({ code, problem, isAgain, isLogged, minutes, pending }) => (
  <div class="narrow">
    <h1>Check your inbox</h1>
    {isAgain ? (
      <Notice isDone>{isLogged ? "The log has another code." : "We have sent the email again."}</Notice>
    ) : null}
    <p class="lead">
      {isLogged
        ? "This server has no mail server configured, so the code is in its log: look for “this link signs in”."
        : "We have sent you an email with a code. You can read it on any device."}
      {pending === undefined ? null : (
        <>
          {" "}
          Once you have signed in, we save <bdi>{pending}</bdi>.
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
      <button type="submit" class="press">
        Sign in
      </button>
      <p class="soft small">
        The link beside it works too, but only in this browser. Both work once and expire after {minutes}{" "}
        minutes.
      </p>
    </form>
    <h2>{isLogged ? "No code?" : "No email?"}</h2>
    {isLogged ? null : (
      <p>
        Wait a minute and check your spam folder. An address gets only a few emails in an hour. If you may
        have mistyped it, <a href="/sign-in">start again</a>.
      </p>
    )}
    <form method="post" action="/sign-in/resend">
      <button type="submit">Send again</button>
    </form>
  </div>
);
