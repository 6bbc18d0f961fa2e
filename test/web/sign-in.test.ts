import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { openMailbox } from "../support/mail.js";
import { SITE_SETTINGS, signIn } from "../support/members.js";
import { fieldOf, followLink, numbersIn, open, submit } from "../support/page.js";
import { createWorld, type World } from "../support/world.js";

onSqlite("The pages of signing in", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  before(async () => {
    world = await createWorld(engine, { ...mailbox.settings, ...SITE_SETTINGS });
  });

  test("a mailed link returns to the page it was requested on", async () => {
    const form = await open(world, "/sign-in?next=%2Faccount%3Fx%3D1");
    assert.equal(form.status, 200);
    assert.equal(form.headers.get("cache-control"), "private, no-cache");
    assert.match(
      form.html,
      /<form method="post" action="\/sign-in"[^>]*><input type="hidden" name="next" value="\/account\?x=1"/,
    );
    const sent = await submit(world, "/sign-in", { email: " Ann@Example.org ", next: "/account?x=1" });
    assert.deepEqual([sent.status, sent.location], [303, "/sign-in/sent"]);
    assert.ok(numbersIn((await open(world, "/sign-in/sent")).text).includes("10"));
    const signedIn = await followLink(world, mailbox, sent.cookies.join("; "));
    assert.deepEqual([signedIn.status, signedIn.location], [303, "/account?x=1"]);
    const account = await open(world, "/account", { Cookie: signedIn.cookies.join("; ") });
    assert.match(account.text, /ann@example\.org/);
  });

  test("known and unknown addresses get the same response", async () => {
    const first = await submit(world, "/sign-in", { email: "somebody@example.org" });
    await mailbox.next();
    const Cookie = first.cookies.join("; ");
    const { headers: known } = await submit(world, "/sign-in", { email: "ann@example.org" }, { Cookie });
    const { headers: unknown } = await submit(world, "/sign-in", { email: "nobody@example.org" }, { Cookie });
    assert.match(known.get("set-cookie") ?? "", /^__Host-sidereal\.asked=/);
    for (const headers of [known, unknown])
      for (const name of ["x-request-id", "date", "ratelimit", "x-ratelimit-remaining", "x-ratelimit-reset"])
        headers.delete(name);
    assert.deepEqual([...known], [...unknown]);
    await mailbox.next();
    await mailbox.next();
  });

  test("an invalid address is reported next to its field, and no mail is sent", async () => {
    for (const email of ["", "ann", "<script>@x", `${"a".repeat(250)}@example.org`]) {
      const page = await submit(world, "/sign-in", { email, next: "/account" });
      assert.equal(page.status, 400, email);
      assert.match(page.html, /aria-invalid="true" aria-describedby="email-problem"/);
      assert.equal(page.alerts.length, 1);
      assert.doesNotMatch(page.html, /<script>@x/);
      assert.match(page.html, /name="next" value="\/account"/);
    }
    assert.equal(mailbox.waiting, 0);
  });

  test("sign-in returns only to paths of this service", async () => {
    const { headers } = await signIn(world, mailbox, "next@example.org");
    for (const next of [
      "https://evil.example",
      "//evil.example",
      "/\\evil.example",
      "/%2fevil.example",
      "x",
    ]) {
      const page = await open(world, `/sign-in?next=${encodeURIComponent(next)}`);
      assert.match(page.html, /name="next" value="\/"/, next);
      const there = await open(world, `/sign-in?next=${encodeURIComponent(next)}`, headers);
      assert.deepEqual([there.status, there.location], [302, "/"], next);
    }
    const there = await open(world, "/sign-in?next=/account/keys", headers);
    assert.deepEqual([there.status, there.location], [302, "/account/keys"]);
  });

  test("a configured sign-in site has a button, and the page's policy allows its form", async () => {
    const page = await open(world, "/sign-in?next=/watchlist");
    assert.match(
      page.headers.get("content-security-policy") ?? "",
      /form-action 'self' https:\/\/github\.com$/,
    );
    assert.match(page.html, /action="\/sign-in\/github"/);
    assert.doesNotMatch(page.html, /sign-in\/google/);
    const gone = await submit(world, "/sign-in/github", { next: "/watchlist" });
    assert.equal(gone.status, 303);
    assert.match(gone.location ?? "", /^https:\/\/github\.com\/login\/oauth\/authorize\?/);
    assert.ok(gone.cookies.length > 0);
    for (const site of ["google", "gitlab"])
      assert.equal((await submit(world, `/sign-in/${site}`, {})).status, 404, site);
  });

  test("without a mail server the page says what to configure, and locally that the link is in the log", async () => {
    const off = await createWorld(engine);
    const page = await open(off, "/sign-in");
    assert.match(page.text, /SIDEREAL_SMTP_URL/);
    assert.doesNotMatch(page.html, /name="email"/);
    assert.equal((await submit(off, "/sign-in", { email: "ann@example.org" })).status, 403);
    const local = await createWorld(engine, { SIDEREAL_BASE_URL: "http://127.0.0.1:3000" });
    const [form, sent] = [await open(local, "/sign-in"), await open(local, "/sign-in/sent")];
    assert.equal(fieldOf(form, "email")?.type, "email");
    for (const { text } of [form, sent]) assert.match(text, /\blog\b/);
  });

  test("signing out ends this session only", async () => {
    const first = await signIn(world, mailbox, "out@example.org");
    const second = await signIn(world, mailbox, "out@example.org");
    const out = await submit(world, "/sign-out", {}, first.headers);
    assert.deepEqual([out.status, out.location], [303, "/"]);
    assert.match(
      out.headers.getSetCookie()[0] ?? "",
      /^__Host-sidereal\.session_token=; Max-Age=0; .*HttpOnly; SameSite=Lax; Secure$/,
    );
    assert.equal((await open(world, "/account", first.headers)).status, 303);
    assert.equal((await open(world, "/account", second.headers)).status, 200);
    assert.equal((await submit(world, "/sign-out")).status, 303);
  });

  test("forms of other sites are refused", async () => {
    const { headers } = await signIn(world, mailbox, "forms@example.org");
    const paths = [
      "/sign-in",
      "/sign-in/github",
      "/sign-in/link",
      "/sign-in/code",
      "/sign-in/resend",
      "/operator/leave",
      "/sign-out",
      "/account/delete",
      "/account/keys",
      "/account/keys/1/revoke",
      "/account/sign-out-everywhere",
      "/watchlist/items",
      "/watchlist/items/remove",
      "/watchlist/feed",
      "/watchlist/feed/revoke",
      "/watchlists",
    ];
    for (const path of paths)
      for (const Origin of ["https://evil.example", "null"]) {
        const page = await submit(
          world,
          path,
          { confirmation: "delete", email: "a@b.example", name: "x" },
          { ...headers, Origin },
        );
        assert.equal(page.status, 403, path);
        assert.deepEqual(page.cookies, []);
      }
    assert.equal((await open(world, "/account", headers)).status, 200);
    assert.equal(mailbox.waiting, 0);
  });

  test("the header links to sign-in and back, but never leaks the address of a list", async () => {
    const { html } = await open(world, "/explore?q=x");
    assert.match(html, /href="\/sign-in\?next=%2Fexplore%3Fq%3Dx"/);
    const { token } = await world.modules.watchlists.create("Mine", []);
    const list = await open(world, `/watchlists/${token}`);
    assert.match(list.html, /<a class="button" href="\/sign-in">/);
    const { headers } = await signIn(world, mailbox, "head@example.org");
    const menu = await open(world, "/docs", headers);
    assert.match(menu.html, /<details class="menu"[^>]*><summary>head@example\.org<\/summary>/);
    for (const path of ["/watchlist", "/account/keys", "/account"])
      assert.ok(menu.html.includes(`<a href="${path}">`), path);
    assert.match(menu.html, /<form method="post" action="\/sign-out">/);
  });

  test("signing in by form is limited by address, as by API", async () => {
    const few = await createWorld(engine, { ...mailbox.settings, ...limits("auth=2") });
    const ask = () => submit(few, "/sign-in", { email: "" });
    assert.deepEqual([(await ask()).status, (await ask()).status, (await ask()).status], [400, 400, 429]);
  });
});
