import assert from "node:assert/strict";
import { test } from "node:test";
import { storeResponse, variantOf } from "../../src/http/response.js";

test("a response is compressed once for each encoding, however many callers ask for it", async () => {
  const stored = storeResponse({ status: 200, headers: {}, body: "text ".repeat(1_000) }, {}, "");
  const ask = (acceptEncoding: string) =>
    variantOf(stored, { isRead: true, ifNoneMatch: undefined, acceptEncoding });
  for (const encoding of ["br", "zstd", "gzip"]) {
    const compressing = ask(encoding);
    assert.equal(ask(encoding), compressing, "while it is compressed");
    const variant = await compressing;
    assert.equal(ask(encoding), variant, "afterwards");
    assert.ok(variant.bytes < stored.body.byteLength);
  }
});

test("a response that sets a cookie is shared with nobody, even if it is declared public", () => {
  const stored = (more: Record<string, string>) =>
    storeResponse(
      { status: 200, headers: {}, body: "{}" },
      { "Cache-Control": "public, max-age=30", ...more },
      "",
    );
  assert.deepEqual([stored({}).isShared, stored({ "Set-Cookie": "a=b" }).isShared], [true, false]);
});

test("the bytes of a response are all that it keeps in memory", () => {
  for (const body of ["{}", Buffer.from("picture"), null]) {
    const { body: bytes } = storeResponse({ status: 200, headers: {}, body }, {}, "");
    assert.equal(bytes.buffer.byteLength, bytes.byteLength);
  }
});
