import { sql } from "kysely";
import type { BulkRow, BulkTable, Database, Db, Dialect } from "../../database/database.js";
import type { Clock } from "../../lib/clock.js";
import { bumpRevision, type Run, runExclusively } from "../../repositories/repositories.js";
import { BlockWriter } from "./block-writer.js";
import { writeDirectory } from "./directory.js";
import { bytesOf, FREE_EVERY, firstBlockOf, PAGE, PAGES_PER_BLOCK, prefixBlock } from "./layout.js";
import { BLOCK } from "./postings.js";
import { writeAllRuns } from "./runs.js";
import { vocabularyOf } from "./typos.js";
import type { Texts } from "./words.js";

/** Repositories read by one statement: with their texts, or their stars alone. */
const READ = 2_000;
const SCANNED = 20_000;
/** Rows that one transaction deletes, moves or writes: runs, marks, pages. */
const DROPPED = 250;
const MOVED = 5_000;
const PAGES_WRITTEN = 32;

const PAGES: BulkTable = {
  table: "search_pages",
  columns: { page: "bigint", ids: "bytea", stars: "bytea" },
  key: ["page"],
};

/**
 * Builds the index of all available repositories, most stars first, beside the one that is being read, which it replaces when
 * it is complete. Repositories that change in the meantime stay marked. Needs memory for one block at a time and 24 bytes for
 * each repository. Returns the number of repositories indexed; 0 if another process is rebuilding.
 */
export async function rebuildWords(
  database: Database,
  clock: Clock,
  onProgress: (done: number) => void,
): Promise<number> {
  const done = await runExclusively(database, clock, {
    name: "words",
    prepare: async () => {},
    work: (run) => rebuild(database, run, onProgress),
  });
  return done ?? 0;
}

async function rebuild(database: Database, run: Run, onProgress: (done: number) => void): Promise<number> {
  const { dialect } = database;
  const firstBlock = firstBlockOf(run.generation);
  // Marks set from now on are changes that this run may miss. These stay until the new index is in use.
  await moveMarks(run, "words", "words_in_rebuild");
  const popular = await byPopularity(database.write);
  const perBlock = BLOCK - BLOCK / FREE_EVERY;
  const blocks = Math.ceil(popular.ids.length / perBlock);
  let vocabulary = "";
  for (let i = 0; i < blocks; i++) {
    const block = firstBlock + i;
    const [from, to] = [i * perBlock, Math.min((i + 1) * perBlock, popular.ids.length)];
    const writer = new BlockWriter();
    const positionOf = (rank: number) => rank + Math.floor(rank / (FREE_EVERY - 1));
    for (let begin = from; begin < to; begin += READ) {
      const ids = popular.ids.subarray(begin, Math.min(begin + READ, to));
      const texts = await readTexts(database.write, dialect, [...ids]);
      for (const [j, id] of ids.entries()) {
        const text = texts.get(id);
        if (text !== undefined) writer.add(positionOf(begin + j - from), text);
      }
      onProgress(begin + ids.length);
    }
    await writePages(dialect, run, { block, from, to, popular });
    const sorted = writer.sorted();
    if (i === 0) vocabulary = vocabularyOf(sorted.counts());
    const { words, prefixes } = sorted.runs();
    await writeAllRuns(dialect, run, { block, runs: words });
    await writeAllRuns(dialect, run, { block: prefixBlock(block), runs: prefixes });
  }
  if (blocks > 1) await writeDirectory(database, run, { firstBlock, blocks });
  const positions = popular.ids.length + Math.ceil(popular.ids.length / (FREE_EVERY - 1));
  await run.step(async (tx) => {
    await sql`update search_state set first_block = ${firstBlock}, built_blocks = ${blocks},
      positions = ${positions}, documents = ${popular.ids.length}, slots = 0, version = version + 1,
      vocabulary = ${vocabulary}`.execute(tx);
    await bumpRevision(tx);
  });
  await moveMarks(run, "words_in_rebuild", undefined);
  await run.end(async () => {});
  await dropBefore(database, firstBlock);
  return popular.ids.length;
}

/** Restores the marks that an unfinished rebuild has taken over. */
export function restoreMarks(run: Run): Promise<void> {
  return moveMarks(run, "words_in_rebuild", "words");
}

type Marking = "words" | "words_in_rebuild";

/** Changes all marks of one kind into another, or deletes them, in small transactions. */
async function moveMarks(run: Run, from: Marking, to: Marking | undefined): Promise<void> {
  for (let isMore = true; isMore; ) {
    isMore = await run.step(async (tx) => {
      const { rows } = await sql<{ id: number }>`select repository_id as id from outdated where kind = ${from}
        order by repository_id limit 1 offset ${MOVED - 1}`.execute(tx);
      const last = rows[0]?.id;
      const here = sql`kind = ${from} and repository_id <= ${last ?? Number.MAX_SAFE_INTEGER}`;
      if (to !== undefined)
        await sql`insert into outdated (kind, repository_id) select ${to}, repository_id from outdated
          where ${here} on conflict do nothing`.execute(tx);
      await sql`delete from outdated where ${here}`.execute(tx);
      return last !== undefined;
    });
  }
}

