import { sql } from "kysely";
import type { Database } from "../database/database.js";
import { FOLLOWING_TABLES, orphansOf } from "./check.js";
import { bumpRevision } from "./outdated.js";
import { nameKey } from "./repository.js";
import { recountHours } from "./snapshots/snapshots.js";

/** Repositories in one transaction. */
const BATCH = 1_000;

/** Adds the rows of which there is always one. */
export async function restoreRows({ dialect, write }: Database): Promise<void> {
  await dialect.exclusively(write, "catalogue", async (tx) => {
    // Readers take any other number for a change.
    await sql`insert into revision (id, value) values (1, ${1_000_000}) on conflict do nothing`.execute(tx);
    for (const id of [1, 2, 3])
      await sql`insert into runs (id, generation, owner, seen_at) values (${id}, 1000, null, 0)
        on conflict do nothing`.execute(tx);
    await sql`insert into search_state (id, first_block, built_blocks, positions, documents, slots, version, vocabulary)
      values (1, null, 0, 0, 0, 0, 0, '') on conflict do nothing`.execute(tx);
  });
}

/** Deletes rows that follow from repositories that are not there. */
export async function removeOrphans({ dialect, write }: Database): Promise<void> {
  for (const table of FOLLOWING_TABLES)
    await dialect.exclusively(write, "catalogue", async (tx) => {
      for await (const orphans of orphansOf(tx, dialect, table))
        await sql`delete from ${sql.table(table)}
          where ${dialect.among(sql.ref("repository_id"), orphans)}`.execute(tx);
    });
}

/** Derives the names and topics of repositories again from their rows. A name that another repository has is left to none. */
export async function deriveNames({ dialect, write }: Database): Promise<void> {
  for (let after = 0; ; ) {
    const last = await dialect.exclusively(write, "catalogue", async (tx) => {
      const { rows } = await sql<{
        id: number;
        provider: string;
        owner: string;
        name: string;
        name_key: string | null;
        topics: string;
      }>`
        select id, provider, owner, name, name_key, topics from repositories
        where id > ${after} order by id limit ${BATCH}`.execute(tx);
      for (const { id, provider, owner, name, name_key, topics } of rows) {
        const key = nameKey(owner, name);
        if (name_key !== null && name_key !== key)
          await sql`update repositories set name_key = case when exists (select 1 from repositories o
            where o.provider = ${provider} and o.name_key = ${key}) then null else ${key} end where id = ${id}`.execute(
            tx,
          );
        const wanted = new Set<string>(topicsOf(topics));
        const stored = await tx
          .selectFrom("repository_topics")
          .select("topic")
          .where("repository_id", "=", id)
          .execute();
        const known = new Set(stored.map(({ topic }) => topic));
        if (known.symmetricDifference(wanted).size === 0) continue;
        await tx.deleteFrom("repository_topics").where("repository_id", "=", id).execute();
        for (const topic of wanted)
          await tx.insertInto("repository_topics").values({ repository_id: id, topic }).execute();
      }
      return rows.at(-1)?.id;
    });
    if (last === undefined) return;
    after = last;
  }
}

function topicsOf(text: string): string[] {
  try {
    const topics: unknown = JSON.parse(text);
    return Array.isArray(topics) ? topics.map(String) : [];
  } catch {
    return [];
  }
}

/** Counts all snapshots per hour again, in one transaction. */
export async function recountSnapshots({ dialect, write }: Database): Promise<void> {
  await dialect.exclusively(write, "catalogue", async (tx) => {
    const rows = await tx.selectFrom("repositories").select("id").orderBy("id").execute();
    await recountHours(
      tx,
      dialect,
      rows.map(({ id }) => id),
    );
    await bumpRevision(tx);
  });
}

/** Marks all growth, ranks and words to be rebuilt by the next update. */
export async function outdateAll({ dialect, write }: Database): Promise<void> {
  await dialect.exclusively(write, "catalogue", async (tx) => {
    // Without scales the next update rebuilds all growth, and with it ranks and facets.
    await sql`delete from score_scales`.execute(tx);
    await sql`insert into outdated (kind, repository_id) values ('ranks', 0) on conflict do nothing`.execute(
      tx,
    );
    // A rebuild in progress stops at its next step.
    await sql`update runs set owner = null`.execute(tx);
    await sql`update search_state set first_block = null, version = version + 1`.execute(tx);
    await bumpRevision(tx);
  });
}
