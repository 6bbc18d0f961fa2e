/**
 * The list of what each import has reported, so that it can be undone: readings carry no id of their import. Entries are a repository, a
 * time and what the import has added there; a later import that reports the same has an entry too, which keeps it. About one byte each,
 * written in the transaction that records them.
 */
import { sql } from "kysely";
import { type BulkRow, bulkOf, type Db, type Dialect, readNumber, type Tx } from "../database/database.js";
import { DAY_MS } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { PackReader, PackWriter } from "../lib/packed-numbers.js";
import {
  COUNTS,
  type Draft,
  draftOf,
  packFactTimes,
  RECORDED,
  RECORDED_COLUMN_NAMES,
  setColumn,
} from "./draft.js";
import type { ArchiveFile } from "./files.js";
import { FACT_COLUMNS } from "./repository.js";
import { readReadings } from "./snapshots/read.js";
import { BACKFILLED, type Readings, UNKNOWN } from "./snapshots/readings.js";
import { removeReadings } from "./snapshots/removal.js";
import { appendSnapshots, type SnapshotsOf } from "./snapshots/snapshots.js";

/** How long lists are kept, and so how long an import can be undone. */
export const LISTED_MS = 30 * DAY_MS;

/** What an import has added, as bits of an entry; 0: it reported what was known. */
export const ADDED = { reading: 1, counts: 2, repository: 4 } as const;

/** Bits by time, by repository. */
export type Listed = Map<number, Map<number, number>>;

/** An import while it records. */
export interface ImportRun {
  id: number;
  /** Whether its readings replace differing ones of earlier imports. */
  replaces: boolean;
}

/** A repository in a batch, and the time of what was reported of it. */
export interface Mention {
  draft: Draft;
  at: number;
  /** Whether its counts are those of this time now. */
  isCounted: boolean;
}

/** A reading of an import that differs from the stored one of that time. */
export interface Differing {
  repositoryId: number;
  provider: string;
  fullName: string;
  capturedAt: number;
  stars: number;
  storedStars: number;
  /** Whether the stored one is a reading of a forge, which is never replaced. */
  isOfForge: boolean;
  isReplaced: boolean;
}

interface Batch {
  given: readonly SnapshotsOf[];
  mentions: readonly Mention[];
  /** The times of the readings that were new, by repository. */
  added: ReadonlyMap<number, readonly number[]>;
}

/**
 * Lists a batch that was just recorded, in the same transaction, and replaces readings if the import does that. Returns the readings that
 * differ from stored ones. Throws CONFLICT if the import is being undone.
 */
export async function noteReadings(
  tx: Tx,
  dialect: Dialect,
  run: ImportRun,
  { given, mentions, added }: Batch,
): Promise<Differing[]> {
  const list: Listed = new Map();
  for (const { draft, at, isCounted } of mentions)
    note(list, draft.row.id, at, (isCounted ? ADDED.counts : 0) | (draft.isNew ? ADDED.repository : 0));
  const known: SnapshotsOf[] = [];
  let readings = 0;
  const times: number[] = [];
  for (const one of given) {
    const { repositoryId, readings: own } = one;
    const fresh = new Set(added.get(repositoryId));
    readings += fresh.size;
    for (let i = 0; i < own.length; i++)
      note(list, repositoryId, own.at(i), fresh.has(own.at(i)) ? ADDED.reading : 0);
    if (own.length > 0) times.push(own.at(0), own.at(own.length - 1));
    if (fresh.size < own.length) known.push({ ...one, readings: own.only((i) => !fresh.has(own.at(i))) });
  }
  const differing = known.length === 0 ? [] : await compare(tx, dialect, run, known);
  const replaced = await replace(tx, dialect, differing, known);
  await countIn(tx, run.id, {
    readings,
    replaced,
    repositories: new Set(mentions.flatMap(({ draft }) => (draft.isNew ? [draft] : []))).size,
    times,
  });
  await addPart(tx, run.id, list);
  return differing;
}

function note(list: Listed, id: number, at: number, bits: number): void {
  const times = list.get(id);
  if (times === undefined) list.set(id, new Map([[at, bits]]));
  else times.set(at, (times.get(at) ?? 0) | bits);
}

interface Counted {
  readings: number;
  repositories: number;
  replaced: number;
  times: readonly number[];
}

async function countIn(
  tx: Tx,
  id: number,
  { readings, repositories, replaced, times }: Counted,
): Promise<void> {
  const row = await tx
    .selectFrom("imports")
    .select(["readings", "repositories", "replaced", "from_at", "until_at"])
    .where("id", "=", id)
    .where("undo_began_at", "is", null)
    .executeTakeFirst();
  if (row === undefined)
    throw new AppError("CONFLICT", `Import ${id} is being undone by another command, so it ends here.`);
  let { from_at, until_at } = row;
  for (const at of times) {
    from_at = Math.min(from_at ?? at, at);
    until_at = Math.max(until_at ?? at, at);
  }
  const sums = {
    readings: row.readings + readings,
    repositories: row.repositories + repositories,
    replaced: row.replaced + replaced,
  };
  await tx
    .updateTable("imports")
    .set({ ...sums, from_at, until_at })
    .where("id", "=", id)
    .execute();
}

