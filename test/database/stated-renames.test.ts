import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sql } from "kysely";
import { migrateTo } from "../reliability/support/old-stores.js";
import { openOldStore } from "../reliability/support/open-old-store.js";
import { temporaryFolder } from "../support/imports.js";

test("An upgrade keeps accepted renames joined and lists the names of suspected ones again", async () => {
  const store = openOldStore(join(mkdtempSync(join(temporaryFolder(), "store-")), "sidereal.db"));
  const { db } = store;
  await migrateTo(store, 17);
  for (const [id, key, availability] of [
    [1, "o/suspected", "RENAMED"],
    [2, "n/suspected", "AVAILABLE"],
    [3, null, "RENAMED"],
    [4, "n/accepted", "AVAILABLE"],
    [5, "o/rejected", "AVAILABLE"],
  ])
    await sql`insert into repositories (id, provider, owner, name, name_key, url, topics, availability, discovered_at, known_facts)
      values (${id}, 'GITHUB', 'o', ${id}, ${key}, '', '[]', ${availability}, ${id}, 0)`.execute(db);
  await sql`insert into renames (from_id, to_id, status, evidence, continues_at, suspected_at, joined_before)
    values (1, 2, 'SUSPECTED', '{}', 20, 30, null), (3, 4, 'ACCEPTED', '{}', 40, 50, 40),
      (5, 4, 'REJECTED', '{}', 60, 70, null)`.execute(db);

  await migrateTo(store, 18);
  const rows = async (query: ReturnType<typeof sql<object>>) =>
    (await query.execute(db)).rows.map((row) => ({ ...row }));
  assert.deepEqual(await rows(sql`select * from renames`), [
    { from_id: 3, to_id: 4, availability: "AVAILABLE", discovered_at: 40, both_at: "[]" },
  ]);
  assert.deepEqual(await rows(sql`select id from repositories where availability = 'RENAMED'`), [{ id: 3 }]);
  assert.deepEqual(await rows(sql`select kind, repository_id as id from outdated order by 1, 2`), [
    { kind: "rollups", id: 1 },
    { kind: "rollups", id: 2 },
    { kind: "words", id: 1 },
    { kind: "words", id: 2 },
  ]);
  await store.close();
});
