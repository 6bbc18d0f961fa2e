import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { fieldOf, open, openPage, submit } from "../support/page.js";
import { createWorld, type World } from "../support/world.js";

onSqliteAndLong("The page that takes the code of a mail", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let people = 0;
  before(async () => {
    world = await createWorld(engine, mailbox.settings);
  });

  /** Requests a mail by the form, in a browser that has these cookies. */
  const ask = async (held: Record<string, string> = {}, email = `asker-${++people}@example.org`) => {
    const sent = await submit(world, "/sign-in", { email, next: "/account" }, held);
    assert.deepEqual([sent.status, sent.location], [303, "/sign-in/sent"]);
    const Cookie = [held.Cookie, ...sent.cookies].filter((one) => one !== undefined).join("; ");
    return { email, mail: await mailbox.next(), browser: { Cookie } };
  };
  const type = (code: string, headers: Record<string, string> = {}) =>
    submit(world, "/sign-in/code", { code }, headers);
  const wrong = (code: string, by: number) =>
    String((Number(code.replace(" ", "")) + by) % 100_000_000).padStart(8, "0");

  test("signs in where the mail was requested, and continues to the page it was requested on", async () => {
    const { email, mail, browser } = await ask();
    const page = await openPage(world, "/sign-in/sent", browser);
    const field = fieldOf(page, "code");
    assert.deepEqual([field?.inputmode, field?.autocomplete], ["numeric", "one-time-code"]);
    const signedIn = await type(mail.code, browser);
    assert.deepEqual([signedIn.status, signedIn.location], [303, "/account"]);
    const Cookie = signedIn.cookies.join("; ");
    assert.equal((await world.get("/api/me", { Cookie })).body.data.email, email);
    const names = signedIn.headers.getSetCookie().map((cookie) => cookie.split("=")[0]);
    assert.deepEqual(names, ["__Host-sidereal.session_token", "__Host-sidereal.asked"]);
    assert.equal((await type(mail.code, browser)).status, 400, "once");
    const { link } = mail;
    assert.equal((await open(world, link.pathname + link.search, browser)).status, 400, "nor by the link");
  });

  test("refuses whatever is wrong with a code in the same words, and signs nobody in", async () => {
    const victim = await ask();
    const attacker = await ask();
    const refused = [
      await type(victim.mail.code),
      await type(victim.mail.code, attacker.browser),
      await type(wrong(victim.mail.code, 1), victim.browser),
      await type("12345678", { Cookie: "__Host-sidereal.asked=x" }),
    ];
    for (const { status, alerts, cookies } of refused)
      assert.deepEqual([status, alerts, cookies], [400, refused[0]?.alerts, []]);
    const malformed = await type("1234", victim.browser);
    assert.deepEqual([malformed.status, malformed.alerts], [400, ["The code has 8 digits."]]);
    assert.equal(fieldOf(malformed, "code")?.value, "1234");
    assert.equal((await type(victim.mail.code, victim.browser)).status, 303);
  });

  test("sends another mail", async () => {
    const { email, browser } = await ask();
    const again = await submit(world, "/sign-in/resend", {}, browser);
    assert.deepEqual([again.status, again.location], [303, "/sign-in/sent?again=1"]);
    assert.match((await openPage(world, "/sign-in/sent?again=1", browser)).text, /sent the email again/);
    const second = await mailbox.next();
    assert.deepEqual(second.to, [email]);
    assert.equal((await type(second.code, browser)).status, 303);
  });

  test("sending again looks the same for a browser that has requested nothing, and sends nothing", async () => {
    const { browser } = await ask();
    const [known, unknown] = [
      await submit(world, "/sign-in/resend", {}, browser),
      await submit(world, "/sign-in/resend", {}),
    ];
    assert.deepEqual([known.status, known.location], [unknown.status, unknown.location]);
    assert.equal(known.headers.getSetCookie().length, unknown.headers.getSetCookie().length);
    await mailbox.next();
    await world.members.accounts.mail.settled();
    assert.equal(mailbox.waiting, 0);
  });
});
