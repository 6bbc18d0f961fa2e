/**
 * Checks a store, even one that the service cannot open: the engine's own check, every block of history, rows that refer to none, and
 * counts of derived data. A repair removes such rows and counts again; the caller derives everything else. Each finding is
 * of one state, so a check may run while the service does.
 */
import { sql } from "kysely";
import {
  checkFile,
  checkServer,
  currentVersion,
  type Database,
  type Db,
  findOrphans,
  LATEST_VERSION,
  type Orphans,
  openBackgroundReader,
  removeOrphans,
  SHAPES,
  type StoreLocation,
} from "../database/database.js";
import { checkRankHistory } from "../discovery/discovery.js";
import { type Clock, DAY_MS } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { checkHistories, outdateAll, recountHours } from "../repositories/repositories.js";

/** Every kind of damage: its description, and the remedy if a repair cannot help. */
const KINDS = {
  "file-damaged": [
    "The database is damaged",
    "Check the disk, and restore a backup; without one, try export.",
  ],
  "index-damaged": ["An index of the database does not match its table", undefined],
  "version-wrong": ["The store is of another version", "Start the service, or update the program."],
  "block-damaged": [
    "A block of history is damaged",
    "Restore a backup, or delete the block and import its days again.",
  ],
  "history-overlaps": [
    "Blocks of history overlap",
    "Restore a backup, or delete one and import its days again.",
  ],
  "rank-block-damaged": ["A block of past ranks is damaged", "Restore a backup, or delete the block."],
  orphans: ["Rows refer to rows that are missing", undefined],
  "id-taken": ["The next id is one that is taken", undefined],
  "schedule-wrong": ["A repository would not be refreshed for months", undefined],
  "derived-wrong": ["Derived data does not match its source", undefined],
} as const satisfies Readonly<Record<string, readonly [title: string, advice: string | undefined]>>;
type DamageKind = keyof typeof KINDS;

export interface Finding {
  kind: DamageKind;
  title: string;
  found: string[];
  /** The remedy; undefined: `repairStore` does it. */
  advice: string | undefined;
}

interface CheckedStore {
  findings: Finding[];
  /** The rows that a repair removes. */
  orphans: Orphans[];
}

/** Repositories are due within weeks: a later time was written while a clock was wrong. */
const DUE_MS = 100 * DAY_MS;

/** Changes nothing. Throws if there is no store, or if it cannot be reached. */
export async function checkStore(location: StoreLocation, clock: Clock, log: Logger): Promise<CheckedStore> {
  const found = new Map<DamageKind, string[]>();
  const onDamage = (kind: DamageKind, one: string) => found.set(kind, [...(found.get(kind) ?? []), one]);
  let orphans: Orphans[] = [];
  if (location.url === undefined) checkFile(location.dataDir, onDamage);
  if (!found.has("file-damaged")) {
    const { dialect, read, close } = openBackgroundReader({ ...location, log, isPatient: true });
    try {
      if (location.url !== undefined) await checkServer(read, onDamage);
      await dialect.snapshot(read, async (db) => {
        const version = await currentVersion(db);
        if (version !== LATEST_VERSION)
          return void onDamage("version-wrong", `version ${version}, this program's is ${LATEST_VERSION}`);
        orphans = await findOrphans(db, SHAPES);
        for (const { table, column, value, target, rows } of orphans)
          onDamage("orphans", `${table}: ${rows} rows whose ${column} ${value} is not in ${target}`);
        await checkHistories(db, onDamage);
        await checkRankHistory(db, (one) => onDamage("rank-block-damaged", one));
        for (const table of await dialect.sequencesBehind(db)) onDamage("id-taken", table);
        for (const id of await unscheduled(db, clock.now())) onDamage("schedule-wrong", `repository ${id}`);
        for (const one of await miscounted(db)) onDamage("derived-wrong", one);
      });
    } finally {
      await close();
    }
  }
  const findings = [...found].map(([kind, all]) => {
    const [title, advice] = KINDS[kind];
    return { kind, title, found: all, advice };
  });
  return { findings, orphans };
}

/** Repositories that no worker would refresh for too long. */
async function unscheduled(db: Db, now: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from repositories where next_refresh_at > ${now + DUE_MS}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Counts of snapshots by hour that differ from the snapshots: they are counted as they are recorded. */
async function miscounted(db: Db): Promise<string[]> {
  const { rows } = await sql<{ own: number; expected: number }>`
    select (select coalesce(sum(snapshots), 0) from snapshot_hours) as own,
      (select coalesce(sum(snapshots), 0) from snapshot_blocks) + (select count(*) from snapshots) as expected`.execute(
    db,
  );
  return rows.flatMap(({ own, expected }) =>
    Number(own) === Number(expected) ? [] : [`snapshots by hour: ${own} instead of ${expected}`],
  );
}

/** Repairs the findings of `checkStore` that need no backup, and marks all derived data to be built again. May be killed. */
export async function repairStore(
  { dialect, write }: Database,
  { findings, orphans }: CheckedStore,
  now: number,
): Promise<void> {
  if (findings.some(({ kind }) => kind === "index-damaged")) await dialect.reindex(write);
  await dialect.advanceSequences(write);
  await dialect.exclusively(write, "catalogue", async (tx) => {
    await removeOrphans(tx, orphans);
    await sql`update repositories set next_refresh_at = ${now} where next_refresh_at > ${now + DUE_MS}`.execute(
      tx,
    );
    const ids = await tx.selectFrom("repositories").select("id").orderBy("id").execute();
    await recountHours(
      tx,
      dialect,
      ids.map(({ id }) => id),
    );
    await outdateAll(tx, dialect);
  });
}
