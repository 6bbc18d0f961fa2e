import assert from "node:assert/strict";
import { test } from "node:test";
import type { Refreshed, RepositoryRef } from "../../src/forges/contract.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import {
  failureOf,
  github,
  NOW,
  node,
  ref,
  restRow,
  type Scripted,
  scriptedFetch,
} from "../support/github.js";
import { SkippingClock } from "../support/manual-clock.js";

const signal = new AbortController().signal;
const tokens = ["secret-1"];

/** This many repositories, with ids from 1. */
const refs = (count: number): RepositoryRef[] =>
  Array.from({ length: count }, (_, i) => ref({ providerId: `${i + 1}`, nodeId: `R_${i + 1}` }));
const nodeOf = (id: string) =>
  node({ id, databaseId: Number(id.slice(2)), stargazerCount: Number(id.slice(2)) });
const kinds = (outcomes: Refreshed[]) =>
  outcomes.map((outcome) => (outcome.kind === "failed" ? outcome.failure.kind : outcome.kind));

test("GraphQL and REST produce the same record", async () => {
  const rest = await github(scriptedFetch(() => ({ body: restRow() }))).refreshOne("octo/seven", signal);
  const answer = { body: { data: { nodes: [node()] } } };
  const [outcome] = await github(
    scriptedFetch(() => answer),
    { tokens },
  ).refreshMany([ref()], signal);
  assert.deepEqual(outcome, { kind: "found", repository: rest, etag: null, at: NOW });
  assert.equal(rest.openIssues, 12);
});

test("a hundred repositories take one request, and a failure of one does not affect the others", async () => {
  const errors = [
    { type: "NOT_FOUND", path: ["nodes", 0], message: "Could not resolve to a node" },
    { type: "FORBIDDEN", path: ["nodes", 1], message: "Repository access blocked" },
    {
      type: "FORBIDDEN",
      path: ["nodes", 2],
      message: "Resource protected by organization SAML enforcement.",
    },
    { type: "SERVICE_UNAVAILABLE", path: ["nodes", 3], message: "Try later" },
  ];
  const fetch = scriptedFetch(({ ids, headers }) => {
    if (ids.length === 0) return { status: headers.authorization === undefined ? 404 : 403 };
    const nodes = ids.map((id, i) => (i < 5 ? null : nodeOf(id)));
    nodes[5] = node({ id: "R_6", databaseId: 6, isPrivate: true });
    nodes[6] = { __typename: "User", id: "U_7" };
    nodes[7] = node({ id: "R_8", databaseId: 9 });
    return { body: { data: { rateLimit: null, nodes }, errors } };
  });
  const provider = github(fetch, { tokens });
  assert.equal(provider.batchSize, 100);
  const outcomes = await provider.refreshMany(refs(100), signal);
  assert.deepEqual(
    fetch.sent.map(({ url }) => url.pathname),
    ["/graphql", "/repositories/3", "/repositories/3"],
  );
  assert.deepEqual(kinds(outcomes.slice(0, 9)), [
    "gone",
    "blocked",
    "refused",
    "unreachable",
    // Neither a node nor an error.
    "malformed",
    "private",
    "malformed",
    "malformed",
    "found",
  ]);
  const rest = outcomes.slice(8);
  assert.ok(rest.every((outcome, i) => outcome.kind === "found" && outcome.repository.stars === i + 9));
});

test("a batch that is too large is retried in halves, and fails once the forge does", async () => {
  const tooMuch: Scripted[] = [
    { status: 502, body: "<html>" },
    { body: { data: null, errors: [{ message: "Something went wrong while executing your query." }] } },
    { body: { data: null, errors: [{ type: "MAX_NODE_LIMIT_EXCEEDED", message: "too many" }] } },
  ];
  for (const answer of tooMuch) {
    for (const [limit, requests] of [
      [100, 1],
      [50, 3],
      [25, 7],
    ] as const) {
      const fetch = scriptedFetch(({ ids }) =>
        ids.length > limit ? answer : { body: { data: { nodes: ids.map(nodeOf) } } },
      );
      const outcomes = await github(fetch, { tokens }).refreshMany(refs(100), signal);
      assert.equal(fetch.sent.length, requests);
      assert.ok(
        outcomes.every((outcome, i) => outcome.kind === "found" && outcome.repository.stars === i + 1),
      );
    }
    const fetch = scriptedFetch(() => answer);
    assert.equal(
      (await failureOf(github(fetch, { tokens }).refreshMany(refs(100), signal))).kind,
      "unreachable",
    );
    const sizes = fetch.sent.map(({ ids }) => ids.length);
    assert.deepEqual(sizes.slice(0, 8), [100, 50, 25, 13, 7, 4, 2, 1]);
    assert.ok(sizes.length <= 24, `${sizes.length} requests`);
  }
});

