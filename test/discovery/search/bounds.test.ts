import assert from "node:assert/strict";
import { test } from "node:test";
import { Lists, LiveModel } from "../../../src/discovery/discovery.js";
import { SlotSet } from "../../../src/discovery/slots.js";
import { TEXT, WordCollector } from "../../../src/discovery/words.js";
import { Catalog } from "../../../src/repositories/repositories.js";
import { onSqlite } from "../../support/engines.js";
import { listOf } from "../../support/lists.js";
import { recordedLog } from "../../support/logs.js";
import { ManualClock } from "../../support/manual-clock.js";
import { NOW, observation, snapshot } from "../../support/world.js";

const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${name}${String(i).padStart(2, "0")}`);

onSqlite("Words and topics in memory", (engine) => {
  test("are 64 and 50 of a repository, loaded or changed since, and a load says once what it leaves out", async () => {
    const database = await engine.open();
    const clock = new ManualClock(NOW);
    const { log, lines } = recordedLog("info");
    const catalog = new Catalog(database, clock);
    const live = new LiveModel(database, catalog, { clock, log });
    const lists = new Lists({ database, catalog, live, clock });
    const totalOf = async (more: Parameters<typeof listOf>[0]) => (await lists.read(listOf(more))).total;
    const search = (text: string) => totalOf({ scope: { kind: "search", text, verbatim: true } });
    const record = (hoursAgo: number, word: string) =>
      catalog.record([
        observation("owner/name", [snapshot(hoursAgo, 1)], {
          at: NOW - hoursAgo * 3_600_000,
          facts: { language: "Zig", description: numbered(word, 100).join(" "), topics: numbered("t", 60) },
        }),
        observation("other/usual", [snapshot(hoursAgo, 1)], { facts: { topics: ["t01"] } }),
      ]);
    for (const [hoursAgo, word] of [
      [2, "old"],
      [1, "new"],
    ] as const) {
      await record(hoursAgo, word);
      // Of the 64, three are of the name, the owner and the language.
      for (const [text, total] of [
        ["name", 1],
        ["owner", 1],
        ["zig", 1],
        [`${word}00`, 1],
        [`${word}60`, 1],
        [`${word}61`, 0],
        ["t02", 0],
      ] as const)
        assert.equal(await search(text), total, text);
      for (const [topic, total] of [
        ["t01", 2],
        ["t49", 1],
        ["t50", 0],
      ] as const)
        assert.equal(await totalOf({ filters: { topic: [topic] } }), total, topic);
    }
    const said = lines.filter(({ leftOut }) => leftOut !== undefined).map(({ leftOut }) => leftOut);
    assert.deepEqual(said, [{ words: 89, topics: 10 }]);
  });
});

test("of very many words those of texts are left out, and every name is still found", () => {
  const collector = new WordCollector(6);
  const texts = { topics: [], language: null };
  collector.add({ ...texts, owner: "a", name: "first", description: "many words of text" });
  collector.add({ ...texts, owner: "b", name: "second", description: "text with words" });
  const steps = collector.finish(64);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  const index = step.value;
  const has = (word: string) => index.addTo(new SlotSet(64), word, { place: TEXT, isPrefix: false });
  assert.deepEqual(["first", "many", "text", "second", "b", "words", "with"].filter(has), [
    "first",
    "many",
    "text",
    "second",
    "b",
    "words",
  ]);
  assert.equal(collector.leftOut, 1);
});

test("an index is made in steps of at most 20,000 words, however many begin in the same way", () => {
  const words = new WordCollector();
  for (let i = 0; i < 3_000; i++)
    words.add({
      owner: "aa",
      name: `aa${i}`,
      description: Array.from({ length: 40 }, (_, j) => `aa${i}x${j}`).join(" "),
      topics: [],
      language: null,
    });
  let steps = 0;
  for (const making = words.finish(3_000); making.next().done !== true; ) steps++;
  // Once over the distinct words and once over those of all repositories.
  assert.ok(steps >= 2 * Math.floor((3_000 * 41) / 20_000), `${steps} steps`);
});
