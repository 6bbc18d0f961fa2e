import assert from "node:assert/strict";
import { test } from "node:test";
import { readApiKey } from "../../src/http/caller.js";

const key = "sid_abc";

/** Reads the key of a message with these lines of each header, as Node presents them. */
function read(lines: Readonly<Record<string, readonly string[]>>): string | undefined {
  const rawHeaders = Object.entries(lines).flatMap(([name, values]) =>
    values.flatMap((value) => [name, value]),
  );
  const headersDistinct = Object.fromEntries(
    Object.entries(lines).map(([name, values]) => [name, [...values]]),
  );
  const headers = {
    authorization: lines.authorization?.[0],
    "x-api-key": lines["x-api-key"]?.join(", "),
  };
  return readApiKey({ headers, headersDistinct, rawHeaders });
}

const codeOf = (act: () => unknown): unknown => {
  try {
    return act();
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
    assert.equal(read({ authorization: [authorization] }), key);
  assert.equal(read({ "x-api-key": [` ${key} `] }), key);
  assert.equal(read({ authorization: [`Bearer ${key}`], "x-api-key": [key] }), key);
  assert.equal(read({}), undefined);
});

test("Basic credentials belong to a proxy; every other scheme is refused by name", () => {
  assert.equal(read({ authorization: ["Basic dXNlcjpwYXNz"] }), undefined);
  assert.equal(read({ authorization: ["Basic dXNlcjpwYXNz"], "x-api-key": [key] }), key);
  for (const authorization of ["Bearer", "Digest a=b", key, ""])
    assert.equal(
      codeOf(() => read({ authorization: [authorization] })),
      "INVALID_API_KEY",
    );
});

test("every line of a repeated header counts", () => {
  assert.equal(read({ authorization: ["Basic dXNlcjpwYXNz", `Bearer ${key}`] }), key);
  assert.equal(
    codeOf(() => read({ authorization: [`Bearer ${key}`, "Bearer sid_other"] })),
    "INVALID_REQUEST",
  );
  assert.equal(read({ authorization: [`Basic ${"x".repeat(2_000)}`] }), undefined);
});

test("a key that is too long is none", () => {
  const blanks = `Bearer x${" ".repeat(15_000)}y`;
  assert.equal(
    codeOf(() => read({ authorization: [blanks] })),
    "INVALID_API_KEY",
  );
  assert.equal(
    codeOf(() => read({ "x-api-key": ["a".repeat(201)] })),
    "INVALID_API_KEY",
  );
});
