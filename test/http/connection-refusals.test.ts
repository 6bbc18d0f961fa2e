import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, RequestListener } from "node:http";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { noContent } from "../../src/http/reply.js";
import { FREE_LIMIT, type Route } from "../../src/http/route.js";
import { Targets } from "../../src/http/targets.js";
import { openServer, REQUEST } from "../support/bare-server.js";

test("a health check that finds a fault delays nothing, one over a limit does", async (t) => {
  let [handled, status] = [0, 503];
  const check: RequestListener = (_, response) => {
    handled++;
    response.writeHead(status).end();
  };
  const isProbe = ({ url }: IncomingMessage) => url === "/readyz";
  const { dial } = await openServer(t, check, { perAddress: 9, isProbe });
  const probe = REQUEST.replace("/", "/readyz");
  const client = (await dial(probe)).resume();
  await once(client, "data");
  for (let i = 0; i < 3; i++) {
    client.write(probe);
    await once(client, "data");
  }
  status = 429;
  client.write(probe);
  await once(client, "data");
  client.write(probe);
  for (let i = 0; i < 10; i++) await setImmediate();
  assert.equal(handled, 5);
});

test("a health check is known by its path below the base URL, whatever else the request has", () => {
  const facts: Route = {
    method: "GET",
    path: "/readyz",
    access: "public",
    limit: FREE_LIMIT,
    cache: { kind: "none" },
    query: [],
    body: "none",
    form: "json",
    handle: () => noContent(),
  };
  const routes: Route[] = [
    { ...facts, isProbe: true },
    { ...facts, path: "/other" },
  ];
  const targets = new Targets(routes, { basePath: "/tracker", isOpen: false });
  for (const [url, isProbe] of [
    ["/tracker/readyz", true],
    ["/tracker/readyz?x=%ZZ&x=1", true],
    ["/readyz", false],
    ["/tracker/readyz/1", false],
    ["/tracker/other", false],
    ["/tracker?/readyz", false],
  ] as const)
    assert.equal(targets.isProbe(url), isProbe, url);
});

test("what is behind a refused request in the same bytes is not handled", async (t) => {
  let handled = 0;
  const refuse: RequestListener = (_, response) => {
    handled++;
    response.statusCode = 429;
    globalThis.setImmediate(() => response.end());
  };
  const { dial, accepted } = await openServer(t, refuse, { perAddress: 9 });
  await dial(REQUEST.repeat(30));
  while (accepted[0]?.destroyed !== true) await setImmediate();
  assert.equal(handled, 1);
});

for (const status of [429, 503]) {
  test(`a connection is not read for a tenth of a second after a response of ${status}`, async (t) => {
    let handled = 0;
    const refuse: RequestListener = (_, response) => {
      handled++;
      response.writeHead(status).end();
    };
    const { dial, clock } = await openServer(t, refuse, { trustedProxies: ["127.0.0.9"], perAddress: 9 });
    const client = (await dial(REQUEST)).resume();
    const proxy = (await dial(REQUEST, "127.0.0.9")).resume();
    await Promise.all([once(client, "data"), once(proxy, "data")]);
    // Besides the sweep.
    await clock.whenSleeping(() => 2);
    client.write(REQUEST);
    proxy.write(REQUEST);
    await once(proxy, "data");
    for (let i = 0; i < 10; i++) await setImmediate();
    assert.equal(handled, 3, "the proxy is read, as its other clients wait for it");
    const responded = once(client, "data");
    for (let i = 0; i < 2; i++) {
      clock.advance(50);
      await setImmediate();
    }
    await responded;
    assert.equal(handled, 4);
  });

  test(`an address that got ${status} sends no requests ahead for the next seconds`, async (t) => {
    let [handled, isOver] = [0, true];
    const refuse: RequestListener = ({ socket }, response) => {
      handled++;
      response.writeHead(isOver && socket.remoteAddress === "127.0.0.1" ? status : 200).end();
    };
    const { dial, accepted, pass } = await openServer(t, refuse, { perAddress: 9 });
    const first = (await dial(REQUEST)).resume();
    await once(first, "data");
    await dial(REQUEST.repeat(20));
    while (accepted[1]?.destroyed !== true) await setImmediate();
    assert.equal(handled, 2);
    const other = (await dial(REQUEST.repeat(20), "127.0.0.2")).resume();
    await once(other, "data");
    assert.equal(handled, 22, "another address may");
    isOver = false;
    for (let i = 2; i < 4; i++) {
      await pass(6_000);
      await dial(REQUEST.repeat(20));
      const wasReset = () => accepted.filter(({ destroyed }) => destroyed).length >= i;
      for (let turns = 0; turns < 1_000 && !wasReset(); turns++) await setImmediate();
    }
    assert.equal(handled, 24, "nor while it goes on");
    await pass(12_000);
    (await dial(REQUEST.repeat(20))).resume();
    while (handled < 44) await setImmediate();
  });
}
