import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type ListRow, RowMemory } from "../../../src/discovery/lists.js";
import type { Repository } from "../../../src/repositories/repository.js";

describe("Rows of lists", () => {
  const row = (id: number, description = "text"): ListRow => {
    const given: Partial<Repository> = {
      id,
      description,
      homepage: null,
      url: "https://example.test",
      topics: [],
    };
    return { repository: given as Repository, trend: undefined, isStale: false };
  };
  const known = (memory: RowMemory, revision: number, ids: number[]) =>
    memory.find(revision, { ids, window: "24h" }).map((found) => found?.repository.id);

  const keepTwice = (memory: RowMemory, revision: number, rows: ListRow[]) => {
    memory.keep(revision, "24h", rows);
    memory.keep(revision, "24h", rows);
  };

  test("are remembered by window while the revision stays the same", () => {
    const memory = new RowMemory();
    assert.deepEqual(known(memory, 1, [5, 6]), [undefined, undefined]);
    keepTwice(memory, 1, [row(5), row(6)]);
    assert.deepEqual(known(memory, 1, [6, 7, 5]), [6, undefined, 5]);
    assert.deepEqual(memory.find(1, { ids: [5], window: "7d" }), [undefined]);
    assert.deepEqual(known(memory, 2, [5]), [undefined]);
    assert.deepEqual(known(memory, 1, [5]), [undefined]);
  });

  test("are not kept if the revision grew while they were read", () => {
    const memory = new RowMemory();
    known(memory, 1, [5]);
    known(memory, 2, [5]);
    keepTwice(memory, 1, [row(5)]);
    assert.deepEqual(known(memory, 2, [5]), [undefined]);
  });

  test("are not kept if they are read once", () => {
    const memory = new RowMemory();
    known(memory, 1, []);
    memory.keep(1, "24h", [row(5)]);
    assert.deepEqual(known(memory, 1, [5]), [undefined]);
    for (let id = 100; id < 10_000; id++) memory.keep(1, "24h", [row(id)]);
    assert.deepEqual(known(memory, 1, [101, 9_999]), [undefined, undefined]);
    known(memory, 2, []);
    memory.keep(2, "24h", [row(9_999)]);
    assert.deepEqual(known(memory, 2, [9_999]), [9_999], "the first time may be at an earlier revision");
  });

  test("are bounded by the length of their texts", () => {
    const memory = new RowMemory();
    known(memory, 1, []);
    const ids = Array.from({ length: 2_000 }, (_, i) => i + 1);
    for (const id of ids) keepTwice(memory, 1, [row(id, "x".repeat(20_000))]);
    const kept = known(memory, 1, ids).filter((id) => id !== undefined);
    assert.ok(kept.length > 100 && kept.length < 200, `${kept.length} are kept`);
    assert.ok(kept.includes(2_000));
  });
});
