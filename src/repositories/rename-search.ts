/** Looks for names of archives without ids that continue under others, after new files were imported, and joins them. */
import { sql } from "kysely";
import type { Database, Db, Dialect, Tx } from "../database/database.js";
import { DAY_MS } from "../lib/clock.js";
import { markOutdated, type Transact } from "./changes.js";
import { readNewestFiles } from "./recency.js";
import {
  compareNames,
  descriptionKey,
  endedBy,
  type NameHistory,
  type NamePair,
  nameKeyOf,
  onlyCandidates,
} from "./rename-rule.js";
import { type FilesSeen, joinPair, readUnjoined, type Unjoined, writeUnjoined } from "./renames.js";
import { readReadings } from "./snapshots/snapshots.js";

/** Names that ended this long before the oldest new file are compared again: by then usual days of the new name are known. */
const AGAIN_MS = 35 * DAY_MS;
/** Repositories read at a time, and pairs compared at a time. */
const PAGE = 5_000;
const PAIRS = 500;
/** A name or description that more pairs of names share says nothing. */
const MOST_ALIKE = 100;

/** A name without its counts. */
interface NameRow extends Omit<NameHistory, "providerId" | "totals"> {
  id: number;
  provider: string;
  provider_id: string | null;
  stars: number | null;
  discovered_at: number;
  counted_at: number;
}

type Found = NamePair & { endedAt: number; verdict: "SAME" | "UNSURE" };

/**
 * Joins the names that `compareNames` finds to be one repository, each in its own transaction, and notes which are unsure. Compares
 * names that ended lately, once after files of archives were imported, and otherwise reads two rows. Costs one read of all
 * repositories without their histories, and the histories of names that are alike. May be killed and run again. Returns the number
 * of names joined.
 */
export async function joinContinuedNames(database: Database, transact: Transact): Promise<number> {
  const { write, dialect } = database;
  const before = await readUnjoined(write);
  const files = await readFilesSeen(write);
  if (files.count === 0 || JSON.stringify(files) === JSON.stringify(before.files)) return 0;
  const from = await endsFrom(write, before.files);
  const ended = await readEnded(write, from);
  const found = await compareAll(database, await pairsOf(write, ended, before));
  const clear = onlyCandidates(found.filter(({ verdict }) => verdict === "SAME"));
  const unsure = found.filter((pair) => !clear.includes(pair));
  let joined = 0;
  // Of several renames in a row, the first one first.
  for (const pair of clear.toSorted((a, b) => a.endedAt - b.endedAt || a.fromId - b.fromId))
    joined += Number(await transact((tx) => joinPair(tx, dialect, pair)));
  await transact((tx) => noteCompared(tx, dialect, { files, from, unsure }));
  return joined;
}

async function readFilesSeen(db: Db): Promise<FilesSeen> {
  const { rows } = await sql<{
    count: number | string;
    importedAt: number | string | null;
  }>`select count(*) as count, max(imported_at) as "importedAt" from import_files`.execute(db);
  return { count: Number(rows[0]?.count), importedAt: Number(rows[0]?.importedAt) };
}

/** Names that ended earlier were compared with all that there is. */
async function endsFrom(db: Db, seen: FilesSeen | undefined): Promise<number> {
  if (seen === undefined) return 0;
  const added = await db
    .selectFrom("import_files")
    .select(({ fn }) => fn.min("captured_at").as("first"))
    .where("imported_at", ">=", seen.importedAt)
    .executeTakeFirst();
  return Number(added?.first ?? 0) - AGAIN_MS;
}

const NAME_COLUMNS = [
  "id",
  "provider",
  "provider_id",
  "name",
  "description",
  "stars",
  "discovered_at",
  "counted_at",
] as const;

/** The names without an id that the newest undamaged file of their archive no longer has, and that ended at `from` or later. */
async function readEnded(db: Db, from: number): Promise<NameRow[]> {
  const ended: NameRow[] = [];
  for (const { source, capturedAt } of await readNewestFiles(db)) {
    const rows = await db
      .selectFrom("repositories")
      .select(NAME_COLUMNS)
      .where("import_source", "=", source)
      .where("counted_at", ">=", from)
      .where("counted_at", "<", capturedAt)
      .where("provider_id", "is", null)
      .where("name_key", "is not", null)
      .where("availability", "=", "AVAILABLE")
      .$narrowType<{ counted_at: number }>()
      .execute();
    ended.push(...rows);
  }
  return ended;
}

