import assert from "node:assert/strict";
import { before, test } from "node:test";
import { createToken } from "../../src/lib/tokens.js";
import { errorOf, invalid } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { ORIGIN, requestMail, SITE_SETTINGS, signIn } from "../support/members.js";
import { createWorld, type World } from "../support/world.js";

const NOT_VALID = "is not valid: wrong, used before, expired, tried too often, or of another request";
const FORM = { "Content-Type": "application/x-www-form-urlencoded", Origin: ORIGIN };
const SESSION_COOKIE =
  /^__Host-sidereal\.session_token=[^;]+; Max-Age=2592000; Path=\/; HttpOnly; Secure; SameSite=Lax$/;

onSqliteAndLong("Signing in over HTTP", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let people = 0;
  const newAddress = () => `somebody-${++people}@example.org`;

  before(async () => {
    world = await createWorld(engine, { ...mailbox.settings, ...SITE_SETTINGS });
  });
  const ask = (body: unknown, headers: Record<string, string> = {}) =>
    world.send("POST", "/api/auth/magic-link", body, headers);
  const verify = (proof: Record<string, string>, held: Record<string, string> = {}) =>
    world.send("POST", "/api/auth/verify", proof, { Origin: ORIGIN, ...held });
  /** A mail requested on the page, and the cookie of the browser that requested it. */
  const askOnPage = async (email: string, next = "/") => {
    const body = new URLSearchParams({ email, next }).toString();
    const asked = await world.request("/sign-in", { method: "POST", body, headers: FORM });
    assert.equal(asked.status, 303);
    const Cookie = asked.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const { link } = await mailbox.next();
    return { link, token: link.searchParams.get("token") ?? "", browser: { ...FORM, Cookie } };
  };
  const submit = async (fields: Record<string, string>, headers: Record<string, string> = FORM) => {
    const body = new URLSearchParams(fields).toString();
    const length = { "Content-Length": String(body.length) };
    return world.request("/sign-in/link", { method: "POST", body, headers: { ...length, ...headers } });
  };

  test("the answer is the same for an address that is known and one that is not", async () => {
    const email = newAddress();
    await signIn(world, mailbox, email);
    const answers = [await ask({ email }), await ask({ email: newAddress() })];
    for (const { status, body, headers } of answers) {
      assert.equal(status, 202);
      assert.equal(body.data.expiresInSeconds, 600);
      assert.match(body.data.requestToken, /^[\w-]{43}$/);
      assert.deepEqual(Object.keys(body.data), ["expiresInSeconds", "requestToken"]);
      assert.equal(headers.get("cache-control"), "no-store");
      assert.equal(headers.get("set-cookie"), null);
    }
    await mailbox.next();
    await mailbox.next();
  });

  test("a link signs in by API, once, with a cookie that scripts and other sites do not get", async () => {
    const email = newAddress();
    const { requestToken, token, code } = await requestMail(world, mailbox, email);
    const { status, body, headers } = await verify({ requestToken, token });
    assert.equal(status, 200);
    const { createdAt, sessionExpiresAt, ...account } = body.data;
    assert.deepEqual(account, { email, name: null, sites: [] });
    assert.ok(Date.parse(sessionExpiresAt) - Date.parse(createdAt) > 29 * 86_400_000);
    const cookies = headers.getSetCookie();
    assert.equal(cookies.length, 1);
    assert.match(cookies[0] ?? "", SESSION_COOKIE);
    const cookie = cookies[0]?.split(";")[0] ?? "";
    assert.deepEqual((await world.get("/api/me", { Cookie: cookie })).body, body);
    for (const used of [token, createToken("sidl"), "x", ""])
      assert.deepEqual(errorOf(await verify({ requestToken, token: used })), invalid("token", NOT_VALID));
    assert.deepEqual(errorOf(await verify({ requestToken, code })), invalid("code", NOT_VALID));
  });

  test("a code signs in by API with the requestToken of its request alone, and ends the session that the caller had", async () => {
    const email = newAddress();
    const before = await signIn(world, mailbox, email);
    const { requestToken, token, code } = await requestMail(world, mailbox, email);
    const other = await requestMail(world, mailbox, newAddress());
    for (const wrong of [other.requestToken, "", "x".repeat(43)]) {
      const guessed = await verify({ requestToken: wrong, code });
      assert.deepEqual(errorOf(guessed), invalid("code", NOT_VALID));
      assert.equal((await verify({ requestToken: wrong, token })).status, 400);
    }
    for (const body of [{ code }, { token }, { requestToken }, { requestToken, token, code }])
      assert.equal((await verify(body)).status, 400);
    const { status, body, headers } = await verify({ requestToken, code }, { Cookie: before.cookie });
    assert.deepEqual([status, body.data.email], [200, email]);
    const cookie = headers.getSetCookie()[0]?.split(";")[0] ?? "";
    assert.equal((await world.get("/api/me", { Cookie: cookie })).status, 200);
    assert.equal((await world.get("/api/me", { Cookie: before.cookie })).status, 401);
  });

  test("the page shows what stands in the address as text, never as markup", async () => {
    const { token, browser } = await askOnPage(newAddress());
    for (const of of [token, encodeURIComponent('"><script>x')]) {
      const html = await (await world.request(`/sign-in/link?token=${of}&next="><b>`)).text();
      assert.doesNotMatch(html, /<script>|<b>/);
    }
    const code = '"><script>x';
    const asked = await world.request("/sign-in/code", {
      method: "POST",
      body: new URLSearchParams({ code }).toString(),
      headers: browser,
    });
    const html = await asked.text();
    assert.ok(html.includes('value="&quot;>&lt;script>x"'));
    assert.doesNotMatch(html, /<script>|<b>/);
  });

  test("a form that is none signs nobody in", async () => {
    const { token, browser } = await askOnPage(newAddress());
    assert.equal((await submit({ token }, { ...browser, "Content-Type": "text/plain" })).status, 415);
    assert.equal((await submit({ token }, { ...browser, "Content-Length": "70000" })).status, 413);
    assert.equal((await submit({ token }, browser)).status, 303);
  });

  test("signing in continues to nothing but a path of this service", async () => {
    for (const next of [
      "//evil.example",
      "/%5cevil",
      "https://evil.example",
      "javascript:alert(1)",
      "",
      "a",
    ]) {
      const expected = invalid("next", "must be a path of this service");
      assert.deepEqual(errorOf(await ask({ email: newAddress(), next })), expected, next);
      const site = await world.send("POST", "/api/auth/sign-in/github", { next }, { Origin: ORIGIN });
      assert.deepEqual(errorOf(site), expected, next);
    }
  });

  test("what is no address, not JSON, too large, or from another site is refused", async () => {
    for (const email of ["", "x", "a@b", "a@b.example, c@d.example", "a@b.example\r\nBcc: c@d.example"])
      assert.deepEqual(errorOf(await ask({ email })), invalid("email", "must be an e-mail address"), email);
    assert.deepEqual(errorOf(await ask({})), invalid("email", "is required"));
    assert.equal((await ask({ email: "a@b.example", x: 1 })).status, 400);
    assert.equal((await ask({ email: "x".repeat(20_000) })).status, 413);
    assert.equal((await ask(undefined, { "Content-Type": "text/plain" })).status, 415);
    const foreign = { Origin: "https://evil.example" };
    for (const path of ["magic-link", "verify", "sign-out", "sign-in/github"])
      assert.equal((await world.send("POST", `/api/auth/${path}`, {}, foreign)).status, 403, path);
    assert.equal(mailbox.waiting, 0);
  });

  test("without a mail server, sign-in by mail says that it is off", async () => {
    const without = await createWorld(engine);
    const answer = await without.send("POST", "/api/auth/magic-link", { email: "ann@example.org" });
    assert.deepEqual(errorOf(answer), {
      status: 403,
      code: "FORBIDDEN",
      message: "Sign-in by e-mail is off here: no mail server is configured.",
    });
  });

  test("a site that vouches is requested by its name, and a wrong result signs nobody in", async () => {
    const begun = await world.send("POST", "/api/auth/sign-in/github", {}, { Origin: ORIGIN });
    assert.equal(begun.status, 200);
    assert.match(begun.body.data.url, /^https:\/\/github\.com\/login\/oauth\/authorize\?/);
    assert.match(
      begun.headers.getSetCookie()[0] ?? "",
      /^__Host-sidereal\.\S+; .*HttpOnly; Secure; SameSite=Lax$/,
    );
    const google = await world.send("POST", "/api/auth/sign-in/google", {}, { Origin: ORIGIN });
    assert.equal(errorOf(google).code, "NOT_FOUND");
    const other = await world.send("POST", "/api/auth/sign-in/gitlab", {}, { Origin: ORIGIN });
    assert.equal(errorOf(other).code, "VALIDATION_FAILED");
    for (const query of ["", "?code=c&state=s", "?error=access_denied&state=s"]) {
      const back = await world.get(`/api/auth/callback/github${query}`);
      assert.deepEqual([back.status, back.headers.get("location")], [302, `${ORIGIN}/sign-in/failed`]);
    }
    assert.equal((await world.get("/sign-in/failed")).status, 200);
  });

  test("none of the library's own routes is there", async () => {
    for (const path of ["get-session", "sign-up/email", "list-sessions", "magic-link/verify", "ok", "error"])
      for (const method of ["GET", "POST"])
        assert.equal((await world.send(method, `/api/auth/${path}`)).status, 404, path);
  });
});
