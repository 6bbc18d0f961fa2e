import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { promisify } from "node:util";
import { gunzipSync, gzip } from "node:zlib";
import { Charge } from "../../src/http/charge.js";
import type { Allowances, Decision, Policy } from "../../src/http/limiter.js";
import type { BodyStream, StreamPart } from "../../src/http/reply.js";
import { type Streamed, sendStream } from "../../src/http/stream-response.js";
import type { AppError } from "../../src/lib/errors.js";
import { openServer, REQUEST } from "../support/bare-server.js";
import { ManualClock } from "../support/manual-clock.js";

const PART_BYTES = 256 * 1024;
const LETTERS = new Uint8Array(PART_BYTES).fill(65);
/** Bytes that do not get fewer by compression. */
const NOISE = new Uint8Array(randomBytes(PART_BYTES));

/** A connection that takes as many bytes as it is let. */
class Connection extends Duplex {
  readonly written: Buffer[] = [];
  wasReset = false;
  #waiting: (() => void) | undefined;
  #room = 0;

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written.push(Buffer.from(chunk));
    this.#room -= chunk.byteLength;
    if (this.#room > 0) done();
    else this.#waiting = done;
  }

  resetAndDestroy(): this {
    this.wasReset = true;
    return this.destroy();
  }

  /** Takes this many bytes more. */
  accept(bytes = Number.POSITIVE_INFINITY): void {
    this.#room += bytes;
    if (this.#room <= 0) return;
    const done = this.#waiting;
    this.#waiting = undefined;
    done?.();
  }
}

/** A stream of equal parts, which counts how many were requested. */
class Parts implements BodyStream {
  requested = 0;
  isClosed = false;
  readonly ending = new AbortController();
  readonly #part: StreamPart;
  readonly #count: number;

  constructor(count: number, { units = 0, bytes = LETTERS } = {}) {
    this.#count = count;
    this.#part = { bytes, units };
  }

  get signal(): AbortSignal {
    return this.ending.signal;
  }

  async begin(): Promise<void> {}

  async next(): Promise<StreamPart | undefined> {
    this.signal.throwIfAborted();
    const { bytes, units } = this.#part;
    return this.requested++ < this.#count ? { bytes: bytes.slice(), units } : undefined;
  }

  close(): void {
    this.isClosed = true;
  }
}

interface Opening {
  encoding?: "gzip";
  charge?: Charge;
  clock?: ManualClock;
  /** Whether the response waits for an earlier one, until `beFirst` is called. */
  isBehind?: boolean;
}

function open(
  stream: Parts,
  { encoding, charge, clock = new ManualClock(0), isBehind = false }: Opening = {},
) {
  const message = new IncomingMessage(new Socket());
  message.httpVersion = "1.1";
  message.httpVersionMajor = 1;
  message.httpVersionMinor = 1;
  const response = new ServerResponse(message);
  const connection = new Connection();
  const beFirst = () => response.assignSocket(connection as unknown as Socket);
  if (!isBehind) beFirst();
  connection.on("drain", () => response.emit("drain"));
  response.writeHead(200);
  const sent = sendStream({ response, stream, encoding, charge, mayGoOn: async () => true, clock });
  return { connection, response, clock, sent, beFirst };
}

const POLICY: Policy = { bucket: "heavy", scope: "key", limit: 60, windowSeconds: 60 };

/** A charge of a caller whose further units this decides. */
function chargeOf(decide: (units: number) => Partial<Decision>): Charge {
  const allowances = {
    decide: (_caller: unknown, _bucket: unknown, units: number) => ({ policy: POLICY, ...decide(units) }),
  } as unknown as Allowances;
  const caller = { kind: "key", name: "1" } as const;
  const cost = { bucket: "heavy", units: 10, unknownUnits: 10 } as const;
  return new Charge({ allowances, caller, address: caller, cost, decision: {} as Decision });
}

/** Lets everything happen that needs no further event from outside. */
async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
}

const bodyBytes = ({ written }: Connection) =>
  Buffer.concat(written).toString("latin1").split("A").length - 1;

