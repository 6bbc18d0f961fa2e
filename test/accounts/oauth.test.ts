import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { sql } from "kysely";
import { loadConfig } from "../../src/config/config.js";
import { AppError } from "../../src/lib/errors.js";
import { browserWith, openAccounts, SOMEWHERE, signInByMail } from "../support/accounts.js";
import { onSqliteAndLong } from "../support/engines.js";
import { recordedLog } from "../support/logs.js";
import { openMailbox } from "../support/mail.js";
import { ManualClock } from "../support/manual-clock.js";
import { NOW } from "../support/world.js";

const BASE = "https://sidereal.example";
const FAILED = `${BASE}/sign-in/failed`;

/** The level of warnings in the log. */
const WARN = 40;

/** What GitHub would say of the one who signs in there. */
interface Person {
  id: number;
  email: string;
  verified: boolean;
}

/** Answers what is asked of GitHub, and counts it. Nothing else is reachable. */
function pretendGitHub(person: Person) {
  return mock.method(globalThis, "fetch", async (input: string | URL | Request) => {
    const address = String(input instanceof Request ? input.url : input);
    const answers: Record<string, unknown> = {
      "https://github.com/login/oauth/access_token": { access_token: "gho_secret", token_type: "bearer" },
      "https://api.github.com/user": { id: person.id, login: "ann", name: "Ann", email: person.email },
      "https://api.github.com/user/emails": [
        { email: person.email, primary: true, verified: person.verified },
      ],
    };
    assert.ok(address in answers, address);
    return Response.json(answers[address]);
  });
}

onSqliteAndLong("Signing in by GitHub", (engine) => {
  const mailbox = openMailbox();

  const start = async () => {
    const database = await engine.open();
    const clock = new ManualClock(NOW);
    const config = loadConfig({
      SIDEREAL_BASE_URL: BASE,
      SIDEREAL_AUTH_SECRET: "Kq8-vN2wZ5xR1tY7uB3mC6pL9sD4fG0h",
      SIDEREAL_AUTH_GITHUB_ID: "client",
      SIDEREAL_AUTH_GITHUB_SECRET: "client-secret",
      ...mailbox.settings,
    });
    const { log, lines } = recordedLog("warn");
    const { accounts } = openAccounts({ database, clock, config, log });
    /** Goes there and comes back. */
    const passThrough = async (
      person: Person,
      change: { state?: string; cookie?: string } = {},
      held = "",
    ) => {
      const there = await accounts.startOAuth("github", "/account");
      const { searchParams } = new URL(there.location);
      const cookie = there.cookies.map((each) => each.split(";")[0]).join("; ");
      const pretended = pretendGitHub(person);
      const query = { code: "code", state: change.state ?? searchParams.get("state") ?? "" };
      const sent = [change.cookie ?? cookie, held].filter((one) => one !== "").join("; ");
      const back = await accounts.finishOAuth("github", query, browserWith(sent));
      pretended.mock.restore();
      const session = back.cookies.map((each) => each.split(";")[0]).join("; ");
      const account = await accounts.find(session);
      return { there, back, session, account, calls: pretended.mock.callCount() };
    };
    return { database, accounts, lines, passThrough };
  };

  test("the browser goes there with a state and a proof key, and comes back signed in", async () => {
    const { database, accounts, passThrough } = await start();
    const { there, back, account } = await passThrough({ id: 7, email: "Ann@example.org", verified: true });
    const url = new URL(there.location);
    assert.equal(`${url.origin}${url.pathname}`, "https://github.com/login/oauth/authorize");
    assert.equal(url.searchParams.get("redirect_uri"), `${BASE}/api/auth/callback/github`);
    assert.equal(url.searchParams.get("code_challenge_method"), "S256");
    assert.match(url.searchParams.get("state") ?? "", /^\S{20,}$/);
    for (const cookie of there.cookies)
      assert.match(cookie, /^__Host-sidereal\.[^;]+;.* Path=\/; HttpOnly; Secure; SameSite=Lax$/);
    assert.equal(back.location, `${BASE}/account`);
    assert.equal(account?.email, "ann@example.org");
    assert.deepEqual(await accounts.sitesOf(account?.id ?? ""), ["github"]);
    const { rows } = await sql`select * from identities`.execute(database.read);
    assert.doesNotMatch(JSON.stringify(rows), /gho_secret/);
    const again = await passThrough({ id: 7, email: "moved@example.org", verified: true });
    assert.equal(again.account?.id, account?.id);
  });

  test("an address that GitHub has not verified makes no account and joins none", async () => {
    const { database, accounts, passThrough } = await start();
    const stranger = await passThrough({ id: 8, email: "bob@example.org", verified: false });
    assert.equal(stranger.account, undefined);
    assert.equal(stranger.back.location, FAILED);
    const bob = await signInByMail(accounts, mailbox, "bob@example.org");
    const pretender = await passThrough({ id: 8, email: "bob@example.org", verified: false });
    assert.equal(pretender.account, undefined);
    assert.deepEqual(await accounts.sitesOf(bob?.account.id ?? ""), []);
    const { rows } = await sql`select id from accounts`.execute(database.read);
    assert.equal(rows.length, 1);
    const owner = await passThrough({ id: 9, email: "bob@example.org", verified: true });
    assert.equal(owner.account?.id, bob?.account.id);
  });

  test("an answer with a foreign state, or in another browser, is refused before GitHub is asked", async () => {
    const { passThrough } = await start();
    const person = { id: 7, email: "ann@example.org", verified: true };
    for (const change of [{ state: "x".repeat(32) }, { state: "" }, { cookie: "" }, { cookie: "a=b" }]) {
      const { back, account, calls } = await passThrough(person, change);
      assert.deepEqual([back.location, account, calls], [FAILED, undefined, 0], JSON.stringify(change));
    }
  });

  test("the session that the browser had ends with the next sign-in, and only with one that succeeds", async () => {
    const { accounts, passThrough } = await start();
    const person = { id: 7, email: "ann@example.org", verified: true };
    const first = await passThrough(person);
    await passThrough({ id: 8, email: "eve@example.org", verified: false }, {}, first.session);
    assert.ok(await accounts.find(first.session));
    const second = await passThrough(person, {}, first.session);
    assert.ok(await accounts.find(second.session));
    assert.equal(await accounts.find(first.session), undefined);
    const [session, ...others] = await accounts.sessions.list(second.account?.id ?? "");
    assert.deepEqual([session?.source, others], [SOMEWHERE, []]);
  });

  test("an answer with a foreign state is not an error of ours in the log", async () => {
    const { lines, passThrough } = await start();
    await passThrough({ id: 7, email: "ann@example.org", verified: true }, { state: "x".repeat(32) });
    assert.deepEqual(
      lines.map(({ level, event }) => [level, event]),
      [
        [WARN, undefined],
        [WARN, "sign_in_refused"],
      ],
    );
  });

  test("a site that is not configured is not there", async () => {
    const { accounts } = await start();
    assert.deepEqual(accounts.methods.sites, ["github"]);
    await assert.rejects(
      accounts.startOAuth("google", "/"),
      (error) => error instanceof AppError && error.code === "NOT_FOUND",
    );
    assert.equal(
      (await accounts.finishOAuth("google", { code: "c", state: "s" }, browserWith())).location,
      FAILED,
    );
  });
});
