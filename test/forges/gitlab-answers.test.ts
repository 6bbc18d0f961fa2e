import assert from "node:assert/strict";
import { test } from "node:test";
import type { RepositoryRef } from "../../src/forges/contract.js";
import { createGitlab } from "../../src/forges/gitlab/gitlab.js";
import { globalId } from "../../src/forges/gitlab/projects.js";
import { SkippingClock } from "../support/manual-clock.js";
import { type Scripted, scripted, settingsOf } from "../support/upstream.js";

const NOW = Date.UTC(2026, 0, 30);
const signal = new AbortController().signal;

const refOf = (id: number): RepositoryRef => ({
  providerId: String(id),
  nodeId: null,
  fullName: "some/name",
  etag: null,
});

/** A provider whose GraphQL API has this response; other paths are answered by `rest`. */
function scriptedGitlab(
  answer: (ids: readonly string[]) => Scripted,
  rest: (path: string) => Scripted = () => ({ status: 404, body: "{}" }),
) {
  const fetch = scripted((path, { body = "{}" }) =>
    path === "/api/graphql" ? answer(JSON.parse(body).variables.ids ?? []) : rest(path),
  );
  const clock = new SkippingClock(NOW);
  return {
    fetch,
    clock,
    provider: createGitlab(settingsOf("gitlab", { tokens: ["token-one"], minStars: 5 }), { fetch, clock }),
  };
}
const node = (id: number, changes = {}) => ({
  ...{ id: globalId(String(id)), fullPath: `group/sub/p${id}`, starCount: id, visibility: "public" },
  ...changes,
});
const connection = (nodes: unknown[], endCursor: unknown = null, errors?: unknown): Scripted => ({
  body: { data: { projects: { nodes, pageInfo: { hasNextPage: endCursor !== null, endCursor } } }, errors },
});

test("an error of one field costs that field only; a project without a node is read alone", async () => {
  const errors = [
    { message: "Timeout on Project.languages", path: ["projects", "nodes", 0, "languages"] },
    { message: "Timeout on Project.description", path: ["projects", "nodes", 0, "description"] },
    {
      message: "Cannot return null for non-nullable field Project.forksCount",
      path: ["projects", "nodes", 1, "forksCount"],
    },
  ];
  const { fetch, provider } = scriptedGitlab(
    () =>
      connection(
        [node(6, { languages: null, topics: ["a"] }), null, node(8, { starCount: "many" })],
        null,
        errors,
      ),
    () => ({ body: { id: 7, path_with_namespace: "group/p7", star_count: 7 } }),
  );
  const [first, second, third] = await provider.refreshMany([refOf(6), refOf(7), refOf(8)], signal);
  assert.ok(first?.kind === "found" && second?.kind === "found");
  assert.deepEqual(
    [first.repository.topics, first.repository.language, "description" in first.repository],
    [["a"], null, false],
  );
  assert.equal(second.repository.stars, 7);
  assert.ok(third?.kind === "failed" && third.failure.kind === "malformed");
  assert.equal(fetch.sent.length, 2);
});

test("the language is the one with the largest share", async () => {
  const cases: [unknown, string | null][] = [
    [
      [
        { name: "Ruby", share: 20 },
        { name: "Go", share: 70.5 },
        { name: "C", share: 9.5 },
      ],
      "Go",
    ],
    [[{ name: "Ruby", share: null }, { name: "Go" }], "Ruby"],
    [[{ name: "", share: 90 }, { name: 7, share: 80 }, null, { name: "C", share: 1 }], "C"],
    [[], null],
    [null, null],
    ["Ruby", null],
  ];
  for (const [languages, expected] of cases) {
    const { provider } = scriptedGitlab(() => connection([node(6, { languages })]));
    const [result] = await provider.refreshMany([refOf(6)], signal);
    assert.ok(result?.kind === "found");
    assert.equal(result.repository.language, expected);
  }
});

test("a project that only the token may see is private, and none that was not requested is recorded", async () => {
  const { fetch, provider } = scriptedGitlab(() =>
    connection([node(6, { visibility: "internal" }), node(9), node(6)]),
  );
  const results = await provider.refreshMany([refOf(6), refOf(7)], signal);
  assert.deepEqual(
    results.map((result) => (result.kind === "failed" ? result.failure.kind : result.kind)),
    ["found", "gone"],
  );
  const { provider: other } = scriptedGitlab(() => connection([node(6, { visibility: "private" })]));
  const [hidden] = await other.refreshMany([refOf(6)], signal);
  assert.ok(hidden?.kind === "failed" && hidden.failure.kind === "private");
  assert.equal((await other.discover(null, signal)).repositories.length, 0);
  assert.equal(fetch.sent.length, 2);
});

test("a response that is no answer is a failure, and loses nothing", async () => {
  const answers: [Scripted, string][] = [
    [{ status: 429, headers: { "retry-after": "30" } }, "quota"],
    [{ body: "<html>" }, "malformed"],
    [{ body: {} }, "malformed"],
    [{ body: { data: null } }, "malformed"],
    [{ body: { data: { projects: { nodes: {}, pageInfo: {} } } } }, "malformed"],
    [connection([node(6)], "x".repeat(3_001)), "malformed"],
    [{ body: [] }, "malformed"],
  ];
  for (const [answer, kind] of answers) {
    const { fetch, provider } = scriptedGitlab(() => answer);
    await assert.rejects(provider.refreshMany([refOf(6)], signal), { kind }, JSON.stringify(answer));
    assert.equal(fetch.sent.length, 1);
    assert.deepEqual(provider.withheld(), []);
  }
  const { provider } = scriptedGitlab(() => ({ status: 401, body: "{}" }));
  await assert.rejects(provider.refreshMany([refOf(6)], signal), { kind: "refused" });
});

