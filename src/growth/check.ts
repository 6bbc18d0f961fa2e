import { sql } from "kysely";
import type { Db, Dialect } from "../database/database.js";
import { readRecency, repositoriesAfter } from "../repositories/repositories.js";
import { growthOf } from "./compare.js";
import { WINDOW_HOURS } from "./definitions.js";
import { readHistories } from "./history.js";
import { hundredths } from "./rollups.js";

/** Kinds of damage of growth. */
export type GrowthDamage = "growth-wrong";

/** Repositories read at a time. */
const BATCH = 1_000;

interface Row {
  repository_id: number;
  window_hours: number;
  from_at: number;
  to_at: number;
  stars_from: number;
  stars_delta: number;
  stars_usual: number | null;
}

/**
 * Computes the growth of all repositories again and compares the values that do not depend on when they were computed: the two
 * snapshots and the gains. Leaves out repositories marked as outdated, and providers whose growth is to be rebuilt.
 */
export async function checkGrowth(
  db: Db,
  dialect: Dialect,
  onDamage: (kind: GrowthDamage, found: string) => void,
): Promise<void> {
  const recency = await readRecency(db);
  const { rows: scaled } = await sql<{
    provider: string;
  }>`select distinct provider from score_scales where as_of > 0`.execute(db);
  const providers = new Set(scaled.map(({ provider }) => provider));
  for (let after = 0; ; ) {
    const ids = await repositoriesAfter(db, dialect, { after, limit: BATCH });
    const last = ids.at(-1);
    if (last === undefined) return;
    after = last;
    const here = dialect.among(sql.ref("repository_id"), ids);
    const { rows: marks } = await sql<{ id: number }>`select repository_id as id from outdated
      where kind in ('rollups', 'rollups_in_rebuild', 'rollups_damaged') and ${here}`.execute(db);
    const marked = new Set(marks.map(({ id }) => id));
    const { rows } =
      await sql<Row>`select repository_id, window_hours, from_at, to_at, stars_from, stars_delta,
        stars_usual
      from rollups where ${here}`.execute(db);
    const stored = new Map(rows.map((row) => [`${row.repository_id} ${row.window_hours}`, row]));
    const { histories } = await readHistories(db, dialect, { ids, onDamaged: () => {} });
    for (const history of histories) {
      const id = history.repositoryId;
      if (marked.has(id) || !providers.has(history.provider)) continue;
      for (const { window, from, to, usualPerDay } of growthOf(history, recency)) {
        const row = stored.get(`${id} ${WINDOW_HOURS[window]}`);
        const isSame =
          row !== undefined &&
          row.from_at === from.at &&
          row.to_at === to.at &&
          row.stars_from === from.stars &&
          row.stars_delta === to.stars - from.stars &&
          row.stars_usual === hundredths(usualPerDay);
        if (!isSame) onDamage("growth-wrong", `repository ${id}, ${window}`);
      }
    }
  }
}
