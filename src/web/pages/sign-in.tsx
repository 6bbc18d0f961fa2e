import type { FC } from "hono/jsx";
import { emailField, SITE_ORIGINS, SITES, type Site } from "../../accounts/accounts.js";
import { AppError } from "../../errors.js";
import { Field } from "../components/field.js";
import { askingBrowser } from "../link-browser.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";

const SITE_NAMES: Readonly<Record<Site, string>> = { github: "GitHub", google: "Google" };

export function showSignIn(request: PageRequest): Page | Redirect {
  const next = nextOf(request, request.url.searchParams.get("next"));
  return request.account === undefined ? signInPage(request, { next }) : { location: next, status: 302 };
}

/** Sends a link that signs in. */
export async function requestSignInLink(
  request: PageRequest,
  form: URLSearchParams,
): Promise<Page | Redirect> {
  const next = nextOf(request, form.get("next"));
  const email = form.get("email")?.trim() ?? "";
  const parsed = emailField.safeParse(email);
  if (!parsed.success) {
    const problem = parsed.error.issues[0]?.message ?? "is not valid";
    return signInPage(request, { next, email, problem: `The address ${problem}.` });
  }
  const { browser, cookie } = askingBrowser(request);
  await request.members.accounts.requestLink(parsed.data, next, browser);
  return { location: "/sign-in/sent", status: 303, cookies: [cookie] };
}

export function showSignInSent({ members: { accounts } }: PageRequest): Page {
  return {
    title: "Check your inbox",
    body: <Sent isLogged={accounts.isMailLogged} minutes={accounts.linkSeconds / 60} />,
  };
}

/** Sends the browser to another site that signs its users in here. */
export async function signInWithSite(request: PageRequest, form: URLSearchParams): Promise<Redirect> {
  const site = SITES.find((one) => one === request.params.site);
  if (site === undefined) throw new AppError("NOT_FOUND", "There is nothing at this address.");
  const { accounts } = request.members;
  const { location, cookies } = await accounts.startOAuth(site, nextOf(request, form.get("next")));
  return { location, cookies, status: 303 };
}

export async function signOut({ account, members: { accounts } }: PageRequest): Promise<Redirect> {
  const cookies = account === undefined ? [accounts.clearingCookie] : await accounts.signOut(account);
  return { location: "/", status: 303, cookies };
}

/** Where to send somebody who must sign in first; afterwards they go on to `next`, a path, or come back to this page. */
export function toSignIn(
  { url }: PageRequest,
  next = url.pathname + url.search,
): { location: string; status: 303 } {
  return { location: `/sign-in?next=${encodeURIComponent(next)}`, status: 303 };
}

function nextOf({ members }: PageRequest, next: string | null): string {
  return members.accounts.safeNext(next ?? "/") ?? "/";
}

interface SignInProps {
  next: string;
  email?: string;
  problem?: string;
}

function signInPage({ members: { accounts } }: PageRequest, props: SignInProps): Page {
  const { mail, sites } = accounts.methods;
  return {
    title: "Sign in",
    description: "Sign in without a password, by a link in a mail.",
    status: props.problem === undefined ? 200 : 400,
    formsTo: sites.map((site) => SITE_ORIGINS[site]),
    body: <SignIn {...props} hasMail={mail} isLogged={accounts.isMailLogged} sites={sites} />,
  };
}

const SignIn: FC<SignInProps & { hasMail: boolean; isLogged: boolean; sites: readonly Site[] }> = ({
  next,
  email,
  problem,
  hasMail,
  isLogged,
  sites,
}) => (
  <div class="narrow">
    <h1>Sign in</h1>
    <p class="lead">For a watchlist that follows you, and keys for the API. There is no password.</p>
    {hasMail ? (
      <form method="post" action="/sign-in" class="box">
        <input type="hidden" name="next" value={next} />
        <Field
          name="email"
          label="E-mail address"
          problem={problem}
          value={email}
          type="email"
          required
          maxlength={254}
          autocomplete="email"
        />
        <button type="submit" class="press">
          Send me a link
        </button>
        <p class="soft small">
          {isLogged
            ? "This service has no mail server. The link is written to its log instead."
            : "We send a link that signs you in. A new address makes a new account."}
        </p>
      </form>
    ) : null}
    {sites.length === 0 ? null : (
      <>
        {hasMail ? <h2>Or with</h2> : null}
        <div class="buttons">
          {sites.map((site) => (
            <form method="post" action={`/sign-in/${site}`}>
              <input type="hidden" name="next" value={next} />
              <button type="submit">{SITE_NAMES[site]}</button>
            </form>
          ))}
        </div>
      </>
    )}
    {hasMail || sites.length > 0 ? null : <NoMethod />}
    <p class="soft">
      Reading needs no account, and <a href="/watchlists">a list for sharing</a> needs none either.
    </p>
  </div>
);

const NoMethod: FC = () => (
  <div class="note" role="note">
    <p>
      <strong>Nobody can sign in here yet.</strong> Whoever runs this service can set up a mail server (
      <code>SIDEREAL_SMTP_URL</code>, <code>SIDEREAL_MAIL_FROM</code>) or sign-in by GitHub or Google.
    </p>
  </div>
);

const Sent: FC<{ isLogged: boolean; minutes: number }> = ({ isLogged, minutes }) => (
  <div class="narrow">
    <h1>Check your inbox</h1>
    {isLogged ? (
      <p class="lead">
        This service has no mail server, so the link is in its log: look for “this link signs in”.
      </p>
    ) : (
      <p class="lead">A link that signs you in is on its way.</p>
    )}
    <p>
      It works once, for {minutes} minutes. Open it in this browser; any other asks for the address it was
      sent to.
    </p>
    {isLogged ? null : (
      <p>
        No mail after a few minutes? Look in your spam folder, then{" "}
        <a href="/sign-in">check the address and ask again</a>. An address gets three links in {minutes}{" "}
        minutes at most.
      </p>
    )}
  </div>
);
