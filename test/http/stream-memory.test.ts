import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { ListStream, type PartSource } from "../../src/api/list-stream.js";
import type { BodyStream, StreamPart } from "../../src/http/reply.js";
import { sendStream } from "../../src/http/stream-response.js";
import { systemClock } from "../../src/lib/clock.js";
import { collectGarbage } from "../support/collect-garbage.js";

const PARTS = 50;
const PART_BYTES = 64 * 1024;

/** Makes parts, then leaves whoever wants another one waiting. */
class Unended implements PartSource {
  readonly made: WeakRef<Uint8Array>[] = [];
  #onWait: () => void = () => {};
  readonly isWaited = new Promise<void>((resolve) => {
    this.#onWait = resolve;
  });

  async next(): Promise<StreamPart> {
    if (this.made.length === PARTS) {
      this.#onWait();
      return new Promise(() => {});
    }
    const bytes = new Uint8Array(PART_BYTES);
    this.made.push(new WeakRef(bytes));
    return { bytes, units: 0 };
  }

  close(): void {}

  /** Parts that are in memory. */
  async left(): Promise<number> {
    // A part is reachable until the turn in which it was used has ended.
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    return this.made.filter((part) => part.deref() !== undefined).length;
  }
}

test("a body that is being sent keeps none of the parts that were sent", async () => {
  for (const encoding of [undefined, "gzip"] as const) {
    const source = new Unended();
    const stream: BodyStream = {
      signal: new AbortController().signal,
      begin: async () => {},
      next: () => source.next(),
      close: () => {},
    };
    const mayGoOn = async () => true;
    const server = createServer((_, response) => {
      const charge = undefined;
      void sendStream({ response, stream, encoding, charge, mayGoOn, clock: systemClock });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const request = get({ port: (server.address() as AddressInfo).port, host: "127.0.0.1" });
    const [response] = await once(request, "response");
    response.resume();
    await source.isWaited;
    const left = await source.left();
    assert.ok(left <= 3, `${left} of ${PARTS} parts are in memory, ${encoding}`);
    request.destroy();
    server.close();
  }
});

test("a list that is being read keeps none of the parts that were taken", async () => {
  const source = new Unended();
  const stream = new ListStream(source, () => {});
  for (let i = 0; i < PARTS; i++) await stream.next();
  await source.isWaited;
  const left = await source.left();
  assert.ok(left <= 3, `${left} of ${PARTS} parts are in memory`);
  stream.close();
});
