import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Callers } from "../../src/accounts/callers.js";
import { Connections } from "../../src/http/connections.js";
import { NETWORK_FACTOR } from "../../src/http/limiter.js";
import { openServer, REQUEST } from "../support/bare-server.js";
import { recordedLog } from "../support/logs.js";

const TIMEOUTS = {
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
  ["sends something else than HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
] as const)
  test(`a connection that ${kind} is closed, even if its client keeps it open`, async (t) => {
    const { accepted, dial, clock } = await openServer(t, respond, { timeouts: TIMEOUTS });
    await dial(bytes);
    while (accepted[0]?.destroyed !== true) {
      clock.advance(1_000);
      await setImmediate();
    }
  });

test("a client that does not read gets twenty seconds, and longer for more bytes, but not for ever", async (t) => {
  const send: RequestListener = (_, response) => void response.end(LARGE);
  const { dial, accepted, untilOpen, pass } = await openServer(t, send, {
    bounds: { bytesPerMs: LARGE.length / 5_000, unreadBytes: LARGE.length * 2 },
  });
  await dial(REQUEST);
  await untilOpen(1);
  const [socket] = accepted;
  while (socket?.writableLength === 0) await setImmediate();
  await pass(25_000);
  assert.equal(socket?.destroyed, false);
  await pass(2_000);
  assert.equal(socket?.destroyed, true);
});

test("a client that reads as fast as the slowest rate is not closed", async (t) => {
  const part = LARGE.subarray(0, 1024 * 1024);
  const send: RequestListener = (_, response) => void response.end(part);
  const { dial, accepted, pass } = await openServer(t, send, {
    bounds: { bytesPerMs: 1024, unreadMs: 3_000, pendingBytes: LARGE.length },
  });
  const client = await dial();
  for (let sent = 0; sent < 8; sent++) client.write(REQUEST);
  const [socket] = accepted;
  for (let second = 0; second < 30; second++) {
    // A response is read and the next one requested, so something is unread all the time.
    for (let read = 0; read < part.length; ) {
      const chunk = client.read() as Buffer | null;
      read += chunk?.length ?? 0;
      if (chunk === null) await setImmediate();
    }
    client.write(REQUEST);
    await pass(1_000);
  }
  assert.equal(socket?.destroyed, false);
});

test("a connection may send 32 requests ahead of their responses; one more resets it", async (t) => {
  const waiting: ServerResponse[] = [];
  const { dial, accepted, untilOpen } = await openServer(t, (_, response) => void waiting.push(response));
  const good = await dial(REQUEST.repeat(32));
  while (waiting.length < 32) await setImmediate();
  for (const [index, response] of waiting.entries()) response.end(`<${index}>`);
  const bodies: string[] = [];
  for await (const chunk of good.resume()) {
    bodies.push(...(String(chunk).match(/<\d+>/g) ?? []));
    if (bodies.length === 32) break;
  }
  assert.deepEqual(
    bodies,
    waiting.map((_, index) => `<${index}>`),
  );
  await untilOpen(0);
  waiting.length = 0;
  const made = t.mock.method(Connections.prototype, "receive");
  await dial(REQUEST.repeat(1_000));
  while (accepted[1]?.destroyed !== true) await setImmediate();
  assert.equal(waiting.length, 32, "the request that was too many did not reach the front");
  assert.equal(made.mock.callCount(), 33, "no responses were made for those behind it");
});

test("a connection with many unread bytes may not send further requests", async (t) => {
  let handled = 0;
  const send: RequestListener = (_, response) => {
    handled++;
    response.end(LARGE.subarray(0, 600_000));
  };
  const { dial, accepted } = await openServer(t, send);
  await dial(REQUEST.repeat(4));
  while (accepted[0]?.destroyed !== true) await setImmediate();
  assert.ok(handled < 4);
});

test("the unread bytes of all connections of an address are bounded", async (t) => {
  const send: RequestListener = (_, response) => void response.end(LARGE);
  const { dial, accepted, untilOpen, pass } = await openServer(t, send, {
    bounds: { unreadBytes: LARGE.length * 2.5 },
  });
  for (const address of ["127.0.0.2", "127.0.0.2", "127.0.0.3", "127.0.0.3", "127.0.0.3"])
    await dial(REQUEST, address);
  await untilOpen(5);
  while (accepted.some(({ writableLength }) => writableLength === 0)) await setImmediate();
  await pass(2_000);
  assert.deepEqual(
    accepted.map(({ destroyed }) => destroyed),
    [false, false, true, true, true],
  );
});

test("the unread bytes of all connections of a wider IPv6 network are bounded", async (t) => {
  const send: RequestListener = (_, response) => void response.end(LARGE);
  const { dial, accepted, untilOpen, pass } = await openServer(t, send, {
    callers: new Ipv6Callers([]),
    bounds: { unreadBytes: LARGE.length * 1.05 },
  });
  const dialFrom = async (network: number, addresses: number) => {
    for (let i = 1; i <= addresses; i++) await dial(REQUEST, `127.0.${network}.${i}`);
  };
  await dialFrom(1, NETWORK_FACTOR);
  await dialFrom(2, NETWORK_FACTOR + 1);
  await untilOpen(2 * NETWORK_FACTOR + 1);
  while (accepted.some(({ writableLength }) => writableLength === 0)) await setImmediate();
  await pass(2_000);
  assert.deepEqual(
    accepted.map(({ destroyed }) => destroyed),
    [...Array(NETWORK_FACTOR).fill(false), ...Array(NETWORK_FACTOR + 1).fill(true)],
  );
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

test("an address opens in a second at most four times as many connections as it may have", async (t) => {
  const { dial, accepted, untilOpen, pass } = await openServer(t, respond, { perAddress: 2 });
  for (let i = 1; i <= 8; i++) {
    (await dial()).destroy();
    while (accepted.length < i) await setImmediate();
    await untilOpen(0);
  }
  await dial();
  while (accepted.length < 9) await setImmediate();
  await untilOpen(0);
  await pass(1_000);
  await dial();
  await untilOpen(1);
});

test("refused connections are reported once a minute, with their number", async (t) => {
  const { log, lines } = recordedLog("warn");
  const { dial, accepted, pass } = await openServer(t, respond, { perAddress: 1, log });
  for (let i = 0; i < 4; i++) await dial();
  while (accepted.length < 4) await setImmediate();
  await pass(1_000);
  await dial();
  while (accepted.length < 5) await setImmediate();
  await pass(59_000);
  const shown = () => lines.map((line) => JSON.stringify(line)).join("\n");
  assert.match(shown(), /^\{[^\n]*"refused":3,"open":1,"msg":"connections were refused"\}$/);
  await pass(1_000);
  assert.match(shown(), /\n\{[^\n]*"refused":1,"open":1,"msg":"connections were refused"\}$/);
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
