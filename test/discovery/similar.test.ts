import assert from "node:assert/strict";
import { test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { createWorld, daily, observation } from "../support/world.js";

onSqlite("similar repositories", (engine) => {
  test("share the most topics, then are of the same size and language", async () => {
    const world = await createWorld(engine);
    const named = (
      name: string,
      stars: number,
      facts: { topics?: string[]; language?: string; archived?: boolean },
    ) => observation(name, daily(stars), { facts });
    await world.record(
      named("a/own", 1_000, { topics: ["web", "parser"], language: "Rust" }),
      named("b/common", 1_000, { topics: ["web"], language: "Rust" }),
      named("c/rare", 10, { topics: ["parser"], language: "Go" }),
      named("d/both", 50, { topics: ["parser", "web"], language: "Go" }),
      named("e/none", 1_000, { language: "Rust" }),
      named("f/archived", 1_000, { topics: ["web", "parser"], archived: true }),
      named("g/near", 900, { topics: ["web"] }),
      named("h/plain", 2_000, { language: "Rust" }),
    );
    const idOf = async (name: string): Promise<number> =>
      Number((await world.get(`/api/repos/github/${name}`)).body.data.id);
    const { rankings, lists } = world.modules;
    const namesOf = async (name: string, most: number) => {
      const rows = await lists.rows(await rankings.similar(await idOf(name), most), "7d");
      return rows.map(({ repository }) => repository.fullName);
    };
    assert.deepEqual(await namesOf("a/own", 3), ["d/both", "b/common", "g/near"]);
    assert.deepEqual((await namesOf("a/own", 9)).slice(-2), ["e/none", "h/plain"]);
    assert.deepEqual((await namesOf("e/none", 2)).toSorted(), ["a/own", "b/common"]);
    assert.deepEqual(await rankings.similar(999_999, 3), []);
  });
});
