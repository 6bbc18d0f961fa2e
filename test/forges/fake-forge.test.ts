import assert from "node:assert/strict";
import { test } from "node:test";
import { schema as githubSchema } from "@octokit/graphql-schema";
import { buildSchema, type GraphQLField, isObjectType } from "graphql";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { GITHUB_SCHEMA, nodeId } from "../support/forge/forge.js";
import { checkGithubBody } from "../support/forge/schemas.js";
import { forgeWorld, linked, QUIET } from "../support/forge/world.js";

const FIELDS = `id databaseId nameWithOwner name owner { login } url description homepageUrl primaryLanguage { name }
  licenseInfo { spdxId } repositoryTopics(first: 20) { nodes { topic { name } } } stargazerCount forkCount
  issues(states: OPEN) { totalCount } pullRequests(states: OPEN) { totalCount } watchers { totalCount }
  isFork isArchived isPrivate visibility createdAt pushedAt`;

test("GitHub's responses match its API description", async (t) => {
  const { forge, clock, get } = await forgeWorld(t, "github");
  for (const { id, fullName } of [...forge.catalogue.truth(clock.now())].slice(0, 30)) {
    const single = await get(`/api/v3/repos/${fullName}`);
    checkGithubBody("/repos/{owner}/{repo}", 200, single.body);
    assert.deepEqual((await get(`/api/v3/repositories/${id}`)).body, single.body);
  }
  checkGithubBody(
    "/search/repositories",
    200,
    (await get("/api/v3/search/repositories?q=stars:>=1&per_page=100")).body,
  );
  checkGithubBody("/search/repositories", 422, (await get("/api/v3/search/repositories?q=")).body);
  checkGithubBody("/rate_limit", 200, (await get("/api/v3/rate_limit")).body);
  const missing = await get("/api/v3/repos/nobody/nothing");
  assert.equal(missing.status, 404);
  checkGithubBody("/repos/{owner}/{repo}", 404, missing.body);
});

test("a record matches the catalogue", async (t) => {
  const { forge, get, truth } = await forgeWorld(t, "github");
  for (const id of forge.catalogue.ids().slice(0, 50)) {
    const { body } = await get(`/api/v3/repositories/${id}`);
    const expected = truth(id);
    assert.equal(body.full_name, expected.fullName);
    assert.equal(body.stargazers_count, expected.stars);
    assert.equal(body.subscribers_count, expected.watchers);
    assert.equal(body.open_issues_count, expected.openIssues + expected.openPullRequests);
    assert.equal(Date.parse(body.created_at), expected.createdAt);
    assert.equal(Date.parse(body.pushed_at), expected.pushedAt);
    assert.deepEqual(body.topics, expected.topics);
  }
});

test("an unchanged response is a 304, free with a token; ETags differ per token", async (t) => {
  const { forge, get } = await forgeWorld(t, "github");
  const path = `/api/v3/repositories/${forge.catalogue.ids()[0]}`;
  const first = await get(path);
  const tag = first.headers.get("etag") ?? "";
  const left = forge.remaining("one", "core");
  const again = await get(path, { authorization: "Bearer one", "if-none-match": tag });
  assert.equal(again.status, 304);
  assert.equal(forge.remaining("one", "core"), left);
  assert.equal((await get(path, { authorization: "token two", "if-none-match": tag })).status, 200);
  assert.equal(forge.counters.unchanged, 1);
  assert.equal(forge.counters.refreshed, 3);
  assert.deepEqual(forge.counters.byKindAndToken, { "repository-by-id one": 2, "repository-by-id two": 1 });
});

test("a search returns at most a thousand rows", async (t) => {
  const { clock, forge, get } = await forgeWorld(t, "github", { repositories: 2_500, topStars: 3_000_000 });
  const all =
    "/api/v3/search/repositories?q=stars:%3E%3D1+fork:true+is:public&sort=stars&order=desc&per_page=100";
  const seen = new Map<number, number>();
  let page = await get(all);
  assert.equal(page.body.total_count, 2_500);
  for (let next: string | null = ""; next !== null; ) {
    for (const { id, stargazers_count } of page.body.items) seen.set(id, stargazers_count);
    next = linked(page, "next");
    if (next !== null) page = await get(next);
  }
  assert.equal(seen.size, 1_000);
  const stars = [...seen.values()];
  assert.deepEqual(
    stars,
    stars.toSorted((a, b) => b - a),
  );
  const beyond = await get(`${all}&page=11`);
  assert.equal(beyond.status, 422);
  assert.equal(beyond.body.message, "Only the first 1000 search results are available");
  clock.advance(61_000);
  const least = Math.min(...stars);
  const below = await get(`/api/v3/search/repositories?q=stars:1..${least - 1}+fork:true&per_page=1`);
  const rows = [...forge.catalogue.truth(clock.now())].filter(({ stars }) => stars < least);
  assert.equal(below.body.total_count, rows.length);
});

