import assert from "node:assert/strict";
import { test } from "node:test";
import type { Database } from "../../../src/database/database.js";
import { readState } from "../../../src/discovery/search/layout.js";
import { IndexPages, PageReader } from "../../../src/discovery/search/pages.js";
import { Search } from "../../../src/discovery/search/search.js";
import { onBothEngines } from "../../support/engines.js";
import { ManualClock } from "../../support/manual-clock.js";
import { openCatalog } from "../../support/tables.js";
import { NOW, observation, snapshot } from "../../support/world.js";

onBothEngines("The search index", (engine) => {
  const open = async () => {
    const { catalog, database } = await openCatalog(engine);
    const search = new Search(database, catalog, new ManualClock(NOW));
    const suggested = async (text: string) =>
      (await search.suggest(text, 20)).repositories.map(({ fullName }) => fullName);
    return {
      catalog,
      database,
      suggested,
      update: async () => {
        await search.update();
        await search.reorder();
      },
    };
  };
  const repository = (fullName: string, stars: number, hoursAgo = 1) =>
    observation(fullName, [snapshot(hoursAgo, stars)]);

  test("a search that began before a rebuild never names repositories by the positions of the new index", async () => {
    const { catalog, database, update } = await open();
    await catalog.record([repository("a/first", 9), repository("b/second", 5)]);
    await update();
    const reader = new PageReader(database);
    const pagesNow = async () => {
      const state = await readState(database.read);
      assert.ok(state !== undefined);
      return new IndexPages(reader, state);
    };
    const [loaded, waiting] = [await pagesNow(), await pagesNow()];
    await loaded.load([0, 1]);
    assert.deepEqual(loaded.idsAt([0, 1]), [1, 2]);
    await catalog.record([repository("b/second", 50, 0)]);
    await update();
    const rebuilt = await pagesNow();
    await rebuilt.load([0, 1]);
    assert.deepEqual(rebuilt.idsAt([0, 1]), [2, 1]);
    await waiting.load([0, 1]);
    assert.deepEqual([loaded.idsAt([0, 1]), waiting.idsAt([0, 1])], [[1, 2], []]);
  });

  test("finds every spelling that the words of a name allow", async () => {
    const { catalog, suggested, update } = await open();
    await catalog.record([
      repository("vercel/next.js", 9),
      repository("o/TypeScript", 8),
      repository("o/café-étoile", 7),
      repository("深度/学习笔记", 6),
      repository("gcc/c++", 5),
      repository("mono/c-sharp", 4),
      repository("linux/l'inux", 3),
    ]);
    await update();
    for (const [text, found] of [
      ["nextjs", ["vercel/next.js"]],
      ["next.js", ["vercel/next.js"]],
      ["NEXT js", ["vercel/next.js"]],
      ["vercel/next.js", ["vercel/next.js"]],
      ["script", ["o/TypeScript"]],
      ["typesc", ["o/TypeScript"]],
      ["Cafe", ["o/café-étoile"]],
      ["étoile", ["o/café-étoile"]],
      ["学习", ["深度/学习笔记"]],
      ["习笔", ["深度/学习笔记"]],
      ["c++", ["gcc/c++"]],
      ["l'inux", ["linux/l'inux"]],
      ["nothing-like-it", []],
    ] as const) {
      assert.deepEqual(await suggested(text), found, text);
    }
    // A whole word comes before a longer one that begins with it.
    assert.deepEqual(await suggested("c"), ["mono/c-sharp", "o/café-étoile", "gcc/c++"]);
  });

  test("follows names, descriptions and availability", async () => {
    const { catalog, suggested, update } = await open();
    await catalog.record([{ ...repository("o/first", 1, 9), providerId: "1" }]);
    await update();
    assert.deepEqual(await suggested("first"), ["o/first"]);
    await catalog.record([{ ...repository("o/second", 1, 8), providerId: "1" }]);
    await update();
    assert.deepEqual([await suggested("first"), await suggested("second")], [[], ["o/second"]]);
    const observed = (hoursAgo: number, availability: "GONE" | "AVAILABLE") =>
      observation("o/second", [], { at: NOW - hoursAgo * 3_600_000, facts: { availability } });
    await catalog.record([observed(7, "GONE")]);
    await update();
    assert.deepEqual(await suggested("second"), []);
    await catalog.record([observed(6, "AVAILABLE")]);
    await update();
    assert.deepEqual(await suggested("second"), ["o/second"]);
  });

  test("is sorted by current stars even if no word changed, and after an interrupted run", async () => {
    const { catalog, suggested, update } = await open();
    await catalog.record([
      repository("a/thing", 10, 9),
      repository("b/thing", 5, 9),
      repository("c/thing", 5, 9),
    ]);
    await update();
    assert.deepEqual(await suggested("thing"), ["a/thing", "c/thing", "b/thing"]);
    await catalog.record([repository("b/thing", 50, 8)]);
    const revision = await catalog.revision();
    await update();
    assert.deepEqual(await suggested("thing"), ["b/thing", "a/thing", "c/thing"]);
    assert.ok((await catalog.revision()) > revision, "the revision grows");
    const rest = await catalog.revision();
    await update();
    assert.equal(await catalog.revision(), rest, "nothing to do, so the revision stays");
    await catalog.record([repository("d/thing", 7, 8)]);
    await update();
    assert.deepEqual(await suggested("thing"), ["b/thing", "a/thing", "d/thing", "c/thing"]);
  });

  test("matches by words; nothing in the text is syntax", async () => {
    const { catalog, suggested, update } = await open();
    await catalog.record([repository("o/plain", 1)]);
    await update();
    for (const text of [
      '"plain',
      "pl'ain' plain",
      "plain*",
      "(plain",
      "!plain",
      "-plain",
      "names:plain",
      "plain\\",
      "NEAR(plain",
    ]) {
      const words = text.replaceAll(/[^a-z]+/gi, " ").trim();
      assert.deepEqual(await suggested(text), await suggested(words), text);
    }
    assert.deepEqual(await suggested("!plain*"), ["o/plain"]);
    assert.deepEqual(await suggested("plain NOT plain"), []);
  });

  test("an update that ends at any of its steps loses no change and finds nothing wrong later", async () => {
    const { catalog, database, suggested, update } = await open();
    await catalog.record([repository("a/first", 9), repository("a/second", 8), repository("a/third", 7)]);
    await update();
    const failing = (steps: number) => {
      let left = steps;
      const { exclusively } = database.dialect;
      const dialect: Database["dialect"] = {
        ...database.dialect,
        exclusively: (db, name, work) => {
          if (left-- <= 0) throw new Error("killed");
          return exclusively(db, name, work);
        },
      };
      return new Search({ ...database, dialect }, catalog, new ManualClock(NOW));
    };
    let failures = 0;
    for (let steps = 0; failures === steps; steps++) {
      await catalog.record([repository(`fresh/word${steps}`, 6)]);
      await failing(steps)
        .update()
        .catch(() => failures++);
      await catalog.record([repository(`other/late${steps}`, 6)]);
      await update();
      assert.deepEqual(await suggested(`word${steps}`), [`fresh/word${steps}`]);
      assert.deepEqual(await suggested(`late${steps}`), [`other/late${steps}`]);
    }
    assert.ok(failures > 5, "the update has steps");
    assert.deepEqual(await suggested("second"), ["a/second"]);
  });
});
