import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { loadConfig } from "../../src/config/config.js";
import { browserWith, cookieOf, openAccounts } from "../support/accounts.js";
import { onSqliteAndLong } from "../support/engines.js";
import { recordedLog } from "../support/logs.js";
import { ManualClock } from "../support/manual-clock.js";
import { NOW } from "../support/world.js";

const BASE = "https://sidereal.example";
const FAILED = `${BASE}/sign-in/failed`;
const KEYS = "https://www.googleapis.com/oauth2/v3/certs";

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
    const database = await engine.open();
    const clock = new ManualClock(NOW);
    const config = loadConfig({
      SIDEREAL_BASE_URL: BASE,
      SIDEREAL_AUTH_SECRET: "Kq8-vN2wZ5xR1tY7uB3mC6pL9sD4fG0h",
      SIDEREAL_AUTH_GOOGLE_ID: "client",
      SIDEREAL_AUTH_GOOGLE_SECRET: "client-secret",
    });
    const { log } = recordedLog("warn");
    const { accounts } = openAccounts({ database, clock, config, log });

    const tokenOf = (change: Change) =>
      new SignJWT({ ...ANN, ...change.claims })
        .setProtectedHeader({ alg: "RS256", kid: "1" })
        .setIssuer(change.issuer ?? "https://accounts.google.com")
        .setAudience(change.audience ?? "client")
        .setIssuedAt(change.issued ?? "0s")
        .setExpirationTime(change.expires ?? "1h")
        .sign(change.signedBy ?? privateKey);

    /** Goes to Google and comes back with this token. Only Google's own addresses respond. */
    const passThrough = async (idToken: string) => {
      const there = await accounts.startOAuth("google", "/account");
      const responses: Record<string, unknown> = {
        "https://oauth2.googleapis.com/token": {
          access_token: "ya29",
          token_type: "Bearer",
          id_token: idToken,
        },
        [KEYS]: { keys: [{ ...(await exportJWK(publicKey)), kid: "1", alg: "RS256" }] },
      };
      const pretended = mock.method(globalThis, "fetch", async (input: string | URL | Request) => {
        const address = String(input instanceof Request ? input.url : input);
        assert.ok(address in responses, address);
        return Response.json(responses[address]);
      });
      const state = new URL(there.location).searchParams.get("state") ?? "";
      const cookie = there.cookies.map((each) => each.split(";")[0]).join("; ");
      const back = await accounts.finishOAuth("google", { code: "code", state }, browserWith(cookie));
      pretended.mock.restore();
      return { location: back.location, account: await accounts.find(cookieOf(back)) };
    };
    return { database, tokenOf, passThrough };
  };

  test("a token that Google signed for this service signs in the account of its verified address", async () => {
    const { tokenOf, passThrough } = await start();
    const { location, account } = await passThrough(await tokenOf({}));
    assert.equal(location, `${BASE}/account`);
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
      const { location, account } = await passThrough(token);
      assert.deepEqual([location.split("?")[0], account], [FAILED, undefined], kind);
    }
    assert.deepEqual(await database.read.selectFrom("accounts").select("id").execute(), []);
  });
});
