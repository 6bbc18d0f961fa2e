import type { FunctionComponent as FC } from "preact";
import { type Account, isRecentSignIn } from "../../accounts/accounts.js";
import { isoDay } from "../../lib/clock.js";
import { Field } from "../components/elements.js";
import { formatDate } from "../components/numbers.js";
import type { MemberRequest, Page, PageRequest, Redirect } from "../page-request.js";
import { siteName, toSignInAgain } from "./sign-in.js";

/** The word that the user must type to delete the account. */
const CONFIRMATION = "delete";

/** The signed-in account, and ways to end the session or the account. */
export async function showAccount(request: MemberRequest): Promise<Page> {
  const { account, members, modules } = request;
  const [sites, keys, passkeys, sessions, saved] = await Promise.all([
    members.accounts.sitesOf(account.id),
    members.keys.list(account.id),
    members.accounts.passkeys.list(account.id),
    members.accounts.sessions.list(account.id),
    modules.watchlists.size({ accountId: account.id }),
  ]);
  return {
    title: "Account",
    body: (
      <Profile
        {...{ account, sites, saved }}
        passkeys={passkeys.length}
        sessions={sessions.length}
        keys={keys.length}
      />
    ),
  };
}

export async function signOutEverywhere(request: PageRequest): Promise<Redirect> {
  const { account, members } = request;
  if (account !== undefined) {
    await members.accounts.sessions.endAll(account.id);
    members.events.record("sessions_ended", request);
  }
  return { location: "/sign-in", status: 303, cookies: [members.accounts.sessions.clearingCookie] };
}

/** Asks to sign in again before anything is typed. */
export function showAccountRemoval({ account }: MemberRequest): Page | Redirect {
  return isRecentSignIn(account) ? removalPage(account) : toSignInAgain("/account/delete");
}

export async function removeAccount(request: MemberRequest, form: URLSearchParams): Promise<Page | Redirect> {
  const { account, members } = request;
  if (!isRecentSignIn(account)) return toSignInAgain("/account/delete");
  const typed = form.get("confirmation")?.trim() ?? "";
  if (typed.toLowerCase() !== CONFIRMATION)
    return removalPage(account, `Type the word ${CONFIRMATION} to continue. Nothing has been deleted.`);
  const cookies = await members.accounts.remove(account);
  members.events.record("account_deleted", request);
  return { location: "/account/deleted", status: 303, cookies };
}

export function showAccountRemoved(): Page {
  return { title: "Account deleted", body: <Gone /> };
}

/** Offers all stored data of the account as a file. */
export function showAccountExport({ account }: MemberRequest): Page | Redirect {
  return isRecentSignIn(account)
    ? { title: "Download your data", body: <Export /> }
    : toSignInAgain("/account/export");
}

function removalPage(account: Account, problem?: string): Page {
  return {
    title: "Delete account",
    status: problem === undefined ? 200 : 400,
    body: <Removal account={account} problem={problem} />,
  };
}

interface ProfileProps {
  account: Account;
  sites: readonly string[];
  /** How many of each the account has. */
  passkeys: number;
  sessions: number;
  keys: number;
  saved: number;
}

const Profile: FC<ProfileProps> = ({ account, sites, passkeys, sessions, keys, saved }) => (
  <div class="narrow">
    <h1>Account</h1>
    <dl class="profile">
      <div>
        <dt>Email</dt>
        <dd>{account.email}</dd>
      </div>
      {account.name === "" ? null : (
        <div>
          <dt>Name</dt>
          <dd>{account.name}</dd>
        </div>
      )}
      <div>
        <dt>Sign-in methods</dt>
        <dd>{["Email", ...(passkeys > 0 ? ["Passkey"] : []), ...sites.map(siteName)].join(", ")}</dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>
          <time datetime={isoDay(account.createdAt)}>{formatDate(account.createdAt)}</time>
        </dd>
      </div>
      <div>
        <dt>Sessions</dt>
        <dd>
          <a href="/account/sessions">{sessions === 1 ? "This one" : `${sessions} active`}</a>
        </dd>
      </div>
      <div>
        <dt>Watchlist</dt>
        <dd>
          <a href="/watchlist">{saved === 1 ? "1 repository" : `${saved} repositories`}</a>
        </dd>
      </div>
      <div>
        <dt>API keys</dt>
        <dd>
          <a href="/account/keys">{keys === 0 ? "Create a key" : `${keys} active`}</a>
        </dd>
      </div>
      <div>
        <dt>Passkeys</dt>
        <dd>
          <a href="/account/passkeys">{passkeys === 0 ? "Add a passkey" : passkeys}</a>
        </dd>
      </div>
      <div>
        <dt>Security</dt>
        <dd>
          <a href="/account/security">Security log</a>
        </dd>
      </div>
    </dl>
    <h2>Sign out</h2>
    <div class="buttons">
      <form method="post" action="/sign-out">
        <button type="submit">Sign out</button>
      </form>
      <form method="post" action="/account/sign-out-everywhere">
        <button type="submit">Sign out everywhere</button>
      </form>
    </div>
    <p class="soft">
      “Sign out everywhere” ends all sessions of this account in all browsers. API keys keep working.
    </p>
    <p>
      <a href="/account/export">Download your data</a> · <a href="/account/delete">Delete account</a>
    </p>
  </div>
);

const Removal: FC<{ account: Account; problem: string | undefined }> = ({ account, problem }) => (
  <div class="narrow">
    <h1>Delete account</h1>
    <p>
      This permanently deletes the account of <strong>{account.email}</strong>, including:
    </p>
    <ul>
      <li>its watchlist,</li>
      <li>its API keys, which stop working within five seconds, and their usage history,</li>
      <li>its passkeys, and all its sessions in all browsers.</li>
    </ul>
    <p>Shared lists created without an account stay: their links keep working.</p>
    <form method="post" action="/account/delete" class="box">
      <Field
        name="confirmation"
        label={
          <>
            Type <strong>{CONFIRMATION}</strong> to confirm
          </>
        }
        problem={problem}
        required
        isLiteral
      />
      <div class="buttons">
        <button type="submit" class="danger">
          Delete account
        </button>
        <a class="button" href="/account">
          Cancel
        </a>
      </div>
    </form>
  </div>
);

const Gone: FC = () => (
  <div class="narrow">
    <h1>Account deleted</h1>
    <p class="lead">Its watchlist, API keys and sessions are deleted too.</p>
    <p>
      <a href="/">Home</a>
    </p>
  </div>
);

const Export: FC = () => (
  <div class="narrow">
    <h1>Download your data</h1>
    <p class="lead">
      Everything that is stored about your account, as one JSON file: the account, sessions, passkeys, API
      keys and their usage, the watchlist and what happened to the account.
    </p>
    <p>
      Secrets are not in it: they are stored only as hashes. Shared lists without an account are not part of
      it.
    </p>
    <div class="buttons">
      <a class="button press" href="/api/me/export" download>
        Download
      </a>
      <a class="button" href="/account">
        Back
      </a>
    </div>
  </div>
);
