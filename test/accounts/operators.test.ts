import assert from "node:assert/strict";
import { test } from "node:test";
import { OPERATOR_MS, OPERATOR_SESSION_MS } from "../../src/accounts/accounts.js";
import { readNotedProxy } from "../../src/http/http.js";
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
  }: { form?: Record<string, string>; peer?: string; headers?: Record<string, string> } = {},
): Promise<Page> {
  const body = form === undefined ? undefined : new URLSearchParams(form).toString();
  const length = {
    "Content-Type": "application/x-www-form-urlencoded",
    "Content-Length": String(body?.length),
  };
  const response = await world.request(path, {
    peer,
    method: body === undefined ? "GET" : "POST",
    headers: { Accept: "text/html", ...HERE, ...(body !== undefined && length), ...headers },
    ...(body !== undefined && { body }),
  });
  return pageOf(response);
}

/** Requests a code in a browser; its cookie, and the code from the log. */
async function requestCode(world: World, cookie?: string): Promise<{ cookie: string; code: string }> {
  const asked = await ask(world, "/operator/code", {
    form: {},
    headers: cookie === undefined ? {} : { Cookie: cookie },
  });
  assert.deepEqual([asked.status, asked.location], [303, "/operator/enter?logged=1"]);
  const code = world.logged.findLast((line) => line.code !== undefined)?.code;
  assert.match(String(code), /^\d{4} \d{4}$/);
  return { cookie: asked.cookies[0] ?? "", code: String(code) };
}

const enter = (
  world: World,
  cookie: string,
  code: string,
  more: { peer?: string; headers?: Record<string, string> } = {},
) =>
  ask(world, "/operator/enter", {
    form: { code },
    peer: more.peer ?? "127.0.0.1",
    headers: { Cookie: cookie, ...more.headers },
  });

/** Everything of a response that a browser could tell two responses apart by, but for times and ids. */
const shapeOf = ({ status, headers, text }: Page) => [
  status,
  text,
  [...headers].filter(([name]) => !/^(?:x-request-id|date|etag|.*ratelimit.*)$/.test(name)),
];

