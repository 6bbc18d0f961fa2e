import type { FC } from "hono/jsx";
import type { Account } from "../../accounts/accounts.js";
import { Field } from "../components/field.js";
import { formatDay, Time } from "../components/numbers.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";
import { toSignIn } from "./sign-in.js";

/** What must be typed to remove an account. */
const CONFIRMATION = "delete";

/** The signed-in account, and ways to end the session or the account. */
export async function showAccount(request: PageRequest): Promise<Page | Redirect> {
  const { account, members, modules } = request;
  if (account === undefined) return toSignIn(request);
  const [sites, keys, saved] = await Promise.all([
    members.accounts.sitesOf(account.id),
    members.keys.list(account.id),
    modules.watchlists.size({ accountId: account.id }),
  ]);
  return {
    title: "Account",
    body: <Profile {...{ account, sites, saved }} keys={keys.length} />,
  };
}

export async function signOutEverywhere({ account, members: { accounts } }: PageRequest): Promise<Redirect> {
  const cookies =
    account === undefined ? [accounts.clearingCookie] : await accounts.signOutEverywhere(account);
  return { location: "/sign-in", status: 303, cookies };
}

export function showAccountRemoval(request: PageRequest): Page | Redirect {
  return request.account === undefined ? toSignIn(request) : removalPage(request.account);
}

export async function removeAccount(request: PageRequest, form: URLSearchParams): Promise<Page | Redirect> {
  const { account, members } = request;
  if (account === undefined) return toSignIn(request);
  const typed = form.get("confirmation")?.trim() ?? "";
  if (typed.toLowerCase() !== CONFIRMATION)
    return removalPage(account, `Type the word ${CONFIRMATION} to continue. Nothing has been deleted.`);
  return { location: "/account/deleted", status: 303, cookies: await members.accounts.remove(account) };
}

export function showAccountRemoved(): Page {
  return { title: "Account deleted", body: <Gone /> };
}

function removalPage(account: Account, problem?: string): Page {
  return {
    title: "Delete the account",
    status: problem === undefined ? 200 : 400,
    body: <Removal account={account} problem={problem} />,
  };
}

/** How a site that vouches is called; those that are configured no more are named as they were. */
function nameOfSite(site: string): string {
  return site === "github" ? "GitHub" : site === "google" ? "Google" : site;
}

const Profile: FC<{ account: Account; sites: readonly string[]; keys: number; saved: number }> = ({
  account,
  sites,
  keys,
  saved,
}) => (
  <div class="narrow">
    <h1>Account</h1>
    <dl class="profile">
      <div>
        <dt>E-mail</dt>
        <dd>{account.email}</dd>
      </div>
      {account.name === "" ? null : (
        <div>
          <dt>Name</dt>
          <dd>{account.name}</dd>
        </div>
      )}
      <div>
        <dt>Signs in by</dt>
        <dd>{["a link in a mail", ...sites.map(nameOfSite)].join(", ")}</dd>
      </div>
      <div>
        <dt>Since</dt>
        <dd>
          <time datetime={formatDay(account.createdAt)}>{formatDay(account.createdAt)}</time>
        </dd>
      </div>
      <div>
        <dt>This session ends</dt>
        <dd>
          <Time at={account.sessionExpiresAt} />
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
          <a href="/account/keys">{keys === 0 ? "Make one" : `${keys} active`}</a>
        </dd>
      </div>
    </dl>
    <h2>Leave</h2>
    <div class="buttons">
      <form method="post" action="/sign-out">
        <button type="submit">Sign out here</button>
      </form>
      <form method="post" action="/account/sign-out-everywhere">
        <button type="submit">Sign out everywhere</button>
      </form>
    </div>
    <p class="soft">
      Signing out everywhere ends all sessions of this account, also in other browsers. Keys go on working.
    </p>
    <p>
      <a href="/account/delete">Delete the account</a>
    </p>
  </div>
);

const Removal: FC<{ account: Account; problem: string | undefined }> = ({ account, problem }) => (
  <div class="narrow">
    <h1>Delete the account</h1>
    <p>
      This removes the account of <strong>{account.email}</strong> for good, and with it:
    </p>
    <ul>
      <li>its watchlist,</li>
      <li>
        its API keys, which are refused at once here and within five seconds everywhere, and what is known of
        their use,
      </li>
      <li>all its sessions, also in other browsers.</li>
    </ul>
    <p>Lists made without an account stay: whoever has their links still has them.</p>
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
          Delete the account
        </button>
        <a class="button" href="/account">
          Keep it
        </a>
      </div>
    </form>
  </div>
);

const Gone: FC = () => (
  <div class="narrow">
    <h1>The account is gone</h1>
    <p class="lead">So are its watchlist, its keys and its sessions.</p>
    <p>
      <a href="/">Home</a>
    </p>
  </div>
);