test("one repository that GitHub cannot answer a query for is read over REST, and holds up no other", async () => {
  for (const [bad, most] of [
    [["R_3"], 17],
    [["R_3", "R_77"], 32],
  ] as const) {
    const fetch = scriptedFetch(({ ids, url }) => {
      if (ids.length === 0) return { body: restRow({ id: Number(url.pathname.split("/").at(-1)) }) };
      if (ids.some((id) => bad.includes(id as never))) return { status: 502, body: "" };
      return { body: { data: { nodes: ids.map(nodeOf) } } };
    });
    const outcomes = await github(fetch, { tokens }).refreshMany(refs(100), signal);
    assert.ok(outcomes.every(({ kind }) => kind === "found"));
    assert.ok(fetch.sent.length <= most, `${fetch.sent.length} requests`);
  }
});

test("only nodes that GitHub ran out of resources for are requested again", async () => {
  let isFirst = true;
  const fetch = scriptedFetch(({ ids }) => {
    const from = isFirst ? 60 : ids.length;
    isFirst = false;
    const nodes = ids.map((id, i) => (i < from ? nodeOf(id) : null));
    const errors = ids
      .slice(from)
      .map((_, i) => ({ type: "RESOURCE_LIMITS_EXCEEDED", path: ["nodes", from + i], message: "" }));
    return { body: { data: { nodes }, ...(errors.length > 0 && { errors }) } };
  });
  const outcomes = await github(fetch, { tokens }).refreshMany(refs(100), signal);
  assert.ok(outcomes.every((outcome, i) => outcome.kind === "found" && outcome.repository.stars === i + 1));
  assert.deepEqual(
    fetch.sent.map(({ ids }) => ids.length),
    [100, 20, 20],
  );
});

test("reaching a limit between halves keeps earlier results", async () => {
  let requests = 0;
  const fetch = scriptedFetch(({ ids }): Scripted => {
    requests++;
    if (requests === 1) return { status: 504, body: "" };
    if (requests === 2) return { body: { data: { nodes: ids.map(nodeOf) } } };
    return { status: 403, headers: { "retry-after": "90" }, body: { message: "secondary rate limit" } };
  });
  const outcomes = await github(fetch, { tokens }).refreshMany(refs(10), signal);
  assert.deepEqual(kinds(outcomes), [...Array(5).fill("found"), ...Array(5).fill("quota")]);
});

test("points are counted as GitHub reports them, and nothing is sent once they are used up", async () => {
  const clock = new SkippingClock(NOW);
  const resetAt = new Date(NOW + HOUR_MS).toISOString();
  let remaining = 7;
  const fetch = scriptedFetch(({ ids }) => {
    remaining -= 3;
    return {
      body: { data: { rateLimit: { cost: 3, limit: 5000, remaining, resetAt }, nodes: ids.map(nodeOf) } },
    };
  });
  const provider = github(fetch, { tokens, clock });
  await provider.refreshMany(refs(2), signal);
  const known = {
    token: "#1",
    resource: "graphql",
    limit: 5000,
    resetAt: NOW + HOUR_MS,
    blockedUntil: null,
    blockReason: null,
    blockMessage: null,
  };
  assert.deepEqual(provider.quota(), [{ ...known, remaining: 4 }]);
  await provider.refreshMany(refs(2), signal);
  assert.deepEqual(provider.quota(), [{ ...known, remaining: 1 }]);
  const failure = await failureOf(provider.refreshMany(refs(2), signal));
  assert.deepEqual([failure.kind, failure.until], ["quota", NOW + HOUR_MS]);
  assert.equal(fetch.sent.length, 2);
  clock.advance(HOUR_MS);
  await provider.refreshMany(refs(2), signal);
});

