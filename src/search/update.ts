import { sql } from "kysely";
import { markOutdated, runState, workOff } from "../catalog/catalog.js";
import type { Clock } from "../clock.js";
import type { BulkRow, Database, Dialect, Tx } from "../database/database.js";
import { BlockWriter, TEXT_PREFIX_FROM, UnitedMarks } from "./block-writer.js";
import {
  bytesOf,
  FREE_EVERY,
  floatsOf,
  LAST_OF_BLOCK,
  PAGE,
  PAGES_PER_BLOCK,
  prefixBlock,
  readState,
  type SearchState,
} from "./layout.js";
import { BLOCK, encodeMarks, type Marks, NAME, TEXT } from "./postings.js";
import { PAGE_COLUMNS, readTexts, rebuildWords } from "./rebuild.js";
import { findRunNames, readRuns, writeRuns } from "./run-table.js";
import { runsOf, sortWords, wordsOfRun } from "./runs.js";
import { Splitter } from "./words.js";

/** Repositories indexed in one transaction. */
const BATCH = 2_000;
/** From this many changes since the last rebuild, or this part of all repositories, a rebuild is better. */
const MANY = 2_000;
const MANY_PART = 8;
/** Prefixes up to this length have postings in appended blocks, however few words begin with them. */
const APPENDED_PREFIXES = 3;
/** A page and this many on either side are tried for a free position. */
const PAGES_TRIED = 2;

/**
 * Updates the index for the repositories marked as outdated, or builds it. A repository gets a new position near others with
 * as many stars, and its old one is not used again: postings are only ever added. Safe to kill and run again. Returns the
 * number of repositories processed.
 */
export async function updateWords(
  database: Database,
  clock: Clock,
  onProgress: (done: number) => void = () => {},
): Promise<number> {
  const state = await readState(database.write);
  const marked = await sql<{
    marked: number;
  }>`select count(*) as marked from outdated where kind = 'words'`.execute(database.write);
  const waiting = Number(marked.rows[0]?.marked ?? 0);
  if (waiting === 0 && state !== undefined) return 0;
  const isMany = waiting + (state?.changes ?? 0) > MANY + (state?.documents ?? 0) / MANY_PART;
  if (state === undefined || isMany) {
    if (waiting === 0 && (await isEmpty(database))) return 0;
    return rebuildWords(database, clock, onProgress);
  }
  return workOff(database, { kind: "words", size: BATCH, onProgress }, (tx, ids) =>
    index(tx, { ...database, clock, ids }),
  );
}

async function isEmpty({ write }: Database): Promise<boolean> {
  const { rows } = await sql`select 1 from repositories limit 1`.execute(write);
  return rows.length === 0;
}

interface Change {
  dialect: Dialect;
  clock: Clock;
  ids: readonly number[];
}

async function index(tx: Tx, { dialect, clock, ids }: Change): Promise<void> {
  // A rebuild in progress may already have passed these repositories.
  if ((await runState(tx, clock, "words")) !== "none")
    await markOutdated(tx, dialect, "words_in_rebuild", ids);
  const state = await readState(tx);
  if (state === undefined) return;
  const pages = await EditedPages.read(tx, state);
  pages.remove(new Set(ids));
  const splitter = new Splitter();
  const blocks = new Map<number, BlockWriter>();
  const texts = [...(await readTexts(tx, dialect, ids))].sort(([a, x], [b, y]) => y.stars - x.stars || b - a);
  for (const [id, text] of texts) {
    const position = pages.place(id, text.stars);
    const block = state.firstBlock + Math.floor(position / BLOCK);
    const writer = blocks.get(block) ?? new BlockWriter();
    blocks.set(block, writer);
    writer.add(position % BLOCK, splitter.documentOf(text));
  }
  for (const [block, writer] of blocks) await addPostings(tx, dialect, { state, block, writer });
  const version = state.version + 1;
  await dialect.upsert(tx, "search_pages", PAGE_COLUMNS, ["page"], pages.rows(version));
  await sql`update search_state set version = ${version}, positions = ${pages.positions},
    changes = changes + ${texts.length}`.execute(tx);
}

interface Added {
  state: SearchState;
  block: number;
  writer: BlockWriter;
}

async function addPostings(tx: Tx, dialect: Dialect, { state, block, writer }: Added): Promise<void> {
  const isAppended = block >= state.firstBlock + state.builtBlocks;
  const stored = await storedPrefixes(tx, prefixBlock(block));
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
  await merge(tx, dialect, block, words);
  await merge(tx, dialect, prefixBlock(block), prefixes);
}

/** The prefixes with lists of their own. */
async function storedPrefixes(tx: Tx, block: number): Promise<Set<string>> {
  const { rows } = await sql<{
    data: Uint8Array;
  }>`select data from search_words where block = ${block}`.execute(tx);
  return new Set(rows.flatMap(({ data }) => [...wordsOfRun(data)].map(([word]) => word)));
}

