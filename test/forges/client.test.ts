import assert from "node:assert/strict";
import { test } from "node:test";
import type { RepositoryRef } from "../../src/forges/contract.js";
import type { UpstreamFailure } from "../../src/forges/failures.js";
import { createForgejo } from "../../src/forges/forgejo/forgejo.js";
import { apiRoot } from "../../src/forges/github/github.js";
import { createGitlab } from "../../src/forges/gitlab/gitlab.js";
import { github, ref as githubRef, NOW, restRow, scriptedFetch } from "../support/github.js";
import { SkippingClock } from "../support/manual-clock.js";
import { scripted, settingsOf } from "../support/upstream.js";

const signal = new AbortController().signal;
const TOKEN = "a-token-that-must-not-be-shown-1";
const refs = Array.from(
  { length: 20 },
  (_, i): RepositoryRef => ({ providerId: String(i + 1), nodeId: null, fullName: "o/r", etag: null }),
);
const failureOf = (call: Promise<unknown>): Promise<UpstreamFailure> =>
  call.then(
    () => assert.fail("it succeeded"),
    (error) => error,
  );

test("a batch of single requests waits for its turns, and only long waits end as quota", async () => {
  const open = (requestsPerHour: number | null) => {
    const clock = new SkippingClock(NOW);
    const fetch = scripted((path) => ({
      body: { id: Number(/\d+$/.exec(path)?.[0]), full_name: "o/r", stars_count: 1 },
    }));
    const provider = createForgejo(settingsOf("forgejo", { requestsPerHour }), { fetch, clock });
    return { clock, fetch, provider };
  };
  for (const [perHour, seconds] of [
    [null, 10],
    [600, 60],
  ] as const) {
    const { clock, provider } = open(perHour);
    const outcomes = await provider.refreshMany(refs, signal);
    assert.ok(outcomes.every(({ kind }) => kind === "found"));
    const took = (clock.now() - NOW) / 1_000;
    assert.ok(took >= seconds - 1 && took <= seconds + 5, `${took} s`);
  }
  const { clock, fetch, provider } = open(30);
  const outcomes = await provider.refreshMany(refs, signal);
  const [last] = outcomes.slice(-1);
  assert.equal(outcomes[0]?.kind, "found");
  assert.ok(last?.kind === "failed" && last.failure.kind === "quota");
  assert.equal(provider.readyAt("refresh"), last.failure.until);
  assert.ok((last.failure.until ?? 0) > clock.now() + 60_000);
  assert.equal(fetch.sent.length, 1);
});

test("when GitLab limits its lists, single projects are still read", async () => {
  const fetch = scripted((path) =>
    path.startsWith("/api/v4/projects?")
      ? { status: 429, headers: { "retry-after": "300" }, body: { message: "Too many requests for lists" } }
      : { body: { id: 7, path_with_namespace: "o/r", star_count: 1 } },
  );
  const clock = new SkippingClock(NOW);
  const provider = createGitlab(settingsOf("gitlab", { name: "GITLAB" }), { fetch, clock });
  const failure = await failureOf(provider.seek({ name: "r" }, signal));
  assert.deepEqual([failure.kind, failure.reason], ["quota", "Too many requests for lists"]);
  assert.equal(provider.readyAt("refresh"), NOW);
  assert.equal((await provider.refreshOne("o/r", signal)).stars, 1);
  const [block] = provider.quota().filter(({ blockReason }) => blockReason !== null);
  assert.deepEqual([block?.resource, block?.blockReason], ["projects", "slow_down"]);
});

test("a failure has the forge's own words as its reason, and ends with them", async () => {
  const fetch = scriptedFetch(() => ({
    status: 403,
    body: { message: "Resource not accessible by personal access token" },
  }));
  const failure = await failureOf(github(fetch).refreshOne("octo/seven", signal));
  assert.equal(failure.kind, "refused");
  assert.equal(failure.reason, "Resource not accessible by personal access token");
  assert.ok(failure.message.endsWith("status 403 (Resource not accessible by personal access token)"));
  const lists = await failureOf(github(fetch).discover(null, signal));
  assert.equal(lists.reason, failure.reason);
});

