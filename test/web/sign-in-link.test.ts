import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { mailedToken } from "../support/members.js";
import { fieldOf, open, openPage, type Page, submit } from "../support/page.js";
import { createWorld, type World } from "../support/world.js";

const ASKED = /^__Host-sidereal\.asked=([\w-]{43}); Max-Age=900; Path=\/; HttpOnly; SameSite=Lax; Secure$/;

/** The page asks for the address that the link was sent to. */
function assertAsksAddress({ html, buttons }: Page): void {
  assert.equal(fieldOf({ html }, "email")?.id, "email");
  assert.ok(buttons.includes("Sign in"));
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
    assert.doesNotMatch(page.html, /name="email"/);
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

  test("a link from somebody else signs nobody in", async () => {
    const attacker = await ask();
    const victim = await ask();
    for (const headers of [{}, victim.browser, { Cookie: "__Host-sidereal.asked=" }]) {
      const page = await openPage(world, attacker.path, headers);
      assertAsksAddress(page);
      assert.ok(page.html.includes(`name="email"`) && !page.html.includes(attacker.email));
      for (const email of ["", victim.email]) {
        const refused = await press({ ...attacker.fields, email }, headers);
        assert.equal(refused.status, 400);
        assert.deepEqual(refused.cookies, []);
        assert.match(refused.html, /aria-invalid="true" aria-describedby="email-problem"/);
      }
    }
    assert.equal((await press(attacker.fields, attacker.browser)).status, 303, "nor is it used up");
    assert.equal((await press(victim.fields, victim.browser)).status, 303);
  });

  test("in another browser the address it was sent to signs in, in any case", async () => {
    const { email, fields, path } = await ask();
    assertAsksAddress(await open(world, path));
    const wrong = await press({ ...fields, email: "else@example.org" });
    assert.deepEqual([wrong.status, wrong.alerts.length], [400, 1]);
    assert.equal(fieldOf(wrong, "email")?.["aria-invalid"], "true");
    const signedIn = await press({ ...fields, email: ` ${email.toUpperCase()} ` });
    assert.deepEqual([signedIn.status, signedIn.location], [303, "/account"]);
    assert.equal(await whoIs(signedIn.cookies), email);
  });

  test("after five wrong addresses only the requesting browser can use a link", async () => {
    const { email, fields, path, browser } = await ask();
    for (let i = 0; i < 5; i++)
      assertAsksAddress(await press({ ...fields, email: `guess-${i}@example.org` }));
    const spent = await press({ ...fields, email });
    assert.deepEqual([spent.status, spent.cookies], [400, []]);
    assertRefused(spent);
    assertRefused(await open(world, path));
    assert.equal((await open(world, path, browser)).status, 200);
    assert.equal((await press(fields, browser)).status, 303);
  });

  test("a link requested through the API asks for its address in every browser", async () => {
    const { browser } = await ask();
    const email = "program@example.org";
    const token = await mailedToken(world, mailbox, email);
    assertAsksAddress(await open(world, `/sign-in/link?token=${token}`, browser));
    assert.equal((await press({ token }, browser)).status, 400);
    assert.equal((await press({ token, email }, browser)).status, 303);
  });

  test("two links of a browser both work; an invalid cookie is replaced", async () => {
    const first = await ask();
    const second = await ask(first.browser);
    assert.deepEqual(second.browser, first.browser);
    assert.equal((await open(world, first.path, first.browser)).status, 200);
    assert.equal((await press(second.fields, first.browser)).status, 303);
    assert.equal((await press(first.fields, first.browser)).status, 303);
    const odd = await ask({ Cookie: "__Host-sidereal.asked=x" });
    assert.match(odd.setCookie, ASKED);
  });

  test("a scanner that opens a link a hundred times, with a cookie or without, changes nothing", async () => {
    const { fields, path, browser } = await ask();
    for (let i = 0; i < 100; i++) {
      const method = i % 2 === 0 ? "GET" : "HEAD";
      const page = await world.request(path, { method, headers: i % 3 === 0 ? browser : {} });
      assert.deepEqual([page.status, page.headers.getSetCookie()], [200, []]);
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
      /^sidereal\.asked=[\w-]{43}; Max-Age=900; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const { link } = await mailbox.next();
    const page = await open(plain, link.pathname + link.search, { Cookie: sent.cookies.join("; ") });
    assert.doesNotMatch(page.html, /name="email"/);
  });
});
