import assert from "node:assert/strict";
import { test } from "node:test";
import { createOperatorUrl, OPERATOR_MS, OPERATOR_SESSION_MS } from "../../src/accounts/accounts.js";
import { loadConfig } from "../../src/config/config.js";
import { readNotedProxy } from "../../src/http/http.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { signIn } from "../support/members.js";
import { type Page, pageOf } from "../support/page.js";
import { createWorld, type World } from "../support/world.js";

const BASE = "http://127.0.0.1:3000";
const LOCAL = { SIDEREAL_BASE_URL: BASE };
const HERE = { Host: "127.0.0.1:3000", Origin: BASE };

/** A request to a world of this machine, from its loopback address unless another one is given. */
async function ask(
  world: World,
  path: string,
  {
    form,
    peer = "127.0.0.1",
    headers = {},
    method,
  }: { form?: Record<string, string>; peer?: string; headers?: Record<string, string>; method?: "HEAD" } = {},
): Promise<Page> {
  const body = form === undefined ? undefined : new URLSearchParams(form).toString();
  const length = {
    "Content-Type": "application/x-www-form-urlencoded",
    "Content-Length": String(body?.length),
  };
  const response = await world.request(path, {
    peer,
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: { Accept: "text/html", ...HERE, ...(body !== undefined && length), ...headers },
    ...(body !== undefined && { body }),
  });
  return pageOf(response);
}

/** The path of a new address with a key. */
async function newPath(world: World, at = world.clock.now()): Promise<string> {
  const url = (await createOperatorUrl(world.modules.database, loadConfig(LOCAL), at)) ?? "";
  assert.ok(url.startsWith(`${BASE}/operator/enter?key=`));
  return url.slice(BASE.length);
}

/** The cookie of the session that a new key begins. */
async function begin(world: World): Promise<string> {
  const { cookies } = await ask(world, await newPath(world));
  return cookies.find((one) => one.startsWith("sidereal.operator=")) ?? "";
}

/** Everything of a response that a browser could tell two responses apart by, but for times and ids. */
const shapeOf = ({ status, headers, text }: Page) => [
  status,
  text,
  [...headers].filter(([name]) => !/^(?:x-request-id|date|etag|.*ratelimit.*)$/.test(name)),
];

