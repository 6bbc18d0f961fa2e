/** The ranks of past days: archiving, packing and reading them. */
import { sql } from "kysely";
import {
  BatchSize,
  type BulkRow,
  bulkOf,
  type Database,
  type Db,
  DELETED_SHARE,
  DeletionClock,
  readMark,
  type Tx,
  writeMark,
} from "../database/database.js";
import {
  GROWTH_ORDER_COLUMNS,
  MEASURES,
  type Measure,
  WINDOW_HOURS,
  WINDOWS,
  windowOfHours,
} from "../growth/growth.js";
import { type Clock, DAY_MS } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { DamagedPack, PackReader, PackWriter } from "../lib/packed-numbers.js";
import { newestSnapshot } from "../repositories/repositories.js";
import {
  codedRanks,
  codeOf,
  RANK_LIMITS,
  RANKING_OF_CODE,
  type Rank,
  rankText,
  SCOPE_OF_LETTER,
} from "./ranks.js";

/** Days of history stored. */
const ARCHIVED_DAYS = 400;

/** The row of `marks` that holds the day of the present ranks, in days since 1970. */
const DAY_MARK = "ranks_day";

/** A rank on a day. */
export interface PastRank extends Omit<Rank, "name"> {
  /** Start of the day (UTC), in ms since 1970. */
  day: number;
}

/** Repositories and old rows in one transaction. */
const BATCH = 1_000;

/**
 * Archives the ranks that stored growth gives, if the newest snapshot is of a later day than that growth. Call it before growth is
 * updated: once a day it ranks all repositories, otherwise it costs nothing. So a day is archived with its last ranks, and the
 * present day is not archived at all.
 */
export async function archiveRanks(database: Database, clock: Clock): Promise<void> {
  const { dialect, write } = database;
  const newest = await newestSnapshot(write);
  if (newest === null) return;
  const today = Math.floor(newest / DAY_MS);
  const ranksDay = await readRanksDay(write);
  if (ranksDay === today) return;
  const inBatch = <T>(work: (tx: Tx) => Promise<T>) => dialect.exclusively(write, "catalogue", work);
  if (ranksDay !== undefined && ranksDay < today) {
    const rows = [...(await computeRanks(write))].map(([id, ranks]): BulkRow => [id, ranksDay, ranks.join()]);
    // One row per repository, until `packRankHistory` moves two weeks of them into blocks.
    for (let start = 0; start < rows.length; start += BATCH)
      await inBatch((tx) => dialect.upsert(tx, HISTORY, rows.slice(start, start + BATCH)));
  }
  const present = Math.min(today, Math.floor((await new DeletionClock({ database, clock }).now()) / DAY_MS));
  const { oldest } = await write
    .selectFrom("rank_blocks")
    .select(({ fn }) => fn.min("to_day").as("oldest"))
    .executeTakeFirstOrThrow();
  const first = Math.min(present - ARCHIVED_DAYS, Number(oldest) + ARCHIVED_DAYS * DELETED_SHARE);
  for (const [table, key, day] of [
    ["rank_history", "repository_id, day", "day"],
    ["rank_blocks", "repository_id, from_day", "to_day"],
  ] as const) {
    for (let deleted = BATCH; deleted === BATCH; ) {
      const result = await inBatch((tx) =>
        sql`delete from ${sql.table(table)} where (${sql.raw(key)}) in (
          select ${sql.raw(key)} from ${sql.table(table)}
          where ${sql.ref(day)} <= ${first} or ${sql.ref(day)} >= ${today} limit ${BATCH})`.execute(tx),
      );
      deleted = Number(result.numAffectedRows ?? 0);
    }
  }
  await inBatch((tx) => writeMark(tx, DAY_MARK, String(today)));
}

const HISTORY = bulkOf("rank_history");

