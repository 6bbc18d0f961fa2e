import assert from "node:assert/strict";
import { before, test } from "node:test";
import { fillWithSynthetic } from "../../../bench/synthetic/synthetic.js";
import type { Database } from "../../../src/database/database.js";
import type { ListIndex } from "../../../src/discovery/lists/index/list-index.js";
import { Lists } from "../../../src/discovery/lists/lists.js";
import type { ListSpec } from "../../../src/discovery/lists/spec.js";
import { onBothEngines } from "../../support/engines.js";
import { indexOf, listOf, partsOfLists } from "../../support/lists.js";
import { ManualClock } from "../../support/manual-clock.js";
import { NOW } from "../../support/world.js";

const REPOSITORIES = 400;

onBothEngines("A list of a large catalogue that is found with SQL", (engine) => {
  const clock = new ManualClock(NOW);
  let database: Database;
  let scans = 0;

  before(async () => {
    database = await engine.open();
    const synthetic = { repositories: REPOSITORIES, days: 3, seed: 5, end: NOW };
    const lists = partsOfLists(database, clock);
    await fillWithSynthetic(lists.catalog, synthetic);
    await lists.rankings.update();
    await lists.search.update();
  });

  /** Lists whose scans are counted. */
  function countingLists(more: { scansFrom?: number; index?: ListIndex } = {}): Lists {
    const scan = database.scan.withPlugin({
      transformQuery({ node }) {
        scans++;
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    return new Lists({ ...partsOfLists({ ...database, scan }, clock), ...more });
  }

  /** The ids of a list, and how many statements went to `scan`. */
  async function read(lists: Lists, spec: ListSpec): Promise<{ ids: number[]; scanned: number }> {
    const before = scans;
    const { rows } = await lists.read(spec);
    return { ids: rows.map(({ repository }) => repository.id), scanned: scans - before };
  }

  const FILTERED: readonly Partial<ListSpec>[] = [
    { filters: { maxStars: 500 }, sort: "stars-gained" },
    { filters: { license: "MIT" }, sort: "forks" },
    { filters: { reliableOnly: true }, sort: "trending" },
    { scope: { kind: "search", text: "a" }, sort: "forks", filters: { minStars: 1 } },
  ];
  const PLAIN: readonly Partial<ListSpec>[] = [
    {},
    { sort: "trending", filters: { archived: false, fork: false } },
  ];

  test("leaves the thread to others where the filters may leave out much, and is the same", async () => {
    const [large, small] = [countingLists({ scansFrom: REPOSITORIES / 2 }), countingLists()];
    for (const each of FILTERED) {
      const [scanned, same] = [await read(large, listOf(each)), await read(small, listOf(each))];
      assert.ok(scanned.ids.length > 0, JSON.stringify(each));
      assert.ok(scanned.scanned > 0, JSON.stringify(each));
      assert.deepEqual(same, { ids: scanned.ids, scanned: 0 });
    }
  });

  test("does not wait for such lists without filters, or with the index", async () => {
    const large = countingLists({ scansFrom: 0 });
    for (const each of PLAIN) assert.equal((await read(large, listOf(each))).scanned, 0);
    const indexed = countingLists({ scansFrom: 0, index: await indexOf(database, clock) });
    for (const each of FILTERED) {
      const { ids, scanned } = await read(indexed, listOf(each));
      assert.ok(ids.length > 0);
      assert.equal(scanned, 0, JSON.stringify(each));
    }
  });
});
