import assert from "node:assert/strict";
import { before, test } from "node:test";
import { listParts } from "../../src/api/list-parts.js";
import type { ListRows } from "../../src/discovery/lists/lists.js";
import type { ListRow } from "../../src/discovery/lists/rows.js";
import { encodeCursor, type ListSpec, listKey } from "../../src/discovery/lists/spec.js";
import { onBothEngines } from "../support/engines.js";
import { createWorld, NOW, observation, snapshot, type World } from "../support/world.js";

const SPEC: Omit<ListSpec, "page"> = {
  scope: { kind: "all" },
  filters: {},
  sort: "stars",
  direction: "desc",
  window: "24h",
};
const LIST = { spec: SPEC, format: "ndjson", now: NOW } as const;

/** All rows of a list, with what happens between two reads of it. */
async function namesIn(world: World, between: (reads: number) => Promise<void>): Promise<string[]> {
  let reads = 0;
  const lists = {
    read: async (spec: ListSpec): Promise<ListRows> => {
      if (reads > 0) await between(reads);
      reads++;
      return world.modules.lists.read(spec);
    },
  };
  let text = "";
  for await (const { bytes } of listParts(lists, LIST)) text += Buffer.from(bytes).toString();
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line).fullName);
}

onBothEngines("The parts of a whole list", (engine) => {
  let world: World;
  const names = Array.from({ length: 350 }, (_, i) => `many/r${i}`);
  before(async () => {
    world = await createWorld(engine);
    await world.record(...names.map((name, i) => observation(name, [snapshot(24, i + 1)])));
  });

  test("have every row once that does not move, whatever is recorded meanwhile", async () => {
    const moved = new Set(["many/r0", "many/r349", "many/r120", "new/low", "new/high"]);
    const found = await namesIn(world, async (reads) => {
      world.clock.advance(2_000);
      if (reads === 1)
        await world.record(
          observation("many/r0", [snapshot(1, 9_999)]),
          observation("many/r349", [snapshot(1, 1)]),
          observation("new/high", [snapshot(1, 20_000)]),
        );
      else
        await world.record(
          observation("many/r120", [snapshot(1, 121 + reads)]),
          observation("new/low", [snapshot(1, 0)]),
        );
    });
    const stayed = found.filter((name) => !moved.has(name));
    assert.deepEqual(stayed, names.filter((name) => !moved.has(name)).toReversed());
  });

  test("cost a unit for every 1,000 rows beyond 10,000, and are of bounded size", async () => {
    const page = await world.modules.lists.read({ ...SPEC, page: { limit: 1, offset: 0 } });
    const [row] = page.rows as [ListRow];
    const next = encodeCursor(listKey(SPEC), { sortKey: 1, id: 1 });
    const long: ListRow = {
      ...row,
      repository: { ...row.repository, description: "é".repeat(10_000), homepage: "x".repeat(10_000) },
    };
    for (const [count, used, units] of [
      [10_000, row, 0],
      [10_001, row, 1],
      [12_000, row, 2],
      [12_345, row, 3],
      [300, long, 0],
    ] as const) {
      let left = count;
      const lists = {
        read: async ({ page: { limit } }: ListSpec): Promise<ListRows> => {
          const size = Math.min(limit, left);
          left -= size;
          return { ...page, rows: Array<ListRow>(size).fill(used), nextCursor: left > 0 ? next : null };
        },
      };
      let sum = 0;
      let lines = 0;
      for await (const part of listParts(lists, LIST)) {
        sum += part.units;
        lines += Buffer.from(part.bytes).toString().split("\n").length - 1;
        assert.ok(part.bytes.byteLength < 2 * 256 * 1024, `${part.bytes.byteLength} bytes`);
      }
      assert.equal(lines, count);
      assert.equal(sum, units);
    }
  });
});
