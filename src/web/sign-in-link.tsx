import type { FC } from "hono/jsx";
import type { Pages, Sheet } from "./page.js";

/**
 * The page that a mailed link opens. Opening it changes nothing, as scanners of mail open links too; only its button
 * signs in.
 */
export function serveSignInLink(pages: Pages): void {
  pages.get("/sign-in/link", ({ url }) => {
    const token = url.searchParams.get("token") ?? "";
    const next = url.searchParams.get("next") ?? "/";
    // The token stands in the address, so the address goes nowhere else, and nobody keeps the page.
    return { title: "Sign in", privacy: "secret", body: <Confirm token={token} next={next} /> };
  });
  pages.post("/sign-in/link", async ({ members: { accounts } }, form) => {
    const signedIn = await accounts.signInByLink(form.get("token") ?? "");
    if (signedIn === undefined)
      return refused("The link was used before, is too old, or never was one. Ask for another.", 400);
    return {
      location: accounts.safeNext(form.get("next") ?? "/") ?? "/",
      status: 303,
      cookies: signedIn.cookies,
    };
  });
  pages.get("/sign-in/failed", () =>
    refused("The site did not vouch for a verified address, or it took too long.", 200),
  );
}

function refused(reason: string, status: 200 | 400): Sheet {
  return { title: "Not signed in", status, privacy: "secret", body: <Refused reason={reason} /> };
}

const Confirm: FC<{ token: string; next: string }> = ({ token, next }) => (
  <>
    <h1>Sign in</h1>
    <p>You have opened a link that signs in. It works once.</p>
    <form method="post" action="/sign-in/link">
      <input type="hidden" name="token" value={token} />
      <input type="hidden" name="next" value={next} />
      <button type="submit" class="press">
        Sign in here
      </button>
    </form>
    <p class="soft">If you have not asked for it, close this page: nothing has happened.</p>
  </>
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
