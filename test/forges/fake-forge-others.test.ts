import assert from "node:assert/strict";
import { test } from "node:test";
import { type ClientResponse, forgeWorld, linked } from "../support/forge/world.js";

/** All rows of a paged list. */
async function walk(
  first: string,
  get: (path: string) => Promise<ClientResponse>,
  rowsOf = (body: ClientResponse["body"]) => body,
) {
  const rows = [];
  for (let next: string | null = first; next !== null; ) {
    const page = await get(next);
    assert.equal(page.status, 200);
    rows.push(...rowsOf(page.body));
    next = linked(page, "next");
  }
  return rows;
}

test("GitLab's list supports keyset pagination in both directions", async (t) => {
  const { clock, forge, get } = await forgeWorld(t, "gitlab");
  const [first = 0, second = 0] = forge.catalogue.ids();
  forge.catalogue.add({ at: clock.now(), kind: "hidden", id: first, to: null });
  forge.catalogue.add({ at: clock.now(), kind: "deleted", id: second, to: null });
  const list = "/api/v4/projects?pagination=keyset&order_by=id&visibility=public&per_page=40";
  const up = await walk(`${list}&sort=asc`, get);
  assert.deepEqual(
    up.map(({ id }) => id),
    forge.catalogue.ids().slice(2),
  );
  const down = await walk(`${list}&sort=desc`, get);
  assert.deepEqual(
    down.map(({ id }) => id),
    forge.catalogue.ids().slice(2).reverse(),
  );
  assert.ok(up.some(({ path_with_namespace }) => path_with_namespace.split("/").length > 3));
  const later = await get(`${list}&sort=asc&id_after=${up[99].id}`);
  assert.equal(later.body[0].id, up[100].id);
  assert.equal((await get("/api/v4/projects?pagination=keyset&order_by=star_count")).status, 405);
});

