import assert from "node:assert/strict";
import { before, test } from "node:test";
import { API_ROUTES } from "../../src/api/routes.js";
import { errorOf } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import {
  ageSessions,
  changed,
  createKey,
  type Member,
  ORIGIN,
  signIn,
  unknownSession,
} from "../support/members.js";
import { addPasskey } from "../support/passkeys.js";
import { type Answer, createWorld, daily, observation, type World } from "../support/world.js";

const SESSION_ROUTES = API_ROUTES.filter(({ route }) => route.access === "session").map(
  ({ route, operation }) => ({
    method: route.method,
    pattern: route.path,
    takesBody: route.body !== "none",
    where: `${route.method} ${route.path}`,
    needsRecentSignIn: operation.errors?.includes("REAUTHENTICATION_REQUIRED") === true,
  }),
);

/** A body for each route that takes one; a route without a row here fails. */
const BODIES: Readonly<Record<string, unknown>> = {
  "POST /api/me/watchlist": { repositoryId: "1" },
  "PATCH /api/me/watchlist": { name: "Mine" },
  "POST /api/me/keys": { name: "new" },
  // Of nobody's challenge, so that it is a 400 for everybody.
  "POST /api/me/passkeys": {
    name: "new",
    credential: { id: "AAAA", response: { clientDataJSON: "AAAA", attestationObject: "AAAA" } },
  },
};

const NOBODY = {
  status: 401,
  code: "UNAUTHENTICATED",
  message: "Sign in first; API keys cannot be used here.",
};

test("every personal address needs a session, and no other does", () => {
  for (const { route } of API_ROUTES) {
    const { access } = route;
    const isPersonal = /^\/api\/me(\/|$)/.test(route.path);
    assert.equal(access === "session", isPersonal, route.path);
    if (access === "token") assert.match(route.path, /\{(token|requestId)\}/);
    if (route.path.includes("{token}")) assert.equal(access, "token", route.path);
    assert.equal(access === "browser", route.path.startsWith("/api/auth/"), route.path);
  }
  assert.ok(SESSION_ROUTES.length >= 9);
});

