import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Duplex, Readable } from "node:stream";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { sendStream } from "../../src/http/sender.js";
import { unchunked } from "../support/inject.js";
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

/** A stream of equal batches, which counts how many were requested, and fails after the last if it is to. */
function batches(count: number, { batch = LETTERS, error }: { batch?: Uint8Array; error?: Error } = {}) {
  const made = { requested: 0 };
  async function* all() {
    while (made.requested < count) {
      made.requested++;
      yield batch.slice();
    }
    if (error !== undefined) throw error;
  }
  return Object.assign(made, { stream: Readable.from(all()) });
}

interface Opening {
  encoding?: "gzip";
  length?: number;
}

function open(stream: Readable, { encoding, length }: Opening = {}) {
  const clock = new ManualClock(0);
  const message = new IncomingMessage(new Socket());
  message.httpVersion = "1.1";
  message.httpVersionMajor = 1;
  message.httpVersionMinor = 1;
  const response = new ServerResponse(message);
  const connection = new Connection();
  response.assignSocket(connection as unknown as Socket);
  connection.on("drain", () => response.emit("drain"));
  connection.on("close", () => response.destroy());
  response.writeHead(200, length === undefined ? {} : { "Content-Length": length });
  return { connection, response, clock, sent: sendStream({ response, stream, encoding, length, clock }) };
}

/** Lets everything happen that needs no further event from outside. */
async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
}

test("a client that does not read costs a few batches, however long the stream is", async () => {
  for (const encoding of [undefined, "gzip"] as const) {
    const made = batches(1_000_000, { batch: NOISE });
    const { connection, response, sent } = open(made.stream, encoding && { encoding });
    await settle();
    const before = made.requested;
    assert.ok(before > 0 && before <= 5, `${before} batches were requested`);
    assert.ok(response.writableLength <= 2 * PART_BYTES + 1_000, `${response.writableLength} bytes wait`);
    connection.destroy();
    const { fault } = await sent;
    assert.equal(fault, undefined, "a client that left is no fault");
    assert.ok(made.stream.destroyed);
  }
});

test("a client that reads too slowly on average is cut, after a minute and the time of the slowest rate", async () => {
  const made = batches(1_000);
  const { connection, clock, sent } = open(made.stream, { length: 1_000 * PART_BYTES });
  connection.accept(3 * PART_BYTES);
  await settle();
  clock.advance(60_000 + (1_000 * PART_BYTES) / 32 - 1);
  await settle();
  assert.equal(connection.destroyed, false);
  clock.advance(1);
  const { fault } = await sent;
  assert.match(String(fault), /too slowly/);
  assert.ok(connection.wasReset);
});

test("everything arrives, is counted, and ends properly", async () => {
  for (const encoding of [undefined, "gzip"] as const) {
    const made = batches(5);
    const { connection, sent } = open(made.stream, encoding && { encoding });
    connection.accept();
    const { bytes, fault } = await sent;
    assert.equal(fault, undefined);
    const text = Buffer.concat(connection.written);
    assert.ok(text.subarray(-5).equals(Buffer.from("0\r\n\r\n")), "the last chunk");
    const body = unchunked(text.subarray(text.indexOf("\r\n\r\n") + 4));
    assert.equal(body.byteLength, bytes);
    assert.equal((encoding === undefined ? body : gunzipSync(body)).byteLength, 5 * PART_BYTES);
  }
});

test("a stream that fails, or ends before its length, is cut: the connection is reset", async () => {
  for (const [error, length, message] of [
    [new Error("the disk has failed"), undefined, /the disk has failed/],
    [undefined, 3 * PART_BYTES, /only 524288 of 786432 bytes/],
  ] as const) {
    const { connection, sent } = open(batches(2, error && { error }).stream, length ? { length } : {});
    connection.accept();
    assert.match(String((await sent).fault), message);
    assert.ok(connection.wasReset);
    assert.ok(!Buffer.concat(connection.written).toString("latin1").endsWith("0\r\n\r\n"));
  }
});