test("GitLab returns complete records with a token, and reduced ones without", async (t) => {
  const { forge, get, truth } = await forgeWorld(t, "gitlab");
  const expected = truth(forge.catalogue.ids()[3] ?? 0);
  const whole = await get(`/api/v4/projects/${expected.id}`, { "private-token": "one" });
  assert.equal(whole.body.open_issues_count, expected.openIssues);
  assert.equal(whole.body.archived, expected.isArchived);
  assert.equal(whole.body.star_count, expected.stars);
  assert.match(whole.body.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  const plain = await get(`/api/v4/projects/${encodeURIComponent(expected.fullName)}`, {});
  assert.equal(plain.body.id, expected.id);
  assert.equal(plain.body.open_issues_count, undefined);
  const simple = await get("/api/v4/projects?simple=true");
  assert.equal(simple.body[0].archived, undefined);
  assert.equal((await get("/api/v4/projects")).body[0].archived, false);
});

test("GitLab redirects an old path to the project id", async (t) => {
  const { clock, forge, get, truth } = await forgeWorld(t, "gitlab");
  const { id, fullName } = truth(forge.catalogue.ids()[8] ?? 0);
  forge.catalogue.add({ at: clock.now(), kind: "transferred", id, to: "one/two/three/four" });
  const moved = await get(`/api/v4/projects/${encodeURIComponent(fullName)}`);
  assert.equal(moved.status, 301);
  assert.equal(moved.headers.get("location"), `${forge.url}/api/v4/projects/${id}`);
  assert.match(moved.body, /^This resource has been moved permanently to /);
  assert.equal(
    (await get(moved.headers.get("location") ?? "")).body.path_with_namespace,
    "one/two/three/four",
  );
  const missing = await get("/api/v4/projects/nobody%2Fnothing");
  assert.deepEqual([missing.status, missing.body], [404, { message: "404 Project Not Found" }]);
});

test("GitLab reports the remaining quota, and refuses with a Retry-After", async (t) => {
  const { clock, forge, get } = await forgeWorld(t, "gitlab");
  const path = `/api/v4/projects/${forge.catalogue.ids()[0]}`;
  const first = await get(path);
  assert.equal(first.headers.get("ratelimit-limit"), "2000");
  assert.equal(first.headers.get("ratelimit-remaining"), "1999");
  assert.equal(Number(first.headers.get("ratelimit-reset")), clock.now() / 1_000 + 60);
  forge.spend("one", "core", 1_999);
  clock.advance(20_000);
  const refused = await get(path);
  assert.equal(refused.status, 429);
  assert.equal(refused.headers.get("retry-after"), "40");
  clock.advance(40_000);
  assert.equal((await get(path)).status, 200);
});

test("Forgejo's search returns every repository once, in every order", async (t) => {
  const { clock, forge, get } = await forgeWorld(t, "forgejo");
  forge.switches.starOrder = "stable";
  const truth = [...forge.catalogue.truth(clock.now())];
  const orders = [
    ["stars", (row: ClientResponse["body"]) => row.stars_count],
    ["forks", (row: ClientResponse["body"]) => row.forks_count],
    ["created", (row: ClientResponse["body"]) => Date.parse(row.created_at)],
    ["id", (row: ClientResponse["body"]) => row.id],
  ] as const;
  for (const [sort, key] of orders) {
    for (const order of ["asc", "desc"]) {
      const path = `/api/v1/repos/search?limit=500&sort=${sort}&order=${order}&q=&private=false`;
      const first = await get(path);
      assert.equal(first.headers.get("x-total-count"), "300");
      assert.deepEqual([first.body.ok, first.body.data.length], [true, 50]);
      const rows = await walk(path, get, ({ data }) => data);
      assert.equal(new Set(rows.map(({ id }) => id)).size, truth.length);
      const keys = rows.map(key);
      assert.deepEqual(
        keys,
        keys.toSorted((a, b) => (order === "asc" ? a - b : b - a)),
      );
    }
  }
  const wrong = await get("/api/v1/repos/search?sort=bogus");
  assert.equal(wrong.status, 422);
  assert.equal(wrong.body.message, 'Invalid sort mode: "bogus"');
  forge.switches.starOrder = "none";
  assert.equal((await get("/api/v1/repos/search?sort=stars&order=desc")).status, 422);
});

test("Forgejo's records match the catalogue, and old names redirect to the new path", async (t) => {
  const { clock, forge, get, truth } = await forgeWorld(t, "forgejo");
  const { id, fullName } = truth(forge.catalogue.ids()[4] ?? 0);
  const { body } = await get(`/api/v1/repositories/${id}`);
  const expected = truth(id);
  assert.deepEqual((await get(`/api/v1/repos/${fullName}`)).body, body);
  assert.deepEqual(
    [body.full_name, body.stars_count, body.watchers_count, body.open_issues_count, body.open_pr_counter],
    [fullName, expected.stars, expected.watchers, expected.openIssues, expected.openPullRequests],
  );
  assert.equal(Date.parse(body.created_at), expected.createdAt);
  forge.catalogue.add({ at: clock.now(), kind: "renamed", id, to: `${expected.owner}/later` });
  const moved = await get(`/api/v1/repos/${fullName}`);
  assert.equal(moved.status, 307);
  assert.equal(moved.headers.get("location"), `/api/v1/repos/${expected.owner}/later`);
  assert.equal((await get("/api/v1/repos/nobody/nothing")).body.message, "The target couldn't be found.");
});

test("Gogs searches with a pattern of SQL, and finds by name alone", async (t) => {
  const { clock, forge, get, truth } = await forgeWorld(t, "gogs");
  const all = "/api/v1/repos/search?q=_&limit=500&page=";
  const first = await get(`${all}1`);
  assert.deepEqual([first.body.ok, first.body.data.length], [true, 50]);
  assert.match(first.headers.get("link") ?? "", /search\?page=2>; rel="next"/);
  const ids = new Set<number>();
  for (let page = 1; page <= 6; page++)
    for (const row of (await get(`${all}${page}`)).body.data) ids.add(row.id);
  assert.equal(ids.size, 300);
  const keyword = async (q: string) => (await get(`/api/v1/repos/search?q=${q}&limit=50`)).body.data;
  assert.deepEqual(await keyword(""), await keyword("."), "an empty keyword is a dot");
  assert.deepEqual(await keyword("a/b/rust"), await keyword("RUST"));
  const { id, fullName, owner } = truth(forge.catalogue.ids()[4] ?? 0);
  const { body } = await get(`/api/v1/repos/${fullName}`);
  assert.deepEqual(
    [body.id, body.full_name, body.language, body.archived],
    [id, fullName, undefined, undefined],
  );
  assert.equal((await get(`/api/v1/repositories/${id}`)).status, 404);
  forge.catalogue.add({ at: clock.now(), kind: "renamed", id, to: `${owner}/later` });
  assert.equal((await get(`/api/v1/repos/${fullName}`)).status, 404);
  assert.equal((await get(`/api/v1/repos/${owner}/later`)).body.id, id);
});