test("searches by ranges of stars and creation time have no gaps", async (t) => {
  const { clock, forge, get } = await forgeWorld(t, "github");
  forge.switches.allowances = {};
  const count = async (q: string) =>
    (await get(`/api/v3/search/repositories?q=${encodeURIComponent(q)}`)).body.total_count;
  const truth = [...forge.catalogue.truth(clock.now())];
  const middle = new Date(truth[150]?.createdAt ?? 0).toISOString();
  const day = middle.slice(0, 10);
  const before = new Date(Date.parse(day) - DAY_MS).toISOString().slice(0, 10);
  const after = new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
  assert.equal(await count("stars:>=0 fork:true"), 300);
  assert.equal(await count("stars:>=0"), truth.filter(({ isFork }) => !isFork).length);
  assert.equal(await count("stars:>=0 fork:only"), truth.filter(({ isFork }) => isFork).length);
  const halves = (await count("stars:*..1999 fork:true")) + (await count("stars:>1999 fork:true"));
  assert.equal(halves, 300);
  const parts = [`created:<${day}`, `created:${day}`, `created:>${day}`].map((q) => count(`fork:true ${q}`));
  assert.equal(
    (await Promise.all(parts)).reduce((sum, part) => sum + part, 0),
    300,
  );
  assert.equal(
    await count(`fork:true created:${before}..${after}`),
    truth.filter(({ createdAt }) => {
      return createdAt >= Date.parse(before) && createdAt < Date.parse(after) + DAY_MS;
    }).length,
  );
  const second = `${middle.slice(0, 19)}Z`;
  assert.equal(await count(`fork:true created:${second}..${second}`), 1);
  assert.equal(await count(`fork:true created:*..${second}`), 151);
});

test("GraphQL returns a hundred nodes, and reports missing ones", async (t) => {
  const { clock, forge, query, truth } = await forgeWorld(t, "github");
  const ids = forge.catalogue.ids().slice(0, 100);
  const text = `query($ids: [ID!]!) { nodes(ids: $ids) { ... on Repository { ${FIELDS} } } rateLimit { cost remaining resetAt } }`;
  const [hidden = 0, blocked = 0, gone = 0] = ids;
  forge.catalogue.add({ at: clock.now(), kind: "hidden", id: hidden, to: null });
  forge.catalogue.add({ at: clock.now(), kind: "blocked", id: blocked, to: null });
  forge.catalogue.add({ at: clock.now(), kind: "deleted", id: gone, to: null });
  const { status, body } = await query(text, { ids: ids.map((id) => nodeId("R", id)) });
  assert.equal(status, 200);
  assert.equal(body.data.nodes.length, 100);
  assert.deepEqual(body.data.nodes.slice(0, 3), [null, null, null]);
  assert.deepEqual(
    body.errors.map(({ type, path }: { type: string; path: unknown }) => [type, path]),
    [
      ["NOT_FOUND", ["nodes", 0]],
      ["FORBIDDEN", ["nodes", 1]],
      ["NOT_FOUND", ["nodes", 2]],
    ],
  );
  for (const node of body.data.nodes.slice(3)) {
    const expected = truth(node.databaseId);
    assert.equal(node.nameWithOwner, expected.fullName);
    assert.equal(node.stargazerCount, expected.stars);
    assert.equal(node.issues.totalCount, expected.openIssues);
    assert.equal(node.watchers.totalCount, expected.watchers);
    assert.equal(node.primaryLanguage?.name ?? null, expected.language);
    assert.equal(node.licenseInfo?.spdxId ?? null, expected.license);
  }
  assert.equal(body.data.rateLimit.remaining, 4_999);
  assert.equal(forge.counters.refreshed, 97);
  const tooMany = await query(text, { ids: Array.from({ length: 101 }, () => nodeId("R", gone)) });
  assert.equal(tooMany.body.errors[0].type, "ARGUMENT_LIMIT");
});

test("GraphQL requires a token, known fields and limits, and follows renames", async (t) => {
  const { clock, forge, query, truth } = await forgeWorld(t, "github");
  assert.equal((await query("{ rateLimit { cost } }", {}, {})).status, 401);
  assert.match((await query("{ nothing }")).body.errors[0].message, /nothing/);
  const id = forge.catalogue.ids()[5] ?? 0;
  const [owner = "", name = ""] = truth(id).fullName.split("/");
  forge.catalogue.add({ at: clock.now(), kind: "renamed", id, to: `${owner}/another` });
  const one = (rest: string) => `{ repository(owner: "${owner}", name: "${name}"${rest}) { nameWithOwner } }`;
  assert.equal((await query(one(""))).body.data.repository.nameWithOwner, `${owner}/another`);
  const strict = (await query(one(", followRenames: false"))).body;
  assert.equal(strict.data.repository, null);
  assert.equal(strict.errors[0].type, "NOT_FOUND");
  const unbound = `{ repository(owner: "${owner}", name: "another") { repositoryTopics { totalCount } } }`;
  assert.equal((await query(unbound)).body.errors[0].type, "MISSING_PAGINATION_BOUNDARIES");
});

