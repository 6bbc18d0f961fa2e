import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqliteAndLong } from "../support/engines.js";
import { examples, fc } from "../support/properties.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

/** What means something to one of the engines, to a query, or to those who fold and cut texts. */
const SYNTAX = [
  ..."\" ' * ( ) ^a : & | ! <-> \\ % _ -- ; + -a c++ c# AND OR NOT NEAR(a :* names: {names}: {terms}".split(
    " ",
  ),
  ..."\u0001 \ud800 \ufeff \u202e ﬁ İ ß 学习 ɣᳲༀ aᦰa 🚀 é e\u0301 ١٢ ½ ㎏".split(" "),
];

onSqliteAndLong("Whatever is searched for", (engine) => {
  let world: World;
  const statusOf = async (path: string, query: string): Promise<number> =>
    (await world.get(`${path}${query}`)).status;

  before(async () => {
    world = await createWorld(engine);
    await world.record(
      observation("a/plain", daily(5, 6), { facts: { language: "Go", topics: ["web"] } }),
      ...SYNTAX.map((text, i) =>
        observation(`s/r${i}-${text.replaceAll(/[\0\s/]/g, "")}`, daily(i, i + 1), {
          facts: {
            description: text.replaceAll("\0", "").toWellFormed(),
            topics: [`t${text}`.replaceAll("\0", "").toWellFormed()],
          },
        }),
      ),
    );
  });

  test("texts of any kind: found or not, nothing is a syntax and nothing fails", async () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary", maxLength: 60 }),
      fc.string({ unit: "grapheme", maxLength: 40 }),
      fc
        .array(fc.oneof(fc.constantFrom(...SYNTAX), fc.string({ maxLength: 5 })), { maxLength: 8 })
        .map((parts) => parts.join(" ")),
    );
    /** As a query writes it; now and then with bytes that are no UTF-8. */
    const queries = fc.oneof(
      texts.map((text) => encodeURIComponent(text.toWellFormed())),
      fc
        .uint8Array({ maxLength: 30 })
        .map((bytes) => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")),
    );
    const paths = ["/api/repos?q=", "/api/repos?sort=stars&q=", "/api/search/suggest?q="];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), queries, async (path, query) => {
        const status = await statusOf(path, query);
        assert.ok(status === 200 || status === 400, `${path}${query} answered ${status}`);
      }),
      { numRuns: examples(1_000) },
    );
  });

  test("what is a syntax elsewhere is a text here", async () => {
    for (const path of ["/api/repos?q=", "/api/search/suggest?q="]) {
      for (const text of SYNTAX) {
        const query = encodeURIComponent(text.toWellFormed());
        assert.equal(await statusOf(path, query), 200, text);
        assert.equal(await statusOf(path, `a${query}a`), 200, text);
      }
    }
  });

  test("no language, topic, license, provider, time or cursor is a syntax either", async () => {
    const value = fc.string({ unit: "binary", minLength: 1, maxLength: 30 });
    const name = fc.constantFrom(
      "language",
      "topic",
      "license",
      "provider",
      "cursor",
      "createdAfter",
      "unknown",
    );
    await fc.assert(
      fc.asyncProperty(name, value, async (parameter, text) => {
        const status = await statusOf("/api/repos?", `${new URLSearchParams([[parameter, text]])}`);
        assert.ok(status === 200 || status === 400, `${parameter}=${text} answered ${status}`);
      }),
      { numRuns: examples(300) },
    );
  });
});
