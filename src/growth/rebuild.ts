import { sql } from "kysely";
import {
  type BulkRow,
  type BulkTable,
  createRollupTable,
  type Database,
  type Dialect,
  type Tx,
} from "../database/database.js";
import type { Clock } from "../lib/clock.js";
import {
  ALL_GROWTH,
  markOutdated,
  NumberRoom,
  noteChanges,
  type Recency,
  readRecency,
  repositoriesAfter,
} from "../repositories/repositories.js";
import { grow } from "./compare.js";
import { type GrowthContext, readHistories } from "./history.js";
import { MoveCounter } from "./moves.js";
import { type RebuildLease, rebuildAlone } from "./rebuild-lease.js";
import { ROLLUPS, rollupRow } from "./rollups.js";

/** The mark that growth has changed since the last rebuild. */
export const PARTIAL = "growth_partial";

const NEXT_ROLLUPS: BulkTable = { ...ROLLUPS, table: "rollups_next" };

/** Repositories in one transaction, and the numbers of their readings, if there is one a day. */
const BATCH = 1_000;
const ROOM = 600_000;

/**
 * Rebuilds the growth and scores of all repositories in a second table, which replaces the first once it is complete and
 * indexed. Repositories recorded in the meantime stay marked and are updated afterwards. Returns the number of repositories
 * computed; 0 if another process is rebuilding.
 */
export async function rebuildGrowth(
  database: Database,
  context: GrowthContext,
  onProgress: (done: number) => void,
): Promise<number> {
  const work = (lease: RebuildLease) => rebuild(database, lease, { ...context, onProgress });
  return (await rebuildAlone(database, context.clock, work)) ?? 0;
}

async function rebuild(
  database: Database,
  lease: RebuildLease,
  { clock, onDamaged, onProgress }: GrowthContext & { onProgress: (done: number) => void },
): Promise<number> {
  const { dialect, write } = database;
  await lease.step(async (tx) => {
    await sql`drop table if exists rollups_next`.execute(tx);
    await createRollupTable(dialect, "rollups_next", lease.generation).execute(tx);
  });
  for (const kind of ["rollups_in_rebuild", "rollups"])
    while ((await lease.step((tx) => clearSome(tx, dialect, kind))) === CLEARED);
  const recency = await readRecency(write);
  const moves = new MoveCounter();
  const room = new NumberRoom(ROOM);
  const damaged: number[] = [];
  let done = 0;
  for (let after = 0; ; ) {
    const ids = await repositoriesAfter(write, dialect, { after, limit: BATCH });
    const last = ids.at(-1);
    if (last === undefined) break;
    after = last;
    room.reset();
    const read = await readHistories(write, dialect, { ids, room, onDamaged });
    damaged.push(...read.damaged);
    const rows = read.histories.flatMap((history): BulkRow[] => {
      const { growth, totals, jumps } = grow(history, recency);
      moves.add(history.provider, totals, jumps);
      return growth.map((one) => rollupRow(history, one));
    });
    await lease.step((tx) => dialect.insertNew(tx, NEXT_ROLLUPS, rows));
    done += ids.length;
    onProgress(done);
  }
  await lease.step((tx) => dialect.analyze(tx, "rollups_next"));
  await swapWhenFree(lease, { recency, moves, damaged }, { dialect, clock });
  return done;
}

/** Marks deleted in one transaction. */
const CLEARED = 5_000;

/** Deletes some marks of one kind. Returns their number. */
async function clearSome(tx: Tx, dialect: Dialect, kind: string): Promise<number> {
  const marked = tx.selectFrom("outdated").select("repository_id").where("kind", "=", kind).limit(CLEARED);
  const ids = (await marked.execute()).map((row) => row.repository_id);
  const here = dialect.among(sql.ref("repository_id"), ids);
  await tx.deleteFrom("outdated").where("kind", "=", kind).where(here).execute();
  return ids.length;
}

/** Attempts at swapping the tables while a long reader, such as a backup, holds the old one, and the time between them. */
const SWAP_TRIES = 200;
const SWAP_RETRY_MS = 5_000;

async function swapWhenFree(
  lease: RebuildLease,
  measured: Measured,
  { dialect, clock }: { dialect: Dialect; clock: Clock },
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await lease.end((tx) => swap(tx, dialect, measured));
    } catch (error) {
      if (!dialect.isInUse(error) || tries === SWAP_TRIES) throw error;
      await clock.sleep(SWAP_RETRY_MS);
      await lease.step(async () => {});
    }
  }
}

interface Measured {
  recency: Recency;
  moves: MoveCounter;
  /** Repositories without growth, as their history is damaged. */
  damaged: readonly number[];
}

async function swap(tx: Tx, dialect: Dialect, { recency, moves, damaged }: Measured): Promise<void> {
  await dialect.replaceTable(tx, "rollups", "rollups_next");
  await tx.deleteFrom("growth_rebuilds").execute();
  const rebuilt = [...recency.fullDays].map(([provider, as_of]) => ({ provider, as_of }));
  if (rebuilt.length > 0) await tx.insertInto("growth_rebuilds").values(rebuilt).execute();
  await moves.store(tx, dialect);
  await sql`insert into outdated (kind, repository_id) select 'rollups', repository_id from outdated
    where kind = 'rollups_in_rebuild' on conflict do nothing`.execute(tx);
  await tx.deleteFrom("outdated").where("kind", "in", ["rollups_in_rebuild", "rollups_damaged"]).execute();
  await markOutdated(tx, dialect, { rollups_damaged: damaged });
  await tx.deleteFrom("marks").where("name", "=", PARTIAL).execute();
  await noteChanges(tx, dialect, [ALL_GROWTH]);
}
