import assert from "node:assert/strict";
import { test } from "node:test";
import { API_ROUTES } from "../../src/api/routes.js";
import { content, DEFAULT_LIMIT, type Route, Router } from "../../src/http/route.js";
import { hasSearch, Targets } from "../../src/http/targets.js";
import { withoutTrailingSlashes } from "../../src/lib/page-addresses.js";
import { fc } from "../support/properties.js";

const routeOf = (path: string, method: Route["method"] = "GET"): Route => ({
  method,
  path,
  access: "public",
  limit: DEFAULT_LIMIT,
  cache: { kind: "shared" },
  query: [],
  body: "none",
  form: "json",
  handle: () => content("text/plain", path),
});

test("the parameters in the path of a route are those that its operation validates", () => {
  for (const { route, operation } of API_ROUTES) {
    const inPath = [...route.path.matchAll(/\{(\w+)\*?\}/g)].map(([, name]) => name);
    assert.deepEqual(inPath, Object.keys(operation.params?.shape ?? {}), route.path);
  }
});

test("every operation has one route, and its name is its own", () => {
  const ids = API_ROUTES.map(({ operation }) => operation.id);
  assert.equal(new Set(ids).size, ids.length);
  const routes = API_ROUTES.map(({ route }) => `${route.method} ${route.path}`);
  assert.equal(new Set(routes).size, routes.length);
});

test("routes that change something count as writes or as sign-in, and are never cached", () => {
  for (const { route } of API_ROUTES) {
    if (route.method === "GET") continue;
    assert.ok(["write", "auth"].includes(String(route.limit.bucket)), route.path);
    assert.ok(["private", "none"].includes(route.cache.kind), route.path);
  }
});

test("a path leads to its route with decoded parameters; the first declared wins", () => {
  const router = new Router(
    ["/a", "/a/fixed", "/a/{id}", "/a/{id}/b", "/rest/{name*}", "/feeds/{name}.atom"].map((path) =>
      routeOf(path),
    ),
  );
  for (const [path, pattern, params] of [
    ["/a", "/a", {}],
    ["/a/fixed", "/a/fixed", {}],
    ["/%61/fixed", "/a/fixed", {}],
    ["/a/x%2Fy", "/a/{id}", { id: "x/y" }],
    ["/a/%2541", "/a/{id}", { id: "%41" }],
    ["/a/%E5%AD%A6/b", "/a/{id}/b", { id: "学" }],
    ["/rest/a/b%2Fc", "/rest/{name*}", { name: "a/b/c" }],
    ["/feeds/new-hot.atom", "/feeds/{name}.atom", { name: "new-hot.atom" }],
  ] as const) {
    const match = router.find("GET", path);
    assert.equal(match?.route.path, pattern, path);
    assert.deepEqual(match?.params, params, path);
  }
  for (const path of ["/", "/A", "/a/", "/a/x/c", "/rest", "/feeds/x", "/feeds/a/b.atom"])
    assert.equal(router.find("GET", path), undefined, path);
});

test("a path that a route names literally is not taken for a parameter of another method", () => {
  const router = new Router([routeOf("/a/fixed", "POST"), routeOf("/a/{id}")]);
  assert.equal(router.find("GET", "/a/fixed"), undefined);
  assert.deepEqual(
    router.findAll("/a/fi%78ed").map(({ route }) => route.method),
    ["POST"],
  );
  assert.equal(router.find("GET", "/a/x")?.route.path, "/a/{id}");
});

test("slashes are cut from the end of a path only", () => {
  const paths = fc.string({ unit: fc.constantFrom("/", "a", "b") });
  fc.assert(
    fc.property(paths, (path) => assert.equal(withoutTrailingSlashes(path), path.replace(/\/+$/, ""))),
  );
  // An expression would try each run of slashes again: minutes for these.
  for (let i = 0; i < 10_000; i++) withoutTrailingSlashes(`/a${"/".repeat(7_900)}b`);
});

test("whether a query has a search is known without reading it", () => {
  const queries = fc.string({
    unit: fc.constantFrom("q", "%71", "=", "&", "?", "a", "+", "%"),
    maxLength: 8,
  });
  const check = fc.property(queries, (query) =>
    assert.equal(hasSearch(query), Boolean(new URLSearchParams(query).get("q")), query),
  );
  fc.assert(check, { numRuns: 5_000 });
});

test("a response that not everybody may have cannot be declared as shared", () => {
  for (const access of ["token", "browser", "session"] as const)
    for (const kind of ["shared", "visitor"] as const)
      assert.throws(
        () => new Targets([{ ...routeOf("/a"), access, cache: { kind } }], { basePath: "", isOpen: true }),
        /cannot be shared/,
      );
});
