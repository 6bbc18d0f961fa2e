import assert from "node:assert/strict";
import { test } from "node:test";
import { buildSchema, type DocumentNode, execute, GraphQLError, parse } from "graphql";
import { ForgeClient } from "../../src/forges/client.js";
import type { Refreshed, RepositoryRef } from "../../src/forges/contract.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { GITHUB_SCHEMA } from "../support/forge/forge.js";
import { failureOf, github, NOW, node, ref, type Scripted, scriptedFetch } from "../support/github.js";
import { SkippingClock } from "../support/manual-clock.js";

const signal = new AbortController().signal;
const tokens = ["secret-1"];
const SCHEMA = buildSchema(GITHUB_SCHEMA);
const parsed = new Map<string, DocumentNode>();

const refs = (count: number): RepositoryRef[] =>
  Array.from({ length: count }, (_, i) => ref({ providerId: `${i + 1}`, nodeId: `R_${i + 1}` }));

/** Executes a query in the schema, but some fields of some nodes are refused. */
function answer(
  query: string,
  ids: readonly string[],
  isRefused: (field: string, id: number) => boolean,
): Scripted {
  const nodes = ids.map((id) => {
    const number = Number(id.slice(2));
    const fields = node({ id, databaseId: number, stargazerCount: number });
    return Object.fromEntries(
      Object.entries(fields).map(([field, value]) => [
        field,
        isRefused(field, number)
          ? () => new GraphQLError(`${field} is restricted`, { extensions: { type: "FORBIDDEN" } })
          : value,
      ]),
    );
  });
  const document = parsed.get(query) ?? parse(query);
  parsed.set(query, document);
  const result = execute({ schema: SCHEMA, document, rootValue: { nodes }, variableValues: { ids } });
  if (result instanceof Promise) throw new Error("answered late");
  const errors = result.errors?.map(({ message, path, extensions }) => ({ message, path, ...extensions }));
  return { body: { data: result.data, ...(errors && { errors }) } };
}

function stage(respond: (query: string, ids: string[]) => Scripted) {
  const clock = new SkippingClock(NOW);
  const queries: string[] = [];
  const fetch = scriptedFetch(({ ids, query }) => {
    queries.push(query);
    return respond(query, ids);
  });
  return { clock, fetch, queries, provider: github(fetch, { tokens, clock }) };
}

const found = (outcomes: readonly Refreshed[]) =>
  outcomes.map((outcome) => {
    assert.equal(outcome.kind, "found");
    return outcome.kind === "found" ? outcome.repository : assert.fail();
  });

test("a field that is withheld costs that field only, and one more query a day", async () => {
  const { clock, queries, provider } = stage((query, ids) =>
    answer(query, ids, (field) => field === "watchers"),
  );
  for (let batch = 0; batch < 3; batch++) {
    const records = found(await provider.refreshMany(refs(100), signal));
    assert.deepEqual(
      records.map(({ stars, watchers, forks }) => [stars, watchers, forks]),
      refs(100).map((_, i) => [i + 1, null, 7]),
    );
  }
  assert.equal(queries.length, 4);
  assert.deepEqual(provider.withheld(), ["watchers"]);
  clock.advance(DAY_MS);
  assert.deepEqual(provider.withheld(), []);
  found(await provider.refreshMany(refs(2), signal));
  assert.match(queries[4] ?? "", /watchers/);
});

test("every optional field can be withheld, all of them at the same time too, and null replaces no text", async () => {
  const required = ["id", "databaseId", "nameWithOwner", "stargazerCount", "isPrivate", "__typename"];
  const { queries, provider } = stage((query, ids) =>
    answer(query, ids, (field) => !required.includes(field)),
  );
  const [record] = found(await provider.refreshMany(refs(1), signal));
  assert.deepEqual(record, {
    providerId: "1",
    nodeId: "R_1",
    owner: "octo",
    name: "seven",
    url: "https://github.com/octo/seven",
    avatarUrl: null,
    language: null,
    license: null,
    topics: null,
    stars: 1,
    forks: null,
    openIssues: null,
    watchers: null,
    fork: null,
    archived: null,
    createdAt: null,
    pushedAt: null,
  });
  assert.ok(queries.length <= 4, `${queries.length} queries`);
});

test("a field that one repository withholds is still requested for the others", async () => {
  const { queries, provider, fetch } = stage((query, ids) =>
    answer(query, ids, (field, id) => field === "issues" && id === 3),
  );
  const records = found(await provider.refreshMany(refs(50), signal));
  assert.deepEqual(
    records.filter(({ openIssues }) => openIssues === null).map(({ stars }) => stars),
    [3],
  );
  assert.deepEqual(provider.withheld(), []);
  assert.deepEqual(
    fetch.sent.map(({ ids }) => ids.length),
    [50, 1],
  );
  assert.match(queries[0] ?? "", /issues/);
});

test("fields that a few repositories withhold are not withheld by the instance, whatever the others withhold", async () => {
  const { provider, queries } = stage((query, ids) =>
    answer(query, ids, (field, id) => (field === "issues" && id === 3) || (field === "watchers" && id <= 60)),
  );
  found(await provider.refreshMany(refs(100), signal));
  assert.deepEqual(provider.withheld(), ["watchers"]);
  const alone = stage((query, ids) => answer(query, ids, (field) => field === "issues"));
  found(await alone.provider.refreshMany(refs(9), signal));
  assert.deepEqual(alone.provider.withheld(), []);
  const second = stage((query, ids) =>
    // The second field is refused only where the first was, once that is no longer requested.
    answer(
      query,
      ids,
      (field, id) => id === 3 && (field === "issues" || (field === "watchers" && !query.includes("issues"))),
    ),
  );
  found(await second.provider.refreshMany(refs(50), signal));
  assert.deepEqual(second.provider.withheld(), []);
  assert.ok(queries.length <= 4);
});

