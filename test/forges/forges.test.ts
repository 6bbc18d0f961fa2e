import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProviderSettings } from "../../src/config/known-forges.js";
import type { Provider, RepositoryRef } from "../../src/forges/contract.js";
import { type FailureKind, UpstreamFailure } from "../../src/forges/failures.js";
import { createForgejo } from "../../src/forges/forgejo/forgejo.js";
import { GITLAB_REST } from "../../src/forges/gitlab/gitlab.js";
import { createRestReader, type RestReader, restClient } from "../../src/forges/rest-provider.js";
import type { UpstreamFetch } from "../../src/forges/transport.js";
import type { Clock } from "../../src/lib/clock.js";
import { SkippingClock } from "../support/manual-clock.js";
import { type Scripted, scripted, settingsOf } from "../support/upstream.js";

const NOW = Date.UTC(2026, 0, 1);
const signal = new AbortController().signal;

type Create = (
  settings: ProviderSettings,
  dependencies: { fetch: UpstreamFetch; clock: Clock },
) => RestReader;

/** One kind of forge: its constructor, smallest document and repository path. */
interface Kind {
  kind: "gitlab" | "forgejo";
  create: Create;
  document: (id: number, changes?: object) => Record<string, unknown>;
  pathOfId: (id: string) => string;
  /** What documents of repositories that are not public have. */
  hidden: readonly object[];
}

const FORGEJO: Kind = {
  kind: "forgejo",
  create: createForgejo,
  document: (id, changes) => ({ id, full_name: `owner/p${id}`, stars_count: id, ...changes }),
  pathOfId: (id) => `/api/v1/repositories/${id}`,
  hidden: [
    { private: true },
    { internal: true },
    { private: false, internal: false, owner: { visibility: "limited" } },
    { private: false, internal: false, owner: { visibility: "private" } },
  ],
};

const KINDS: Kind[] = [
  {
    kind: "gitlab",
    create: (settings, connection) =>
      createRestReader(GITLAB_REST, settings, restClient(GITLAB_REST, settings, connection)),
    document: (id, changes) => ({ id, path_with_namespace: `group/sub/p${id}`, star_count: id, ...changes }),
    pathOfId: (id) => `/api/v4/projects/${id}?license=true`,
    hidden: [{ visibility: "internal" }, { visibility: "private" }],
  },
  FORGEJO,
];

const refOf = (id: number, etag: string | null = null): RepositoryRef => ({
  providerId: String(id),
  nodeId: null,
  fullName: "some/name",
  etag,
});

const hasKind = (kind: FailureKind) => (error: unknown) => {
  assert.ok(error instanceof UpstreamFailure, String(error));
  assert.equal(error.kind, kind, error.message);
  return true;
};

for (const { kind, create, document, pathOfId, hidden } of KINDS) {
  /** A provider whose forge has these responses for single repositories, by id; 404 for others. */
  function withRepositories(answers: Record<string, Scripted>, changes: Partial<ProviderSettings> = {}) {
    const paths = new Map(Object.entries(answers).map(([id, answer]) => [pathOfId(id), answer]));
    const fetch = scripted((path) => paths.get(path) ?? { status: 404, body: "{}" });
    const clock = new SkippingClock(NOW);
    return { fetch, clock, provider: create(settingsOf(kind, changes), { fetch, clock }) };
  }
  const outcomes = async (provider: RestReader, ids: number[]) =>
    (
      await provider.refreshMany(
        ids.map((id) => refOf(id)),
        signal,
      )
    ).map((outcome) => (outcome.kind === "failed" ? outcome.failure.kind : outcome.kind));

  test(`${kind}: each repository has its own result, in order`, async () => {
    const { fetch, provider } = withRepositories({
      1: { body: document(1), headers: { etag: 'W/"a"' } },
      3: { status: 451 },
      4: { body: document(4, hidden[0]) },
      5: { body: "<html>" },
      6: { body: document(7) },
      8: { status: 500 },
      9: { status: 403 },
      10: { body: document(10) },
    });
    assert.deepEqual(await outcomes(provider, [1, 2, 3, 4, 5, 6, 8, 9, 10]), [
      ...["found", "gone", "blocked", "private", "malformed", "malformed", "unreachable", "refused", "found"],
    ]);
    assert.equal(fetch.sent.length, 9);
  });

  test(`${kind}: an ETag is sent back, and a 304 is unchanged`, async () => {
    const { fetch, provider } = withRepositories({
      1: { status: 304 },
      2: { body: document(2), headers: { etag: '"b"' } },
    });
    const [first, second] = await provider.refreshMany([refOf(1, '"a"'), refOf(2)], signal);
    assert.equal(first?.kind, "unchanged");
    assert.ok(second?.kind === "found" && second.etag === '"b"');
    assert.deepEqual(
      fetch.sent.map(({ headers }) => headers["if-none-match"]),
      ['"a"', undefined],
    );
  });

  test(`${kind}: without tokens no Authorization header is sent`, async () => {
    const { fetch, provider } = withRepositories({ 1: { body: document(1) } });
    await outcomes(provider, [1]);
    assert.equal("authorization" in (fetch.sent[0]?.headers ?? {}), false);
  });

  test(`${kind}: a redirect within the API is followed; others, and loops, are renames`, async () => {
    const { provider } = withRepositories({
      1: { status: 301, headers: { location: pathOfId("2") } },
      2: { body: document(1) },
      3: { status: 302, headers: { location: "https://evil.example/api/v4/projects/3" } },
      4: { status: 307, headers: { location: pathOfId("4") } },
      5: { status: 301, headers: { location: "/users/sign_in" } },
      6: { status: 301 },
    });
    assert.deepEqual(await outcomes(provider, [1, 3, 4, 5, 6]), [
      "found",
      "renamed",
      "renamed",
      "renamed",
      "renamed",
    ]);
  });

  test(`${kind}: unknown keys are dropped`, async () => {
    const body = JSON.stringify(document(1)).replace(
      /}$/,
      ',"__proto__":{"isPublic":true},"constructor":1,"stars":9}',
    );
    const [outcome] = await withRepositories({ 1: { body } }).provider.refreshMany([refOf(1)], signal);
    assert.ok(outcome?.kind === "found");
    assert.equal(outcome.repository.stars, 1);
    assert.equal(Object.getPrototypeOf(outcome.repository), Object.prototype);
    assert.deepEqual(
      Object.keys(outcome.repository).filter((key) => /proto|constructor/.test(key)),
      [],
    );
  });
}