test("a redirect to another site names it and the setting, and to the same site names neither", async () => {
  const messageFor = async (location: string) => {
    const fetch = scripted(() => ({ status: 301, headers: { location } }));
    const provider = createForgejo(settingsOf("forgejo"), { fetch, clock: new SkippingClock(NOW) });
    return (await failureOf(provider.discover(null, signal))).message;
  };
  const moved = await messageFor("https://new.example/api/v1/repos/search?x=1");
  const site = "https://new.example; if the forge has moved there, set SIDEREAL_WORK_URL";
  assert.match(moved, new RegExp(`^WORK /api/v1/repos/search: status 301 to ${site}$`));
  for (const location of ["/login", "javascript:alert(1)"])
    assert.match(await messageFor(location), /: status 301$/, location);
});

test("the token of a suspended account is not used again, and another one takes over", async () => {
  const fetch = scriptedFetch(({ headers }) =>
    headers.authorization === `Bearer ${TOKEN}`
      ? { body: restRow() }
      : { status: 403, body: { message: "Sorry. Your account was suspended." } },
  );
  const provider = github(fetch, { tokens: ["of-a-closed-account", TOKEN] });
  for (let i = 0; i < 4; i++) await provider.refreshOne("octo/seven", signal);
  assert.equal(fetch.sent.length, 5);
  const [notice, ...others] = provider.notices();
  assert.deepEqual(others, []);
  assert.deepEqual(
    [notice?.token, notice?.isReplaced, notice?.message],
    ["#1", true, "the token is rejected: Sorry. Your account was suspended."],
  );
});

test("a response that repeats our token is not used, wherever the token is in it", async () => {
  for (const [name, response] of Object.entries({
    body: { body: restRow({ description: `you sent ${TOKEN}` }) },
    etag: { body: restRow(), headers: { etag: `"${TOKEN}"` } },
    redirect: { status: 302, headers: { location: `https://api.github.com/repositories/7?${TOKEN}` } },
  })) {
    const provider = github(
      scriptedFetch(() => response),
      { tokens: [TOKEN] },
    );
    const failure = await failureOf(
      provider.refreshMany([githubRef({ nodeId: null })], signal).then(([one]) => {
        if (one?.kind === "failed") throw one.failure;
      }),
    );
    assert.equal(failure.kind, "malformed", name);
    assert.match(failure.message, /contains our token/);
    assert.ok(!failure.message.includes(TOKEN));
  }
});

test("GitHub's API is at a host of its own on github.com and with data residency", () => {
  assert.equal(apiRoot("https://github.com"), "https://api.github.com");
  assert.equal(apiRoot("https://acme.ghe.com"), "https://api.acme.ghe.com");
  for (const site of [
    "https://git.example",
    "https://ghe.com.example",
    "http://acme.ghe.com",
    "https://a.b.ghe.com",
  ])
    assert.equal(apiRoot(site), `${site}/api/v3`);
});

test("with data residency, REST and GraphQL go to the API's own host", async () => {
  const fetch = scriptedFetch(({ url }) =>
    url.pathname === "/graphql" ? { body: { data: { nodes: [] } } } : { body: restRow() },
  );
  const provider = github(fetch, { url: "https://acme.ghe.com", tokens: ["t"] });
  await provider.refreshOne("octo/seven", signal);
  await provider.refreshMany([githubRef()], signal).catch(() => {});
  assert.deepEqual(
    fetch.sent.map(({ url }) => `${url.origin}${url.pathname}`),
    ["https://api.acme.ghe.com/repos/octo/seven", "https://api.acme.ghe.com/graphql"],
  );
});
