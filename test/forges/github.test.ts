import assert from "node:assert/strict";
import { test } from "node:test";
import { UpstreamFailure } from "../../src/forges/failures.js";
import { failureOf, github, NOW, restRow, type Sent, scriptedFetch } from "../support/github.js";
import { SkippingClock } from "../support/manual-clock.js";

const signal = new AbortController().signal;
const tokens = ["secret-1"];

test("after a secondary limit the token is unused for a minute, for all resources", async () => {
  const clock = new SkippingClock(NOW);
  const body = { message: "You have exceeded a secondary rate limit." };
  const fetch = scriptedFetch(() => ({ status: 403, headers: { "x-ratelimit-remaining": "4000" }, body }));
  const provider = github(fetch, { tokens, clock });
  const failure = await failureOf(provider.refreshOne("octo/seven", signal));
  assert.deepEqual([failure.kind, failure.until], ["quota", NOW + 60_000]);
  for (const call of ["discover", "refresh", "history"] as const)
    assert.equal(provider.readyAt(call), NOW + 60_000);
  clock.advance(60_000);
  assert.ok(provider.readyAt("discover") <= clock.now());
});

test("a redirect is followed only within the API, to a repository by its id", async () => {
  const moved = (location: string) => (sent: Sent) =>
    sent.url.pathname.startsWith("/repos/") ? { status: 301, headers: { location } } : { body: restRow() };
  for (const location of ["https://api.github.com/repositories/7", "/repositories/7"]) {
    const repository = await github(scriptedFetch(moved(location)), { tokens }).refreshOne(
      "octo/old",
      signal,
    );
    assert.equal(repository.providerId, "7");
  }
  for (const location of [
    "https://evil.example/repositories/7",
    "https://api.github.com.evil.example/repositories/7",
    "https://api.github.com@evil.example/repositories/7",
    "https://user:pw@api.github.com/repositories/7",
    "http://api.github.com/repositories/7",
    "https://api.github.com:8443/repositories/7",
    "https://api.github.com/user",
    "https://api.github.com/repositories/../user",
    "",
  ]) {
    const fetch = scriptedFetch(moved(location));
    assert.equal(
      (await failureOf(github(fetch, { tokens }).refreshOne("octo/old", signal))).kind,
      "renamed",
      location,
    );
    assert.equal(fetch.sent.length, 1, location);
  }
  const inCircles = scriptedFetch(() => ({ status: 301, headers: { location: "/repositories/7" } }));
  assert.equal((await failureOf(github(inCircles).refreshOne("octo/old", signal))).kind, "renamed");
});

test("an invalid name is gone without a request", async () => {
  const fetch = scriptedFetch(() => ({ body: restRow() }));
  for (const name of ["seven", "a/b/c", "../user", "octo/..", "octo/seven?x", "octo/%2e%2e", "", "octo/"]) {
    assert.equal((await failureOf(github(fetch).refreshOne(name, signal))).kind, "gone", name);
  }
  assert.equal(fetch.sent.length, 0);
});

test("blocked, private and unusable responses are the right failures", async () => {
  const block = { message: "Repository access blocked", block: { reason: "tos" } };
  for (const [answer, kind] of [
    [{ status: 451, body: block }, "blocked"],
    [{ status: 403, body: block }, "blocked"],
    [{ status: 403, body: { message: "Must have admin rights" } }, "refused"],
    [{ status: 410 }, "gone"],
    [{ status: 500 }, "unreachable"],
    [{ body: restRow({ private: true }) }, "private"],
    [{ body: "<html>" }, "malformed"],
    [{ body: '{"id": 7' }, "malformed"],
    [{ body: restRow({ stargazers_count: -1 }) }, "malformed"],
    [{ body: restRow({ stargazers_count: "70" }) }, "malformed"],
    [{ body: restRow({ full_name: "../seven" }) }, "malformed"],
    [{ body: "[".repeat(100_000) }, "malformed"],
    [new UpstreamFailure("unreachable", "no answer"), "unreachable"],
  ] as const) {
    const failure = await failureOf(
      github(
        scriptedFetch(() => answer),
        { tokens },
      ).refreshOne("octo/seven", signal),
    );
    assert.equal(failure.kind, kind, JSON.stringify(answer).slice(0, 80));
    assert.doesNotMatch(failure.message, /secret/);
  }
});

test("without a token several names are looked for by one search, as long as GitHub allows, and nothing but names", async () => {
  const fetch = scriptedFetch(() => ({
    body: { total_count: 1, incomplete_results: false, items: [restRow()] },
  }));
  const provider = github(fetch, { tokens: [] });
  assert.ok(provider.namesPerSearch > 1);
  assert.equal(github(fetch, { tokens }).namesPerSearch, 0);
  const names = [
    "octo/seven",
    "no/such user:other",
    ...Array.from({ length: 30 }, (_, i) => `octo/long-name-${i}`),
  ];
  const { asked, repositories } = await provider.findNamed(names, signal);
  assert.deepEqual(
    repositories.map(({ providerId }) => providerId),
    ["7"],
  );
  const q = fetch.sent[0]?.url.searchParams.get("q") ?? "";
  assert.ok(q.length <= 256 && asked > 8, `${asked} ${q}`);
  assert.deepEqual(
    new Set(q.split(" ")),
    new Set(["fork:true", "repo:octo/seven", ...names.slice(2, asked).map((name) => `repo:${name}`)]),
  );
  assert.deepEqual(await provider.findNamed(["a/b c"], signal), { asked: 1, repositories: [] });
  assert.equal(fetch.sent.length, 1);
});
