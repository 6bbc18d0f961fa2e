import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { ReadOptions } from "../../src/discovery/lists/lists.js";
import type { ListSpec } from "../../src/discovery/lists/spec.js";
import { AppError } from "../../src/lib/errors.js";
import { onSqlite } from "../support/engines.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

onSqlite("Lists that wait for the thread that scans the catalogue", (engine) => {
  const start = async () => {
    const world = await createWorld(engine, { SIDEREAL_QUEUE_MS: "500" });
    await world.record(
      observation("one/one", daily(1, 2, 3), { facts: { language: "Rust", topics: ["parser"] } }),
    );
    return world;
  };

  /** Lets every list be found by a scan that ends when it is let go. `begun`: their limits, in the order in which they began. */
  const holdScans = (t: TestContext, world: World) => {
    const begun: number[] = [];
    const held: (() => void)[] = [];
    const read = t.mock.method(
      world.modules.lists,
      "read",
      ({ page }: ListSpec, { scanning }: ReadOptions = {}) => {
        assert.ok(scanning, "whatever reads a list says where it waits");
        return scanning(async () => {
          begun.push(page.limit);
          await new Promise<void>((go) => held.push(go));
          throw new AppError("NOT_FOUND", "There is no such list.");
        });
      },
    );
    const whenBegun = async (count: number) => {
      while (begun.length < count) await turn();
    };
    const release = async (ends: readonly Promise<unknown>[]) => {
      let isOver = false;
      void Promise.allSettled(ends).then(() => {
        isOver = true;
      });
      while (!isOver) {
        for (const go of held.splice(0)) go();
        await turn();
      }
    };
    return { begun, asked: () => read.mock.callCount(), whenBegun, release };
  };

  const statusOf = async (world: World, path: string, peer: string) =>
    (await world.request(path, { peer })).status;

  test("take nothing from others, however many they are, and their callers take turns", async (t) => {
    const world = await start();
    const { begun, whenBegun, release } = holdScans(t, world);
    const lists = Array.from({ length: 15 }, (_, i) =>
      statusOf(world, `/api/repos?limit=${1 + i}`, "192.0.2.1"),
    );
    await whenBegun(2);
    lists.push(statusOf(world, "/api/repos?limit=50", "192.0.2.2"));
    assert.equal(await statusOf(world, "/api/repos/github/one/one", "192.0.2.3"), 200);
    assert.equal(begun.length, 2);
    await release(lists);
    for (const status of lists) assert.equal(await status, 404);
    assert.equal(begun.length, 16);
    assert.ok(begun.indexOf(50) < 4, String(begun));
  });

  test("wait there for every form of a list", async (t) => {
    const world = await start();
    const { begun, asked, whenBegun, release } = holdScans(t, world);
    const ahead = [1, 2].map((limit) => statusOf(world, `/api/repos?limit=${limit}`, "192.0.2.1"));
    await whenBegun(2);
    const lists = [
      "/api/trending",
      "/api/feeds/trending.atom",
      "/explore?language=Rust",
      "/languages/Rust",
      "/topics/parser",
      "/cards/lists?language=Rust",
      "/cards/languages/Rust",
    ].map((path) => statusOf(world, path, "192.0.2.2"));
    while (asked() < ahead.length + lists.length) await turn();
    assert.equal(begun.length, 2);
    await release([...ahead, ...lists]);
    for (const status of lists) assert.equal(await status, 404);
  });

  test("wait five seconds, ten times as long as what is computed here", async (t) => {
    const world = await start();
    const { whenBegun, release } = holdScans(t, world);
    const ahead = [1, 2].map((limit) => statusOf(world, `/api/repos?limit=${limit}`, "192.0.2.1"));
    await whenBegun(2);
    let status: number | undefined;
    void statusOf(world, "/api/repos?limit=3", "192.0.2.1").then((it) => {
      status = it;
    });
    const pass = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 100) {
        world.clock.advance(100);
        await turn();
      }
    };
    await pass(4_900);
    assert.equal(status, undefined);
    await pass(200);
    assert.equal(status, 503);
    await release(ahead);
  });
});
