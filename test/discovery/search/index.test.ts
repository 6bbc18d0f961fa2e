import assert from "node:assert/strict";
import { test } from "node:test";
import { onBothEngines } from "../../support/engines.js";
import { discoveryOf } from "../../support/lists.js";
import { NOW, observation, snapshot } from "../../support/world.js";

onBothEngines("Suggestions", (engine) => {
  const open = async () => {
    const { catalog, search } = discoveryOf(await engine.open());
    const suggested = async (text: string) =>
      (await search.suggest(text, 20)).repositories.map(({ fullName }) => fullName);
    return { catalog, suggested };
  };
  const repository = (fullName: string, stars: number, hoursAgo = 1) =>
    observation(fullName, [snapshot(hoursAgo, stars)]);

  test("find every spelling that the words of a name allow", async () => {
    const { catalog, suggested } = await open();
    await catalog.record([
      repository("vercel/next.js", 9),
      repository("o/TypeScript", 8),
      repository("o/café-étoile", 7),
      repository("深度/学习笔记", 6),
      repository("gcc/c++", 5),
      repository("mono/c-sharp", 4),
      repository("linux/l'inux", 3),
    ]);
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

  test("follow names, descriptions and availability", async () => {
    const { catalog, suggested } = await open();
    await catalog.record([{ ...repository("o/first", 1, 9), providerId: "1" }]);
    assert.deepEqual(await suggested("first"), ["o/first"]);
    await catalog.record([{ ...repository("o/second", 1, 8), providerId: "1" }]);
    assert.deepEqual([await suggested("first"), await suggested("second")], [[], ["o/second"]]);
    const observed = (hoursAgo: number, availability: "GONE" | "AVAILABLE") =>
      observation("o/second", [], { at: NOW - hoursAgo * 3_600_000, facts: { availability } });
    await catalog.record([observed(7, "GONE")]);
    assert.deepEqual(await suggested("second"), []);
    await catalog.record([observed(6, "AVAILABLE")]);
    assert.deepEqual(await suggested("second"), ["o/second"]);
  });

  test("are sorted by current stars even if no word changed", async () => {
    const { catalog, suggested } = await open();
    await catalog.record([
      repository("a/thing", 10, 9),
      repository("b/thing", 5, 9),
      repository("c/thing", 5, 9),
    ]);
    assert.deepEqual(await suggested("thing"), ["a/thing", "c/thing", "b/thing"]);
    await catalog.record([repository("b/thing", 50, 8)]);
    assert.deepEqual(await suggested("thing"), ["b/thing", "a/thing", "c/thing"]);
    await catalog.record([repository("d/thing", 7, 8)]);
    assert.deepEqual(await suggested("thing"), ["b/thing", "a/thing", "d/thing", "c/thing"]);
  });

  test("match by words; nothing in the text is syntax", async () => {
    const { catalog, suggested } = await open();
    await catalog.record([repository("o/plain", 1)]);
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
});
