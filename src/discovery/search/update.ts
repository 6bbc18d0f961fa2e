import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import type { BulkRow, Database, Db, Dialect } from "../../database/database.js";
import type { Clock } from "../../lib/clock.js";
import { bumpRevision, type Run, runExclusively } from "../../repositories/repositories.js";
import { BlockWriter, TEXT_PREFIX_FROM, UnitedMarks } from "./block-writer.js";
import {
  ADDITIONS,
  type Addition,
  countMarked,
  encodeAdditions,
  placeOfSlot,
  prefixBlock,
  readState,
} from "./layout.js";
import { Placement } from "./placement.js";
import { type Marks, NAME, TEXT } from "./postings.js";
import { type ReadTexts, readTexts, rebuildWords, restoreMarks } from "./rebuild.js";
import { findRunNames, readRuns, runsOf, wordsOfRun, writeRuns } from "./runs.js";
import { sortWords } from "./words.js";

/** Repositories indexed together: the postings of a word are written once for all of them. */
const BATCH = 10_000;
/** Bytes written in one transaction, as all other writers wait for it. */
const WRITTEN_BYTES = 500_000;
/** Repositories whose marks are deleted in one transaction. */
const UNMARKED = 250;
/** A rebuild is better once there are this many additions, and they are this share of all repositories (one in …). */
const MANY = 1_000;
const MANY_PART = 16;
/** Prefixes up to this length have postings in blocks of additions, however few words begin with them. */
const PREFIX_LENGTH = 3;

/**
 * Updates the index for the repositories marked as outdated, or builds it. A repository gets a new position near others with
 * as many stars, and its old one is not used again. What a rebuild has written stays as it is: words are written into blocks of
 * additions. Safe to kill and run again. Returns the number of repositories processed; 0 if another process is doing so.
 */
export async function updateWords(
  database: Database,
  clock: Clock,
  onProgress: (done: number) => void = () => {},
): Promise<number> {
  const state = await readState(database.write);
  const waiting = await countMarked(database.write);
  if (waiting === 0 && state !== undefined) return 0;
  const isMany = waiting + (state?.slots ?? 0) > MANY + (state?.documents ?? 0) / MANY_PART;
  if (state === undefined || isMany) {
    if (waiting === 0 && (await isEmpty(database))) return 0;
    return rebuildWords(database, clock, onProgress);
  }
  // Nobody else changes the index during a run, so only writing needs transactions, and they are short.
  const done = await runExclusively(database, clock, {
    name: "words",
    prepare: async () => {},
    async work(run) {
      await restoreMarks(run);
      const placement = await Placement.read(database.write, state);
      let processed = 0;
      while (processed < waiting) {
        const count = await index(database, run, placement);
        if (count === 0) break;
        processed += count;
        onProgress(processed);
      }
      await run.end(async () => {});
      return processed;
    },
  });
  return done ?? 0;
}

async function isEmpty({ write }: Database): Promise<boolean> {
  const { rows } = await sql`select 1 from repositories limit 1`.execute(write);
  return rows.length === 0;
}

/**
 * Indexes some repositories. Slots are reserved first, so that nobody else gets them if this ends half-way; then their words
 * are written under these slots; then one transaction adds the repositories. Returns their number.
 */
async function index({ dialect, write }: Database, run: Run, placement: Placement): Promise<number> {
  const { rows: marked } = await sql<{
    id: number;
  }>`select repository_id as id from outdated where kind = 'words'
    order by repository_id limit ${BATCH}`.execute(write);
  const state = await readState(write);
  if (marked.length === 0 || state === undefined) return 0;
  const ids = marked.map(({ id }) => id);
  const texts = await readTexts(write, dialect, ids);
  const additions = additionsOf(ids, texts, placement);
  if (additions.length > 0) {
    const { firstBlock, slots } = state;
    await run.step(async (tx) => {
      await sql`update search_state set slots = ${slots + additions.length}`.execute(tx);
    });
    const blocks = new Map<number, BlockWriter>();
    for (const [i, { id }] of additions.entries()) {
      const text = texts.get(id);
      if (text === undefined) continue;
      const { block, index } = placeOfSlot(firstBlock, slots + i);
      const writer = blocks.get(block) ?? new BlockWriter();
      blocks.set(block, writer);
      writer.add(index, text);
    }
    for (const [block, writer] of blocks) await addPostings({ dialect, write, run, block, writer });
    await run.step(async (tx) => {
      const row: BulkRow = [firstBlock, slots, encodeAdditions(additions)];
      await dialect.upsert(tx, ADDITIONS, [row]);
      const { positions } = placement;
      await sql`update search_state set version = version + 1, positions = ${positions}`.execute(tx);
      await bumpRevision(tx);
    });
    for (const addition of additions) placement.apply(addition);
  }
  for (let from = 0; from < ids.length; from += UNMARKED) {
    const part = ids.slice(from, from + UNMARKED);
    await run.step(async (tx) => {
      // Those whose texts have changed meanwhile remain marked.
      const now = await readTexts(tx, dialect, part);
      const same = part.filter((id) => isSame(now.get(id), texts.get(id)));
      if (same.length === 0) return;
      const here = dialect.among(sql.ref("repository_id"), same);
      await tx.deleteFrom("outdated").where("kind", "=", "words").where(here).execute();
    });
  }
  return ids.length;
}

