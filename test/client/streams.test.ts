import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { SiderealError } from "../../client/src/client.js";
import { addAccount } from "../support/accounts.js";
import { clientOf, scriptedClient } from "../support/client.js";
import { onSqliteAndLong } from "../support/engines.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

const REPOSITORIES = 250;

onSqliteAndLong("Streams of the client", (engine) => {
  let world: World;
  let apiKey: string;
  before(async () => {
    world = await createWorld(engine, { SIDEREAL_LOG_LEVEL: "silent" });
    await world.record(
      ...Array.from({ length: REPOSITORIES }, (_, i) =>
        observation(`owner/repository-${i}`, daily(100 + i, 110 + i), {
          facts: { description: `“${i}” 日本` },
        }),
      ),
    );
    const account = await addAccount(world.modules.database, "reader@example.org");
    apiKey = (await world.members.keys.create(account, "reader")).secret;
  });

  test("have the rows of all pages in one response", async () => {
    const { client, sent } = clientOf(world, { apiKey });
    const query = { sort: "stars", order: "asc" } as const;
    const streamed = [];
    for await (const row of client.stream("/api/repos.ndjson", { query })) streamed.push(row);
    assert.equal(sent.length, 1);
    const paged = [];
    for await (const row of client.rows("/api/repos", { query })) paged.push(row);
    assert.equal(streamed.length, REPOSITORIES);
    assert.deepEqual(streamed, paged);
  });

  test("need a key", async () => {
    const { client } = clientOf(world);
    await assert.rejects(client.stream("/api/repos.ndjson").next(), { code: "UNAUTHENTICATED", status: 401 });
  });
});

describe("A body with one value a line", () => {
  const path = "/api/repos.ndjson";
  const bodyOf =
    (chunks: readonly (string | Uint8Array)[], end: (controller: ReadableStreamDefaultController) => void) =>
    () =>
      new Response(
        new ReadableStream({
          start(controller) {
            for (const chunk of chunks)
              controller.enqueue(typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk);
            end(controller);
          },
        }),
      );
  const close = (controller: ReadableStreamDefaultController) => controller.close();
  const read = async (outcome: () => Response, signal?: AbortSignal) => {
    const values: unknown[] = [];
    const { client } = scriptedClient([outcome]);
    try {
      for await (const value of client.stream(path, { signal })) values.push(value);
    } catch (error) {
      return { values, error };
    }
    return { values };
  };

  test("is read across chunks, which may end anywhere, also within a character", async () => {
    const bytes = new TextEncoder().encode('{"name":"日本"}\n{"name":"é"}\n');
    for (let at = 1; at < bytes.length; at++) {
      const outcome = bodyOf([bytes.slice(0, at), bytes.slice(at)], close);
      assert.deepEqual(await read(outcome), { values: [{ name: "日本" }, { name: "é" }] });
    }
    assert.deepEqual(await read(bodyOf([], close)), { values: [] });
  });

  test("is an error if it is cut short, after the rows that came", async () => {
    const broken = (controller: ReadableStreamDefaultController) =>
      controller.error(new TypeError("terminated"));
    for (const outcome of [bodyOf(['{"a":1}\n{"a"'], close), bodyOf(['{"a":1}\n{"a":2}'], close)]) {
      const { values, error } = await read(outcome);
      assert.deepEqual(values, [{ a: 1 }]);
      assert.ok(error instanceof SiderealError);
      assert.equal(error.code, "NETWORK");
    }
    const { error } = await read(bodyOf([], broken));
    assert.ok(error instanceof SiderealError && error.cause instanceof TypeError);
    assert.equal(error.code, "NETWORK");
  });

  test("is an error if a line is no JSON", async () => {
    const { error } = await read(bodyOf(["<html>\n"], close));
    assert.ok(error instanceof SiderealError);
    assert.equal(error.code, "UNEXPECTED_RESPONSE");
  });

  test("ends when the caller aborts or leaves the loop", async () => {
    const reason = new Error("enough");
    const controller = new AbortController();
    const endless = (signal: AbortSignal, onCancel: () => void) =>
      new Response(
        new ReadableStream({
          start: (own) => {
            own.enqueue(new TextEncoder().encode('{"a":1}\n'));
            signal.addEventListener("abort", () => own.error(signal.reason));
          },
          cancel: onCancel,
        }),
      );
    const aborted = scriptedClient([(signal) => endless(signal, () => {})]);
    const rows = aborted.client.stream(path, { signal: controller.signal });
    assert.deepEqual(await rows.next(), { done: false, value: { a: 1 } });
    const next = rows.next();
    controller.abort(reason);
    await assert.rejects(next, reason);

    let isCancelled = false;
    const left = scriptedClient([
      (signal) =>
        endless(signal, () => {
          isCancelled = true;
        }),
    ]);
    for await (const _ of left.client.stream(path)) break;
    assert.ok(isCancelled);
  });
});
