import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import type { Catalog } from "../../src/repositories/repositories.js";
import type { Observation } from "../../src/repositories/repository.js";
import { onBothEngines } from "../support/engines.js";
import { dumpTables, hoursOf, openCatalog } from "../support/tables.js";
import { NOW, observation, snapshot } from "../support/world.js";

const ago = (hours: number): number => NOW - hours * HOUR_MS;

/** A repository seen under a name `hoursAgo` hours ago, with one snapshot, and the provider's id if given. */
const seen = (fullName: string, hoursAgo: number, providerId?: string, more: Partial<Observation> = {}) =>
  observation(fullName, [snapshot(hoursAgo, 1_000 - hoursAgo)], {
    ...(providerId === undefined ? {} : { providerId }),
    ...more,
  });

const found = async (catalog: Catalog, fullName: string) => {
  const result = await catalog.findByName("GITHUB", fullName);
  return result === undefined
    ? undefined
    : `${result.repository.id} ${result.repository.fullName}${result.isPreviousName ? " (previous)" : ""}`;
};

const previousNames = async (catalog: Catalog, id: number) => {
  const { provider, fullName } = await catalog.get(id);
  const described = await catalog.describe(provider, fullName);
  return described?.isPreviousName === false ? described.previousNames : undefined;
};

onBothEngines("Identity", (engine) => {
  /** The same observations once in one batch, once each by itself: it must not matter. */
  const bothWays = (
    name: string,
    observations: Observation[],
    check: (catalog: Catalog) => Promise<void>,
  ) => {
    test(`${name}, in one batch`, async () => {
      const { catalog } = await openCatalog(engine);
      await catalog.record(observations);
      await check(catalog);
    });
    test(`${name}, one by one and then all of them again`, async () => {
      const { catalog, database } = await openCatalog(engine);
      for (const each of observations) await catalog.record([each]);
      await check(catalog);
      const before = await dumpTables(database);
      await catalog.record(observations);
      assert.deepEqual(await dumpTables(database), before);
    });
  };

  bothWays(
    "the provider's id survives renames, and every old name leads to the present one",
    [seen("o/a", 9, "1"), seen("o/b", 8, "1"), seen("p/c", 7, "1")],
    async (catalog) => {
      assert.equal(await found(catalog, "p/c"), "1 p/c");
      assert.equal(await found(catalog, "O/A"), "1 p/c (previous)");
      assert.equal(await found(catalog, "o/b"), "1 p/c (previous)");
      assert.deepEqual(await previousNames(catalog, 1), [
        { fullName: "o/b", until: ago(7) },
        { fullName: "o/a", until: ago(8) },
      ]);
      assert.deepEqual(await hoursOf(catalog, 1), [9, 8, 7]);
    },
  );

  bothWays(
    "a change of letter case changes the display and nothing else",
    [seen("Own/Repo", 9), seen("own/repo", 8), seen("OWN/repo", 10)],
    async (catalog) => {
      assert.equal(await found(catalog, "OWN/REPO"), "1 own/repo");
      assert.deepEqual(await previousNames(catalog, 1), []);
      assert.deepEqual(await hoursOf(catalog, 1), [10, 9, 8]);
    },
  );

  bothWays(
    "the same name at two providers is two repositories",
    [seen("o/a", 9), seen("o/a", 9, undefined, { provider: "GITLAB" })],
    async (catalog) => {
      assert.equal(await found(catalog, "o/a"), "1 o/a");
      assert.equal((await catalog.findByName("GITLAB", "o/a"))?.repository.id, 2);
    },
  );

  bothWays(
    "a name taken over by another id belongs to the newer one; the older keeps its history",
    [seen("o/a", 9, "1"), seen("o/a", 5, "2"), seen("o/a", 7, "1")],
    async (catalog) => {
      assert.equal(await found(catalog, "o/a"), "2 o/a");
      assert.deepEqual(await hoursOf(catalog, 1), [9, 7]);
      assert.deepEqual(await hoursOf(catalog, 2), [5]);
    },
  );

  bothWays(
    "an older observation of another id does not take a name away",
    [seen("o/a", 5, "2"), seen("o/a", 9, "1")],
    async (catalog) => {
      assert.equal(await found(catalog, "o/a"), "1 o/a");
      assert.equal((await catalog.get(2)).fullName, "o/a");
      assert.deepEqual(await hoursOf(catalog, 2), [9]);
    },
  );

  bothWays(
    "an observation without a time does not take a name away",
    [seen("o/a", 5, "2"), observation("o/a", [], { providerId: "1", at: null })],
    async (catalog) => assert.equal(await found(catalog, "o/a"), "1 o/a"),
  );

  bothWays(
    "a rename that is older than the present holder's name does not take it away",
    [seen("o/b", 3, "2"), seen("o/a", 9, "1"), seen("o/b", 6, "1")],
    async (catalog) => {
      assert.equal(await found(catalog, "o/b"), "1 o/b");
      assert.equal(await found(catalog, "o/a"), "2 o/b (previous)");
    },
  );

  bothWays(
    "two names can be swapped",
    [seen("o/a", 9, "1"), seen("o/b", 9, "2"), seen("o/b", 5, "1"), seen("o/a", 5, "2")],
    async (catalog) => {
      assert.equal(await found(catalog, "o/a"), "2 o/a");
      assert.equal(await found(catalog, "o/b"), "1 o/b");
      assert.deepEqual(await previousNames(catalog, 1), [{ fullName: "o/a", until: ago(5) }]);
      assert.deepEqual(await previousNames(catalog, 2), [{ fullName: "o/b", until: ago(5) }]);
    },
  );

  test("known repositories can swap and pass on names in one batch", async () => {
    const { catalog } = await openCatalog(engine);
    await catalog.record([seen("o/a", 9, "1"), seen("o/b", 9, "2"), seen("o/c", 9, "3")]);
    await catalog.record([seen("o/b", 5, "1"), seen("o/c", 5, "2"), seen("o/a", 5, "3")]);
    assert.deepEqual(await Promise.all(["o/a", "o/b", "o/c"].map((name) => found(catalog, name))), [
      "3 o/a",
      "1 o/b",
      "2 o/c",
    ]);
    await catalog.record([seen("o/a", 4, "1"), seen("o/b", 4, "3")]);
    assert.deepEqual(await Promise.all(["o/a", "o/b", "o/c"].map((name) => found(catalog, name))), [
      "1 o/a",
      "3 o/b",
      "2 o/c",
    ]);
  });

  bothWays(
    "a name that a repository has again is no previous one",
    [seen("o/a", 9, "1"), seen("o/b", 8, "1"), seen("o/a", 7, "1")],
    async (catalog) => {
      assert.deepEqual(await previousNames(catalog, 1), [{ fullName: "o/b", until: ago(7) }]);
      assert.equal(await found(catalog, "o/a"), "1 o/a");
    },
  );

  bothWays(
    "an older observation without an id belongs to the repository that had the name then",
    [seen("o/a", 9, "1"), seen("o/b", 6, "1"), seen("o/a", 7), seen("o/a", 2)],
    async (catalog) => {
      assert.deepEqual(await hoursOf(catalog, 1), [9, 7, 6]);
      assert.equal((await catalog.get(1)).fullName, "o/b");
      assert.equal(await found(catalog, "o/a"), "2 o/a");
      assert.deepEqual(await hoursOf(catalog, 2), [2]);
    },
  );

  bothWays(
    "it does so when somebody else has the name by now, and never by what the newcomer had itself",
    [seen("o/a", 9, "1"), seen("o/b", 6, "1"), seen("o/a", 4, "2"), seen("o/a", 7), seen("o/a", 3)],
    async (catalog) => {
      assert.deepEqual(await hoursOf(catalog, 1), [9, 7, 6]);
      assert.deepEqual(await hoursOf(catalog, 2), [4, 3]);
    },
  );

  bothWays(
    "names reported as previous ones lead to the repository, the later holder first",
    [
      seen("o/now", 1, "1", { previousNames: [{ fullName: "o/old", until: ago(50) }] }),
      seen("p/now", 1, "2", { previousNames: [{ fullName: "O/Old", until: ago(20) }] }),
      seen("o/old", 60),
      seen("o/old", 30),
    ],
    async (catalog) => {
      assert.equal(await found(catalog, "o/old"), "2 p/now (previous)");
      assert.deepEqual(await hoursOf(catalog, 1), [60, 1]);
      assert.deepEqual(await hoursOf(catalog, 2), [30, 1]);
      assert.deepEqual(await previousNames(catalog, 2), [{ fullName: "O/Old", until: ago(20) }]);
    },
  );

  bothWays(
    "a repository known by its name alone takes the provider's id on, and is then found by it",
    [seen("o/a", 9), seen("o/a", 8, "1"), seen("o/b", 7, "1"), seen("o/b", 6)],
    async (catalog) => {
      assert.equal(await found(catalog, "o/b"), "1 o/b");
      assert.deepEqual(await hoursOf(catalog, 1), [9, 8, 7, 6]);
      const [dumped] = await catalog.dump(0, 10);
      assert.equal(dumped?.providerId, "1");
    },
  );

  /** A repository without an id, created some days before NOW, with stars. */
  const created = (fullName: string, hoursAgo: number, daysOld: number, stars: number) =>
    observation(fullName, [snapshot(hoursAgo, stars)], {
      facts: { createdAt: NOW - 24 * daysOld * HOUR_MS, availability: "AVAILABLE" },
    });
  const reused = [
    created("o/a", 9, 900, 5_000),
    created("o/a", 8, 901, 5_010),
    created("O/a", 6, 400, 12),
    created("o/a", 5, 401, 20),
  ];

  bothWays(
    "a name whose creation date and size are others belongs to a new repository, and the history is not joined",
    reused,
    async (catalog) => {
      assert.equal(await found(catalog, "o/a"), "2 o/a");
      assert.deepEqual(await hoursOf(catalog, 1), [9, 8]);
      assert.deepEqual(await hoursOf(catalog, 2), [6, 5]);
      const lost = await catalog.get(1);
      assert.deepEqual([lost.fullName, lost.availability, lost.stars], ["o/a", "GONE", 5_010]);
      assert.deepEqual(await previousNames(catalog, 2), []);
    },
  );

  bothWays(
    "so it is when an observation between them says nothing of its creation",
    [...reused, observation("o/a", [snapshot(8.5, 5_005)]), observation("o/a", [snapshot(5.5, 40)])],
    async (catalog) => {
      assert.deepEqual(await hoursOf(catalog, 1), [9, 8.5, 8]);
      assert.deepEqual(await hoursOf(catalog, 2), [6, 5.5, 5]);
    },
  );

  for (const order of [
    [3, 2, 1, 0],
    [2, 0, 3, 1],
    [1, 3, 0, 2],
  ])
    test(`a reused name does not depend on the order of observations, such as ${order.join(", ")}`, async () => {
      const { catalog } = await openCatalog(engine);
      for (const index of order) await catalog.record(reused.slice(index, index + 1));
      const current = await catalog.findByName("GITHUB", "o/a");
      assert.ok(current);
      assert.equal(current.repository.availability, "AVAILABLE");
      assert.deepEqual(await hoursOf(catalog, current.repository.id), [6, 5]);
      const other = 3 - current.repository.id;
      assert.deepEqual(await hoursOf(catalog, other), [9, 8]);
      assert.equal((await catalog.get(other)).availability, "GONE");
    });

  /** An observation as an archive without creation dates has it. */
  const described = (days: number, description: string, [stars, forks]: [stars: number, forks: number]) =>
    observation("o/d", [snapshot(days * 24, stars, { forks })], {
      at: NOW - days * DAY_MS,
      facts: { description, stars, forks },
    });

  bothWays(
    "a name whose description, stars and forks change together within a month belongs to a new repository",
    [
      described(9, "old", [900, 90]),
      described(8, "old", [901, 90]),
      described(6, "new", [2_800, 300]),
      described(5, "newer", [2_810, 301]),
    ],
    async (catalog) => {
      assert.equal(await found(catalog, "o/d"), "2 o/d");
      assert.deepEqual(await hoursOf(catalog, 1), [9 * 24, 8 * 24]);
      assert.deepEqual(await hoursOf(catalog, 2), [6 * 24, 5 * 24]);
      assert.deepEqual((await catalog.get(1)).availability, "GONE");
    },
  );

  bothWays(
    "two of these alone, or all of them in more than a month, are no reuse",
    [
      described(90, "old", [900, 90]),
      described(50, "new", [2_800, 300]),
      described(49, "new", [900, 90]),
      described(48, "old", [2_800, 90]),
      described(47, "new", [2_800, 300]),
    ],
    async (catalog) =>
      assert.deepEqual(
        await hoursOf(catalog, 1),
        [90, 50, 49, 48, 47].map((day) => day * 24),
      ),
  );

  bothWays(
    "a creation date of a month more or less, or the same size, is no reuse",
    [
      created("o/a", 9, 900, 5_000),
      created("o/a", 8, 929, 5),
      created("o/b", 9, 900, 5_000),
      created("o/b", 8, 100, 2_500),
      created("o/c", 9, 900, 5_000),
      observation("o/c", [snapshot(8, 5)]),
    ],
    async (catalog) => {
      for (const id of [1, 2, 3]) assert.deepEqual(await hoursOf(catalog, id), [9, 8]);
      await assert.rejects(catalog.get(4), { code: "NOT_FOUND" });
    },
  );

  bothWays(
    "a name that was reused twice has belonged to three repositories",
    [
      created("o/a", 9, 900, 5_000),
      created("o/a", 7, 400, 12),
      created("o/a", 5, 100, 600),
      created("o/a", 8, 899, 5_001),
    ],
    async (catalog) => {
      assert.equal(await found(catalog, "o/a"), "3 o/a");
      assert.deepEqual(await hoursOf(catalog, 1), [9, 8]);
      assert.deepEqual(await hoursOf(catalog, 2), [7]);
      assert.deepEqual(await hoursOf(catalog, 3), [5]);
    },
  );

  bothWays(
    "a repository with the provider's id keeps its name, whatever a source without ids says of its creation",
    [{ ...created("o/a", 9, 900, 5_000), providerId: "1" }, created("o/a", 8, 100, 5)],
    async (catalog) => assert.deepEqual(await hoursOf(catalog, 1), [9, 8]),
  );

  test("names are compared without case, and however their letters are encoded", async () => {
    const { catalog } = await openCatalog(engine);
    const name = "ünï/码农é";
    await catalog.record([seen(name.normalize("NFC"), 3)]);
    await catalog.record([seen(name.normalize("NFD"), 2)]);
    for (const spelling of [
      name.normalize("NFC"),
      name.normalize("NFD"),
      name.normalize("NFD").toUpperCase(),
    ])
      assert.match((await found(catalog, spelling)) ?? "", /^1 /, spelling);
    assert.equal((await catalog.dump(0, 10)).length, 1);
  });

  test("the id of one provider says nothing about another", async () => {
    const { catalog } = await openCatalog(engine);
    await catalog.record([seen("o/a", 9, "1"), seen("g/a", 9, "1", { provider: "GITLAB" })]);
    await catalog.record([seen("o/b", 8, "1")]);
    assert.equal((await catalog.findByName("GITLAB", "g/a"))?.repository.id, 2);
    assert.equal(await found(catalog, "o/b"), "1 o/b");
  });
});
