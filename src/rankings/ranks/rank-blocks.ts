import { sql } from "kysely";
import type { Clock } from "../../clock.js";
import { BatchSize, type BulkRow, type BulkTable, type Database, type Db } from "../../database/database.js";
import { AppError } from "../../errors.js";
import { DamagedPack, PackReader, PackWriter } from "../../packed-numbers.js";
import { codedRanks } from "./coded-ranks.js";

/** The archived ranks of a repository on one day. */
export interface RankDay {
  /** Days since 1970. */
  day: number;
  /** Such as `t24o12,s0l3`; see `CodedRank`. */
  ranks: string;
}

/** Rows are packed once they are of days this far apart. */
const PACKED_DAYS = 14;
/** Most days of a block; there are more rows only after an upgrade. */
const MAX_BLOCK_DAYS = 32;
/** Far more than there are ranks in a day. */
const MAX_SERIES = 1_000;
/** Repositories in one transaction; each has about two weeks of rows. */
const REPOSITORIES = { least: 25, most: 250 };

const BLOCKS: BulkTable = {
  table: "rank_blocks",
  columns: { repository_id: "bigint", from_day: "bigint", to_day: "bigint", data: "bytea" },
  key: ["repository_id", "from_day"],
};

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
  const writer = new PackWriter();
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

/** The packed days of a repository from a day on, oldest first. Throws an error that names a damaged block. */
export async function readRankBlocks(db: Db, repositoryId: number, sinceDay: number): Promise<RankDay[]> {
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