/** Adds positions to the stored lists of words or prefixes. */
async function merge(
  tx: Tx,
  dialect: Dialect,
  block: number,
  added: ReadonlyMap<string, Marks>,
): Promise<void> {
  const runOf = await findRunNames(
    tx,
    dialect,
    [...added.keys()].map((word) => ({ block, word })),
  );
  const names = [...new Set(runOf.values())];
  const dataOf = names.length === 0 ? new Map() : await readRuns(tx, dialect, { block, names });
  const united = new UnitedMarks();
  // A word before the first run of the block begins a new one.
  const byRun = Map.groupBy(added, ([word]) => runOf.get(word) ?? "");
  const rows: BulkRow[] = [];
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
    for (const { word, data: bytes } of runsOf(sorted)) rows.push([block, word, bytes]);
  }
  await writeRuns(tx, dialect, rows);
}

/** The pages of the index while positions are given out and taken back. */
class EditedPages {
  readonly #first: number;
  /** Pages written by the last rebuild, which are in order. */
  readonly #built: number;
  readonly #pages: { ids: Float64Array; stars: Float64Array; top: number; isEdited: boolean }[];
  positions: number;

  private constructor({ firstBlock, documents, positions }: SearchState) {
    this.#first = firstBlock * PAGES_PER_BLOCK;
    this.#built = Math.ceil(documents / (PAGE - PAGE / FREE_EVERY));
    this.#pages = [];
    this.positions = positions;
  }

  static async read(tx: Tx, state: SearchState): Promise<EditedPages> {
    const edited = new EditedPages(state);
    const { rows } = await sql<{ page: number; ids: Uint8Array; stars: Uint8Array }>`
      select page, ids, stars from search_pages where page >= ${edited.#first} order by page`.execute(tx);
    for (const { ids, stars } of rows) edited.#append(floatsOf(ids), floatsOf(stars));
    return edited;
  }

  #append(ids: Float64Array, stars: Float64Array): void {
    const used = ids.findIndex((id) => id !== 0);
    this.#pages.push({ ids, stars, top: stars[used] ?? -1, isEdited: false });
  }

  /** Takes back the positions of repositories. */
  remove(repositories: ReadonlySet<number>): void {
    for (const page of this.#pages) {
      for (let i = 0; i < PAGE; i++) {
        if (!repositories.has(page.ids[i] ?? 0)) continue;
        page.ids[i] = -1;
        page.isEdited = true;
      }
    }
  }

  /** Gives a repository a free position near those with as many stars; without one nearby, a position at the end. */
  place(id: number, stars: number): number {
    const middle = this.#pageOf(stars);
    for (let away = 0; away <= PAGES_TRIED; away++) {
      for (const page of away === 0 ? [middle] : [middle + away, middle - away]) {
        const slot = this.#freeSlot(page, stars);
        if (slot !== undefined) return this.#take(page * PAGE + slot, id, stars);
      }
    }
    let end = this.positions;
    if (end % BLOCK === LAST_OF_BLOCK) end++;
    while (this.#pages.length * PAGE <= end) this.#append(new Float64Array(PAGE), new Float64Array(PAGE));
    return this.#take(end, id, stars);
  }

  #take(position: number, id: number, stars: number): number {
    const page = this.#pages[Math.floor(position / PAGE)];
    if (page !== undefined) {
      page.ids[position % PAGE] = id;
      page.stars[position % PAGE] = stars;
      page.isEdited = true;
    }
    this.positions = Math.max(this.positions, position + 1);
    return position;
  }

  /** The last page that begins with at least as many stars. */
  #pageOf(stars: number): number {
    let [low, high] = [0, this.#built - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#pages[middle]?.top ?? -1) >= stars) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #freeSlot(index: number, stars: number): number | undefined {
    const page = this.#pages[index];
    if (page === undefined) return undefined;
    const free = (slot: number) =>
      page.ids[slot] === 0 &&
      (index * PAGE + slot) % BLOCK !== LAST_OF_BLOCK &&
      index * PAGE + slot < this.positions;
    let wanted = page.stars.findIndex((other, slot) => page.ids[slot] !== 0 && other < stars);
    if (wanted < 0) wanted = PAGE - 1;
    for (let away = 0; away < PAGE; away++) {
      if (free(wanted - away)) return wanted - away;
      if (free(wanted + away)) return wanted + away;
    }
    return undefined;
  }

  rows(version: number): BulkRow[] {
    return this.#pages.flatMap((page, i) =>
      page.isEdited ? [[this.#first + i, version, bytesOf(page.ids), bytesOf(page.stars)]] : [],
    );
  }
}