/** The ranks of all repositories by stored growth, overall and in their languages, as texts by id. See `rankText`. */
async function computeRanks(db: Db): Promise<Map<number, string[]>> {
  const ranks = new Map<number, string[]>();
  const add = (id: number, text: string) => {
    const own = ranks.get(id);
    if (own === undefined) ranks.set(id, [text]);
    else own.push(text);
  };
  for (const [i, { ranking, window }] of MEASURES.entries()) {
    const isStars = ranking === "stars" || window === null;
    const id = sql.ref("r.id");
    // The stars that growth was computed with: those of the repository may be of the day that has begun.
    const value = isStars
      ? sql`coalesce(g.stars_from + g.stars_delta, r.stars)`
      : sql.ref(`g.${GROWTH_ORDER_COLUMNS[ranking].column}`);
    const competing = isStars
      ? sql`repositories r left join rollups g on g.repository_id = r.id and g.window_hours = 24
          where r.stars is not null`
      : sql`rollups g join repositories r on r.id = g.repository_id
          where g.window_hours = ${WINDOW_HOURS[window]} and ${value} > 0
            and coalesce(r.archived, 0) = 0 and coalesce(r.fork, 0) = 0`;
    const { rows } = await sql<{ id: number; overall: number; own: number | null }>`
      select id, overall, own from (
        select ${id} as id, row_number() over (order by ${value} desc, ${id} desc) as overall,
          case when r.language is not null
            then row_number() over (partition by lower(r.language) order by ${value} desc, ${id} desc) end as own
        from ${competing} and r.availability = 'AVAILABLE') as ranked
      where overall <= ${RANK_LIMITS.overall} or own <= ${RANK_LIMITS.language}`.execute(db);
    for (const row of rows) {
      const [overall, own] = [Number(row.overall), row.own === null ? undefined : Number(row.own)];
      if (overall <= RANK_LIMITS.overall) add(row.id, rankText(i, "overall", overall));
      if (own !== undefined && own <= RANK_LIMITS.language) add(row.id, rankText(i, "language", own));
    }
  }
  return ranks;
}

async function readRanksDay(db: Db): Promise<number | undefined> {
  const day = await readMark(db, DAY_MARK);
  return day === undefined ? undefined : Number(day);
}

/** Archived ranks, without those of a ranking or scope that no longer exists. */
function pastRanks({ day, ranks }: RankDay): PastRank[] {
  return codedRanks(ranks).flatMap(({ code, hours, letter, position }): PastRank[] => {
    const [ranking, scope] = [RANKING_OF_CODE.get(code), SCOPE_OF_LETTER.get(letter)];
    if (ranking === undefined || scope === undefined) return [];
    return [{ day: day * DAY_MS, ranking, window: windowOfHours(hours) ?? null, scope, position }];
  });
}

/** Reads the ranks of a repository since a time, by day, oldest first; at most the latest `limit`. */
export function rankHistoryReader(
  database: Database,
  readPresent: (repositoryId: number) => Promise<Rank[]>,
): (repositoryId: number, since: number, limit: number) => Promise<PastRank[]> {
  const readDay = database.prepare<null, [string]>(
    () => sql`select value from marks where name = ${DAY_MARK}`,
  );
  const readArchived = database.prepare<{ id: number; since: number }, [day: number, ranks: string]>(
    (given) => sql`select day, ranks from rank_history
      where repository_id = ${given(({ id }) => id)} and day >= ${given(({ since }) => since)} order by day`,
  );
  return async (id, since, limit) => {
    const [mark] = await readDay(null);
    const today = mark === undefined ? undefined : Number(mark[0]);
    const sinceDay = Math.max(Math.floor(since / DAY_MS), (today ?? 0) - ARCHIVED_DAYS + 1);
    const archived = await readArchived({ id, since: sinceDay });
    // After the rows: a day that is packed between the two reads must be in one of them.
    const packed = await readRankBlocks(database.read, id, sinceDay);
    const present = today === undefined || today < sinceDay ? [] : await readPresent(id);
    const past = new Map([...packed.map(({ day, ranks }) => [day, ranks] as const), ...archived]);
    const days = [
      ...[...past].sort(([a], [b]) => a - b).map(([day, ranks]) => pastRanks({ day, ranks })),
      present.flatMap(({ name: _, ...rank }): PastRank[] =>
        rank.scope === "overall" || rank.scope === "language"
          ? [{ ...rank, day: (today ?? 0) * DAY_MS }]
          : [],
      ),
    ];
    return days.flatMap((ranks) => ranks.sort(compareRanks)).slice(-limit);
  };
}

/** Days whose ranks are compared with the present ones. */
const COMPARED_DAYS = 7;