test("one project that GitLab cannot answer a query for is read over REST, and holds up no other", async () => {
  const timeout = { body: { data: { projects: null }, errors: [{ message: "Request timed out" }] } };
  for (const answer of [timeout, { status: 500, body: "{}" }]) {
    const { fetch, provider } = scriptedGitlab(
      (globalIds) => {
        const ids = globalIds.map((id) => Number(id.split("/").at(-1)));
        return ids.includes(6) ? answer : connection(ids.map((id) => node(id)));
      },
      () => ({ body: { id: 6, path_with_namespace: "group/p6", star_count: 6 } }),
    );
    const results = await provider.refreshMany([5, 6, 7, 8].map(refOf), signal);
    assert.deepEqual(
      results.map(({ kind }) => kind),
      ["found", "found", "found", "found"],
    );
    assert.deepEqual([fetch.sent.length, provider.withheld()], [6, []]);
  }
});

test("a project scheduled for deletion is gone, and one whose name only says so is not", async () => {
  const fullPath = "group/p-deletion_scheduled-6";
  for (const [day, kind] of [
    ["2026-05-01", "failed"],
    [null, "found"],
  ] as const) {
    const { provider } = scriptedGitlab(
      () => connection([node(6, { fullPath, markedForDeletionOn: day })]),
      () => ({
        body: {
          ...{ id: 6, path_with_namespace: fullPath, star_count: 6, visibility: "public" },
          marked_for_deletion_on: day,
        },
      }),
    );
    const [result] = await provider.refreshMany([refOf(6)], signal);
    assert.equal(result?.kind, kind);
    if (result?.kind === "failed") assert.equal(result.failure.kind, "gone");
    assert.equal((await provider.discover(null, signal)).repositories.length, day === null ? 1 : 0);
    const again = provider.recheck(refOf(6), signal);
    if (day === null) assert.equal((await again).name, "p-deletion_scheduled-6");
    else await assert.rejects(again, { kind: "gone" });
  }
});

test("if a record has no marks of deletion, the name decides by the project's own id", async () => {
  const message = "Field 'markedForDeletionOn' doesn't exist on type 'Project'";
  for (const [id, kind] of [
    [6, "gone"],
    [7, "found"],
  ] as const) {
    const fullPath = "group/p-deletion_scheduled-6";
    let isFirst = true;
    const { provider } = scriptedGitlab(
      () => {
        const answer = isFirst ? { body: { errors: [{ message }] } } : connection([node(id, { fullPath })]);
        isFirst = false;
        return answer;
      },
      () => ({ body: { id, path_with_namespace: fullPath, star_count: 6 } }),
    );
    const [result] = await provider.refreshMany([refOf(id)], signal);
    assert.equal(result?.kind === "failed" ? result.failure.kind : result?.kind, kind);
    const again = provider.recheck(refOf(id), signal);
    if (kind === "found") assert.equal((await again).stars, 6);
    else await assert.rejects(again, { kind });
  }
});

test("a query that GitLab finds too complex is refused in its own words", async () => {
  const message = "Query has complexity of 251, which exceeds max complexity of 250";
  const { fetch, provider } = scriptedGitlab(() => ({ body: { errors: [{ message }] } }));
  await assert.rejects(provider.refreshMany([refOf(6)], signal), { kind: "refused", reason: message });
  assert.equal(fetch.sent.length, 1);
});

test("a walk that is not in order is malformed, and so is one that repeats itself", async () => {
  const unsorted = scriptedGitlab(() => connection([node(6), node(9)], "next"));
  await assert.rejects(unsorted.provider.discover(null, signal), { kind: "malformed" });
  const endless = scriptedGitlab(() => connection([node(9), node(6)], "same"));
  const first = await endless.provider.discover(null, signal);
  assert.match(first.next ?? "", /^graphql2:2:6:[\w-]{22}:same$/);
  await assert.rejects(endless.provider.discover(first.next, signal), { kind: "malformed" });
  let pages = 0;
  const alternating = scriptedGitlab(() => connection([node(9), node(9)], `page ${++pages % 2}`));
  await assert.rejects(async () => {
    for (let cursor: string | null = null; ; )
      cursor = (await alternating.provider.discover(cursor, signal)).next;
  }, /repeats itself/);
  assert.equal(pages, 4);
  const rising = scriptedGitlab(() => connection([node(90)], "next"));
  const cursor = `graphql2:2:9:${"m".repeat(22)}:x`;
  await assert.rejects(rising.provider.discover(cursor, signal), { kind: "malformed" });
  const below = scriptedGitlab(() => connection([node(9), node(4)], "more"));
  const end = await below.provider.discover(null, signal);
  assert.deepEqual([end.repositories.length, end.next], [1, null]);
});

test("cursors of other versions and invalid ones start a new walk", async () => {
  const sent: unknown[] = [];
  const fetch = scripted((path, { body }) => {
    if (path !== "/api/graphql") return { body: [] };
    sent.push(JSON.parse(String(body)).variables.after);
    return connection([]);
  });
  const provider = createGitlab(settingsOf("gitlab", { minStars: 5 }), {
    fetch,
    clock: new SkippingClock(NOW),
  });
  for (const cursor of [null, "", "graphql1:abc", "x".repeat(4_000), "3:x", "7:4200"])
    await provider.discover(cursor, signal);
  assert.deepEqual(sent, [null, null, null, null, null, null]);
  await provider.discover("graphql2:2:9:mark:abc", signal);
  assert.equal(sent.at(-1), "abc");
});
