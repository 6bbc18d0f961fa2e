import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../../src/lib/clock.js";
import type { Catalog } from "../../src/repositories/repositories.js";
import type { Observation } from "../../src/repositories/repository.js";
import { onBothEngines } from "../support/engines.js";
import { hoursOf, openCatalog } from "../support/tables.js";
import { NOW, observation, snapshot } from "../support/world.js";

const CREATED = NOW - 900 * DAY_MS;

/** What a forge sends about a repository: its number, name and creation date. */
function sent(
  fullName: string,
  hoursAgo: number,
  { id, created = CREATED, ...more }: { id: string; created?: number | null } & Partial<Observation>,
): Observation {
  const made = observation(fullName, [snapshot(hoursAgo, 1_000 - hoursAgo)], { providerId: id, ...more });
  return { ...made, facts: { ...made.facts, ...(created !== null && { createdAt: created }) } };
}

const LATER = CREATED + 400 * DAY_MS;

async function idOf(catalog: Catalog, fullName: string): Promise<number | undefined> {
  const found = await catalog.findByName("GITHUB", fullName);
  return found?.isPreviousName === false ? found.repository.id : undefined;
}
onBothEngines("An id that a forge gives to another repository", (engine) => {
  const bothWays = (name: string, batch: Observation[], check: (catalog: Catalog) => Promise<void>) => {
    test(`${name}, in one batch`, async () => {
      const { catalog } = await openCatalog(engine);
      await catalog.record(batch);
      await check(catalog);
    });
    test(`${name}, one by one and then the oldest again`, async () => {
      const { catalog } = await openCatalog(engine);
      for (const one of batch) await catalog.record([one]);
      await check(catalog);
      await catalog.record(batch.slice(0, 1));
      await check(catalog);
    });
  };

  bothWays(
    "is that of a new repository with its own history, if name and creation date differ",
    [
      sent("o/a", 9, { id: "5" }),
      sent("o/new", 8, { id: "5", created: LATER }),
      sent("o/new", 7, { id: "5", created: LATER }),
    ],
    async (catalog) => {
      const [old = 0, other = 0] = [await idOf(catalog, "o/a"), await idOf(catalog, "o/new")];
      assert.ok(old > 0 && other > 0 && old !== other);
      assert.deepEqual(await hoursOf(catalog, old), [9]);
      assert.deepEqual(await hoursOf(catalog, other), [8, 7]);
      assert.equal((await catalog.get(old)).availability, "AVAILABLE");
    },
  );

  bothWays(
    "goes back to the first one with its history, when the forge is repaired",
    [sent("o/a", 9, { id: "5" }), sent("o/new", 8, { id: "5", created: LATER }), sent("o/a", 7, { id: "5" })],
    async (catalog) => {
      assert.deepEqual(await hoursOf(catalog, (await idOf(catalog, "o/a")) ?? 0), [9, 7]);
      assert.deepEqual(await hoursOf(catalog, (await idOf(catalog, "o/new")) ?? 0), [8]);
    },
  );

  bothWays(
    "leaves the first one its history under a new id",
    [sent("o/a", 9, { id: "5" }), sent("o/new", 8, { id: "5", created: LATER }), sent("o/a", 7, { id: "6" })],
    async (catalog) => assert.deepEqual(await hoursOf(catalog, (await idOf(catalog, "o/a")) ?? 0), [9, 7]),
  );

  bothWays(
    "is replaced where a forge lists the same repository under another id",
    [sent("o/a", 9, { id: "5" }), sent("o/a", 8, { id: "6" }), sent("o/a", 7, { id: "5" })],
    async (catalog) => assert.deepEqual(await hoursOf(catalog, (await idOf(catalog, "o/a")) ?? 0), [9, 8, 7]),
  );

  bothWays(
    "can be exchanged with that of another one",
    [
      sent("o/a", 9, { id: "5" }),
      sent("o/b", 9, { id: "6", created: LATER }),
      sent("o/a", 8, { id: "6" }),
      sent("o/b", 7, { id: "5", created: LATER }),
    ],
    async (catalog) => {
      assert.deepEqual(await hoursOf(catalog, (await idOf(catalog, "o/a")) ?? 0), [9, 8]);
      assert.deepEqual(await hoursOf(catalog, (await idOf(catalog, "o/b")) ?? 0), [9, 7]);
    },
  );

  bothWays(
    "is a rename, if the creation date is the same to the minute, or unknown",
    [
      sent("o/a", 9, { id: "5" }),
      sent("o/b", 8, { id: "5" }),
      sent("o/c", 7, { id: "5", created: CREATED + 50_000 }),
      sent("o/d", 6, { id: "5", created: null }),
    ],
    async (catalog) =>
      assert.deepEqual(await hoursOf(catalog, (await idOf(catalog, "o/d")) ?? 0), [9, 8, 7, 6]),
  );

  for (const days of [5, 20])
    bothWays(
      `is that of a new repository, if that is ${days} days younger, as after a backup of last month is restored`,
      [
        sent("alice/kite", 9, { id: "500" }),
        sent("mallory/spoon", 8, { id: "500", created: CREATED + days * DAY_MS }),
      ],
      async (catalog) => {
        assert.deepEqual(await hoursOf(catalog, (await idOf(catalog, "alice/kite")) ?? 0), [9]);
        assert.deepEqual(await hoursOf(catalog, (await idOf(catalog, "mallory/spoon")) ?? 0), [8]);
      },
    );

  bothWays(
    "is a rename, if the other date is an archive's and within a month",
    [
      sent("o/a", 9, { id: "5", created: DAY_MS * Math.floor(CREATED / DAY_MS), source: "days" }),
      sent("o/b", 8, { id: "5", created: CREATED + 20 * DAY_MS }),
      sent("o/c", 7, { id: "5", created: CREATED, source: "days" }),
    ],
    async (catalog) => assert.deepEqual(await hoursOf(catalog, (await idOf(catalog, "o/c")) ?? 0), [9, 8, 7]),
  );

  test("is not taken by the repository that was requested, or by one with the name, if those are older", async () => {
    const { catalog } = await openCatalog(engine);
    await catalog.record([sent("o/a", 9, { id: "5" })]);
    const old = (await idOf(catalog, "o/a")) ?? 0;
    await catalog.record([sent("o/new", 8, { id: "5", created: LATER, repositoryId: old })]);
    // Somebody has made another one of that name, a week after the first.
    const created = CREATED + 7 * DAY_MS;
    await catalog.record([sent("o/a", 7, { id: "8", created, repositoryId: old })]);
    const other = (await idOf(catalog, "o/a")) ?? 0;
    assert.notEqual(other, old);
    assert.deepEqual(await hoursOf(catalog, old), [9]);
    assert.deepEqual(await hoursOf(catalog, other), [7]);
  });
});