test("every field of the GraphQL types is in GitHub's schema with the same type", () => {
  const [ours, whole] = [
    buildSchema(GITHUB_SCHEMA),
    buildSchema(githubSchema.idl, { assumeValid: true, assumeValidSDL: true }),
  ];
  for (const type of Object.values(ours.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith("__")) continue;
    const real = whole.getType(type.name);
    assert.ok(isObjectType(real), type.name);
    for (const [name, field] of Object.entries(type.getFields())) {
      const realField: GraphQLField<unknown, unknown> | undefined = real.getFields()[name];
      assert.equal(String(realField?.type), String(field.type), `${type.name}.${name}`);
      for (const { name: argument, type: wanted } of field.args) {
        const realArgument = realField?.args.find((known) => known.name === argument);
        assert.equal(String(realArgument?.type), String(wanted), `${type.name}.${name}(${argument})`);
      }
    }
  }
});

test("a renamed repository is found by redirect, until another one takes the name", async (t) => {
  const { clock, forge, get, truth } = await forgeWorld(t, "github");
  const [first = 0, second = 0] = forge.catalogue.ids();
  const before = truth(first).fullName;
  forge.catalogue.add({ at: clock.now() + HOUR_MS, kind: "transferred", id: first, to: "stranger/place" });
  assert.equal((await get(`/api/v3/repos/${before}`)).status, 200);
  clock.advance(HOUR_MS);
  const moved = await get(`/api/v3/repos/${before}`);
  assert.equal(moved.status, 301);
  checkGithubBody("/repos/{owner}/{repo}", 301, moved.body);
  assert.equal(moved.headers.get("location"), `${forge.url}/api/v3/repositories/${first}`);
  assert.equal((await get(moved.headers.get("location") ?? "")).body.full_name, "stranger/place");
  assert.equal((await get("/api/v3/repos/STRANGER/Place")).body.id, first);
  forge.catalogue.add({ at: clock.now(), kind: "renamed", id: second, to: before });
  assert.equal((await get(`/api/v3/repos/${before.toUpperCase()}`)).body.id, second);
});

test("private and deleted repositories are missing, blocked ones refused, and restored ones found again", async (t) => {
  const { clock, forge, get } = await forgeWorld(t, "github");
  const id = forge.catalogue.ids()[9] ?? 0;
  const statuses = [];
  for (const kind of ["hidden", "shown", "blocked", "deleted", "restored"] as const) {
    forge.catalogue.add({ at: clock.now(), kind, id, to: null });
    statuses.push((await get(`/api/v3/repositories/${id}`)).status);
    clock.advance(1_000);
  }
  assert.deepEqual(statuses, [404, 200, 451, 404, 200]);
});

test("the days of a history add up to the stars, newest week first", async (t) => {
  const { clock, forge, get, truth } = await forgeWorld(t, "github", {
    days: 60,
    rates: { ...QUIET, burst: 0.02 },
  });
  clock.advance(40 * DAY_MS);
  for (const id of forge.catalogue.ids().slice(0, 12)) {
    const weeks: { week: number; total: number; days: number[] }[] = [];
    let next: string | null = `/api/v3/repos/${truth(id).fullName}/stargazers/history?per_page=30`;
    while (next !== null) {
      const page = await get(next);
      weeks.push(...page.body);
      next = linked(page, "next");
    }
    const expected = weeks.flatMap(({ days }) => days).reduce((sum, day) => sum + day, 0);
    assert.equal(expected, truth(id).stars);
    for (const { week, total, days } of weeks) {
      assert.equal(new Date(week * 1_000).getUTCDay(), 0);
      assert.equal(days.length, 7);
      assert.equal(
        total,
        days.reduce((sum, day) => sum + day, 0),
      );
    }
    assert.ok(weeks.every(({ week }, i) => i === 0 || week === (weeks[i - 1]?.week ?? 0) - 7 * 86_400));
  }
  forge.switches.hasHistory = false;
  assert.equal(
    (await get(`/api/v3/repos/${truth(forge.catalogue.ids()[0] ?? 0).fullName}/stargazers/history`)).status,
    404,
  );
});
