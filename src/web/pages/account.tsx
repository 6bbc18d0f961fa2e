import type { ComponentChildren as Child } from "preact";
import { type Account, isRecentSignIn } from "../../accounts/accounts.js";
import { isoDay } from "../../lib/clock.js";
import { ActionButton, Field } from "../components/elements.js";
import { formatDate, repositoriesText } from "../components/numbers.js";
import type { MemberRequest, Page, PageRequest, Redirect } from "../page-request.js";
import { siteName, toSignInAgain } from "./sign-in.js";

/** The word that the user must type to delete the account. */
const CONFIRMATION = "delete";

/** The signed-in account, and ways to end the session or the account. */
export async function showAccount({ account, modules, members }: MemberRequest): Promise<Page> {
  const [sites, keys, passkeys, sessions, saved] = await Promise.all([
    members.accounts.sitesOf(account.id),
    members.keys.list(account.id),
    members.accounts.passkeys.list(account.id),
    members.accounts.sessions.list(account.id),
    modules.watchlists.size({ accountId: account.id }),
  ]);
  const link = (path: string, words: Child) => <a href={path}>{words}</a>;
  const facts: readonly (readonly [name: string, value: Child])[] = [
    ["Email", account.email],
    ["Name", account.name],
    [
      "Sign-in methods",
      ["Email", ...(passkeys.length > 0 ? ["Passkey"] : []), ...sites.map(siteName)].join(", "),
    ],
    ["Created", <time datetime={isoDay(account.createdAt)}>{formatDate(account.createdAt)}</time>],
    ["Sessions", link("/account/sessions", sessions.length === 1 ? "This one" : `${sessions.length} active`)],
    ["Watchlist", link("/watchlist", repositoriesText(saved))],
    ["API keys", link("/account/keys", keys.length === 0 ? "Create a key" : `${keys.length} active`)],
    ["Passkeys", link("/account/passkeys", passkeys.length || "Add a passkey")],
    ["Security", link("/account/security", "Security log")],
  ];
  return {
    title: "Account",
    body: (
      <div class="narrow">
        <h1>Account</h1>
        <dl class="profile">
          {facts.map(([name, value]) =>
            value === "" ? null : (
              <div>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
          )}
        </dl>
        <h2>Sign out</h2>
        <div class="buttons">
          <ActionButton action="/sign-out">Sign out</ActionButton>
          <ActionButton action="/account/sign-out-everywhere">Sign out everywhere</ActionButton>
        </div>
        <p class="soft">
          “Sign out everywhere” ends all sessions of this account in all browsers. API keys keep working.
        </p>
        <p>
          <a href="/account/export">Download your data</a> · <a href="/account/delete">Delete account</a>
        </p>
      </div>
    ),
  };
}

export async function signOutEverywhere(request: PageRequest): Promise<Redirect> {
  const { account, members } = request;
  if (account !== undefined) {
    await members.accounts.sessions.endAll(account.id);
    members.events.record("sessions_ended", request.http);
  }
  return { location: "/sign-in", status: 303, cookies: [members.accounts.sessions.clearingCookie] };
}

/** Requires a fresh sign-in before anything is typed. */
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
  members.events.record("account_deleted", request.http);
  return { location: "/account/deleted", status: 303, cookies };
}

export function showAccountRemoved(): Page {
  return {
    title: "Account deleted",
    body: (
      <div class="narrow">
        <h1>Account deleted</h1>
        <p class="lead">Its watchlist, API keys and sessions are deleted too.</p>
        <p>
          <a href="/">Home</a>
        </p>
      </div>
    ),
  };
}

/** Offers all stored data of the account as a file. */
export function showAccountExport({ account }: MemberRequest): Page | Redirect {
  if (!isRecentSignIn(account)) return toSignInAgain("/account/export");
  return {
    title: "Download your data",
    body: (
      <div class="narrow">
        <h1>Download your data</h1>
        <p class="lead">
          Everything that is stored about your account, as one JSON file: the account, sessions, passkeys, API
          keys and their usage, the watchlist and what happened to the account.
        </p>
        <p>
          Secrets are not in it: they are stored only as hashes. Shared lists without an account are not part
          of it.
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
    ),
  };
}

function removalPage(account: Account, problem?: string): Page {
  return {
    title: "Delete account",
    status: problem === undefined ? 200 : 400,
    body: (
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
    ),
  };
}
