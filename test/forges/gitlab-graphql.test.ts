import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { parse } from "graphql";
import type { ProviderSettings } from "../../src/config/known-forges.js";
import type { Provider, RepositoryRef, UpstreamRepository } from "../../src/forges/contract.js";
import { createGitlab } from "../../src/forges/gitlab/gitlab.js";
import { globalId, projectsQuery } from "../../src/forges/gitlab/projects.js";
import type { UpstreamRequest } from "../../src/forges/transport.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { type Forge, startForge } from "../support/forge/forge.js";
import { complexityOf } from "../support/forge/gitlab-graphql.js";
import { SkippingClock } from "../support/manual-clock.js";
import { settingsOf, walkOf } from "../support/upstream.js";

const NOW = Date.UTC(2026, 0, 30);
const signal = new AbortController().signal;

async function world(t: TestContext, changes: Partial<ProviderSettings> = {}) {
  const clock = new SkippingClock(NOW);
  const forge = await startForge({ kind: "gitlab", clock, repositories: 700 });
  t.after(() => forge.close());
  const fetch = async (url: string, { method, headers, body }: UpstreamRequest) => {
    const response = await globalThis.fetch(url, {
      method: method ?? "GET",
      headers: { ...headers },
      body: body ?? null,
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const settings = settingsOf("gitlab", { url: forge.url, tokens: ["token-one"], minStars: 20, ...changes });
  return { clock, forge, provider: createGitlab(settings, { fetch, clock }) };
}

const publicOf = (forge: Forge, clock: SkippingClock) =>
  [...forge.catalogue.truth(clock.now())].filter(({ visibility }) => visibility === "public");
const refOf = (id: number | string, fullName = "some/name"): RepositoryRef => ({
  providerId: String(id),
  nodeId: null,
  fullName,
  etag: null,
});

async function walk(provider: Provider) {
  const found = new Map<string, UpstreamRepository>();
  let pages = 0;
  for await (const page of walkOf(provider)) {
    pages++;
    for (const repository of page) found.set(repository.providerId, repository);
  }
  return { found, pages };
}

test("a hundred projects are one request, with languages and archived ones, and without a token", async (t) => {
  const { clock, forge, provider } = await world(t, { tokens: [] });
  assert.equal(provider.batchSize, 100);
  const [archived] = publicOf(forge, clock);
  forge.catalogue.override(archived?.id ?? 0, { isArchived: true });
  const some = publicOf(forge, clock).slice(0, 100);
  const results = await provider.refreshMany(
    some.map(({ id }) => refOf(id)),
    signal,
  );
  assert.deepEqual(forge.counters.byKind, { graphql: 1 });
  for (const [i, truth] of some.entries()) {
    const result = results[i];
    assert.ok(result?.kind === "found");
    const { repository } = result;
    assert.deepEqual(
      [repository.providerId, `${repository.owner}/${repository.name}`, repository.stars, repository.forks],
      [String(truth.id), truth.fullName, truth.stars, truth.forks],
    );
    assert.deepEqual(
      [repository.language, repository.archived, repository.fork, repository.openIssues, repository.topics],
      [truth.language, truth.isArchived, truth.isFork, truth.openIssues, truth.topics],
    );
  }
});

test("every field is what the REST API says, except those that only one of them has", async (t) => {
  const { clock, forge, provider } = await world(t);
  for (const { id } of publicOf(forge, clock).slice(0, 20)) {
    const [result] = await provider.refreshMany([refOf(id)], signal);
    assert.ok(result?.kind === "found");
    const { license: _, language: _language, ...read } = result.repository;
    const { license: _license, language, ...single } = await provider.recheck(refOf(id), signal);
    assert.deepEqual(read, single);
    assert.equal(language, null);
  }
  assert.deepEqual(forge.counters.byKind, { graphql: 20, "repository-by-id": 20 });
});

test("the queries cost less than GitLab allows, also without a token", () => {
  const cost = (list: "ids" | "page", variables: object) =>
    complexityOf(parse(projectsQuery(list, new Set())), { ...variables });
  assert.deepEqual([cost("ids", { ids: [] }), cost("page", { sort: "stars_desc" })], [52, 54]);
  const ids = Array.from({ length: 100 }, () => globalId("9".repeat(12)));
  assert.ok(JSON.stringify({ query: projectsQuery("ids", new Set()), variables: { ids } }).length < 10_000);
});

test("projects that a response leaves out are read one by one, and only then gone", async (t) => {
  const { clock, forge, provider } = await world(t);
  const [kept, deleted, hidden] = publicOf(forge, clock);
  assert.ok(kept !== undefined && deleted !== undefined && hidden !== undefined);
  forge.catalogue.add({ at: clock.now() - 1, kind: "deleted", id: deleted.id, to: null });
  forge.catalogue.add({ at: clock.now() - 1, kind: "hidden", id: hidden.id, to: null });
  const refs = [kept.id, deleted.id, hidden.id, "imported-id", "9".repeat(30)].map((id) => refOf(id));
  const results = await provider.refreshMany(refs, signal);
  assert.deepEqual(
    results.map((result) => (result.kind === "failed" ? result.failure.kind : result.kind)),
    ["found", "gone", "gone", "gone", "gone"],
  );
  assert.equal(forge.counters.byKind.graphql, 1);
});

test("an instance whose response has no project at all loses none of them", async (t) => {
  const { clock, forge, provider } = await world(t);
  const refs = publicOf(forge, clock)
    .slice(0, 30)
    .map(({ id }) => refOf(id));
  forge.switches.gitlabGraphql = { offered: "all", lacks: [] };
  forge.switches.lie = (_, request) => (request.kind === "graphql" ? { visibility: "private" } : undefined);
  const results = await provider.refreshMany(refs, signal);
  assert.ok(results.every(({ kind }) => kind === "found"));
});

test("a version without some fields costs these fields only, and they are requested again after a day", async (t) => {
  const { clock, forge, provider } = await world(t);
  const lacks = [
    "isForked",
    "languages",
    "openIssuesCount",
    "topics",
    "description",
    "webUrl",
    "lastActivityAt",
    "archived:",
  ];
  forge.switches.gitlabGraphql = { offered: "all", lacks };
  const some = publicOf(forge, clock).slice(0, 5);
  const refresh = () =>
    provider.refreshMany(
      some.map(({ id }) => refOf(id)),
      signal,
    );
  for (const [i, result] of (await refresh()).entries()) {
    assert.ok(result.kind === "found");
    const { repository } = result;
    assert.equal("description" in repository, false);
    assert.deepEqual([repository.stars, repository.fork, repository.language], [some[i]?.stars, null, null]);
    assert.equal(repository.url, `${forge.url}/${some[i]?.fullName}`);
  }
  // At most five unknown fields are named at a time.
  assert.deepEqual(forge.counters.byKind, { graphql: 3 });
  assert.deepEqual(provider.withheld(), lacks.filter((name) => name !== "archived:").sort());
  await refresh();
  assert.equal(forge.counters.byKind.graphql, 4);
  forge.switches.gitlabGraphql = { offered: "all", lacks: [] };
  clock.advance(DAY_MS);
  const [again] = await refresh();
  assert.ok(again?.kind === "found" && again.repository.language === some[0]?.language);
  assert.deepEqual(provider.withheld(), []);
});

const SENTENCE =
  /^\w+: this GitLab does not offer us GraphQL, without which its projects are neither found nor refreshed/;

test("an instance without GraphQL, or without a field that is needed, is refused in one sentence; single projects are read", async (t) => {
  for (const [offered, tokens, lacks] of [
    ["none", ["token-one"], []],
    ["signed-in", [], []],
    ["all", ["token-one"], ["visibility"]],
    ["all", ["token-one"], ["fullPath"]],
  ] as const) {
    const { clock, forge, provider } = await world(t, { tokens });
    forge.switches.gitlabGraphql = { offered, lacks };
    const [one] = publicOf(forge, clock);
    assert.ok(one);
    const refused = { kind: "refused", message: SENTENCE };
    await assert.rejects(provider.refreshMany([refOf(one.id)], signal), refused);
    await assert.rejects(provider.discover(null, signal), refused);
    assert.deepEqual(forge.counters.byKind, { graphql: 2 });
    assert.equal((await provider.refreshOne(one.fullName, signal)).stars, one.stars);
    assert.equal((await provider.recheck(refOf(one.id), signal)).stars, one.stars);
    forge.switches.gitlabGraphql = { offered: "all", lacks: [] };
    assert.equal((await provider.refreshMany([refOf(one.id)], signal))[0]?.kind, "found");
  }
});

test("a walk sees every project with enough stars, and reads no page below them", async (t) => {
  const { clock, forge, provider } = await world(t, { minStars: 2_000 });
  const wanted = publicOf(forge, clock).filter(({ stars }) => stars >= 2_000);
  const { found, pages } = await walk(provider);
  assert.deepEqual([...found.keys()].sort(), wanted.map(({ id }) => String(id)).sort());
  assert.ok(wanted.length > 100 && wanted.length < 600, `${wanted.length} projects`);
  assert.equal(pages, Math.ceil((wanted.length + 1) / 100));
  assert.deepEqual(forge.counters.byKind, { graphql: pages });
});

test("projects that move while a walk reads are seen, unless they pass it, and then by the next", async (t) => {
  const { clock, forge, provider } = await world(t, { minStars: 1 });
  const before = publicOf(forge, clock).filter(({ stars }) => stars >= 1);
  const seen = new Set<string>();
  const jumped = new Set<string>();
  for await (const page of walkOf(provider)) {
    for (const { providerId } of page) seen.add(providerId);
    // Some that were not seen get past the walk, some that were seen fall behind it, and others are deleted.
    const unseen = before.filter(({ id }) => !seen.has(String(id)) && !jumped.has(String(id)));
    for (const { id } of unseen.slice(-2)) {
      forge.catalogue.override(id, { stars: 400_000 });
      jumped.add(String(id));
    }
    const [first] = [...seen];
    if (first !== undefined) forge.catalogue.override(Number(first), { stars: 1 });
    forge.catalogue.add({ at: clock.now(), kind: "deleted", id: Number([...seen][1] ?? first), to: null });
  }
  assert.ok(jumped.size > 2);
  assert.deepEqual(
    before.filter(({ id }) => !seen.has(String(id)) && !jumped.has(String(id))),
    [],
  );
  const next = await walk(provider);
  for (const id of jumped) assert.ok(next.found.has(id));
});
