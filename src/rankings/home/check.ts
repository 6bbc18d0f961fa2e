import { sql } from "kysely";
import type { Db } from "../../database/database.js";
import { readPrepared } from "./prepared.js";
import type { Summary } from "./summary.js";

/** Compares the stored counters with what they count, unless an update is due. */
export async function checkSummary(db: Db, isDue: boolean, onWrong: (found: string) => void): Promise<void> {
  if (isDue) return;
  const stored = await readPrepared<Summary>(db, "summary").catch(() => "damaged" as const);
  if (stored === "damaged") return onWrong("it cannot be read");
  const { rows } = await sql<{ provider: string; repositories: number }>`
    select provider, count(*) as repositories from repositories where availability = 'AVAILABLE'
    group by provider`.execute(db);
  const total = rows.reduce((sum, row) => sum + Number(row.repositories), 0);
  const named = await sql<{ kind: string; names: number }>`
    select kind, count(*) as names from facets where provider = '' group by kind`.execute(db);
  const namesOf = (kind: string) => Number(named.rows.find((row) => row.kind === kind)?.names ?? 0);
  // Before the first update there is none.
  if (stored === undefined) return;
  const expected = { repositories: total, languages: namesOf("language"), topics: namesOf("topic") };
  for (const [counter, count] of Object.entries(expected)) {
    const own = stored[counter as keyof typeof expected];
    if (own !== count) onWrong(`${counter}: ${own} in place of ${count}`);
  }
}