test("a rate limit reported with status 200 is a quota failure", async () => {
  for (const type of ["RATE_LIMITED", "RATE_LIMIT"]) {
    const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${(NOW + 20 * 60_000) / 1000}` };
    const fetch = scriptedFetch(() => ({
      headers,
      body: { errors: [{ type, message: "API rate limit exceeded" }] },
    }));
    const provider = github(fetch, { tokens });
    const failure = await failureOf(provider.refreshMany(refs(3), signal));
    assert.equal(failure.kind, "quota");
    assert.equal(failure.until, NOW + 20 * 60_000);
    assert.equal((await failureOf(provider.refreshMany(refs(3), signal))).kind, "quota");
    assert.equal(fetch.sent.length, 1);
    assert.equal(provider.readyAt("refresh"), NOW + 20 * 60_000);
  }
});

test("without a token repositories are requested one by one, with the ETag of the last response", async () => {
  const fetch = scriptedFetch(({ url, headers }) => {
    const id = Number(url.pathname.split("/").at(-1));
    if (headers["if-none-match"] === `"${id}"`) return { status: 304 };
    return id === 3 ? { status: 404 } : { body: restRow({ id }), headers: { etag: `"${id}"` } };
  });
  const provider = github(fetch);
  assert.equal(provider.batchSize, 10);
  const asked = refs(4).map((one, i) => ({ ...one, etag: i === 1 ? '"2"' : null }));
  const outcomes = await provider.refreshMany(asked, signal);
  assert.deepEqual(kinds(outcomes), ["found", "unchanged", "gone", "found"]);
  assert.equal(outcomes[0]?.kind === "found" ? outcomes[0].etag : null, '"1"');
  assert.ok(fetch.sent.every(({ headers }) => headers.authorization === undefined));
});

test("a repository that GitHub has disabled is blocked", async () => {
  const provider = github(scriptedFetch(() => ({ body: restRow({ disabled: true }) })));
  assert.equal((await failureOf(provider.refreshOne("octo/seven", signal))).kind, "blocked");
  const graphql = scriptedFetch(() => ({ body: { data: { nodes: [node({ isDisabled: true })] } } }));
  assert.deepEqual(kinds(await github(graphql, { tokens }).refreshMany([ref()], signal)), ["blocked"]);
});

test("a repository whose owner refuses the token is read without it, as long as the forge permits that", async () => {
  const message = "The octo organization forbids access via a fine-grained personal access token";
  const reset = `${(NOW + HOUR_MS) / 1000}`;
  let left = 2;
  const fetch = scriptedFetch(({ ids, headers, url }) => {
    const errors = ids.map((_, i) => ({ type: "FORBIDDEN", path: ["nodes", i], message }));
    if (ids.length > 0) return { body: { data: { nodes: ids.map(() => null) }, errors } };
    if (headers.authorization !== undefined) return { status: 403, body: { message } };
    left--;
    return {
      body: restRow({ id: Number(url.pathname.split("/").at(-1)) || 7 }),
      headers: { "x-ratelimit-remaining": `${left}`, "x-ratelimit-reset": reset },
    };
  });
  const provider = github(fetch, { tokens });
  assert.equal((await provider.refreshOne("octo/seven", signal)).stars, 70);
  assert.deepEqual(kinds(await provider.refreshMany(refs(3), signal)), ["found", "refused", "refused"]);
  const sent = fetch.sent.map(({ url, headers }) => [
    url.pathname,
    headers.authorization === undefined ? "without" : "with",
  ]);
  assert.deepEqual(sent, [
    ["/repos/octo/seven", "with"],
    ["/repos/octo/seven", "without"],
    ["/graphql", "with"],
    ["/repositories/1", "with"],
    ["/repositories/1", "without"],
  ]);
  const failure = await failureOf(provider.recheck(ref(), signal));
  assert.equal(
    failure.message,
    `GITHUB: octo refuses the token, and the repository was not read without one (${message})`,
  );
  assert.equal(provider.quota().find(({ token }) => token === "anonymous")?.remaining, 0);
});

test("with a token, repositories without a node id are requested by their number", async () => {
  const fetch = scriptedFetch(({ ids, url }) =>
    ids.length > 0
      ? { body: { data: { nodes: ids.map(nodeOf) } } }
      : { body: restRow({ id: Number(url.pathname.split("/").at(-1)) }) },
  );
  const asked = refs(4).map((one, i) => (i === 2 ? { ...one, nodeId: null } : one));
  const outcomes = await github(fetch, { tokens }).refreshMany(asked, signal);
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.kind === "found" ? outcome.repository.providerId : null)),
    ["1", "2", "3", "4"],
  );
  assert.deepEqual(
    fetch.sent.map(({ url }) => url.pathname),
    ["/graphql", "/repositories/3"],
  );
});
