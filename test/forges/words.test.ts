import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { safeWords, wordsOfBody } from "../../src/forges/responses.js";
import { fc } from "../support/properties.js";

const SECRET = "first-token-of-ours";
const words = (body: unknown) => wordsOfBody(JSON.stringify(body), [SECRET]);

test("the reason is found in the form of each forge", () => {
  assert.equal(
    words({ message: "Bad credentials", documentation_url: "https://x.example" }),
    "Bad credentials",
  );
  assert.equal(
    words({ error: "invalid_token", error_description: "Token was revoked." }),
    "invalid_token: Token was revoked.",
  );
  assert.equal(words({ message: { base: ["Too many requests"] } }), "Too many requests");
  assert.equal(
    words({ message: "Validation Failed", errors: [{ message: "Only 1,000 results" }] }),
    "Validation Failed: Only 1,000 results",
  );
  assert.equal(words({ error: "403 Forbidden" }), "403 Forbidden");
  for (const none of [{}, [], null, 7, { message: "" }, { message: 7 }]) assert.equal(words(none), null);
  assert.equal(wordsOfBody("<html><p>Sign in</p></html>", []), null);
  assert.equal(wordsOfBody(JSON.stringify({ message: "x".repeat(20_000) }), []), null);
});

test("ordinary words stay as they are", () => {
  for (const text of [
    "Resource not accessible by personal access token",
    "API rate limit exceeded for 192.0.2.7. (But here's the good news: Authenticated requests get a higher limit.)",
    "Requires authentication; basic authentication is not supported.",
    "GetUserByName: user does not exist [uid: 0, name: someone]",
  ])
    assert.equal(safeWords(text, [SECRET]), text);
});

test("no token gets through, ours or any other, however it is written", () => {
  const hidden = [
    SECRET,
    `first-token\u200b-of-ours`,
    "first-token<-of-ours",
    "first-token\u202e-of-ours",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz",
    "ghs_AbCdEf",
    "glpat-xxxxyyyyzzzz",
    "0123456789abcdef0123456789abcdef01234567",
    "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxIn0.c2ln",
    Buffer.from(`user:${SECRET}1`).toString("base64"),
  ];
  for (const token of hidden) {
    for (const text of [
      token,
      `Authorization: Bearer ${token}`,
      `${"a ".repeat(90)}${token}`,
      `[${token}]`,
    ]) {
      const safe = safeWords(text, [SECRET]) ?? "";
      assert.ok(safe.length <= 200, text);
      const joined = safe.replaceAll("[redacted]", "");
      for (const part of [
        "first-token",
        "ours",
        "16C7e42F",
        "11ABCDEFG",
        "AbCdEf",
        "xxxxyyyy",
        "0123456789abc",
        "eyJ",
      ])
        assert.ok(!joined.includes(part), `${text} became ${safe}`);
    }
  }
  assert.equal(safeWords("Authorization: Basic abc123xyz", []), "Authorization: Basic [redacted]");
  assert.equal(safeWords("password=hunter2", []), "password=[redacted]");
});

test("words are one line of bounded length, without markup and control characters", () => {
  assert.equal(safeWords("one\r\ntwo\u001b[31m", []), "one two [31m");
  assert.equal(safeWords("<script>alert(1)</script>", []), null);
  assert.equal(safeWords("name: <nil>", []), "name: nil");
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 600 }),
      fc.string({ minLength: 4 }),
      (text, secret) => {
        const safe = safeWords(`${text}${secret}${text}`, [secret]);
        if (safe === null) return;
        assert.ok(safe.length <= 200 && safe.isWellFormed());
        assert.doesNotMatch(safe, /[<>\p{Cc}]/u);
      },
    ),
  );
});

test("a long text costs no more than a short one, and the start of a token at its end is not shown", () => {
  const searched = (text: string) => {
    const lengths: number[] = [];
    const replaceAll = String.prototype.replaceAll;
    const counting = mock.method(String.prototype, "replaceAll", function (this: string, ...args: unknown[]) {
      if (args[0] instanceof RegExp && /\[\\w|bearer/.test(args[0].source)) lengths.push(this.length);
      return Reflect.apply(replaceAll, this, args);
    });
    safeWords(text, []);
    counting.mock.restore();
    return Math.max(...lengths);
  };
  assert.ok(searched("abc ".repeat(5_000)) <= 1_000);
  const token = "t0ken-".repeat(80);
  const safe = safeWords(`${`${token} `.repeat(20)}`, [token]) ?? "";
  assert.doesNotMatch(safe, /t0ken/);
});
