import { isRecentSignIn } from "../../accounts/accounts.js";
import type { MemberRequest, Page, Redirect } from "../page-request.js";
import { toSignInAgain } from "./sign-in.js";

/** Offers everything that is stored about the account as a file. */
export function showAccountExport({ account }: MemberRequest): Page | Redirect {
  return isRecentSignIn(account)
    ? { title: "Download your data", body: <Export /> }
    : toSignInAgain("/account/export");
}

const Export = () => (
  <div class="narrow">
    <h1>Download your data</h1>
    <p class="lead">
      Everything that is stored about your account, as one JSON file: the account, sessions, passkeys, API
      keys and their usage, the watchlist and the security log.
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