onSqliteAndLong("Who reaches what", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let ann: Member;
  let bob: Member;
  let bobsKey: { id: string; key: string };
  let bobsPasskey: { id: string };
  let bobsSession: string;

  before(async () => {
    world = await createWorld(engine, mailbox.settings);
    await world.record(observation("a/one", daily(1, 2)), observation("b/two", daily(3, 4)));
    [ann, bob] = [
      await signIn(world, mailbox, "ann@example.org"),
      await signIn(world, mailbox, "bob@example.org"),
    ];
    bobsKey = await createKey(world, bob, "the key of bob");
    bobsPasskey = await addPasskey(world, bob, "the passkey of bob");
    bobsSession = (await world.get("/api/me/sessions", bob.headers)).body.data[0].id;
    await world.send("POST", "/api/me/watchlist", { repositoryId: "2" }, bob.headers);
    await world.get("/api/repos", { "X-API-Key": bobsKey.key });
    await world.members.events.flush();
  });

  /** A request to a route, with parameters that name what is Bob's. */
  const ask = (route: (typeof SESSION_ROUTES)[number], headers: Record<string, string>): Promise<Answer> => {
    const values: Record<string, string> = {
      keyId: bobsKey.id,
      passkeyId: bobsPasskey.id,
      sessionId: bobsSession,
      repositoryId: "2",
    };
    const path = route.pattern.replaceAll(/\{(\w+)\}/g, (_, name) => {
      assert.ok(name in values, `${route.where}: no value for ${name}`);
      return values[name] ?? "";
    });
    assert.equal(route.takesBody, route.where in BODIES, `${route.where}: whether it takes a body`);
    return world.send(route.method, path, BODIES[route.where], headers);
  };
  /** All that Bob has, as he sees it. */
  const bobsThings = async () => {
    const answers = [
      "/api/me",
      "/api/me/keys",
      "/api/me/passkeys",
      "/api/me/sessions",
      "/api/me/watchlist",
    ].map((path) => world.get(path, bob.headers));
    return (await Promise.all(answers)).map(({ status, body }) => [status, body.data]);
  };

  test("nobody reaches a personal route without a session: not with nothing, a key, or a wrong cookie", async () => {
    const things = await bobsThings();
    const callers: Record<string, string>[] = [
      {},
      { Origin: ORIGIN },
      { Origin: ORIGIN, Authorization: `Bearer ${bobsKey.key}` },
      { Origin: ORIGIN, "X-API-Key": bobsKey.key },
      { Origin: ORIGIN, Cookie: "__Host-sidereal.session_token=made.up" },
      { Origin: ORIGIN, Cookie: unknownSession(1) },
      { Origin: ORIGIN, Cookie: changed(bob.cookie, 45) },
      { Origin: ORIGIN, Cookie: bob.cookie.replace("__Host-", "") },
    ];
    for (const route of SESSION_ROUTES) {
      for (const headers of callers) {
        const answer = await ask(route, headers);
        assert.deepEqual(errorOf(answer), NOBODY, route.where);
        assert.equal(answer.headers.get("www-authenticate"), 'Cookie realm="sidereal"');
        assert.equal(answer.headers.get("cache-control"), "no-store");
        assert.equal(answer.headers.get("access-control-allow-origin"), null);
      }
    }
    assert.deepEqual(await bobsThings(), things);
  });

  test("a request that another site makes with the cookie changes nothing", async () => {
    const things = await bobsThings();
    const foreign: Record<string, string>[] = [
      {},
      { Origin: "https://evil.example" },
      { Origin: "null" },
      { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" },
      { Origin: "https://evil.example", "Sec-Fetch-Site": "same-site" },
      { "Sec-Fetch-Site": "cross-site" },
      { "Sec-Fetch-Site": "same-site" },
    ];
    for (const route of SESSION_ROUTES.filter(({ method }) => method !== "GET")) {
      for (const headers of foreign) {
        const answer = await ask(route, { Cookie: bob.cookie, ...headers });
        assert.deepEqual(
          errorOf(answer),
          {
            status: 403,
            code: "FORBIDDEN",
            message: "This is possible only from the pages of this service, at https://sidereal.example.",
          },
          `${route.where} ${JSON.stringify(headers)}`,
        );
      }
    }
    assert.deepEqual(await bobsThings(), things);
  });

  test("somebody else who is signed in neither sees nor changes anything of Bob's", async () => {
    const things = await bobsThings();
    for (const route of SESSION_ROUTES) {
      // Some routes end the session, so each is tried in one of its own.
      ann = await signIn(world, mailbox, `ann-${SESSION_ROUTES.indexOf(route)}@example.org`);
      const { status, body } = await ask(route, ann.headers);
      const expected = route.where === "POST /api/me/passkeys" ? [400] : [200, 201, 204, 404];
      assert.ok(expected.includes(status), `${route.where} answered ${status}`);
      assert.doesNotMatch(JSON.stringify(body), /bob/, route.where);
      if (route.pattern === "/api/me/watchlist" && route.method === "GET") assert.deepEqual(body.data, []);
      if (/\{(?:keyId|passkeyId|sessionId)\}/.test(route.pattern)) {
        const nobodys = route.pattern.replace(/\{\w+\}/, "999999");
        const missing = await world.send(route.method, nobodys, undefined, ann.headers);
        assert.deepEqual([status, body.error.code], [404, "NOT_FOUND"], route.where);
        assert.deepEqual(errorOf({ ...missing }), errorOf({ status, body, headers: missing.headers }));
      }
    }
    assert.deepEqual(await bobsThings(), things);
    assert.equal((await world.get("/api/repos", { "X-API-Key": bobsKey.key })).status, 200);
  });

  test("what a stolen session must not do needs a sign-in within the last 15 minutes, and nothing else does", async () => {
    await ageSessions(world, 14);
    await createKey(world, bob, "another key of bob");
    const old = await signIn(world, mailbox, "bob@example.org");
    await ageSessions(world, 16);
    const things = await bobsThings();
    const changes = SESSION_ROUTES.filter((route) => route.needsRecentSignIn);
    assert.deepEqual(changes.map(({ where }) => where).sort(), [
      "DELETE /api/me",
      "DELETE /api/me/passkeys/{passkeyId}",
      "DELETE /api/me/sessions",
      "DELETE /api/me/sessions/{sessionId}",
      "GET /api/me/export",
      "POST /api/me/keys",
      "POST /api/me/passkey-options",
      "POST /api/me/passkeys",
    ]);
    for (const route of changes) {
      const { status, code, message } = errorOf(await ask(route, old.headers));
      assert.deepEqual([status, code], [403, "REAUTHENTICATION_REQUIRED"], route.where);
      assert.match(message, /15 minutes/);
    }
    assert.deepEqual(await bobsThings(), things);
    const others = SESSION_ROUTES.filter((route) => !route.needsRecentSignIn);
    // Those that end the session come last.
    for (const route of others.sort(
      (a, b) => Number(a.where.includes("out")) - Number(b.where.includes("out")),
    ))
      assert.ok((await ask(route, old.headers)).status < 300, route.where);
    const own = await signIn(world, mailbox, "bob@example.org");
    const { data } = (await world.get("/api/me/sessions", own.headers)).body;
    await ageSessions(world, 16);
    const ended = await world.send("DELETE", `/api/me/sessions/${data[0].id}`, undefined, own.headers);
    assert.equal(ended.status, 204, "its own");
  });
});