/** All available repositories, most stars first. */
interface Popular {
  ids: Float64Array;
  stars: Float64Array;
}

/** Read by id, which cannot change meanwhile as stars can. */
async function byPopularity(db: Db): Promise<Popular> {
  const found: { ids: number[]; stars: number[] } = { ids: [], stars: [] };
  for (let after = 0; ; ) {
    const { rows } = await sql<{ id: number; stars: number; availability: string }>`
      select id, coalesce(stars, -1) as stars, availability from repositories
      where id > ${after} order by id limit ${SCANNED}`.execute(db);
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.id;
    for (const { id, stars, availability } of rows) {
      if (availability !== "AVAILABLE") continue;
      found.ids.push(id);
      found.stars.push(stars);
    }
  }
  const order = Uint32Array.from(found.ids.keys());
  const { ids, stars } = found;
  order.sort((a, b) => (stars[b] ?? 0) - (stars[a] ?? 0) || b - a);
  return {
    ids: Float64Array.from(order, (index) => ids[index] ?? 0),
    stars: Float64Array.from(order, (index) => stars[index] ?? 0),
  };
}

export interface ReadTexts extends Texts {
  /** -1: unknown. */
  stars: number;
}

/** The texts of repositories, without those that are not available. */
export async function readTexts(
  db: Db,
  dialect: Dialect,
  ids: readonly number[],
): Promise<Map<number, ReadTexts>> {
  interface Row extends Omit<Texts, "topics"> {
    id: number;
    topics: string;
    stars: number;
  }
  const { rows } =
    await sql<Row>`select id, owner, name, description, topics, language, coalesce(stars, -1) as stars
    from repositories where ${dialect.among(sql`id`, ids)} and availability = 'AVAILABLE'`.execute(db);
  const texts = new Map<number, ReadTexts>();
  for (const { id, owner, name, description, topics, language, stars } of rows) {
    const parsed: string[] = topics === "[]" ? [] : JSON.parse(topics);
    texts.set(id, { owner, name, description, topics: parsed, language, stars });
  }
  return texts;
}

interface BlockRange {
  block: number;
  from: number;
  to: number;
  popular: Popular;
}

async function writePages(
  dialect: Dialect,
  run: Run,
  { block, from, to, popular }: BlockRange,
): Promise<void> {
  const rows: BulkRow[] = [];
  const perPage = PAGE - PAGE / FREE_EVERY;
  for (let rank = from, page = block * PAGES_PER_BLOCK; rank < to; rank += perPage, page++) {
    const [ids, stars] = [new Float64Array(PAGE), new Float64Array(PAGE)];
    for (let i = 0; i < perPage && rank + i < to; i++) {
      const slot = i + Math.floor(i / (FREE_EVERY - 1));
      ids[slot] = popular.ids[rank + i] ?? 0;
      stars[slot] = popular.stars[rank + i] ?? 0;
    }
    rows.push([page, bytesOf(ids), bytesOf(stars)]);
  }
  for (let i = 0; i < rows.length; i += PAGES_WRITTEN) {
    const part = rows.slice(i, i + PAGES_WRITTEN);
    await run.step((tx) => dialect.upsert(tx, PAGES, part));
  }
}

/** Deletes what earlier rebuilds left, finished or not, in small transactions. */
async function dropBefore({ dialect, write: db }: Database, firstBlock: number): Promise<void> {
  await dialect.exclusively(db, "catalogue", async (tx) => {
    await sql`delete from search_additions where first_block < ${firstBlock}`.execute(tx);
  });
  for (let isMore = true; isMore; ) {
    isMore = await dialect.exclusively(db, "catalogue", async (tx) => {
      const { rows } = await sql<{ page: number }>`select page from search_pages
        where page < ${firstBlock * PAGES_PER_BLOCK} order by page limit 1 offset ${PAGES_WRITTEN}`.execute(
        tx,
      );
      const end = rows[0]?.page ?? firstBlock * PAGES_PER_BLOCK;
      await sql`delete from search_pages where page < ${end}`.execute(tx);
      return rows.length > 0;
    });
  }
  for (;;) {
    const more = await dialect.exclusively(db, "catalogue", async (tx) => {
      const { rows } = await sql<{ block: number; word: string }>`select block, word from search_words
        where block < ${firstBlock} order by block, word limit 1 offset ${DROPPED}`.execute(tx);
      const end = rows[0];
      const before =
        end === undefined ? sql`block < ${firstBlock}` : sql`(block, word) < (${end.block}, ${end.word})`;
      await sql`delete from search_words where ${before}`.execute(tx);
      return end !== undefined;
    });
    if (!more) return;
  }
}
