import assert from "node:assert/strict";
import { test } from "node:test";
import { readApiKey } from "../../src/http/identity.js";

const key = "sid_abc";
const codeOf = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : error;
  }
};

test("a key is read from either header, in any spelling of the scheme", () => {
  for (const authorization of [
    `Bearer ${key}`,
    `bearer  ${key} `,
    `BEARER ${key}`,
    `Bearer ${key}, Bearer ${key}`,
  ])
    assert.equal(readApiKey({ authorization: [authorization] }), key);
  assert.equal(readApiKey({ "x-api-key": [` ${key} `] }), key);
  assert.equal(readApiKey({ authorization: [`Bearer ${key}`], "x-api-key": [key] }), key);
  assert.equal(readApiKey({}), undefined);
});

test("Basic credentials belong to a proxy; every other scheme is a key that nobody has", () => {
  assert.equal(readApiKey({ authorization: ["Basic dXNlcjpwYXNz"] }), undefined);
  assert.equal(readApiKey({ authorization: ["Basic dXNlcjpwYXNz"], "x-api-key": [key] }), key);
  for (const authorization of ["Bearer", "Digest a=b", key, ""])
    assert.equal(readApiKey({ authorization: [authorization] }), "");
});

test("two different keys are refused", () => {
  assert.equal(
    codeOf(() => readApiKey({ authorization: [`Bearer ${key}`], "x-api-key": ["sid_other"] })),
    "INVALID_REQUEST",
  );
  assert.equal(
    codeOf(() => readApiKey({ authorization: [`Bearer ${key}, Bearer sid_other`] })),
    "INVALID_REQUEST",
  );
});

test("every line of a repeated header counts", () => {
  assert.equal(readApiKey({ authorization: ["Basic dXNlcjpwYXNz", `Bearer ${key}`] }), key);
  assert.equal(
    codeOf(() => readApiKey({ authorization: [`Bearer ${key}`, "Bearer sid_other"] })),
    "INVALID_REQUEST",
  );
  assert.equal(readApiKey({ authorization: [`Basic ${"x".repeat(2_000)}`] }), undefined);
});

test("a key that is too long is none", () => {
  const blanks = `Bearer x${" ".repeat(15_000)}y`;
  assert.equal(
    codeOf(() => readApiKey({ authorization: [blanks] })),
    "INVALID_API_KEY",
  );
  assert.equal(
    codeOf(() => readApiKey({ "x-api-key": ["a".repeat(201)] })),
    "INVALID_API_KEY",
  );
});
