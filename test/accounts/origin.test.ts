import assert from "node:assert/strict";
import { test } from "node:test";
import { isOwnOrigin, type OriginHeaders, safeNext } from "../../src/accounts/origin.js";
import { fc } from "../support/properties.js";

const BASE = "https://sidereal.example";

test("a path on this origin is gone on to as it is", () => {
  for (const path of ["/", "/watchlist?window=7d#top", "/a/b", "/%20", "/repos/a%2Fb"])
    assert.equal(safeNext(path, BASE), path);
  assert.equal(safeNext("/a/../b", BASE), "/b");
});

test("nothing leads to another origin", () => {
  const hosts = ["evil.example", "evil.example/x", "@evil.example", "sidereal.example@evil.example"];
  const before = String.raw`/./\ /\ \/ \\ // /%5c /%2f /%252f /%255C /.// /..// /a/..//`.split(" ");
  const odd = ["/\t/", "/\n/", "/\r\n/", " //"];
  const schemes = ["https:", "https://", "https:/", "http:///", "javascript:", "data:"];
  for (const start of [...before, ...odd, ...schemes])
    for (const host of hosts) {
      const path = safeNext(`${start}${host}`, BASE);
      assert.equal(path, undefined, `${start}${host}`);
    }
  const pieces = [...String.raw`/ \ . .. %2f %5c %25 : @ ? # evil.example a`.split(" "), "\t"];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 8 }), (some) => {
      const path = safeNext(some.join(""), BASE);
      if (path === undefined) return;
      assert.equal(new URL(path, BASE).origin, BASE);
      assert.doesNotMatch(decodeURIComponent(path.replaceAll(/%(?![0-9a-f]{2})/gi, "")), /^\/[/\\]/);
    }),
    { numRuns: 5_000 },
  );
});

test("a host of ours that the page was opened under is our own page, if hosts are checked", () => {
  const headers = { origin: "http://127.0.0.1:3000", host: "127.0.0.1:3000", cookie: "a=b" };
  const isOwn = (more: OriginHeaders, isHostChecked: boolean) =>
    isOwnOrigin(
      { ...headers, ...more },
      { baseUrl: "http://localhost:3000", allowedHosts: isHostChecked ? [] : undefined },
    );
  assert.equal(isOwn({}, true), true);
  assert.equal(isOwn({}, false), false);
  assert.equal(isOwn({ host: "127.0.0.1:4000" }, true), false);
  assert.equal(isOwn({ origin: "https://127.0.0.1:3000" }, true), false);
  assert.equal(isOwn({ origin: "http://evil.example" }, true), false);
  assert.equal(isOwn({ host: undefined }, true), false);
});

test("what changes something comes from our own pages, or from a program without cookies", () => {
  const cases: [Record<string, string>, boolean][] = [
    [{}, true],
    [{ cookie: "a=b" }, false],
    [{ origin: BASE, cookie: "a=b" }, true],
    [{ origin: "null" }, false],
    [{ origin: "https://evil.example" }, false],
    [{ origin: "http://sidereal.example" }, false],
    [{ origin: `${BASE}:8443` }, false],
    // The browser says so: the page was opened under another of our names, as behind a proxy.
    [{ origin: "http://localhost:3000", "sec-fetch-site": "same-origin", cookie: "a=b" }, true],
    [{ origin: "https://evil.example", "sec-fetch-site": "cross-site" }, false],
    [{ origin: "https://evil.example", "sec-fetch-site": "same-site" }, false],
    [{ "sec-fetch-site": "same-origin", cookie: "a=b" }, true],
    [{ "sec-fetch-site": "same-site" }, false],
    [{ "sec-fetch-site": "cross-site" }, false],
  ];
  for (const [headers, isOwn] of cases)
    assert.equal(
      isOwnOrigin(headers, { baseUrl: BASE, allowedHosts: undefined }),
      isOwn,
      JSON.stringify(headers),
    );
});