/** Gives repositories with texts new positions, most stars first; the others only lose theirs. */
function additionsOf(
  ids: readonly number[],
  texts: ReadonlyMap<number, ReadTexts>,
  placement: Placement,
): Addition[] {
  const replaced = placement.positionsOf(new Set(ids));
  const placed = [...texts]
    .sort(([a, x], [b, y]) => y.stars - x.stars || b - a)
    .map(([id, { stars }]): Addition => {
      return { id, position: placement.reserve(stars), replaced: replaced.get(id) ?? -1, stars };
    });
  const gone = ids.flatMap((id): Addition[] => {
    const position = replaced.get(id);
    return texts.has(id) || position === undefined
      ? []
      : [{ id, position: -1, replaced: position, stars: -1 }];
  });
  return [...placed, ...gone];
}

/** Whether the texts are the same; the stars change all the time. */
function isSame(a: ReadTexts | undefined, b: ReadTexts | undefined): boolean {
  return isDeepStrictEqual(a && { ...a, stars: 0 }, b && { ...b, stars: 0 });
}

interface Writing {
  dialect: Dialect;
  write: Db;
  run: Run;
}

interface Added extends Writing {
  block: number;
  writer: BlockWriter;
}

async function addPostings({ block, writer, ...writing }: Added): Promise<void> {
  const words = new Map<string, Marks>();
  const prefixes = new Map<string, number[]>();
  for (const [word, marks] of writer.sorted()) {
    words.set(word, marks);
    for (let length = 1; length <= Math.min(PREFIX_LENGTH, word.length); length++) {
      const prefix = word.slice(0, length);
      if (!prefix.isWellFormed()) continue;
      const united = prefixes.get(prefix) ?? [];
      prefixes.set(prefix, united);
      const last = length < TEXT_PREFIX_FROM ? NAME : TEXT;
      for (const mark of marks) if ((mark & 3) <= last) united.push(mark);
    }
  }
  await merge(writing, block, words);
  const united = new UnitedMarks();
  for (const [prefix, marks] of prefixes) {
    united.addAll(marks);
    prefixes.set(prefix, united.take());
  }
  await merge(writing, prefixBlock(block), prefixes);
}

/** Adds positions to the stored lists of words or prefixes. */
async function merge(
  { dialect, write, run: steps }: Writing,
  block: number,
  added: ReadonlyMap<string, Marks>,
): Promise<void> {
  const runOf = await findRunNames(
    write,
    dialect,
    [...added.keys()].map((word) => ({ block, word })),
  );
  // A word before the first run of the block begins a new one.
  const byRun = Map.groupBy(added, ([word]) => runOf.get(word) ?? "");
  const names = [...new Set(runOf.values())];
  const dataOf = names.length === 0 ? new Map() : await readRuns(write, dialect, { block, names });
  let rows: BulkRow[] = [];
  let bytes = 0;
  const flush = async () => {
    const part = rows;
    [rows, bytes] = [[], 0];
    if (part.length > 0) await steps.step((tx) => writeRuns(tx, dialect, part));
  };
  for (const [run, words] of byRun) {
    const data = dataOf.get(run);
    const merged = new Map<string, Marks | Uint8Array>();
    const stored = new Map(data === undefined ? [] : wordsOfRun(data));
    for (const [word, lists] of stored) merged.set(word, lists.encoded());
    for (const [word, marks] of words) {
      // Slots only grow, so new marks come after all stored ones.
      const before = stored.get(word)?.decode();
      merged.set(word, before === undefined ? marks : [...before, ...marks]);
    }
    const sorted = sortWords(merged.keys()).map((word) => [word, merged.get(word) ?? []] as const);
    for (const { word, data: encoded } of runsOf(sorted)) {
      rows.push([block, word, encoded]);
      bytes += encoded.length;
    }
    // All parts of what was one run are written together.
    if (bytes >= WRITTEN_BYTES) await flush();
  }
  await flush();
}