test("a client that does not read costs two parts, however long the stream is", async () => {
  const stream = new Parts(1_000_000);
  const { connection, response, sent } = open(stream);
  await settle();
  const before = stream.requested;
  assert.ok(before <= 2, `${before} parts were requested`);
  connection.accept(PART_BYTES + 1_000);
  await settle();
  assert.equal(stream.requested, before + 1, "there is room for the next");
  assert.ok(response.writableLength <= 2 * PART_BYTES + 1_000, `${response.writableLength} bytes wait`);
  response.destroy();
  connection.destroy();
  const { fault } = await sent;
  assert.equal(fault, undefined, "a client that has gone is no fault");
  assert.ok(stream.isClosed);
});

test("the same holds for a stream that is compressed", async () => {
  const stream = new Parts(1_000_000, { bytes: NOISE });
  const { connection, sent } = open(stream, { encoding: "gzip" });
  // Work of the same pool that takes longer than fifty parts.
  for (let i = 0; i < 5; i++) await promisify(gzip)(Buffer.alloc(10 * PART_BYTES, NOISE));
  assert.ok(stream.requested > 0 && stream.requested <= 3, `${stream.requested} parts were requested`);
  connection.destroy();
  await sent;
  assert.ok(stream.isClosed);
});

test("a client that takes every part late is cut after a minute, one that reads 32 kB a second on average is not", async () => {
  for (const [everyMs, isCut] of [
    [20_000, true],
    [8_000, false],
  ] as const) {
    const stream = new Parts(30);
    const { connection, clock, sent } = open(stream);
    let taken = 0;
    while (!connection.destroyed && taken < 32) {
      await settle();
      clock.advance(everyMs);
      connection.accept(PART_BYTES + 10);
      taken++;
    }
    connection.accept();
    const { fault } = await sent;
    assert.equal(connection.wasReset, isCut);
    assert.equal((fault as AppError | undefined)?.code, isCut ? "INVALID_REQUEST" : undefined);
    if (isCut) assert.ok(taken > 3 && taken < 8, `after ${taken} parts`);
    else assert.equal(stream.requested, 31);
  }
});

test("the time in which parts are made, and the caller has no units left, does not count as slow reading", async () => {
  const stream = new Parts(30);
  const { connection, clock, sent } = open(stream);
  const next = stream.next.bind(stream);
  stream.next = async () => {
    clock.advance(60_000);
    return next();
  };
  connection.accept();
  const { bytes } = await sent;
  assert.equal(bytes, 30 * PART_BYTES);
});

test("everything arrives, is counted, and ends properly", async () => {
  for (const encoding of [undefined, "gzip"] as const) {
    const stream = new Parts(5);
    const { connection, sent } = open(stream, encoding && { encoding });
    connection.accept();
    const { bytes, fault } = await sent;
    assert.equal(fault, undefined);
    const text = Buffer.concat(connection.written);
    assert.ok(text.subarray(-5).equals(Buffer.from("0\r\n\r\n")), "the last chunk");
    if (encoding === undefined) assert.equal(bytes, 5 * PART_BYTES);
    const body = unchunked(text);
    assert.equal(body.byteLength, bytes);
    assert.equal((encoding === undefined ? body : gunzipSync(body)).byteLength, 5 * PART_BYTES);
    assert.ok(stream.isClosed);
  }
});

test("a stream that fails is cut: what was sent has no end", async () => {
  const stream = new Parts(1_000_000);
  const { connection, response, sent } = open(stream);
  await settle();
  stream.ending.abort(new Error("the service is stopping"));
  connection.accept();
  const { fault } = await sent;
  assert.match(String(fault), /stopping/);
  assert.ok(response.destroyed);
  assert.ok(!Buffer.concat(connection.written).toString("latin1").endsWith("0\r\n\r\n"));
  assert.ok(stream.isClosed);
});

