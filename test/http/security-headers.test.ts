import assert from "node:assert/strict";
import { before, test } from "node:test";
import { API_ROUTES } from "../../src/api/routes.js";
import { PAGE_ROUTES } from "../../src/web/routes.js";
import { onSqlite } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { openMailbox } from "../support/mail.js";
import { type Member, ORIGIN, SITE_SETTINGS, signIn } from "../support/members.js";
import { createList } from "../support/watchlists.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

interface Facts {
  method: string;
  path: string;
  access: string;
  cache: { kind: string };
  form: string;
  body: string;
}

const ROUTES: readonly Facts[] = [...API_ROUTES.map(({ route }) => route), ...PAGE_ROUTES];

/** What every response of a service with an https address has, whatever its status. */
const ALWAYS: Readonly<Record<string, RegExp>> = {
  "x-content-type-options": /^nosniff$/,
  "strict-transport-security": /^max-age=31536000$/,
  "cross-origin-opener-policy": /^same-origin$/,
  "cross-origin-resource-policy": /^(?:same|cross)-origin$/,
  "permissions-policy": /camera=\(\).*geolocation=\(\)/,
  "referrer-policy": /^(?:no-referrer|same-origin|strict-origin-when-cross-origin)$/,
  "content-security-policy": /default-src 'none';.*frame-ancestors 'none'/,
  "x-request-id": /^[\w-]{12}$/,
  "cache-control": /./,
};
const NEVER = ["server", "x-powered-by"];

onSqlite("Headers that browsers protect people by", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let token: string;
  before(async () => {
    world = await createWorld(engine, { ...mailbox.settings, ...SITE_SETTINGS, SIDEREAL_CACHE_MB: "8" });
    await world.record(observation("a/big", daily(1, 2)));
    ({ token } = await createList(world, { ids: ["1"] }));
  });
  const pathOf = ({ path }: Facts): string => {
    const values: Record<string, string> = {
      provider: "github",
      owner: "a",
      name: "big",
      id: "1",
      fullName: "a/big",
      site: "github",
      ranking: "trending",
      token,
    };
    const filled = path.replaceAll(/\{(\w+)\*?\}/g, (_, name) => values[name] ?? "1");
    return filled.startsWith("/api/embed/") ? `${filled}?repo=github:a/big` : filled;
  };
  const check = (response: Response, what: string, facts?: Facts) => {
    const { headers, status } = response;
    for (const [name, pattern] of Object.entries(ALWAYS))
      assert.match(headers.get(name) ?? "(none)", pattern, `${name} of ${what}, ${status}`);
    for (const name of NEVER) assert.equal(headers.get(name), null, `${name} of ${what}`);
    const type = headers.get("content-type") ?? "";
    if (/^text\/|json|xml/.test(type)) assert.match(type, /charset=utf-8|^image\/svg/, what);
    const isPersonal = facts?.access === "session" || facts?.cache.kind === "none";
    if (isPersonal || status >= 400)
      assert.equal(headers.get("cache-control"), "no-store", `${what}, ${status}`);
    if (facts?.access === "session")
      assert.equal(headers.get("access-control-allow-origin"), null, `${what} is no other origin's`);
  };

  test("are in every response of every route, for visitors and people who are signed in", async () => {
    const seen = new Set<number>();
    let people = 0;
    let member: Member | undefined;
    for (const facts of ROUTES) {
      const { method, body } = facts;
      const what = `${method} ${facts.path}`;
      for (const isMember of [false, true]) {
        // Somebody new where the route may end the session, or the account.
        if (member === undefined || (isMember && method !== "GET"))
          member = await signIn(world, mailbox, `person-${++people}@example.org`);
        const sent =
          body === "json"
            ? { headers: { "Content-Type": "application/json" }, body: "{}" }
            : body === "form"
              ? { headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: "" }
              : { headers: {} };
        const headers = { Origin: ORIGIN, ...(isMember ? member.headers : {}), ...sent.headers };
        const init = { method, ...sent, headers };
        const response = await world.request(pathOf(facts), init);
        seen.add(response.status);
        check(response, what, facts);
        if (method !== "GET" || response.status !== 200) continue;
        const tag = response.headers.get("etag");
        if (tag === null) continue;
        const again = await world.request(pathOf(facts), { headers: { ...headers, "If-None-Match": tag } });
        seen.add(again.status);
        check(again, `${what} again`, facts);
      }
    }
    for (const status of [200, 201, 204, 303, 304, 400, 401, 404])
      assert.ok(seen.has(status), `no response had the status ${status}: ${[...seen]}`);
  });

  test("are in what is refused before there is a route, and in what the cache sends", async () => {
    const accept = { Accept: "text/html" };
    for (const [path, init, status] of [
      ["/nothing", { headers: accept }, 404],
      ["/api/nothing", {}, 404],
      ["/api/repos", { method: "PUT" }, 405],
      ["/%zz", {}, 400],
      [`/${"x".repeat(9_000)}`, {}, 414],
      ["/", { headers: { Cookie: "x".repeat(9_000) } }, 431],
      ["/api/repos", { headers: { "X-API-Key": "wrong" } }, 401],
      ["/api/repos", { method: "OPTIONS" }, 204],
      ["/api/repos", { method: "HEAD" }, 200],
      ["/api/repos", {}, 200],
      ["/api/repos", {}, 200],
      ["/", { headers: accept }, 200],
      ["/", { headers: accept }, 200],
    ] as const) {
      const response = await world.request(path, init);
      assert.equal(response.status, status, path.slice(0, 50));
      check(response, `${path.slice(0, 50)}`);
    }
  });

  test("are in a refusal of a request over its limit", async () => {
    const limited = await createWorld(engine, limits("default=1"));
    for (const path of ["/api/repos", "/about"]) {
      await limited.request(path, { headers: { Accept: "text/html" } });
      const refused = await limited.request(path, { headers: { Accept: "text/html" } });
      assert.equal(refused.status, 429);
      check(refused, path);
    }
  });
});
