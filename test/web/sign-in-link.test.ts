import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { requestMail } from "../support/members.js";
import { open, openPage, type Page, submit } from "../support/page.js";
import { createWorld, type World } from "../support/world.js";

const ASKED = /^__Host-sidereal\.asked=([\w-]{43}); Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/;

/** The page refers to the browser that requested the link, and offers no way to use it here. */
function assertElsewhere({ status, headings, links, buttons }: Page): void {
  assert.equal(status, 200);
  assert.deepEqual(headings, [[1, "Go back to the page you requested it on"]]);
  assert.ok(links.includes("/sign-in") && !buttons.includes("Sign in"));
}

/** The page refuses the link: it offers to request another one, and no way to use this one. */
function assertRefused({ headings, links, buttons, alerts }: Page): void {
  assert.deepEqual(headings, [[1, "Not signed in"]]);
  assert.equal(alerts.length, 1);
  assert.ok(links.includes("/sign-in") && !buttons.includes("Sign in"));
}

onSqlite("The page of a mailed link", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let people = 0;
  before(async () => {
    world = await createWorld(engine, mailbox.settings);
  });

  /** Asks for a link by the form, in a browser that has these cookies. */
  const ask = async (held: Record<string, string> = {}) => {
    const email = `asker-${++people}@example.org`;
    const sent = await submit(world, "/sign-in", { email, next: "/account" }, held);
    assert.equal(sent.status, 303);
    const { link } = await mailbox.next();
    return {
      email,
      path: link.pathname + link.search,
      fields: { token: link.searchParams.get("token") ?? "" },
      setCookie: sent.headers.getSetCookie()[0] ?? "",
      browser: { Cookie: sent.cookies.join("; ") },
    };
  };
  const press = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
    submit(world, "/sign-in/link", fields, headers);
  const whoIs = async (cookies: readonly string[]) =>
    (await world.get("/api/me", { Cookie: cookies.join("; ") })).body.data?.email;

  test("in the browser that requested it one button signs in, and clears its cookie", async () => {
    const { email, path, fields, setCookie, browser } = await ask();
    assert.match(setCookie, ASKED);
    const page = await openPage(world, path, browser);
    assert.equal(page.status, 200);
    assert.ok(page.buttons.includes("Sign in"));
    const signedIn = await press(fields, browser);
    assert.deepEqual([signedIn.status, signedIn.location], [303, "/account"]);
    assert.equal(await whoIs(signedIn.cookies), email);
    assert.equal(
      signedIn.headers.getSetCookie().at(-1),
      "__Host-sidereal.asked=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure",
    );
    const again = await press(fields, browser);
    assert.equal(again.status, 400);
    assertRefused(again);
    assert.deepEqual(again.cookies, []);
    assertRefused(await open(world, path, browser));
  });

  test("a link from somebody else, or from a mailbox that is read elsewhere, signs nobody in", async () => {
    const attacker = await ask();
    const victim = await ask();
    for (const headers of [{}, victim.browser, { Cookie: "__Host-sidereal.asked=" }]) {
      const page = await openPage(world, attacker.path, headers);
      assertElsewhere(page);
      assert.ok(!page.html.includes(attacker.email));
      for (const email of ["", attacker.email]) {
        const refused = await press({ ...attacker.fields, email }, headers);
        assert.equal(refused.status, 400);
        assert.deepEqual(refused.cookies, []);
        assertRefused(refused);
      }
    }
    assert.equal((await press(attacker.fields, attacker.browser)).status, 303, "nor is it used up");
    assert.equal((await press(victim.fields, victim.browser)).status, 303);
  });

  test("a link requested through the API works in no browser", async () => {
    const { browser } = await ask();
    const { token } = await requestMail(world, mailbox, "program@example.org");
    assertElsewhere(await open(world, `/sign-in/link?token=${token}`, browser));
    assertRefused(await press({ token }, browser));
  });

  test("either of two links of a browser works, but not both; an invalid cookie is replaced", async () => {
    const first = await ask();
    const second = await ask(first.browser);
    assert.deepEqual(second.browser, first.browser);
    assert.equal((await open(world, first.path, first.browser)).status, 200);
    assert.equal((await press(first.fields, first.browser)).status, 303);
    assert.equal((await press(second.fields, first.browser)).status, 400);
    const odd = await ask({ Cookie: "__Host-sidereal.asked=x" });
    assert.match(odd.setCookie, ASKED);
  });

  test("a scanner that opens a link a hundred times, with a cookie or without, changes nothing", async () => {
    const { fields, path, browser } = await ask();
    for (let i = 0; i < 100; i++) {
      const method = i % 2 === 0 ? "GET" : "HEAD";
      const page = await world.request(path, { method, headers: i % 3 === 0 ? browser : {} });
      assert.deepEqual([page.status, page.headers.getSetCookie()], [200, []]);
      assert.equal(page.headers.get("cache-control"), "no-store");
      assert.equal(page.headers.get("referrer-policy"), "same-origin");
    }
    assert.equal((await press(fields, browser)).status, 303);
  });

  test("without https the cookie has no prefix", async () => {
    const plain = await createWorld(engine, {
      ...mailbox.settings,
      SIDEREAL_BASE_URL: "http://127.0.0.1:3000",
    });
    const Origin = "http://127.0.0.1:3000";
    const sent = await submit(plain, "/sign-in", { email: "ann@example.org" }, { Origin });
    assert.match(
      sent.headers.getSetCookie()[0] ?? "",
      /^sidereal\.asked=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const { link } = await mailbox.next();
    const held = { Cookie: sent.cookies.join("; "), Origin };
    const fields = { token: link.searchParams.get("token") ?? "" };
    assert.match(
      (await submit(plain, "/sign-in/link", fields, held)).headers.getSetCookie()[0] ?? "",
      /^sidereal\.session_token=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
    );
  });
});