/** Compares readings with the stored ones of their times. Of two in one import, the first one counts. */
async function compare(
  tx: Tx,
  dialect: Dialect,
  { id: importId, replaces }: ImportRun,
  known: readonly SnapshotsOf[],
): Promise<Differing[]> {
  const ids = known.map(({ repositoryId }) => repositoryId);
  const span = spanOf(known.map(({ readings }) => readings));
  const stored = await readReadings(tx, dialect, { ids, span, onDamaged: () => {} });
  const found: Omit<Differing, "provider" | "fullName">[] = [];
  for (const { repositoryId, readings } of known) {
    const own = stored.get(repositoryId);
    for (let i = 0; own !== undefined && i < readings.length; i++) {
      const capturedAt = readings.at(i);
      const j = own.countBefore(capturedAt);
      // Star histories lose stars that were taken back.
      if (own.at(j) !== capturedAt || readings.isRetained(i) || !differs(own, j, readings, i)) continue;
      const isOfForge = own.snapshot(j).source !== "IMPORTED";
      const stars = { stars: readings.stars(i), storedStars: own.stars(j) };
      found.push({ repositoryId, capturedAt, ...stars, isOfForge, isReplaced: replaces && !isOfForge });
    }
  }
  if (found.length === 0) return [];
  const earlier = await readListed(tx, span, (of) => of.where("i.id", "=", importId));
  const others = found.filter(({ repositoryId, capturedAt }) => !earlier.get(repositoryId)?.has(capturedAt));
  const names = await tx
    .selectFrom("repositories")
    .select(["id", "provider", "owner", "name"])
    .where(dialect.among(sql.ref("id"), [...new Set(others.map((one) => one.repositoryId))]))
    .execute();
  const nameOf = new Map(names.map((row) => [row.id, row]));
  return others.map((one) => {
    const { provider = "", owner = "", name = "" } = nameOf.get(one.repositoryId) ?? {};
    return { ...one, provider, fullName: `${owner}/${name}` };
  });
}

/** Whether two readings have different counts; one that is unknown differs from none. */
function differs(one: Readings, i: number, other: Readings, j: number): boolean {
  for (let column = 1; column <= 4; column++) {
    const [a, b] = [one.value(i, column), other.value(j, column)];
    if (a !== b && a !== UNKNOWN && b !== UNKNOWN) return true;
  }
  return false;
}

function spanOf(all: readonly Readings[]): { from: number; until: number } {
  let [from, until] = [Number.MAX_SAFE_INTEGER, 0];
  for (const readings of all) {
    from = Math.min(from, readings.at(0));
    until = Math.max(until, readings.at(readings.length - 1));
  }
  return { from, until };
}

/** Puts the given readings in the place of stored ones that they replace. Returns their number. */
async function replace(
  tx: Tx,
  dialect: Dialect,
  differing: readonly Differing[],
  known: readonly SnapshotsOf[],
): Promise<number> {
  const replaced = differing.filter(({ isReplaced }) => isReplaced);
  if (replaced.length === 0) return 0;
  const times = new Map(
    [...Map.groupBy(replaced, ({ repositoryId }) => repositoryId)].map(([id, own]) => [
      id,
      new Set(own.map(({ capturedAt }) => capturedAt)),
    ]),
  );
  const given = known.flatMap((one): SnapshotsOf[] => {
    const own = times.get(one.repositoryId);
    const { readings } = one;
    return own === undefined ? [] : [{ ...one, readings: readings.only((i) => own.has(readings.at(i))) }];
  });
  await removeAt(tx, dialect, times);
  await appendSnapshots(tx, dialect, given);
  await restoreCounts(tx, dialect, times);
  return replaced.length;
}

/** Removes the readings of repositories at some times; `keeps`: except those of these star histories. Returns their number. */
export function removeAt(
  tx: Tx,
  dialect: Dialect,
  times: ReadonlyMap<number, ReadonlySet<number>>,
  keeps: ReadonlySet<number> = new Set(),
): Promise<number> {
  const span = { ...timeSpan(times.values()), withBaseline: true };
  const chosen = (all: Readings, id: number) =>
    Uint8Array.from({ length: all.length }, (_, i) => Number(isAt(all, i, times.get(id), keeps.has(id))));
  return removeReadings(tx, dialect, { ids: [...times.keys()], span, chosen });
}

/** Whether a reading is at one of these times; `isKept`: and not of the star history. */
export function isAt(
  all: Readings,
  i: number,
  times: ReadonlySet<number> | undefined,
  isKept: boolean,
): boolean {
  return times?.has(all.at(i)) === true && !(isKept && all.value(i, 5) === BACKFILLED);
}

