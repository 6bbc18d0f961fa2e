import assert from "node:assert/strict";
import { before, test } from "node:test";
import { sql } from "kysely";
import type { Database } from "../../../src/database/database.js";
import type { BulkRow, BulkTable } from "../../../src/database/dialect.js";
import { readState } from "../../../src/discovery/search/layout.js";
import { Search } from "../../../src/discovery/search/search.js";
import { Catalog } from "../../../src/repositories/repositories.js";
import { onBothEngines } from "../../support/engines.js";
import { ManualClock } from "../../support/manual-clock.js";
import { examples, fc } from "../../support/properties.js";
import { NOW } from "../../support/world.js";
import { type Listed, modelOf } from "./model.js";

/** More than a block of the index holds. */
const REPOSITORIES = 64_000;
const PER_BLOCK = 61_440;
const LIMIT = 10_001;

const STORED: BulkTable = {
  table: "repositories",
  columns: {
    id: "bigint",
    provider: "text",
    owner: "text",
    name: "text",
    name_key: "text",
    url: "text",
    description: "text",
    topics: "text",
    stars: "bigint",
    availability: "text",
    discovered_at: "bigint",
    known_facts: "bigint",
  },
  key: ["id"],
};
const MARKS: BulkTable = {
  table: "outdated",
  columns: { kind: "text", repository_id: "bigint" },
  key: ["kind", "repository_id"],
};

/** Words of three kinds: in the names of many repositories of all blocks, of some, and only of unpopular ones. */
function listedAt(id: number): Listed {
  const rank = (id * 7_919) % REPOSITORIES;
  const isRare = rank >= PER_BLOCK;
  const words = ["web", "webpack", "app", "api", "kit", "kitten"];
  const name = isRare
    ? `${words[rank % 6]}-rare${rank % 40}${rank % 2 === 0 ? "" : "-obscure"}`
    : `${words[rank % 6]}${words[(rank >> 3) % 6]}${rank % 5 === 0 ? "" : `-n${rank % 900}`}`;
  const description = `${rank % 3 === 0 ? "tool" : "library"} for ${isRare ? "nobody" : "all"} ${rank % 700 === 0 ? "seldom" : ""}`;
  return {
    id,
    owner: `owner${rank % 50}`,
    name: `${name}-${id}`,
    description,
    topics: [],
    language: null,
    stars: 200_000 - rank,
  };
}

onBothEngines("A search of an index of several blocks", (engine) => {
  let database: Database;
  let catalog: Catalog;
  let search: Search;
  let listed: Listed[] = [];
  let expected: (text: string) => number[] = () => [];

  const write = async (repositories: readonly Listed[]) => {
    const rows = repositories.map(
      ({ id, owner, name, description, stars }): BulkRow => [
        id,
        "GITHUB",
        owner,
        name,
        `${owner}/${name}`.toLowerCase(),
        `https://github.com/${owner}/${name}`,
        description,
        "[]",
        stars,
        "AVAILABLE",
        NOW,
        0,
      ],
    );
    await database.dialect.exclusively(database.write, "catalogue", (tx) =>
      database.dialect.upsert(tx, STORED, rows),
    );
  };

  before(async () => {
    database = await engine.open();
    catalog = new Catalog(database, new ManualClock(NOW));
    search = new Search(database, catalog, new ManualClock(NOW));
    listed = Array.from({ length: REPOSITORIES }, (_, i) => listedAt(i + 1));
    await write(listed);
    await search.update();
    expected = modelOf(listed);
    const state = await readState(database.read);
    assert.equal(state?.builtBlocks, 2);
  });

  const word = fc.constantFrom(
    ..."web webpack app kit kitten rare7 rare obscure nobody seldom tool library n17 owner7 absent".split(
      " ",
    ),
  );
  const texts = fc.oneof(
    fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(" ")),
    word.chain((one) => fc.nat({ max: one.length }).map((length) => one.slice(0, length))),
    fc.tuple(word, word).map(([a, b]) => `${a} ${b.slice(0, 3)}`),
    fc.nat({ max: REPOSITORIES - 1 }).map((i) => `${listedAt(i + 1).owner}/${listedAt(i + 1).name}`),
    fc.nat({ max: REPOSITORIES - 1 }).map((i) => listedAt(i + 1).name.slice(0, 9)),
  );

  test("finds exactly what its definition says, in the same order, and counts it, whatever the limit", async () => {
    await fc.assert(
      fc.asyncProperty(texts, fc.constantFrom(1, 8, 26, 300, LIMIT), async (text, limit) => {
        const all = expected(text);
        const { ids, total } = await search.find(text, { limit, counted: LIMIT, correct: false });
        assert.deepEqual(ids, all.slice(0, limit), text);
        assert.equal(total, Math.min(all.length, LIMIT), text);
      }),
      { numRuns: examples(150) },
    );
  });

  test("finds what has changed since the index was built, and nothing that it no longer says", async () => {
    const changed = new Set(Array.from({ length: 300 }, (_, i) => 1 + ((i * 211) % REPOSITORIES)));
    for (const round of ["fresh", "fresher"]) {
      const rewritten = listed.flatMap((one) =>
        changed.has(one.id)
          ? { ...one, name: `${round}${one.id % 7}-web-${one.id}`, description: "tool for changes" }
          : [],
      );
      await write(rewritten);
      const marks = rewritten.map(({ id }): BulkRow => ["words", id]);
      await database.dialect.exclusively(database.write, "catalogue", (tx) =>
        database.dialect.insertNew(tx, MARKS, marks),
      );
      // Another process updates the index that this one has in memory.
      await new Search(database, catalog, new ManualClock(NOW)).update();
      const state = await readState(database.read);
      assert.equal(state?.builtBlocks, 2, "the index was not rebuilt");
      const byId = new Map(rewritten.map((one) => [one.id, one]));
      const model = modelOf(listed.map((one) => byId.get(one.id) ?? one));
      for (const text of [
        "fresh",
        "fresher",
        `${round}3`,
        "fres",
        "changes",
        "tool",
        "web tool",
        "obscure",
        "rare7",
        "owner7 web",
      ]) {
        const all = model(text);
        const { ids, total } = await search.find(text, { limit: REPOSITORIES, correct: false });
        assert.deepEqual(
          ids.toSorted((a, b) => a - b),
          all.toSorted((a, b) => a - b),
          `${round}: ${text}`,
        );
        assert.equal(total, all.length);
        const counted = await search.find(text, { limit: 5, counted: LIMIT, correct: false });
        assert.equal(counted.total, Math.min(all.length, LIMIT), text);
        assert.deepEqual(counted.ids, ids.slice(0, 5), text);
      }
    }
    const { rows } = await sql<{ n: number }>`select count(*) as n from outdated
      where kind = 'words'`.execute(database.read);
    assert.equal(Number(rows[0]?.n), 0);
  });
});
