import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Callers } from "../../src/http/caller.js";
import { NETWORK_FACTOR } from "../../src/http/limiter.js";
import { openServer, REQUEST } from "../support/bare-server.js";
import { recordedLog } from "../support/logs.js";

const TIMEOUTS = {
  timeout: 200,
  headersTimeout: 100,
  requestTimeout: 100,
  connectionsCheckingInterval: 10,
  keepAliveTimeout: 50,
  keepAliveTimeoutBuffer: 10,
};
/** More than the system buffers for a connection. */
const LARGE = Buffer.alloc(64 * 1024 * 1024, "x");

/** Callers on IPv6: 127.0.1.2 connects as 2001:db8:1:2::1. */
class Ipv6Callers extends Callers {
  override nameOf(peer: string | undefined, forwardedFor: string | null): string {
    const [, , network, address] = peer?.split(".") ?? [];
    return super.nameOf(`2001:db8:${network}:${address}::1`, forwardedFor);
  }
}

/** Everything that a client receives until the server closes. */
async function readAll(client: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  client.on("data", (chunk) => chunks.push(chunk));
  await once(client.resume(), client.destroyed ? "close" : "end").catch(() => {});
  return Buffer.concat(chunks).toString("latin1");
}

const respond = (_: IncomingMessage, response: ServerResponse) => void response.end("ready");

for (const [kind, bytes] of [
  ["sends nothing", ""],
  ["sends half a head", "GET / HTTP/1.1\r\nHost:"],
  ["sends half a body", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1234"],
  ["is idle after a request", REQUEST],
  ["does not read its responses", REQUEST.repeat(2_000)],
  ["sends something else than HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
] as const)
  test(`a connection that ${kind} is closed, even if its client keeps it open`, async (t) => {
    const { accepted, dial } = await openServer(t, respond, { timeouts: TIMEOUTS });
    await dial(bytes);
    while (accepted[0]?.destroyed !== true) await setImmediate();
  });

test("an address has a bounded number of connections, each freed when it closes; a trusted proxy has any number", async (t) => {
  const { dial, accepted, untilOpen } = await openServer(t, respond, {
    perAddress: 2,
    trustedProxies: ["127.0.0.9"],
  });
  const [first] = [await dial(REQUEST), await dial(REQUEST)];
  await untilOpen(2);
  await dial(REQUEST);
  while (accepted.length < 3) await setImmediate();
  assert.deepEqual(
    accepted.map(({ destroyed }) => destroyed),
    [false, false, true],
  );
  await dial(REQUEST, "127.0.0.2");
  await untilOpen(3);
  first?.destroy();
  await untilOpen(2);
  await dial(REQUEST);
  await untilOpen(3);
  for (let i = 0; i < 5; i++) await dial(REQUEST, "127.0.0.9");
  await untilOpen(8);
});

test("an IPv6 network has sixteen times as many connections as an address", async (t) => {
  const { dial, accepted, untilOpen } = await openServer(t, respond, {
    callers: new Ipv6Callers([]),
    perAddress: 1,
  });
  for (let i = 1; i <= NETWORK_FACTOR + 1; i++) await dial(REQUEST, `127.0.1.${i}`);
  while (accepted.length <= NETWORK_FACTOR) await setImmediate();
  await untilOpen(NETWORK_FACTOR);
  await dial(REQUEST, "127.0.2.1");
  await untilOpen(NETWORK_FACTOR + 1);
});

test("refused connections are logged every ten seconds, with their number", async (t) => {
  const { log, lines } = recordedLog("warn");
  const { dial, accepted, clock } = await openServer(t, respond, { perAddress: 1, log });
  const refuse = async (count: number) => {
    for (const end = accepted.length + count; accepted.length < end; await setImmediate()) await dial();
  };
  await dial();
  while (accepted.length < 1) await setImmediate();
  await refuse(3);
  clock.advance(10_000);
  await refuse(1);
  const shown = lines.map((line) => JSON.stringify(line)).join("\n");
  assert.match(shown, /"refused":1,"open":1,"msg":"connections were refused"\}\n.*"refused":3,"open":1/);
});

test("an error behind a request whose response is being computed is not sent in its place", async (t) => {
  const waiting: ServerResponse[] = [];
  const { dial } = await openServer(t, (_, response) => void waiting.push(response));
  const client = await dial(REQUEST);
  while (waiting.length === 0) await setImmediate();
  client.write("nonsense\r\n\r\n");
  assert.equal(await readAll(client), "");
});

test("closing sends the responses to all requests, and tells clients that their connections close", async (t) => {
  const waiting: ServerResponse[] = [];
  const listener: RequestListener = ({ url }, response) => {
    if (url === "/slow") waiting.push(response);
    else response.end(url === "/large" ? LARGE : "ready");
  };
  const { dial, close, accepted } = await openServer(t, listener);
  const idle = await dial();
  const computed = await dial(REQUEST.replace("/", "/slow"));
  const large = await dial(REQUEST.replace("/", "/large"));
  const half = await dial("GET / HTTP/1.1\r\nHost:");
  while (waiting.length === 0 || accepted.every(({ writableLength }) => writableLength === 0))
    await setImmediate();
  const closed = close(60_000);
  // It crosses the end of the service.
  idle.write(REQUEST);
  assert.match(
    await readAll(idle),
    /^HTTP\/1.1 200 OK\r\n(?:.*\r\n)*Connection: close\r\n(?:.*\r\n)*\r\nready$/,
  );
  waiting[0]?.end("computed");
  assert.match(await readAll(computed), /Connection: close\r\n(?:.*\r\n)*\r\ncomputed$/);
  assert.equal((await readAll(large)).split("\r\n\r\n")[1]?.length, LARGE.length);
  assert.equal(await readAll(half), "");
  await closed;
});

test("closing ends when its time is over, though a client does not read", async (t) => {
  const send: RequestListener = (_, response) => void response.end(LARGE);
  const { dial, close, accepted, untilOpen } = await openServer(t, send);
  await dial(REQUEST);
  await untilOpen(1);
  while (accepted[0]?.writableLength === 0) await setImmediate();
  await close(600);
  assert.equal(accepted[0]?.destroyed, true);
});