/** The positions overall of some repositories in a ranking on the last day before the present that is stored, by id; one read. */
export async function ranksBefore(
  db: Db,
  ids: readonly number[],
  measure: Measure,
): Promise<Map<number, number>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ id: number; ranks: string }>`
    select repository_id as id, ranks from rank_history
    where repository_id in (${sql.join(ids)}) and day = (select max(h.day) from rank_history h
      join marks m on m.name = ${DAY_MARK} where h.repository_id in (${sql.join(ids)})
        and h.day >= cast(m.value as integer) - ${COMPARED_DAYS} and h.day < cast(m.value as integer))`.execute(
    db,
  );
  const { letter, hours } = codeOf(measure);
  return new Map(
    rows.flatMap(({ id, ranks }) => {
      const own = codedRanks(ranks).find(
        (one) => one.code === letter && one.hours === hours && SCOPE_OF_LETTER.get(one.letter) === "overall",
      );
      return own === undefined ? [] : [[Number(id), own.position]];
    }),
  );
}

/** The order within a day. */
function compareRanks(a: PastRank, b: PastRank): number {
  const key = ({ ranking, window, scope }: PastRank) =>
    [ranking, WINDOW_ORDER.indexOf(window), scope] as const;
  const [[rankingA, windowA, scopeA], [rankingB, windowB, scopeB]] = [key(a), key(b)];
  if (rankingA !== rankingB) return rankingA < rankingB ? 1 : -1;
  if (windowA !== windowB) return windowB - windowA;
  return scopeA < scopeB ? 1 : -1;
}

const WINDOW_ORDER: readonly Rank["window"][] = [null, ...WINDOWS];

/** Rows are packed once they are of days this far apart. */
const PACKED_DAYS = 14;
/** Repositories in one transaction; each has about two weeks of rows. */
const REPOSITORIES = { least: 25, most: 250 };

const BLOCKS = bulkOf("rank_blocks");

/**
 * Moves the rows of archived days into blocks, a seventh of their size, once there are two weeks of them; for at most `most`
 * repositories. Readers notice nothing. May be killed and run again. Returns the number of repositories.
 */
export async function packRankHistory(
  { dialect, write }: Database,
  clock: Clock,
  most: number,
): Promise<number> {
  const { first_day, last_day } = await write
    .selectFrom("rank_history")
    .select(({ fn }) => [fn.min("day").as("first_day"), fn.max("day").as("last_day")])
    .executeTakeFirstOrThrow();
  if (first_day === null || last_day - first_day < PACKED_DAYS) return 0;
  const size = new BatchSize(dialect, REPOSITORIES);
  let done = 0;
  for (let after = 0; done < most; ) {
    const ids = await dialect.exclusively(write, "catalogue", async (tx) => {
      const began = clock.monotonic();
      const found = await tx
        .selectFrom("rank_history")
        .select("repository_id")
        .distinct()
        .where("repository_id", ">", after)
        .orderBy("repository_id")
        .limit(Math.min(size.rows, most - done))
        .execute();
      const batch = found.map((row) => row.repository_id);
      if (batch.length === 0) return batch;
      const here = dialect.among(sql.ref("repository_id"), batch);
      const rows = await tx.selectFrom("rank_history").selectAll().where(here).execute();
      const blocks = [...Map.groupBy(rows, (row) => row.repository_id)].flatMap(([id, days]) =>
        blocksOf(
          id,
          days.sort((a, b) => a.day - b.day),
        ),
      );
      await dialect.upsert(tx, BLOCKS, blocks);
      await tx.deleteFrom("rank_history").where(here).execute();
      size.note(batch.length, clock.monotonic() - began);
      return batch;
    });
    const last = ids.at(-1);
    if (last === undefined) break;
    after = last;
    done += ids.length;
  }
  return done;
}

/** The rows of blocks for days in ascending order. */
function blocksOf(repositoryId: number, days: readonly RankDay[]): BulkRow[] {
  const rows: BulkRow[] = [];
  for (let start = 0; start < days.length; start += MAX_BLOCK_DAYS) {
    const part = days.slice(start, start + MAX_BLOCK_DAYS);
    rows.push([repositoryId, part[0]?.day ?? 0, part.at(-1)?.day ?? 0, encodeRanks(part)]);
  }
  return rows;
}