test("a stream waits while its caller has nothing left, and goes on when there is more", async () => {
  const stream = new Parts(3, { units: 7 });
  const asked: number[] = [];
  const left = { allowed: [true, false, false, true, true] };
  const charge = chargeOf((units) => {
    asked.push(units);
    return { allowed: left.allowed.shift() ?? true, retryAfterSeconds: 2 };
  });
  const { connection, clock, sent } = open(stream, { charge });
  connection.accept();
  await clock.whenSleeping(() => 1);
  assert.equal(bodyBytes(connection), PART_BYTES, "one part was sent");
  clock.advance(1_999);
  await settle();
  assert.deepEqual(asked, [7, 7]);
  clock.advance(1);
  await clock.whenSleeping(() => 1);
  clock.advance(2_000);
  const { bytes } = await sent;
  assert.equal(bytes, 3 * PART_BYTES);
  assert.deepEqual(asked, [7, 7, 7, 7, 7]);
});

test("a stream that waits for its caller's limit ends with the connection, or when it is ended", async () => {
  const charge = chargeOf(() => ({ allowed: false, retryAfterSeconds: 3_600 }));
  for (const end of ["client", "service"]) {
    const stream = new Parts(3, { units: 1 });
    const { connection, clock, sent } = open(stream, { charge });
    await clock.whenSleeping(() => 1);
    if (end === "client") connection.destroy();
    else stream.ending.abort(new Error("over"));
    assert.equal((await sent).fault === undefined, end === "client");
    assert.ok(stream.isClosed);
  }
});

test("a stream that gets less than a tenth of its units is cut after five minutes, one that gets as much is not", async () => {
  for (const [everyMs, cutAfterMs] of [
    [Number.POSITIVE_INFINITY, 300_000],
    [20_000, 590_000],
    [9_000, undefined],
  ] as const) {
    const clock = new ManualClock(0);
    let nextAt = everyMs;
    const charge = chargeOf(() => {
      const allowed = clock.monotonic() >= nextAt;
      if (allowed) nextAt = clock.monotonic() + everyMs;
      return { allowed, retryAfterSeconds: 1 };
    });
    const stream = new Parts(60, { units: 1, bytes: LETTERS.subarray(0, 1_000) });
    const { connection, sent } = open(stream, { charge, clock });
    connection.accept();
    while (!stream.isClosed) {
      await settle();
      if (clock.sleeping > 0) clock.advance(1_000);
    }
    const { fault, bytes } = await sent;
    assert.equal((fault as AppError | undefined)?.code, cutAfterMs && "RATE_LIMITED");
    if (cutAfterMs === undefined) assert.equal(bytes, 60_000);
    else assert.equal(clock.monotonic(), cutAfterMs);
  }
});

test("the time behind an earlier response does not count as slow reading, but ends after five minutes", async () => {
  for (const isLate of [false, true]) {
    const stream = new Parts(3);
    const { connection, clock, sent, beFirst } = open(stream, { isBehind: true });
    await clock.whenSleeping(() => 1);
    clock.advance(299_999);
    await settle();
    if (isLate) clock.advance(1);
    else beFirst();
    connection.accept();
    const { bytes, fault } = await sent;
    assert.equal(bytes, isLate ? 0 : 3 * PART_BYTES);
    assert.equal((fault as AppError | undefined)?.code, isLate ? "INVALID_REQUEST" : undefined);
  }
});

test("a stream behind an earlier response ends with the connection", async (t) => {
  const stream = new Parts(3);
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<Streamed>()];
  const { dial, clock } = await openServer(t, ({ url }, response) => {
    if (url === "/first") return;
    response.writeHead(200);
    begun.resolve();
    const options = { response, stream, clock, encoding: undefined, charge: undefined };
    sendStream({ ...options, mayGoOn: async () => true }).then(ended.resolve, ended.reject);
  });
  const client = await dial(REQUEST.replace("/", "/first") + REQUEST);
  await begun.promise;
  client.resetAndDestroy();
  assert.equal((await ended.promise).fault, undefined);
  assert.ok(stream.isClosed);
});

function unchunked(response: Buffer): Buffer {
  const chunks: Buffer[] = [];
  let at = response.indexOf("\r\n\r\n") + 4;
  for (;;) {
    const line = response.indexOf("\r\n", at);
    const length = Number.parseInt(response.toString("latin1", at, line), 16);
    if (length === 0) return Buffer.concat(chunks);
    chunks.push(response.subarray(line + 2, line + 2 + length));
    at = line + 2 + length + 2;
  }
}
