import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import { bumpRevision, type Run, runExclusively } from "../catalog/catalog.js";
import type { Clock } from "../clock.js";
import type { BulkRow, Database, Db, Dialect } from "../database/database.js";
import { BlockWriter, TEXT_PREFIX_FROM, UnitedMarks } from "./block-writer.js";
import { EditedPages } from "./edited-pages.js";
import { prefixBlock, readState, type SearchState } from "./layout.js";
import { BLOCK, encodeMarks, type Marks, NAME, TEXT } from "./postings.js";
import { PAGES, type ReadTexts, readTexts, rebuildWords, restoreMarks } from "./rebuild.js";
import { findRunNames, readRuns, writeRuns } from "./run-table.js";
import { runsOf, sortWords, wordsOfRun } from "./runs.js";
import { Splitter } from "./words.js";

/** Repositories indexed together: their postings of a word are added in one step. */
const BATCH = 2_000;
/** Bytes and pages written in one transaction, as all other writers wait for it. */
const WRITTEN_BYTES = 500_000;
const WRITTEN_PAGES = 32;
/** Repositories whose marks are deleted in one transaction. */
const UNMARKED = 250;
/** From this many changes since the last rebuild, or this part of all repositories, a rebuild is better. */
const MANY = 2_000;
const MANY_PART = 8;
/** Prefixes up to this length have postings in appended blocks, however few words begin with them. */
const APPENDED_PREFIXES = 3;

/**
 * Updates the index for the repositories marked as outdated, or builds it. A repository gets a new position near others with
 * as many stars, and its old one is not used again: postings are only ever added. Safe to kill and run again. Returns the
 * number of repositories processed; 0 if another process is doing so.
 */
export async function updateWords(
  database: Database,
  clock: Clock,
  onProgress: (done: number) => void = () => {},
): Promise<number> {
  const state = await readState(database.write);
  const marked = await sql<{ marked: number }>`select count(*) as marked from outdated
    where kind in ('words', 'words_in_rebuild')`.execute(database.write);
  const waiting = Number(marked.rows[0]?.marked ?? 0);
  if (waiting === 0 && state !== undefined) return 0;
  const isMany = waiting + (state?.changes ?? 0) > MANY + (state?.documents ?? 0) / MANY_PART;
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
      let processed = 0;
      for (let count = await index(database, run); count > 0; count = await index(database, run)) {
        processed += count;
        onProgress(processed);
        if (processed >= waiting) break;
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
 * Indexes some repositories. Their positions are reserved first, so that nobody else gets them if this ends half-way; then
 * their postings are added; then they move there. Returns their number.
 */
async function index({ dialect, write }: Database, run: Run): Promise<number> {
  const { rows: marked } = await sql<{
    id: number;
  }>`select repository_id as id from outdated where kind = 'words'
    order by repository_id limit ${BATCH}`.execute(write);
  const state = await readState(write);
  if (marked.length === 0 || state === undefined) return 0;
  const ids = marked.map(({ id }) => id);
  const pages = await EditedPages.read(write, state);
  const splitter = new Splitter();
  const blocks = new Map<number, BlockWriter>();
  const texts = await readTexts(write, dialect, ids);
  const positions = new Map<number, number>();
  for (const [id, text] of [...texts].sort(([a, x], [b, y]) => y.stars - x.stars || b - a)) {
    const position = pages.reserve(text.stars);
    positions.set(id, position);
    const block = state.firstBlock + Math.floor(position / BLOCK);
    const writer = blocks.get(block) ?? new BlockWriter();
    blocks.set(block, writer);
    writer.add(position % BLOCK, splitter.documentOf(text));
  }
  const version = state.version + 1;
  const writePages = async () => {
    const rows = pages.takeEdited(version);
    for (let from = 0; from < rows.length; from += WRITTEN_PAGES) {
      const part = rows.slice(from, from + WRITTEN_PAGES);
      await run.step((tx) => dialect.upsert(tx, PAGES, part));
    }
  };
  await run.step(async (tx) => {
    await sql`update search_state set positions = ${pages.positions}`.execute(tx);
  });
  await writePages();
  for (const [block, writer] of blocks) await addPostings({ dialect, write, run, state, block, writer });
  pages.remove(new Set(ids));
  await writePages();
  pages.settle(positions);
  await writePages();
  await run.step(async (tx) => {
    await sql`update search_state set version = ${version}, changes = changes + ${texts.size}`.execute(tx);
    await bumpRevision(tx);
  });
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
  state: SearchState;
  block: number;
  writer: BlockWriter;
}

async function addPostings({ state, block, writer, ...writing }: Added): Promise<void> {
  const isAppended = block >= state.firstBlock + state.builtBlocks;
  const stored = await storedPrefixes(writing.write, prefixBlock(block));
  const longest = [...stored].reduce(
    (length, { length: other }) => Math.max(length, other),
    APPENDED_PREFIXES,
  );
  const words = new Map<string, Marks>();
  const prefixes = new Map<string, number[]>();
  for (const word of writer.sorted()) {
    const marks = writer.marksOf(word);
    words.set(word, marks);
    for (let length = 1; length <= Math.min(longest, word.length); length++) {
      const prefix = word.slice(0, length);
      const isStored = stored.has(prefix) || (isAppended && length <= APPENDED_PREFIXES);
      if (!isStored || !prefix.isWellFormed()) continue;
      const united = prefixes.get(prefix) ?? [];
      prefixes.set(prefix, united);
      const last = length < TEXT_PREFIX_FROM ? NAME : TEXT;
      for (const mark of marks) if ((mark & 3) <= last) united.push(mark);
    }
  }
  await merge(writing, block, words);
  await merge(writing, prefixBlock(block), prefixes);
}

/** The prefixes with lists of their own. */
async function storedPrefixes(db: Db, block: number): Promise<Set<string>> {
  const { rows } = await sql<{
    data: Uint8Array;
  }>`select data from search_words where block = ${block}`.execute(db);
  return new Set(rows.flatMap(({ data }) => wordsOfRun(data).map(([word]) => word)));
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
  const united = new UnitedMarks();
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
    const merged = new Map<string, Uint8Array>();
    const stored = new Map(data === undefined ? [] : wordsOfRun(data));
    for (const [word, lists] of stored) merged.set(word, lists.encoded());
    for (const [word, marks] of words) {
      for (const mark of stored.get(word)?.decode() ?? []) united.add(mark);
      for (const mark of marks) united.add(mark);
      merged.set(word, encodeMarks(united.take()));
    }
    const sorted = sortWords(merged.keys()).map((word): [string, Uint8Array] => [
      word,
      merged.get(word) ?? encodeMarks([]),
    ]);
    for (const { word, data: encoded } of runsOf(sorted)) {
      rows.push([block, word, encoded]);
      bytes += encoded.length;
    }
    // All parts of what was one run are written together.
    if (bytes >= WRITTEN_BYTES) await flush();
  }
  await flush();
}
