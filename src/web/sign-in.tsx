import type { Hono } from "hono";
import type { FC } from "hono/jsx";
import type { Members } from "../modules.js";
import { Layout } from "./layout.js";
import { HEADERS, render } from "./page.js";

/** A link and where to go on fit with room to spare. */
const MAX_FORM_BYTES = 8 * 1024;

/** The token stands in the address, so the address goes nowhere else, and nobody keeps the page. */
const LINK_HEADERS = {
  ...HEADERS,
  "Cache-Control": "no-store",
  "Referrer-Policy": "same-origin",
  "X-Robots-Tag": "noindex",
};

/**
 * The page that a mailed link opens. Opening it changes nothing, as scanners of mail open links too; only its button
 * signs in.
 */
export function serveSignIn(app: Hono, members: () => Members): void {
  app.get("/sign-in/link", (context) => {
    const { token = "", next = "/" } = context.req.query();
    return context.body(render(<Confirm token={token} next={next} />), 200, LINK_HEADERS);
  });
  app.post("/sign-in/link", async (context) => {
    const { accounts } = members();
    const { raw } = context.req;
    if (!accounts.isOwnOrigin(raw.headers))
      return context.body(
        render(<Refused reason="It was not sent by the page of the link." />),
        403,
        LINK_HEADERS,
      );
    const length = Number(context.req.header("content-length") ?? Number.NaN);
    const isForm = context.req.header("content-type")?.startsWith("application/x-www-form-urlencoded");
    const isRead = isForm === true && length <= MAX_FORM_BYTES;
    const form = new URLSearchParams(isRead ? await context.req.text() : "");
    const signedIn = await accounts.signInByLink(form.get("token") ?? "");
    if (signedIn === undefined)
      return context.body(
        render(<Refused reason="The link was used before, is too old, or never was one. Ask for another." />),
        400,
        LINK_HEADERS,
      );
    for (const cookie of signedIn.cookies) context.header("Set-Cookie", cookie, { append: true });
    context.header("Location", accounts.safeNext(form.get("next") ?? "/") ?? "/");
    return context.body(null, 303, { "Cache-Control": "no-store" });
  });
  app.get("/sign-in/failed", (context) =>
    context.body(
      render(<Refused reason="The site did not vouch for a verified address, or it took too long." />),
      200,
      LINK_HEADERS,
    ),
  );
}

const Confirm: FC<{ token: string; next: string }> = ({ token, next }) => (
  <Layout title="Sign in">
    <h1>Sign in</h1>
    <p>You have opened a link that signs in. It works once.</p>
    <form method="post" action="/sign-in/link">
      <input type="hidden" name="token" value={token} />
      <input type="hidden" name="next" value={next} />
      <button type="submit">Sign in here</button>
    </form>
    <p class="soft">If you have not asked for it, close this page: nothing has happened.</p>
  </Layout>
);

const Refused: FC<{ reason: string }> = ({ reason }) => (
  <Layout title="Not signed in">
    <h1>Not signed in</h1>
    <p class="note" role="alert">
      {reason}
    </p>
  </Layout>
);
