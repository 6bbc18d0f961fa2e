import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { sql } from "kysely";
import type { Site } from "../../src/accounts/accounts.js";
import { browserWith, cookieOf, openAccounts, SOMEWHERE, signInByMail } from "../support/accounts.js";
import { type Engine, onSqliteAndLong } from "../support/engines.js";
import { recordedLog } from "../support/logs.js";
import { openMailbox } from "../support/mail.js";

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

const BY_GITHUB = { SIDEREAL_AUTH_GITHUB_ID: "client", SIDEREAL_AUTH_GITHUB_SECRET: "client-secret" };
const BY_GOOGLE = { SIDEREAL_AUTH_GOOGLE_ID: "client", SIDEREAL_AUTH_GOOGLE_SECRET: "client-secret" };

/** A service where people sign in by a site, and a browser that goes there and comes back. */
async function openSite(engine: Engine, site: Site, settings: Record<string, string>) {
  const database = await engine.open();
  const { log, lines } = recordedLog("warn");
  const { accounts } = openAccounts(database, settings, { log });
  /** `answers`: what is answered at each address meanwhile; nothing else is reachable. */
  const visit = async (
    answers: Readonly<Record<string, unknown>>,
    change: { state?: string; cookie?: string } = {},
    held = "",
  ) => {
    const there = await accounts.startOAuth(site, "/account");
    const state = change.state ?? new URL(there.location).searchParams.get("state") ?? "";
    const pretended = mock.method(globalThis, "fetch", async (input: string | URL | Request) => {
      const address = String(input instanceof Request ? input.url : input);
      assert.ok(address in answers, address);
      return Response.json(answers[address]);
    });
    const sent = [change.cookie ?? cookieOf(there), held].filter((one) => one !== "").join("; ");
    const back = await accounts.finishOAuth(site, { code: "code", state }, browserWith(sent));
    pretended.mock.restore();
    const session = cookieOf(back);
    const account = await accounts.find(session);
    return { there, back, session, account, calls: pretended.mock.callCount() };
  };
  return { database, accounts, lines, visit };
}

onSqliteAndLong("Signing in by GitHub", (engine) => {
  const mailbox = openMailbox();

  const start = async () => {
    const opened = await openSite(engine, "github", { ...BY_GITHUB, ...mailbox.settings });
    const passThrough = (
      { id, email, verified }: Person,
      ...change: [{ state?: string; cookie?: string }?, string?]
    ) =>
      opened.visit(
        {
          "https://github.com/login/oauth/access_token": { access_token: "gho_secret", token_type: "bearer" },
          "https://api.github.com/user": { id, login: "ann", name: "Ann", email },
          "https://api.github.com/user/emails": [{ email, primary: true, verified }],
        },
        ...change,
      );
    return { ...opened, passThrough };
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

  test("an answer with a foreign state, or in another browser, is refused without a request to GitHub", async () => {
    const { lines, passThrough } = await start();
    const person = { id: 7, email: "ann@example.org", verified: true };
    for (const change of [{ state: "x".repeat(32) }, { state: "" }, { cookie: "" }, { cookie: "a=b" }]) {
      const { back, account, calls } = await passThrough(person, change);
      assert.deepEqual([back.location, account, calls], [FAILED, undefined, 0], JSON.stringify(change));
    }
    // Warnings: it is no error of ours.
    assert.deepEqual(new Set(lines.map(({ level }) => level)), new Set([WARN]));
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
});

/** A person at Google, as the claims of an ID token. */
const ANN = { sub: "7", email: "Ann@example.org", email_verified: true, name: "Ann" };

/** What differs from a good token. */
interface Change {
  claims?: JWTPayload;
  audience?: string;
  issuer?: string;
  issued?: string;
  expires?: string;
  signedBy?: CryptoKey;
}

onSqliteAndLong("Signing in with Google", (engine) => {
  const start = async () => {
    const { publicKey, privateKey } = await generateKeyPair("RS256");
    const { database, visit } = await openSite(engine, "google", BY_GOOGLE);
    const tokenOf = (change: Change) =>
      new SignJWT({ ...ANN, ...change.claims })
        .setProtectedHeader({ alg: "RS256", kid: "1" })
        .setIssuer(change.issuer ?? "https://accounts.google.com")
        .setAudience(change.audience ?? "client")
        .setIssuedAt(change.issued ?? "0s")
        .setExpirationTime(change.expires ?? "1h")
        .sign(change.signedBy ?? privateKey);

    const passThrough = async (id_token: string) =>
      visit({
        "https://oauth2.googleapis.com/token": { access_token: "ya29", token_type: "Bearer", id_token },
        "https://www.googleapis.com/oauth2/v3/certs": {
          keys: [{ ...(await exportJWK(publicKey)), kid: "1", alg: "RS256" }],
        },
      });
    return { database, tokenOf, passThrough };
  };

  test("a token that Google signed for this service signs in the account of its verified address", async () => {
    const { tokenOf, passThrough } = await start();
    const { back, account } = await passThrough(await tokenOf({}));
    assert.equal(back.location, `${BASE}/account`);
    assert.deepEqual([account?.email, account?.name], ["ann@example.org", "Ann"]);
    const moved = await passThrough(await tokenOf({ claims: { email: "moved@example.org" } }));
    assert.equal(moved.account?.id, account?.id);
  });

  test("a token that is forged, for another service, of another issuer, or too old signs nobody in", async () => {
    const { database, tokenOf, passThrough } = await start();
    const { privateKey: foreign } = await generateKeyPair("RS256");
    const claims = Buffer.from(JSON.stringify(ANN)).toString("base64url");
    const none = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
    const tokens: Record<string, string> = {
      forged: await tokenOf({ signedBy: foreign }),
      unsigned: `${none}.${claims}.`,
      "for another service": await tokenOf({ audience: "another" }),
      "of another issuer": await tokenOf({ issuer: "https://evil.example" }),
      expired: await tokenOf({ issued: "-50m", expires: "-1m" }),
      old: await tokenOf({ issued: "-2h" }),
      "without a verified address": await tokenOf({ claims: { email_verified: false } }),
      empty: "",
    };
    for (const [kind, token] of Object.entries(tokens)) {
      const { back, account } = await passThrough(token);
      assert.deepEqual([back.location.split("?")[0], account], [FAILED, undefined], kind);
    }
    assert.deepEqual(await database.read.selectFrom("accounts").select("id").execute(), []);
  });
});