onSqliteAndLong("Operators", (engine) => {
  const mailbox = openMailbox();

  test("the code in the log opens the page once, in the browser that requested it", async () => {
    const world = await createWorld(engine, LOCAL);
    assert.equal((await ask(world, "/operator")).location, "/operator/enter");
    const { cookie, code } = await requestCode(world);
    const other = await requestCode(world);
    assert.equal((await enter(world, other.cookie, code)).status, 400, "in another browser");
    assert.equal((await enter(world, "", code)).status, 400, "in none");
    const entered = await enter(world, cookie, code.replace(" ", "-"));
    assert.deepEqual([entered.status, entered.location], [303, "/operator"]);
    const set = entered.headers.getSetCookie().find((line) => line.startsWith("sidereal.operator="));
    assert.match(set ?? "", /Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/);
    const session = entered.cookies.find((one) => one.startsWith("sidereal.operator=")) ?? "";
    assert.equal((await ask(world, "/operator", { headers: { Cookie: session } })).status, 200);
    const about = await ask(world, "/about", { headers: { Cookie: session } });
    assert.equal(
      about.headers.get("cache-control"),
      "private, no-cache",
      "it leads to the pages of operators",
    );
    assert.match((await ask(world, "/about")).headers.get("cache-control") ?? "", /^public/);
    assert.equal((await enter(world, cookie, code)).status, 400, "a second time");
    const stored = JSON.stringify([
      await world.modules.database.read.selectFrom("sign_in_requests").selectAll().execute(),
      await world.modules.database.read.selectFrom("operator_sessions").selectAll().execute(),
    ]);
    assert.ok(!stored.includes(session.split("=")[1] ?? "x"), "only hashes are stored");
    assert.ok(!stored.includes(other.code) && !stored.includes(other.code.replace(" ", "")));
  });

  test("elsewhere and under other hosts the pages do not exist", async () => {
    const world = await createWorld(engine, { ...LOCAL, SIDEREAL_ALLOWED_HOSTS: "*" });
    const { cookie, code } = await requestCode(world);
    const session = (await enter(world, cookie, code)).cookies[0] ?? "";
    const unknown = await ask(world, "/operatr", { peer: "192.0.2.1" });
    assert.equal(unknown.status, 404);
    const elsewhere: { peer?: string; headers?: Record<string, string> }[] = [
      { peer: "192.0.2.1" },
      { peer: "192.0.2.1", headers: { "X-Forwarded-For": "127.0.0.1" } },
      { headers: { Host: "evil.example", Origin: "http://evil.example" } },
    ];
    const fresh = await requestCode(world);
    for (const place of elsewhere) {
      for (const [path, form] of [
        ["/operator", undefined],
        ["/operator/tokens", undefined],
        ["/operator/enter", undefined],
        ["/operator/code", {}],
        ["/operator/enter", { code: fresh.code }],
        ["/operator/tokens", { forge: "GITHUB", token: "x" }],
        ["/operator/untrack", { repository: "o/n" }],
      ] as const) {
        const headers = {
          ...{ Origin: BASE, "Sec-Fetch-Site": "same-origin", Cookie: `${session}; ${fresh.cookie}` },
          ...place.headers,
        };
        const page = await ask(world, path, { ...place, headers, ...(form && { form }) });
        assert.equal(page.status, 404, `${path} ${JSON.stringify(place)}`);
      }
    }
    assert.equal((await enter(world, fresh.cookie, fresh.code)).status, 303, "the code is not used up");
  });

  test("a proxy on this machine that is not in the settings ends codes and sessions for everybody, and is in status", async () => {
    const signs: Record<string, string>[] = [
      { "X-Forwarded-For": "192.0.2.1" },
      { Forwarded: "for=127.0.0.1" },
      { "Sec-Fetch-Site": "same-origin", Origin: "https://repositories.example" },
    ];
    for (const headers of signs) {
      const world = await createWorld(engine, LOCAL);
      const { cookie, code } = await requestCode(world);
      const session = (await enter(world, cookie, code)).cookies[0] ?? "";
      const fresh = await requestCode(world);
      const open = () => ask(world, "/operator", { headers: { Cookie: session } });
      assert.equal((await open()).status, 200);
      // A page that is not ours cannot close the door.
      await ask(world, "/", { headers: { ...headers, Host: "evil.example" } });
      await ask(world, "/", { peer: "192.0.2.1", headers });
      assert.equal((await open()).status, 200);
      await ask(world, "/", { headers });
      for (const path of ["/operator", "/operator/enter"]) assert.equal((await ask(world, path)).status, 404);
      assert.equal((await open()).status, 404);
      assert.equal((await enter(world, fresh.cookie, fresh.code)).status, 404);
      const warned = world.logged.filter((line) =>
        /SIDEREAL_TRUSTED_PROXIES does not name it/.test(line.msg),
      );
      assert.equal(warned.length, 1);
      assert.equal((await readNotedProxy(world.modules.database.read))?.peer, "127.0.0.1");
    }
  });

  test("with a proxy or a public address in the settings there are no codes, for nobody", async () => {
    for (const env of [
      { ...LOCAL, SIDEREAL_TRUSTED_PROXIES: "127.0.0.1" },
      { SIDEREAL_BASE_URL: "https://sidereal.example" },
      { SIDEREAL_BASE_URL: "http://192.168.0.2:3000" },
    ]) {
      const world = await createWorld(engine, { SIDEREAL_ALLOWED_HOSTS: "*", ...env });
      const origin = { Origin: env.SIDEREAL_BASE_URL };
      for (const path of ["/operator", "/operator/enter"])
        assert.equal((await ask(world, path)).status, 404, env.SIDEREAL_BASE_URL);
      assert.equal((await ask(world, "/operator/code", { form: {}, headers: origin })).status, 404);
      assert.equal(world.logged.filter((line) => line.code !== undefined).length, 0);
    }
  });

  test("a session opens the pages for an hour, may ask for repositories for a month, and ends when it is left", async () => {
    const world = await createWorld(engine, LOCAL);
    const begin = async () => {
      const { cookie, code } = await requestCode(world);
      return { Cookie: (await enter(world, cookie, code)).cookies[0] ?? "" };
    };
    const first = await begin();
    assert.equal((await ask(world, "/operator", { headers: first })).status, 200);
    assert.equal((await ask(world, "/operator/leave", { headers: first, form: {} })).status, 303);
    assert.equal((await ask(world, "/operator", { headers: first })).status, 303);
    const second = await begin();
    world.clock.advance(OPERATOR_MS + 1);
    assert.equal((await ask(world, "/operator", { headers: second })).status, 303);
    assert.equal((await ask(world, "/operator/enter", { headers: second })).status, 200);
    const request = (headers: Record<string, string>) =>
      ask(world, "/track", { form: { repository: "github:octo/seven" }, headers });
    assert.equal((await request(second)).status, 303);
    world.clock.advance(OPERATOR_SESSION_MS);
    const late = await request(second);
    assert.equal(late.status, 403);
    assert.match(late.text, /Only the operator may ask for repositories here/);
    await world.members.accounts.removeExpired();
    assert.deepEqual(
      await world.modules.database.read.selectFrom("operator_sessions").selectAll().execute(),
      [],
    );
  });

  test("the address that the start prints makes the first browser that opens it the operator, and no other", async () => {
    const world = await createWorld(engine, LOCAL);
    const { operators } = world.members;
    const path = (key: string | undefined) => `/operator/enter?key=${key}`;
    const earlier = operators.createKey();
    const key = operators.createKey();
    for (const [wrong, headers] of [
      [path(earlier), {}],
      [path(`${key}x`), {}],
      [path(key), { "Sec-Purpose": "prefetch" }],
    ] as const)
      assert.deepEqual((await ask(world, wrong, { headers })).cookies, [], wrong);
    assert.equal((await ask(world, path(key), { peer: "192.0.2.7" })).status, 404);
    const opened = await ask(world, path(key));
    assert.deepEqual([opened.status, opened.location], [303, "/"]);
    const session = opened.cookies.find((one) => one.startsWith("sidereal.operator=")) ?? "";
    assert.equal((await ask(world, "/operator", { headers: { Cookie: session } })).status, 200);
    const again = await ask(world, path(key));
    assert.deepEqual([again.status, again.cookies], [400, []]);
    assert.match(again.text, /opened before/);
    assert.ok(!JSON.stringify(world.logged).includes(key ?? ""));
    const behind = await createWorld(engine, LOCAL);
    const given = path(behind.members.operators.createKey());
    const proxied = await ask(behind, given, { headers: { "X-Forwarded-For": "192.0.2.7" } });
    assert.deepEqual([proxied.status, proxied.cookies], [404, []]);
    const remote = await createWorld(engine, { SIDEREAL_BASE_URL: "https://stars.example" });
    assert.equal(remote.members.operators.createKey(), undefined);
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
    for (const path of ["/operator", "/operator/tokens", "/operator/untrack", "/operator/enter"])
      for (const headers of [bob.headers, {}])
        assert.deepEqual(
          shapeOf(await visit(path, headers)),
          // Of the same length, as the page names its address.
          shapeOf(await visit(`${path.slice(0, -1)}x`, headers)),
          path,
        );
  });
});