onSqliteAndLong("Operators", (engine) => {
  const mailbox = openMailbox();

  test("an address with a key makes the first browser that opens it an operator, and no other", async () => {
    const world = await createWorld(engine, LOCAL);
    const earlier = await newPath(world);
    const path = await newPath(world);
    for (const [wrong, init] of [
      [earlier, {}],
      [`${path}x`, {}],
      [path, { headers: { "Sec-Purpose": "prefetch" } }],
      [path, { method: "HEAD" }],
    ] as const)
      assert.deepEqual((await ask(world, wrong, init)).cookies, [], wrong);
    const opened = await ask(world, path);
    assert.deepEqual([opened.status, opened.location], [303, "/"]);
    const set = opened.headers.getSetCookie().find((line) => line.startsWith("sidereal.operator="));
    assert.match(set ?? "", /Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/);
    const session = opened.cookies.find((one) => one.startsWith("sidereal.operator=")) ?? "";
    assert.equal((await ask(world, "/operator", { headers: { Cookie: session } })).status, 200);
    const about = await ask(world, "/about", { headers: { Cookie: session } });
    assert.equal(
      about.headers.get("cache-control"),
      "private, no-cache",
      "it leads to the pages of operators",
    );
    assert.match((await ask(world, "/about")).headers.get("cache-control") ?? "", /^public/);
    const again = await ask(world, path);
    assert.deepEqual([again.status, again.cookies], [400, []]);
    assert.match(again.text, /was used before.*sidereal operator-key.*docker compose exec/s);
    const { read } = world.modules.database;
    const stored = JSON.stringify([
      await read.selectFrom("status_documents").selectAll().execute(),
      await read.selectFrom("operator_sessions").selectAll().execute(),
      world.logged,
    ]);
    for (const secret of [session.split("=")[1], path.split("=")[1], earlier.split("=")[1]])
      assert.ok(secret !== undefined && !stored.includes(secret), "only hashes are stored");
  });

  test("of several browsers that open an address at the same time, one becomes an operator", async () => {
    const world = await createWorld(engine, LOCAL);
    const path = await newPath(world);
    const pages = await Promise.all(Array.from({ length: 8 }, () => ask(world, path)));
    assert.deepEqual(pages.map(({ status }) => status).toSorted(), [303, ...Array(7).fill(400)]);
  });

  test("an unused key ends after an hour, also if the clock was turned back, and an operator's next one is used up", async () => {
    const world = await createWorld(engine, LOCAL);
    const late = await newPath(world);
    world.clock.advance(HOUR_MS);
    assert.equal((await ask(world, late)).status, 400);
    const early = await newPath(world, world.clock.now() + HOUR_MS);
    assert.equal((await ask(world, early)).status, 400);
    const Cookie = await begin(world);
    const next = await newPath(world);
    assert.deepEqual((await ask(world, next, { headers: { Cookie } })).location, "/");
    assert.equal((await ask(world, next)).status, 400, "in another browser");
    assert.equal((await ask(world, next, { headers: { Cookie } })).location, "/");
  });

  test("a container's network is local, and neither proxies nor browsers of other requests lock the operator out", async () => {
    for (const peer of ["127.0.0.1", "172.17.0.1", "192.168.65.1", "fd00::1"]) {
      const world = await createWorld(engine, { ...LOCAL, SIDEREAL_HOST: "0.0.0.0" });
      await ask(world, "/", { peer, headers: { "X-Forwarded-For": "192.0.2.1" } });
      await ask(world, "/", { headers: { "Sec-Fetch-Site": "same-origin", Origin: "https://site.example" } });
      for (let i = 0; i < 10; i++)
        await ask(world, "/", { peer, headers: { "User-Agent": `Mozilla/5.0 browser${i}` } });
      const opened = await ask(world, await newPath(world), { peer });
      assert.deepEqual([opened.status, opened.location], [303, "/"], peer);
      const headers = { Cookie: opened.cookies[0] ?? "" };
      assert.equal((await ask(world, "/operator", { peer, headers })).status, 200, peer);
      assert.equal((await ask(world, "/track", { peer, headers, form: { repository: "o/n" } })).status, 303);
      assert.ok((await readNotedProxy(world.modules.database.read)) !== null, "status names the proxy");
      assert.equal(
        world.logged.filter(({ msg }) => /SIDEREAL_TRUSTED_PROXIES does not name it/.test(msg)).length,
        1,
      );
    }
  });

  test("from elsewhere and under other hosts the pages do not exist, and through a proxy they say so", async () => {
    const world = await createWorld(engine, { ...LOCAL, SIDEREAL_ALLOWED_HOSTS: "*" });
    const session = await begin(world);
    const key = await newPath(world);
    const elsewhere: { peer?: string; headers?: Record<string, string>; says?: RegExp }[] = [
      { peer: "192.0.2.1" },
      { peer: "192.0.2.1", headers: { "X-Forwarded-For": "127.0.0.1" } },
      { headers: { Host: "evil.example", Origin: "http://evil.example" } },
      {
        headers: { "X-Forwarded-For": "192.0.2.1" },
        says: /header that only proxies add.*SIDEREAL_OPERATORS/,
      },
    ];
    for (const { says, ...place } of elsewhere) {
      for (const [path, form] of [
        ["/operator", undefined],
        ["/operator/tokens", undefined],
        [key, undefined],
        ["/operator/tokens", { forge: "GITHUB", token: "x" }],
        ["/operator/untrack", { repository: "o/n" }],
        ["/operator/hidden", { target: "github:o/n", reason: "spam" }],
        ["/operator/hidden/remove", { target: "github:o/n" }],
        ["/operator/accounts", { network: "203.0.113.7" }],
      ] as const) {
        const headers = {
          ...{ Origin: BASE, "Sec-Fetch-Site": "same-origin", Cookie: session },
          ...place.headers,
        };
        const page = await ask(world, path, { ...place, headers, ...(form && { form }) });
        assert.equal(page.status, 404, `${path} ${JSON.stringify(place)}`);
        assert.deepEqual(page.cookies, []);
        assert.match(page.text, says ?? /This address does not exist\.(?! The request)/);
      }
    }
    assert.equal((await ask(world, key)).status, 303, "the key is not used up");
  });

  test("with a proxy or a public address in the settings there are no keys, for nobody", async () => {
    for (const env of [
      { ...LOCAL, SIDEREAL_TRUSTED_PROXIES: "127.0.0.1" },
      { SIDEREAL_BASE_URL: "https://sidereal.example" },
      { SIDEREAL_BASE_URL: "http://192.168.0.2:3000" },
    ]) {
      const world = await createWorld(engine, { SIDEREAL_ALLOWED_HOSTS: "*", ...env });
      for (const path of ["/operator", "/operator/enter"])
        assert.equal((await ask(world, path)).status, 404, env.SIDEREAL_BASE_URL);
      const { database } = world.modules;
      assert.equal(await createOperatorUrl(database, loadConfig(env), world.clock.now()), undefined);
    }
  });

  test("a session opens the pages for an hour, may ask for repositories for a month, and ends when it is left", async () => {
    const world = await createWorld(engine, LOCAL);
    const first = { Cookie: await begin(world) };
    assert.equal((await ask(world, "/operator", { headers: first })).status, 200);
    assert.equal((await ask(world, "/operator/leave", { headers: first, form: {} })).status, 303);
    assert.equal((await ask(world, "/operator", { headers: first })).location, "/operator/enter");
    const second = { Cookie: await begin(world) };
    world.clock.advance(OPERATOR_MS + 1);
    assert.equal((await ask(world, "/operator", { headers: second })).status, 303);
    const shown = await ask(world, "/operator/enter", { headers: second });
    assert.equal(shown.status, 200);
    assert.match(shown.text, /sidereal operator-key/);
    const request = (headers: Record<string, string>) =>
      ask(world, "/track", { form: { repository: "github:octo/seven" }, headers });
    assert.equal((await request(second)).status, 303);
    world.clock.advance(OPERATOR_SESSION_MS);
    const late = await request(second);
    assert.equal(late.status, 403);
    assert.match(late.text, /Only operators may request repositories here/);
    await world.members.accounts.removeExpired();
    assert.deepEqual(
      await world.modules.database.read.selectFrom("operator_sessions").selectAll().execute(),
      [],
    );
  });

  test("listed accounts are operators; for others the pages are like ones that do not exist", async () => {
    const world = await createWorld(engine, {
      SIDEREAL_OPERATORS: " Ann@Example.org, root@example.org",
      ...mailbox.settings,
    });
    const ann = await signIn(world, mailbox, "ann@example.org");
    const bob = await signIn(world, mailbox, "bob@example.org");
    const visit = (path: string, headers: Record<string, string>) =>
      world.request(path, { headers: { Accept: "text/html", ...headers } }).then(pageOf);
    const own = await visit("/operator", ann.headers);
    assert.equal(own.status, 200);
    assert.equal(own.headers.get("cache-control"), "no-store");
    assert.ok((await visit("/account", ann.headers)).links.includes("/operator"));
    assert.ok(!(await visit("/account", bob.headers)).links.includes("/operator"));
    for (const path of [
      "/operator",
      "/operator/tokens",
      "/operator/untrack",
      "/operator/hidden",
      "/operator/accounts",
      "/operator/accounts/x",
      "/operator/log",
      "/operator/enter",
    ])
      for (const headers of [bob.headers, {}])
        assert.deepEqual(
          shapeOf(await visit(path, headers)),
          // Of the same length, as the page names its address.
          shapeOf(await visit(`${path.slice(0, -1)}x`, headers)),
          path,
        );
  });
});