test("without a required field there is no record, and nothing is lost", async () => {
  const { provider, queries } = stage((query, ids) =>
    // They are read over REST then, with the token and without.
    ids.length === 0 ? { status: 403 } : answer(query, ids, (field) => field === "stargazerCount"),
  );
  const outcomes = await provider.refreshMany(refs(3), signal);
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.kind === "failed" ? outcome.failure.kind : outcome.kind)),
    Array(3).fill("refused"),
  );
  assert.equal(queries.filter((query) => query !== "").length, 1);
});

test("fields that the schema of an older instance does not have are left out for a day", async () => {
  const messages = {
    "Field 'watchers' doesn't exist on type 'Repository'": ["watchers"],
    'Cannot query field "isArchived" on type "Repository".': ["isArchived"],
    "Field 'spdxId' doesn't exist on type 'License'": ["licenseInfo"],
    "The 'forkCount' field requires one of the following scopes: ['read:x']": ["forkCount"],
  };
  for (const [message, lacking] of Object.entries(messages)) {
    const { provider, queries } = stage((query, ids) =>
      lacking.some((field) => new RegExp(`\\b${field}\\b`).test(query))
        ? {
            body: {
              errors: [{ message, path: ["query Repositories"], extensions: { code: "undefinedField" } }],
            },
          }
        : answer(query, ids, () => false),
    );
    found(await provider.refreshMany(refs(5), signal));
    found(await provider.refreshMany(refs(5), signal));
    assert.equal(queries.length, 3, message);
    assert.deepEqual(provider.withheld(), lacking);
  }
});

test("an instance that rejects every query gets four of them, and the failure is the last one's", async () => {
  let i = 0;
  const { provider, queries } = stage(() => ({
    body: {
      errors: [{ message: `Field '${["url", "issues", "isFork", "watchers", "pushedAt"][i++ % 5]}'` }],
    },
  }));
  assert.equal((await failureOf(provider.refreshMany(refs(2), signal))).kind, "malformed");
  assert.equal(queries.length, 4);
  const other = stage(() => ({
    body: { errors: [{ message: "Field 'stargazerCount' doesn't exist on type 'Repository'" }] },
  }));
  assert.equal((await failureOf(other.provider.refreshMany(refs(2), signal))).kind, "malformed");
  assert.equal(other.queries.length, 1);
});

test("a limit that is reached while fields are left out keeps the other results", async () => {
  let requests = 0;
  const { provider } = stage((query, ids) => {
    if (++requests > 1)
      return { status: 403, headers: { "retry-after": "90" }, body: { message: "rate limit" } };
    return answer(query, ids, (field, id) => field === "watchers" && id % 2 === 0);
  });
  const outcomes = await provider.refreshMany(refs(6), signal);
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.kind === "failed" ? outcome.failure.kind : outcome.kind)),
    ["found", "quota", "found", "quota", "found", "quota"],
  );
});

test("only an error about the node itself says that it is gone", async () => {
  const errors = [
    { type: "NOT_FOUND", message: "Could not resolve", path: ["nodes", 0] },
    { type: "NOT_FOUND", message: "Could not resolve", path: ["nodes", 1, "stargazerCount"] },
    { type: "NOT_FOUND", message: "Could not resolve" },
  ];
  const { provider } = stage((_, ids) => ({ body: { data: { nodes: ids.map(() => null) }, errors } }));
  const outcomes = await provider.refreshMany(refs(3), signal);
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.kind === "failed" ? outcome.failure.kind : outcome.kind)),
    ["gone", "unreachable", "unreachable"],
  );
});

test("every request wants node ids of the present format, and the ids of answers are kept", async () => {
  const { provider, fetch } = stage((query, ids) => {
    if (ids.length === 0) return { status: 404 };
    const { body } = answer(query, ids, () => false);
    return { body: JSON.parse(JSON.stringify(body).replaceAll("R_1", "R_kgDOnew")) };
  });
  const [record] = found(await provider.refreshMany([ref({ providerId: "1", nodeId: "R_1" })], signal));
  assert.equal(record?.nodeId, "R_kgDOnew");
  await failureOf(provider.refreshOne("octo/seven", signal));
  assert.equal(fetch.sent.length, 2);
  for (const { headers } of fetch.sent) assert.equal(headers["x-github-next-global-id"], "1");
});

test("of thousands of errors, only those that end in a failure are made safe for the log", async (t) => {
  const wordsOf = t.mock.method(ForgeClient.prototype, "wordsOf");
  const errors = Array.from({ length: 3_000 }, (_, i) => ({
    type: "OTHER",
    message: `error ${i}`,
    path: ["x"],
  }));
  const { provider } = stage((_, ids) => ({
    body: { data: { nodes: ids.map((id, i) => (i === 0 ? null : node({ id }))) }, errors },
  }));
  const [failed] = await provider.refreshMany(refs(10), signal);
  assert.equal(failed?.kind === "failed" && failed.failure.reason, "error 0");
  assert.equal(wordsOf.mock.callCount(), 1);
});