/** From the first to the last of many times. */
export function timeSpan(all: Iterable<Iterable<number>>): { from: number; until: number } {
  let [from, until] = [Number.MAX_SAFE_INTEGER, 0];
  for (const times of all)
    for (const at of times) {
      from = Math.min(from, at);
      until = Math.max(until, at);
    }
  return { from, until };
}

/**
 * Gives repositories the counts of their newest total, if they have those of a reading that was removed or replaced; without a total they
 * are unknown. Then they were reported last when the newest of their facts was. `times`: of such readings, by repository.
 */
export async function restoreCounts(
  tx: Tx,
  dialect: Dialect,
  times: ReadonlyMap<number, ReadonlySet<number>>,
): Promise<void> {
  const rows = await tx
    .selectFrom("repositories")
    .selectAll()
    .where(dialect.among(sql.ref("id"), [...times.keys()]))
    .execute();
  const drafts = rows
    .map((row) => draftOf(row, false))
    .filter(({ row, factTimes }) =>
      [row.counted_at, ...COUNTS.map((count) => factTimes[count])].some(
        (at) => typeof at === "number" && times.get(row.id)?.has(at),
      ),
    );
  const ids = drafts.map(({ row }) => row.id);
  const readings = await readReadings(tx, dialect, { ids, onDamaged: () => {} });
  const changed = drafts.map((draft): BulkRow => {
    const { row, factTimes } = draft;
    const isGone = (at: number | null = null) => at !== null && times.get(row.id)?.has(at) === true;
    const all = readings.get(row.id);
    const newest = all?.snapshots().findLast(({ source }) => source !== "BACKFILLED");
    for (const count of COUNTS) {
      if (!isGone(factTimes[count])) continue;
      setColumn(draft, FACT_COLUMNS[count], newest?.[count] ?? null);
      factTimes[count] = newest?.capturedAt ?? null;
    }
    if (isGone(row.counted_at)) row.counted_at = newest?.capturedAt ?? null;
    const known = Object.values(factTimes).filter((at) => at !== null);
    if (isGone(row.refreshed_at) && known.length > 0) row.refreshed_at = Math.max(...known);
    packFactTimes(draft);
    return RECORDED_COLUMN_NAMES.map((column) => row[column]);
  });
  await dialect.upsert(tx, RECORDED, changed);
}

const writer = new PackWriter();

/** The columns of a part: its times with their distances, then repositories and bits. Ordered by time, as files are. */
export function partOf(list: Listed): {
  from_at: number;
  until_at: number;
  entries: number;
  data: Uint8Array;
} {
  const entries = [...list].flatMap(([id, times]) => [...times].map(([at, bits]) => [at, id, bits] as const));
  entries.sort(([a, x], [b, y]) => a - b || x - y);
  const numbers = Float64Array.from(entries.flat());
  for (let index = 0; index < 3; index++) writer.column(numbers, { index, stride: 3, count: entries.length });
  const [from_at = 0, until_at = 0] = [entries[0]?.[0], entries.at(-1)?.[0]];
  return { from_at, until_at, entries: entries.length, data: writer.finish() };
}

export function addListed(list: Listed, { entries, data }: { entries: number; data: Uint8Array }): void {
  const pack = new PackReader(data);
  const numbers = new Float64Array(3 * entries);
  for (let index = 0; index < 3; index++) pack.column(numbers, { index, stride: 3, count: entries });
  for (let i = 0; i < numbers.length; i += 3)
    note(list, numbers[i + 1] ?? 0, numbers[i] ?? 0, numbers[i + 2] ?? 0);
}

async function addPart(tx: Tx, importId: number, list: Listed): Promise<void> {
  const next = sql`select max(part) + 1 from import_lists where import_id = ${importId}`;
  const part = await readNumber(tx, next);
  await tx
    .insertInto("import_lists")
    .values({ import_id: importId, part, ...partOf(list) })
    .execute();
}

const FILES = bulkOf("imported_files");

/** Notes the files of archives that an import has noted in `import_files`. */
export function noteFiles(
  tx: Tx,
  dialect: Dialect,
  id: number,
  files: readonly Pick<ArchiveFile, "source" | "capturedAt" | "file">[],
): Promise<void> {
  return dialect.insertNew(
    tx,
    FILES,
    files.map(({ source, capturedAt, file }) => [id, source, capturedAt, file]),
  );
}

/** Parts of lists with the imports that they are of. */
const parts = (db: Db) =>
  db
    .selectFrom("import_lists as l")
    .innerJoin("imports as i", "i.id", "l.import_id")
    .select(["l.import_id", "l.part", "l.entries", "l.data"]);
type Parts = ReturnType<typeof parts>;

/** The entries of some imports, of the parts that have one in a span of time. */
export async function readListed(
  db: Db,
  { from, until }: { from: number; until: number },
  of: (all: Parts) => Parts,
): Promise<Listed> {
  const rows = await of(parts(db)).where("l.from_at", "<=", until).where("l.until_at", ">=", from).execute();
  const list: Listed = new Map();
  for (const row of rows) addListed(list, row);
  return list;
}