/** The packed days of a repository from a day on, oldest first. Throws an error that names a damaged block. */
async function readRankBlocks(db: Db, repositoryId: number, sinceDay: number): Promise<RankDay[]> {
  const rows = await db
    .selectFrom("rank_blocks")
    .select(["from_day", "data"])
    .where("repository_id", "=", repositoryId)
    .where("to_day", ">=", sinceDay)
    .orderBy("from_day")
    .execute();
  return rows.flatMap(({ from_day, data }) => {
    try {
      return decodeRanks(data, from_day).filter(({ day }) => day >= sinceDay);
    } catch (error) {
      if (!(error instanceof DamagedPack)) throw error;
      throw new AppError(
        "INTERNAL",
        `The rank history of repository ${repositoryId} is damaged, in the block that begins on day ${from_day} since 1970: ${error.message}.`,
      );
    }
  });
}

/** Rows read at a time. */
const CHECKED = 1_000;

/** Decodes every block of past ranks, and reports those that are damaged. */
export async function checkRankHistory(db: Db, onDamage: (found: string) => void): Promise<void> {
  type Row = { repository_id: number; from_day: number; data: Uint8Array };
  for (let last: Pick<Row, "repository_id" | "from_day"> = { repository_id: 0, from_day: 0 }; ; ) {
    const { rows } = await sql<Row>`select repository_id, from_day, data from rank_blocks
      where (repository_id, from_day) > (${last.repository_id}, ${last.from_day})
      order by repository_id, from_day limit ${sql.lit(CHECKED)}`.execute(db);
    for (const { repository_id, from_day, data } of rows) {
      try {
        decodeRanks(data, from_day);
      } catch (error) {
        if (!(error instanceof DamagedPack)) throw error;
        onDamage(`repository ${repository_id}, day ${from_day}: ${error.message}`);
      }
    }
    const end = rows.at(-1);
    if (end === undefined) return;
    last = end;
  }
}

const writer = new PackWriter();

/** The archived ranks of a repository on one day. */
export interface RankDay {
  /** Days since 1970. */
  day: number;
  /** Such as `t24o12,s0l3`; see `CodedRank`. */
  ranks: string;
}

/** Maximum number of days in a block; there are more rows only after an upgrade. */
export const MAX_BLOCK_DAYS = 32;
/** Far more than there are ranks in a day. */
const MAX_SERIES = 1_000;

/**
 * The data of a block: the number of days and of series, the days after the first one, and for each series the codes of its
 * ranking and scope, its hours, and its position on each day (0: none).
 */
export function encodeRanks(days: readonly RankDay[]): Uint8Array {
  const series = new Map<string, { key: [number, number, number]; positions: number[] }>();
  for (const [i, { ranks }] of days.entries()) {
    for (const { code, hours, letter, position } of codedRanks(ranks)) {
      const name = code + hours + letter;
      let one = series.get(name);
      if (one === undefined) {
        const key: [number, number, number] = [code.charCodeAt(0), hours, letter.charCodeAt(0)];
        one = { key, positions: new Array(days.length).fill(0) };
        series.set(name, one);
      }
      one.positions[i] = position;
    }
  }
  writer.number(days.length);
  writer.number(series.size);
  const numbers = days.map(({ day }) => day);
  writer.column(numbers, {
    index: 1,
    stride: 1,
    count: days.length - 1,
    before: numbers[0] ?? 0,
    isEven: true,
  });
  for (const { key, positions } of series.values()) {
    for (const number of key) writer.number(number);
    writer.column(positions, { index: 0, stride: 1, count: days.length });
  }
  return writer.finish();
}

/** The days of a block that begins at `fromDay`. Throws DamagedPack. */
export function decodeRanks(data: Uint8Array, fromDay: number): RankDay[] {
  const reader = new PackReader(data);
  const [count, size] = [reader.number(), reader.number()];
  if (count < 1 || count > MAX_BLOCK_DAYS || size > MAX_SERIES) throw new DamagedPack("its size is wrong");
  const days = new Array<number>(count).fill(fromDay);
  reader.column(days, { index: 1, stride: 1, count: count - 1, before: fromDay, isEven: true });
  const ranks = days.map((): string[] => []);
  for (let i = 0; i < size; i++) {
    const [code, hours, letter] = [reader.number(), reader.number(), reader.number()];
    const positions = new Array<number>(count).fill(0);
    reader.column(positions, { index: 0, stride: 1, count });
    for (const [index, position] of positions.entries()) {
      if (position > 0)
        ranks[index]?.push(`${String.fromCharCode(code)}${hours}${String.fromCharCode(letter)}${position}`);
    }
  }
  reader.end();
  return days.map((day, i) => ({ day, ranks: ranks[i]?.join(",") ?? "" }));
}
