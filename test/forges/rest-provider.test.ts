import assert from "node:assert/strict";
import { test } from "node:test";
import { z } from "zod";
import { count, fullName } from "../../src/forges/fields.js";
import { createRestProvider, type RestForge, restClient } from "../../src/forges/rest-provider.js";
import { SkippingClock } from "../support/manual-clock.js";
import { type Scripted, scripted, settingsOf } from "../support/upstream.js";

const NOW = Date.UTC(2026, 0, 1);
const signal = new AbortController().signal;

const schema = z.object({ id: z.string(), path: fullName, stars: count });
const record = schema.transform(({ id, path, stars }) => ({
  isPublic: true,
  repository: {
    providerId: id,
    ...path,
    url: null,
    description: null,
    homepage: null,
    language: null,
    license: null,
    topics: null,
    stars,
    forks: null,
    openIssues: null,
    watchers: null,
    fork: null,
    archived: null,
    createdAt: null,
    pushedAt: null,
  },
}));

/** A forge whose ids are not numbers and whose cursors are its own. */
const OTHER: RestForge = {
  kind: "forgejo",
  base: "/api",
  authorization: (token) => token,
  list: (cursor) => {
    const key = /^v2:([a-z]+)$/.exec(cursor ?? "")?.[1] ?? "first";
    return {
      path: `/list/${key}`,
      page: key === "first" ? 1 : 2,
      next: ({ records, hasMore }) => (hasMore ? `v2:${records.at(-1)?.repository.name}` : null),
    };
  },
  listsAreComplete: true,
  listPart: "lists",
  pageSize: 2,
  listOf: (body) => body,
  pathOfId: (id) => `/by-id/${id}`,
  pathOfNamed: (name) => `/search?q=${name}`,
  pathOfOwned: async (owner) => `/users/${owner}`,
  pathOfName: ({ owner, name }) => `/by-name/${owner}/${name}`,
  pathOfFile: ({ owner, name }, file) => `/files/${owner}/${name}/${file}`,
  controlPath: "/version",
  checkToken: async () => ({ owner: null, scopes: null, limit: null, remaining: null, expiresAt: null }),
  record,
};

function open(answer: (path: string) => Scripted) {
  const fetch = scripted(answer);
  const settings = settingsOf("forgejo");
  const client = restClient(OTHER, settings, { fetch, clock: new SkippingClock(NOW) });
  return { fetch, provider: createRestProvider(OTHER, settings, client) };
}
const row = (id: string, name: string) => ({ id, path: `o/${name}`, stars: 1 });
const IDS = ["gid://forge/Project/1", "0191d2ab-77c1-7b4e-9d0e-2f6a1c3b5d7e", "a+b=c:d~e"];

test("ids of any form are kept, and one segment of a path", async () => {
  const { fetch, provider } = open((path) => ({
    body: row(decodeURIComponent(path.split("/").at(-1) ?? ""), "r"),
  }));
  const refs = [...IDS, ".."].map((providerId) => ({
    providerId,
    nodeId: null,
    fullName: "o/r",
    etag: null,
  }));
  const results = await provider.refreshMany(refs, signal);
  assert.deepEqual(
    results.map((result) => (result.kind === "found" ? result.repository.providerId : result.kind)),
    [...IDS, "failed"],
  );
  assert.deepEqual(
    fetch.sent.map(({ path }) => path),
    IDS.map((id) => `/api/by-id/${encodeURIComponent(id)}`),
  );
});

test("the cursor of a walk is the forge's own, and one it does not know starts a new walk", async () => {
  const pages: Record<string, unknown> = {
    "/api/list/first": [row(IDS[0] ?? "", "a"), row(IDS[1] ?? "", "b")],
    "/api/list/b": [row(IDS[2] ?? "", "c")],
  };
  const { fetch, provider } = open((path) => ({ body: pages[path] }));
  const first = await provider.discover(null, signal);
  assert.equal(first.next, "v2:b");
  const last = await provider.discover(first.next, signal);
  assert.deepEqual([last.repositories[0]?.providerId, last.next], [IDS[2], null]);
  for (const unknown of ["1:b", "v3:b", "", "v2:../../admin", "x".repeat(4_000)]) {
    await provider.discover(unknown, signal);
    assert.equal(fetch.sent.at(-1)?.path, "/api/list/first");
  }
});

test("a wait for lists concerns lists alone, and is shown", async () => {
  const { provider } = open((path) =>
    path.includes("/list/")
      ? { status: 429, headers: { "retry-after": "60" }, body: { message: "Too many lists" } }
      : { body: row("1", "r") },
  );
  await assert.rejects(provider.discover(null, signal), { kind: "quota", until: NOW + 60_000 });
  assert.equal(provider.readyAt("discover"), NOW + 60_000);
  assert.equal(provider.readyAt("refresh"), NOW);
  await assert.rejects(provider.discover(null, signal), { kind: "quota" });
  const ref = { providerId: "1", nodeId: null, fullName: "o/r", etag: null };
  assert.equal((await provider.refreshMany([ref], signal))[0]?.kind, "found");
  const blocks = provider.quota().filter(({ blockReason }) => blockReason !== null);
  assert.deepEqual(
    blocks.map(({ resource, blockReason, blockedUntil, blockMessage }) => [
      resource,
      blockReason,
      blockedUntil,
      blockMessage,
    ]),
    [["lists", "slow_down", NOW + 60_000, "Too many lists"]],
  );
});