type RowPair = readonly [ended: NameRow, other: NameRow];

/** Pairs that have the same name or description and whose times may fit, without those that an operator has parted. */
async function pairsOf(db: Db, ended: readonly NameRow[], { parted }: Unjoined): Promise<RowPair[]> {
  if (ended.length === 0) return [];
  const isParted = new Set(parted.map((ids) => ids.join(" ")));
  const inOrder = ended.toSorted((a, b) => a.counted_at - b.counted_at);
  const byKey = Map.groupBy(
    inOrder.flatMap((row) => keysOf(row).map((key) => ({ ...row, key }))),
    ({ key }) => key,
  );
  const found = new Map<string, Map<string, RowPair>>();
  for (let after = 0; ; ) {
    const page = await db
      .selectFrom("repositories")
      .select(NAME_COLUMNS)
      .where("id", ">", after)
      .where("availability", "=", "AVAILABLE")
      .where("name_key", "is not", null)
      .where("counted_at", "is not", null)
      .$narrowType<{ counted_at: number }>()
      .orderBy("id")
      .limit(PAGE)
      .execute();
    for (const other of page)
      for (const key of keysOf(other))
        for (const row of endedBy(byKey.get(key) ?? [], other)) {
          const own = found.get(key) ?? new Map<string, RowPair>();
          if (own.size > MOST_ALIKE) break;
          const ids = `${row.id} ${other.id}`;
          if (!isParted.has(ids)) found.set(key, own.set(ids, [row, other]));
        }
    after = page.at(-1)?.id ?? 0;
    if (page.length < PAGE) break;
  }
  const some = [...found.values()].filter(({ size }) => size <= MOST_ALIKE);
  return [...new Map(some.flatMap((pairs) => [...pairs])).values()];
}

function keysOf(row: NameRow): string[] {
  const description = descriptionKey(row);
  return [
    `${row.provider} name ${nameKeyOf(row)}`,
    ...(description === "" ? [] : [`${row.provider} text ${description}`]),
  ];
}

/** The pairs that are the same repository, or perhaps. Costs their histories. */
async function compareAll(database: Database, pairs: readonly RowPair[]): Promise<Found[]> {
  const { write, dialect } = database;
  const found: Found[] = [];
  for (let from = 0; from < pairs.length; from += PAIRS) {
    const part = pairs.slice(from, from + PAIRS);
    const ids = [...new Set(part.flat().map(({ id }) => id))];
    const readings = await readReadings(write, dialect, { ids, onDamaged: () => {} });
    const historyOf = (row: NameRow): NameHistory | undefined => {
      const own = readings.get(row.id);
      const totals = own?.only((i) => !own.isRetained(i));
      return totals && totals.length > 0 ? { ...row, providerId: row.provider_id, totals } : undefined;
    };
    for (const [ended, other] of part) {
      const [old, present] = [historyOf(ended), historyOf(other)];
      const verdict = old === undefined || present === undefined ? "APART" : compareNames(old, present);
      if (verdict !== "APART")
        found.push({ fromId: ended.id, toId: other.id, endedAt: ended.counted_at, verdict });
    }
  }
  return found;
}

/** Notes what was compared, and what is unsure; the growth of names for which that changes is marked outdated. */
async function noteCompared(
  tx: Tx,
  dialect: Dialect,
  { files, from, unsure }: { files: FilesSeen; from: number; unsure: readonly Found[] },
): Promise<void> {
  const before = await readUnjoined(tx);
  const kept = await tx
    .selectFrom("repositories")
    .select("id")
    .where(
      dialect.among(
        sql.ref("id"),
        before.unsure.map(([fromId]) => fromId),
      ),
    )
    .where("counted_at", "<", from)
    .where("availability", "=", "AVAILABLE")
    .execute();
  const isKept = new Set(kept.map(({ id }) => id));
  const next = [
    ...before.unsure.filter(([fromId]) => isKept.has(fromId)),
    ...unsure.map(({ fromId, toId }) => [fromId, toId] as const),
  ];
  await writeUnjoined(tx, { ...before, unsure: next, files });
  const idsOf = (pairs: Unjoined["unsure"]) => new Set(pairs.map(([, toId]) => toId));
  const changed = idsOf(before.unsure).symmetricDifference(idsOf(next));
  await markOutdated(tx, dialect, { rollups: changed });
}
