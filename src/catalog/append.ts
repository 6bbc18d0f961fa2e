import { sql } from "kysely";
import { HOUR_MS } from "../clock.js";
import type { BulkColumns, BulkRow, Db, Dialect, Tx } from "../database/database.js";
import { SNAPSHOT_SOURCES, type Snapshot } from "./observation.js";

/** Rows inserted in one statement. */
const CHUNK = 5_000;

const SNAPSHOT_COLUMNS: BulkColumns = {
  repository_id: "bigint",
  captured_at: "bigint",
  stars: "bigint",
  forks: "bigint",
  open_issues: "bigint",
  watchers: "bigint",
  source: "smallint",
};

/** Snapshots of one repository. If two lists have a snapshot of the same time, the earlier list wins. */
export interface SnapshotsOf {
  repositoryId: number;
  provider: string;
  lists: Iterable<Snapshot>[];
}

/** The snapshots that were new, and the repositories they belong to. */
export interface Appended {
  snapshots: number;
  repositoryIds: number[];
}

/** Appends the snapshots that do not exist yet and counts them by hour. Existing ones never change. */
export async function appendSnapshots(
  tx: Tx,
  dialect: Dialect,
  given: readonly SnapshotsOf[],
): Promise<Appended> {
  const hours = new HourCounts();
  const repositoryIds = new Set<number>();
  let snapshots = 0;
  let rows: BulkRow[] = [];
  let providers: string[] = [];
  const flush = async () => {
    const inserted = await dialect.insertNew(
      tx,
      "snapshots",
      SNAPSHOT_COLUMNS,
      ["repository_id", "captured_at"],
      rows,
    );
    for (const [i, row] of rows.entries()) {
      if (!inserted[i]) continue;
      snapshots++;
      repositoryIds.add(Number(row[0]));
      hours.add(providers[i] ?? "", Number(row[1]));
    }
    rows = [];
    providers = [];
  };
  // In key order, because neighbouring keys share database pages. The sort is stable, so the first of two equal times wins.
  for (const { repositoryId, provider, lists } of given.toSorted((a, b) => a.repositoryId - b.repositoryId)) {
    const all = lists.flatMap((list) => [...list]).sort((a, b) => a.capturedAt - b.capturedAt);
    for (const { capturedAt, stars, forks, openIssues, watchers, source } of all) {
      const sourceIndex = SNAPSHOT_SOURCES.indexOf(source);
      rows.push([repositoryId, capturedAt, stars, forks, openIssues, watchers, sourceIndex]);
      providers.push(provider);
    }
    if (rows.length >= CHUNK) await flush();
  }
  await flush();
  await hours.write(tx);
  return { snapshots, repositoryIds: [...repositoryIds] };
}

/** Counts new snapshots by provider and hour. */
class HourCounts {
  readonly #counts = new Map<
    string,
    { provider: string; hour: number; snapshots: number; newestAt: number }
  >();

  add(provider: string, capturedAt: number): void {
    const hour = Math.floor(capturedAt / HOUR_MS);
    const key = `${provider} ${hour}`;
    const known = this.#counts.get(key);
    if (known === undefined) this.#counts.set(key, { provider, hour, snapshots: 1, newestAt: capturedAt });
    else {
      known.snapshots++;
      known.newestAt = Math.max(known.newestAt, capturedAt);
    }
  }

  async write(tx: Tx): Promise<void> {
    for (const { provider, hour, snapshots, newestAt } of this.#counts.values()) {
      await sql`insert into snapshot_hours (provider, hour, snapshots, newest_at)
        values (${provider}, ${hour}, ${snapshots}, ${newestAt})
        on conflict (provider, hour) do update set snapshots = snapshot_hours.snapshots + excluded.snapshots,
          newest_at = case when excluded.newest_at > snapshot_hours.newest_at then excluded.newest_at
            else snapshot_hours.newest_at end`.execute(tx);
    }
  }
}

/** Time of each provider's newest snapshot, which is the end of all its windows. */
export async function newestSnapshots(db: Db): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom("snapshot_hours")
    .select(({ fn }) => ["provider", fn.max("newest_at").as("as_of")])
    .groupBy("provider")
    .execute();
  return new Map(rows.map((row) => [row.provider, Number(row.as_of)]));
}
