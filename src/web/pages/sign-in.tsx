import type { FunctionComponent as FC } from "preact";
import {
  emailField,
  RECENT_MINUTES,
  SITE_ORIGINS,
  SITES,
  type Site,
  safeNext,
} from "../../accounts/accounts.js";
import { AppError } from "../../lib/errors.js";
import type { Repository } from "../../repositories/repositories.js";
import { Field, MainButton, Note } from "../components/elements.js";
import { requestingBrowser } from "../cookies.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";
import { namesOf, offeredBy, pendingRepositories } from "../saving.js";

/** Signing in: the choice of a method, and signing out. */

const SITE_NAMES: Readonly<Record<Site, string>> = { github: "GitHub", google: "Google" };

export async function showSignIn(request: PageRequest): Promise<Page | Redirect> {
  const { account, url } = request;
  const next = nextOf(request, url.searchParams.get("next"));
  if (account === undefined) return signInPage(request, { next });
  if (!url.searchParams.has("again")) return { location: next, status: 302 };
  return signInPage(request, { next, email: account.email, isAgain: true });
}

/** Mails a sign-in link. */
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
  const { browser, cookie } = requestingBrowser(request);
  request.members.accounts.mail.request(parsed.data, next, browser);
  return { location: "/sign-in/sent", status: 303, cookies: [cookie] };
}

/** Sends the browser to another site that signs its users in here. */
export async function signInWithSite(request: PageRequest, form: URLSearchParams): Promise<Redirect> {
  const site = SITES.find((one) => one === request.http.params.site);
  if (site === undefined) throw new AppError("NOT_FOUND", "This address does not exist.");
  const { accounts } = request.members;
  const { location, cookies } = await accounts.startOAuth(site, nextOf(request, form.get("next")));
  return { location, cookies, status: 303 };
}

export async function signOut(request: PageRequest): Promise<Redirect> {
  const { account, members } = request;
  if (account !== undefined) {
    await members.accounts.sessions.end(account.id, account.sessionId);
    members.events.record("signed_out", request.http);
  }
  return { location: "/", status: 303, cookies: [members.accounts.sessions.clearingCookie] };
}

/** Redirects to sign-in, and back to `next` afterwards: a path, by default this page. */
export function toSignIn(
  { url }: PageRequest,
  next = url.pathname + url.search,
): { location: string; status: 303 } {
  return { location: `/sign-in?next=${encodeURIComponent(next)}`, status: 303 };
}

/** Requires a signed-in user to sign in again, and continues to `next` afterwards: a path. */
export function toSignInAgain(next: string): Redirect {
  return { location: `/sign-in?again=1&next=${encodeURIComponent(next)}`, status: 303 };
}

/** The name of a site that people sign in with; its id where it is not known. */
export function siteName(site: string): string {
  const known = SITES.find((one) => one === site);
  return known === undefined ? site : SITE_NAMES[known];
}

function nextOf({ site }: PageRequest, next: string | null): string {
  return safeNext(next ?? "/", site.baseUrl) ?? "/";
}

interface SignInProps {
  next: string;
  email?: string | undefined;
  problem?: string | undefined;
  /** Whether a signed-in user has to sign in again, with this address. */
  isAgain?: boolean | undefined;
}

async function signInPage(
  request: PageRequest,
  { next, email, problem, isAgain }: SignInProps,
): Promise<Page> {
  const { modules, members, site } = request;
  const { mail, sites, passkeys } = members.accounts;
  const { isOffered } = passkeys;
  const [wanted, starred] = await Promise.all([
    offeredBy(new URL(next, site.baseUrl), modules),
    pendingRepositories(request),
  ]);
  return {
    title: wanted === undefined ? "Sign in" : `Sign in to save ${wanted.fullName}`,
    description: "Sign in without a password, with a code by email.",
    status: problem === undefined ? 200 : 400,
    formsTo: sites.map((site) => SITE_ORIGINS[site]),
    scripts: isOffered ? ["passkey.js"] : [],
    body: (
      <div class="narrow">
        <Heading isAgain={isAgain} wanted={wanted} />
        {mail.isOn ? <MailForm {...{ next, email, problem, isAgain }} isLogged={mail.isLogged} /> : null}
        {isOffered ? <PasskeyButton next={next} origin={new URL(site.baseUrl).origin} /> : null}
        {sites.length === 0 ? null : (
          <>
            {mail.isOn ? <h2>Or with</h2> : null}
            <SiteButtons sites={sites} next={next} />
          </>
        )}
        {mail.isOn || sites.length > 0 ? null : (
          <Note>
            <strong>Sign-in is not set up.</strong> The operator of this server can configure a mail server (
            <code>SIDEREAL_SMTP_URL</code>, <code>SIDEREAL_MAIL_FROM</code>) or sign-in with GitHub or Google.
          </Note>
        )}
        {isAgain ? null : (
          <p class="soft">
            You need no account to browse, or to{" "}
            <a href="/watchlists">
              create a shared list{starred.length === 0 ? "" : ` of ${namesOf(starred)}`}
            </a>
            .
          </p>
        )}
      </div>
    ),
  };
}

const Heading: FC<Pick<SignInProps, "isAgain"> & { wanted: Repository | undefined }> = ({
  isAgain,
  wanted,
}) => (
  <>
    <h1>
      {isAgain ? (
        "Sign in again"
      ) : wanted === undefined ? (
        "Sign in"
      ) : (
        <>
          Sign in to save <bdi>{wanted.fullName}</bdi>
        </>
      )}
    </h1>
    <p class="lead">
      {isAgain
        ? `This needs a sign-in within the last ${RECENT_MINUTES} minutes. You then continue where you were.`
        : wanted !== undefined
          ? "You return to the page you came from, with the repository saved. No password needed."
          : "Keep a watchlist on all your devices and create API keys. No password needed."}
    </p>
  </>
);

const MailForm: FC<SignInProps & { isLogged: boolean }> = ({ next, email, problem, isAgain, isLogged }) => (
  <form method="post" action="/sign-in" class="box">
    <input type="hidden" name="next" value={next} />
    {isAgain ? (
      <p>
        <input type="hidden" name="email" value={email} />
        You are signed in as <strong>{email}</strong>.
      </p>
    ) : (
      <Field
        name="email"
        label="Email address"
        type="email"
        problem={problem}
        value={email}
        required
        maxlength={254}
        autocomplete="email"
      />
    )}
    <MainButton>Email me a code</MainButton>
    <p class="soft small">
      {isLogged
        ? "This server has no mail server configured. The code is written to its log instead."
        : isAgain
          ? "We email you a code and a link."
          : "We email you a code and a link. A new address creates a new account."}
    </p>
  </form>
);

const PasskeyButton: FC<{ next: string; origin: string }> = ({ next, origin }) => (
  <div data-passkey="sign-in" data-next={next} data-origin={origin} hidden>
    <div class="buttons">
      <button type="button">Sign in with a passkey</button>
    </div>
    <p class="note wrong" data-problem hidden></p>
  </div>
);

const SiteButtons: FC<{ sites: readonly Site[]; next: string }> = ({ sites, next }) => (
  <div class="buttons">
    {sites.map((site) => (
      <form method="post" action={`/sign-in/${site}`}>
        <input type="hidden" name="next" value={next} />
        <button type="submit">{siteName(site)}</button>
      </form>
    ))}
  </div>
);
