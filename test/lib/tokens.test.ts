import assert from "node:assert/strict";
import { test } from "node:test";
import { createToken, hashToken, TOKEN_PREFIXES, tokenPrefix } from "../../src/lib/tokens.js";
import { fc } from "../support/properties.js";

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIXES = TOKEN_PREFIXES;
const prefix = fc.constantFrom(...PREFIXES);
const base62 = (length: number) =>
  fc.string({ unit: fc.constantFrom(...BASE62), minLength: length, maxLength: length });

test("a token is its prefix, 30 random characters and 6 of checksum, and is recognised by itself", () => {
  for (const each of PREFIXES) {
    const token = createToken(each);
    assert.match(token, new RegExp(`^${each}_[0-9A-Za-z]{36}$`));
    assert.equal(tokenPrefix(token), each);
  }
});

test("no two tokens are the same", () => {
  assert.equal(new Set(Array.from({ length: 5_000 }, () => createToken("sidr"))).size, 5_000);
});

test("the checksum is the CRC-32 of all before it in base 62, so tokens of yesterday stay valid", () => {
  assert.equal(tokenPrefix("sidw_0000000000000000000000000000004Pm5qa"), "sidw");
  assert.equal(tokenPrefix("sidr_00000000000000000000000000000024efhI"), "sidr");
});

test("no random text is taken for a token", () => {
  fc.assert(
    fc.property(prefix, base62(36), (each, rest) => assert.equal(tokenPrefix(`${each}_${rest}`), undefined)),
    { numRuns: 5_000 },
  );
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => assert.equal(tokenPrefix(text), undefined)));
});

test("one wrong character, two exchanged ones, or one more or less are always noticed", () => {
  const token = fc.constant(null).map(() => createToken("sidw"));
  fc.assert(
    fc.property(token, fc.nat({ max: 35 }), fc.constantFrom(...BASE62), (whole, place, character) => {
      const at = 5 + place;
      if (whole[at] !== character) {
        assert.equal(tokenPrefix(whole.slice(0, at) + character + whole.slice(at + 1)), undefined);
      }
      const exchanged = `${whole.slice(0, at)}${whole[at + 1] ?? ""}${whole[at]}${whole.slice(at + 2)}`;
      if (exchanged !== whole) assert.equal(tokenPrefix(exchanged), undefined);
      assert.equal(tokenPrefix(whole.slice(0, at) + whole.slice(at + 1)), undefined);
      assert.equal(tokenPrefix(whole.slice(0, at) + character + whole.slice(at)), undefined);
    }),
    { numRuns: 2_000 },
  );
});

test("a token is not valid with another prefix, in another case, or with anything around it", () => {
  const token = createToken("sidw");
  for (const wrong of [
    token.replace("sidw", "sidr"),
    token.toUpperCase(),
    ` ${token}`,
    `${token}\n`,
    `${token}\u0000`,
    `x${token}`,
    token.replace("_", "-"),
    "",
  ]) {
    assert.equal(tokenPrefix(wrong), undefined, JSON.stringify(wrong));
  }
});

test("what is stored is the SHA-256 of the token, and tells nothing of it", () => {
  assert.equal(hashToken("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const token = createToken("sidr");
  assert.match(hashToken(token), /^[0-9a-f]{64}$/);
  assert.notEqual(hashToken(token), hashToken(createToken("sidr")));
});