/** Of copies from another forge: those that it still makes, and those that are made. */
const importing = [
  { empty: true, original_url: "https://github.com/o/n" },
  { empty: true, original_url: "https://github.com/o/n", mirror: true },
];
const imported = [
  { empty: false, original_url: "https://github.com/o/n" },
  { empty: true, original_url: "" },
];
const { document, hidden } = FORGEJO;
const list = (data: unknown) => ({ ok: true, data });

/** A provider whose forge returns these list pages in order. */
function withPages(pages: Scripted[], changes: Partial<ProviderSettings> = {}) {
  let asked = 0;
  const fetch = scripted(() => pages[asked++] ?? { body: list([]) });
  return {
    fetch,
    provider: createForgejo(settingsOf("forgejo", changes), { fetch, clock: new SkippingClock(NOW) }),
  };
}
const documents = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => document(from + i));
async function walk(provider: Provider): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null = null, first = true; first || cursor !== null; first = false) {
    const page = await provider.discover(cursor, signal);
    found.push(...page.repositories.map(({ providerId }) => providerId));
    cursor = page.next;
  }
  return found;
}

test("forgejo: a walk reaches the end, with full pages and with links, and follows no address from a response", async () => {
  const link = { link: '<https://evil.example/next>; rel="next"' };
  const { fetch, provider } = withPages([
    { body: list(documents(1, 100)) },
    { body: list(documents(101, 110)), headers: link },
    { body: list(documents(111, 112)) },
  ]);
  assert.equal((await walk(provider)).length, 112);
  assert.equal(fetch.sent.length, 3);
  assert.equal(new Set(fetch.sent.map(({ path }) => path)).size, 3, "each page is another");
});

test("forgejo: a walk returns public repositories with enough stars", async () => {
  const page = [...documents(1, 9), ...hidden.map((one) => document(10, one)), document(11)];
  const { provider } = withPages([{ body: list(page) }], { minStars: 8 });
  assert.deepEqual(await walk(provider), ["8", "9", "11"]);
});

test("forgejo: a walk finds no repository before it is imported, and one that is known stays as it is", async () => {
  const found = imported.map((one, i) => document(20 + i, one));
  const { provider } = withPages([{ body: list([...importing.map((one) => document(10, one)), ...found]) }]);
  assert.deepEqual(
    await walk(provider),
    found.map(({ id }) => String(id)),
  );
  const known = createForgejo(settingsOf("forgejo"), {
    fetch: scripted(() => ({ body: document(10, importing[0]) })),
    clock: new SkippingClock(NOW),
  });
  assert.equal((await known.refreshMany([refOf(10)], signal))[0]?.kind, "found");
});

test("forgejo: invalid records are left out, a page of them is malformed, an empty page is the end", async () => {
  const wrong = [
    document(1, { id: "x" }),
    document(2, { full_name: 3, path_with_namespace: "x" }),
    null,
    [],
    "x",
  ];
  const noStars = document(3, { stars_count: -1, star_count: "many" });
  const { provider } = withPages([{ body: list([...wrong, noStars, document(4)]) }]);
  assert.deepEqual(await walk(provider), ["4"]);
  for (const body of [
    list([...wrong, ...wrong, noStars]),
    {},
    Array(11).fill({}),
    "<html>",
    "",
    "null",
    '{"ok":false}',
  ]) {
    await assert.rejects(withPages([{ body }]).provider.discover(null, signal), hasKind("malformed"));
  }
  assert.deepEqual(await walk(withPages([]).provider), []);
});
