import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { graphql } from "graphql";
import type { UpstreamRepository } from "../../src/forges/contract.js";
import { createForgejo } from "../../src/forges/forgejo/forgejo.js";
import { createGitlab } from "../../src/forges/gitlab/gitlab.js";
import { createGogs } from "../../src/forges/gogs/gogs.js";
import { realData } from "../support/data.js";
import { gitlabSchema } from "../support/forge/gitlab-graphql.js";
import { SkippingClock } from "../support/manual-clock.js";
import { scripted, settingsOf } from "../support/upstream.js";

const signal = new AbortController().signal;
const clock = new SkippingClock(Date.UTC(2026, 0, 1));
const skip = existsSync(realData("fixtures"))
  ? false
  : "the recorded answers are not here: set SIDEREAL_TEST_DATA to a folder with fixtures";

/** The recorded responses of one kind of forge. */
function bodiesOf(path: string): unknown[] {
  return readFileSync(realData("fixtures", path), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).response.body);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function assertTold(repository: UpstreamRepository): void {
  assert.match(repository.providerId, /^\d+$/);
  assert.match(`${repository.owner}/${repository.name}`, /^[^/]+(\/[^/]+)+$/);
  assert.match(repository.url, /^https?:\/\//);
  assert.ok(repository.createdAt !== null && repository.pushedAt !== null, repository.url);
}

test("gitlab: a recorded project is read completely", { skip }, async () => {
  const fetch = scripted(() => ({ body: bodiesOf("gitlab/other.jsonl")[0] }));
  const provider = createGitlab(settingsOf("gitlab", { url: "https://gitlab.com" }), { fetch, clock });
  assert.deepEqual(await provider.refreshOne("ase/ase", signal), {
    providerId: "470007",
    nodeId: null,
    owner: "ase",
    name: "ase",
    url: "https://gitlab.com/ase/ase",
    avatarUrl: "https://gitlab.com/uploads/-/system/group/avatar/293845/users.png",
    description:
      "[Atomic Simulation Environment](https://wiki.fysik.dtu.dk/ase/): A Python library for working with atoms",
    homepage: null,
    language: null,
    license: "LGPL-2.1",
    topics: ["Atomistic simulations", "chemistry", "materials", "physics"],
    stars: 421,
    forks: 770,
    openIssues: 515,
    watchers: null,
    fork: false,
    archived: false,
    createdAt: Date.UTC(2015, 8, 17, 12, 32, 33, 814),
    pushedAt: Date.UTC(2024, 2, 21, 22, 39, 6, 389),
  });
  assert.equal(fetch.sent[0]?.path, "/api/v4/projects/ase%2Fase?license=true");
});

test("gitlab: recorded lists of several versions are read completely, with nested groups", {
  skip,
}, async () => {
  const pages = bodiesOf("gitlab/repos-body.jsonl").filter((body) => Array.isArray(body));
  const found: UpstreamRepository[] = [];
  for (const body of pages) {
    const provider = createGitlab(settingsOf("gitlab"), { fetch: scripted(() => ({ body })), clock });
    const { repositories } = await provider.seek({ owner: "someone" }, signal);
    assert.equal(repositories.length, body.length);
    found.push(...repositories);
  }
  assert.ok(found.length >= 20);
  for (const repository of found) assertTold(repository);
  assert.ok(found.some(({ owner, name }) => owner === "rob-miscellaneous/wrappers" && name === "urdfdom"));
  const sparse = found.find(({ providerId }) => providerId === "143");
  assert.deepEqual([sparse?.fork, sparse?.archived, sparse?.openIssues], [null, null, null]);
});

test("forgejo: a recorded repository of Codeberg is read completely", { skip }, async () => {
  const fetch = scripted(() => ({ body: bodiesOf("codeberg/repo.jsonl")[0] }));
  const provider = createForgejo(settingsOf("forgejo", { url: "https://codeberg.org" }), { fetch, clock });
  assert.deepEqual(await provider.refreshOne("forgejo/forgejo", signal), {
    providerId: "73144",
    nodeId: null,
    owner: "forgejo",
    name: "forgejo",
    url: "https://codeberg.org/forgejo/forgejo",
    avatarUrl: "https://codeberg.org/avatars/dae8ab126a96f6fbd6942cf08ab92382",
    description: "Beyond coding. We forge.",
    homepage: "https://forgejo.org/",
    language: "Go",
    license: null,
    topics: ["forge", "forgejo", "git", "self-hosted"],
    stars: 5233,
    forks: 892,
    openIssues: 1423,
    watchers: 187,
    fork: false,
    archived: false,
    createdAt: Date.UTC(2022, 10, 6, 6, 24, 57),
    pushedAt: Date.UTC(2026, 7, 1, 20, 12, 4),
  });
  assert.equal(fetch.sent[0]?.path, "/api/v1/repos/forgejo/forgejo");
});

test("forgejo: recorded lists of Forgejo and Gitea are read completely, also an empty one", {
  skip,
}, async () => {
  let count = 0;
  for (const body of [...bodiesOf("forgejo/repos-body.jsonl"), ...bodiesOf("gitea/repos-body.jsonl")]) {
    if (!isObject(body) || !Array.isArray(body.data)) continue;
    const provider = createForgejo(settingsOf("forgejo"), { fetch: scripted(() => ({ body })), clock });
    const { repositories, next } = await provider.discover(null, signal);
    assert.equal(repositories.length, body.data.length);
    assert.equal(next, null);
    for (const repository of repositories) assertTold(repository);
    count += repositories.length;
  }
  assert.ok(count >= 15);
});

test("forgejo: a recorded private repository is refused", { skip }, async () => {
  const hidden = bodiesOf("gitea/repos-body.jsonl").find((body) => isObject(body) && body.private === true);
  const provider = createForgejo(settingsOf("forgejo"), { fetch: scripted(() => ({ body: hidden })), clock });
  await assert.rejects(provider.refreshOne("go-gitea/gitea", signal), { kind: "private" });
});

test("gogs: recorded pages of a search are read completely; a private repository is refused", {
  skip,
}, async () => {
  const bodies = bodiesOf("gogs/repos-body.jsonl");
  let total = 0;
  for (const body of bodies) {
    if (!isObject(body) || !Array.isArray(body.data)) continue;
    const provider = createGogs(settingsOf("gogs"), { fetch: scripted(() => ({ body })), clock });
    const { repositories, next } = await provider.discover(null, signal);
    assert.equal(next, null);
    assert.deepEqual(repositories.map(countsOf), body.data.map(recordedCountsOf));
    for (const repository of repositories) assertTold(repository);
    total += repositories.length;
  }
  assert.ok(total >= 12);
  const [hidden] = bodies.flatMap((body) => (Array.isArray(body) ? body : []));
  const provider = createGogs(settingsOf("gogs"), { fetch: scripted(() => ({ body: hidden })), clock });
  await assert.rejects(provider.refreshOne("gogits/gogs", signal), { kind: "private" });
});

const countsOf = ({
  providerId,
  owner,
  name,
  stars,
  forks,
  watchers,
  openIssues,
  fork,
  url,
}: UpstreamRepository) => [
  ...[providerId, `${owner}/${name}`, stars, forks, watchers, openIssues, fork, url],
];

function recordedCountsOf(row: unknown) {
  assert.ok(isObject(row));
  const counts = [row.stars_count, row.forks_count, row.watchers_count, row.open_issues_count];
  return [String(row.id), row.full_name, ...counts, row.fork, row.html_url];
}

test("gitlab: recorded projects as GraphQL would send them are the same records", { skip }, async () => {
  const rows = [...bodiesOf("gitlab/repos-body.jsonl"), ...bodiesOf("gitlab/other.jsonl")].flat();
  let compared = 0;
  for (const row of rows) {
    if (!isObject(row) || typeof row.id !== "number") continue;
    const project = {
      id: `gid://gitlab/Project/${row.id}`,
      fullPath: row.path_with_namespace,
      starCount: row.star_count,
      // GraphQL always has it; lists without a token have only public projects.
      visibility: row.visibility ?? "public",
      webUrl: row.web_url,
      namespace: isObject(row.namespace) ? { avatarUrl: row.namespace.avatar_url } : null,
      description: row.description,
      topics: row.topics ?? row.tag_list,
      forksCount: row.forks_count ?? 0,
      openIssuesCount: row.open_issues_count,
      archived: row.archived,
      isForked: row.forked_from_project !== undefined,
      createdAt: row.created_at,
      lastActivityAt: row.last_activity_at,
      languages: [],
    };
    const nodes = { nodes: [project], pageInfo: { hasNextPage: false, hasPreviousPage: false } };
    const fetch = scripted(async (path, { body }) => {
      if (path !== "/api/graphql") return { body: row };
      const { query, variables } = JSON.parse(String(body));
      const source = { schema: gitlabSchema(), source: query, variableValues: variables };
      return { body: await graphql({ ...source, rootValue: { projects: nodes } }) };
    });
    const provider = createGitlab(settingsOf("gitlab"), { fetch, clock });
    const ref = {
      providerId: String(row.id),
      nodeId: null,
      fullName: String(row.path_with_namespace),
      etag: null,
    };
    const [read] = await provider.refreshMany([ref], signal);
    if (read?.kind !== "found") {
      await assert.rejects(provider.recheck(ref, signal));
      continue;
    }
    const single = await provider.recheck(ref, signal);
    // Only one of the two has these.
    const { license: _, fork, ...rest } = single;
    const { license, fork: isFork, ...same } = read.repository;
    assert.deepEqual(same, rest);
    assert.deepEqual([license, isFork], [null, fork ?? row.forked_from_project !== undefined]);
    compared++;
  }
  assert.ok(compared >= 20, `${compared} projects`);
});
