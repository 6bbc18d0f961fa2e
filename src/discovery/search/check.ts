import { crc32 } from "node:zlib";
import { sql } from "kysely";
import type { Db, Dialect } from "../../database/database.js";
import type { Clock } from "../../lib/clock.js";
import { runState } from "../../repositories/repositories.js";
import { addedBlocks, readAdditions, readState, type SearchState } from "./layout.js";
import { Placement } from "./placement.js";
import { BLOCK, NAME, TEXT, WHOLE } from "./postings.js";
import { readTexts } from "./rebuild.js";
import { wordsOfRun } from "./runs.js";
import { Splitter, type WordDocument } from "./words.js";

/** What is wrong with the search index. */
export type SearchDamage = "search-index-damaged" | "search-index-stale";
type OnDamage = (kind: SearchDamage, found: string) => void;

/** Repositories and runs read at a time. */
const BATCH = 2_000;
/** Repositories that are named. */
const NAMED = 100;

/**
 * Compares the search index with the words of all repositories, by a checksum of the words of each. Left out are repositories marked
 * as outdated. Nothing is checked while the index is not built, or is being updated. Needs 16 bytes for each repository, beside
 * what an update needs.
 */
export async function checkSearch(
  db: Db,
  dialect: Dialect,
  { clock, onDamage }: { clock: Clock; onDamage: OnDamage },
): Promise<void> {
  const state = await readState(db);
  if (state === undefined || (await runState(db, clock, "words")) !== "none") return;
  try {
    const wrong = await wrongRepositories(db, dialect, state);
    for (const { id, reason } of wrong) onDamage("search-index-stale", `repository ${id} ${reason}`);
  } catch (error) {
    // Bytes that are no index fail in many ways.
    if (!(error instanceof RangeError || error instanceof TypeError || error instanceof DamagedIndex))
      throw error;
    onDamage("search-index-damaged", error.message);
  }
}

class DamagedIndex extends Error {}

interface Wrong {
  id: number;
  reason: string;
}

async function wrongRepositories(db: Db, dialect: Dialect, state: SearchState): Promise<Wrong[]> {
  const placement = await Placement.read(db, state);
  const slots = await slotsOf(db, state);
  const built = await readDigests(db, builtBlocks(state), state.builtBlocks * BLOCK);
  const added = await readDigests(db, addedBlocks(state), state.slots);
  const marked = await readMarked(db);
  const splitter = new Splitter();
  const seen = new Set<number>();
  const wrong: Wrong[] = [];
  for (const batch of batches(placement.placed())) {
    const texts = await readTexts(
      db,
      dialect,
      batch.map(({ id }) => id),
    );
    for (const { id, position } of batch) {
      if (seen.has(id)) wrong.push({ id, reason: "has two positions" });
      seen.add(id);
      if (marked.has(id)) continue;
      const text = texts.get(id);
      const slot = slots.get(id);
      const stored = slot === undefined ? built[position] : added[slot];
      if (text === undefined) wrong.push({ id, reason: "is in the index, and is not listed" });
      else if (stored !== digestOf(splitter.documentOf(text)))
        wrong.push({ id, reason: "is not in the index under its words" });
      if (wrong.length >= NAMED) return wrong;
    }
  }
  for (let after = 0; wrong.length < NAMED; ) {
    const { rows } = await sql<{ id: number; availability: string }>`select id, availability from repositories
      where id > ${after} order by id limit ${10 * BATCH}`.execute(db);
    for (const { id, availability } of rows)
      if (availability === "AVAILABLE" && !seen.has(id) && !marked.has(id))
        wrong.push({ id, reason: "is missing in the index" });
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.id;
  }
  return wrong.slice(0, NAMED);
}

async function readMarked(db: Db): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`select repository_id as id from outdated
    where kind in ('words', 'words_in_rebuild')`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** The slots of the repositories that have one. */
async function slotsOf(db: Db, { firstBlock }: SearchState): Promise<Map<number, number>> {
  const slots = new Map<number, number>();
  for (const { id, position, slot } of await readAdditions(db, firstBlock))
    if (position >= 0) slots.set(id, slot);
    else slots.delete(id);
  return slots;
}

/** A block of the index, and the position or the slot that its first document has. */
interface BlockAt {
  block: number;
  slot: number;
}

function builtBlocks({ firstBlock, builtBlocks: count }: SearchState): BlockAt[] {
  return Array.from({ length: count }, (_, i) => ({ block: firstBlock + i, slot: i * BLOCK }));
}

/** For each position or slot, the digest of the words that it has in the stored runs. */
async function readDigests(db: Db, blocks: readonly BlockAt[], length: number): Promise<Uint32Array> {
  const digests = new Uint32Array(length);
  for (const { block, slot } of blocks) {
    for (let after = ""; ; ) {
      const { rows } = await sql<{ word: string; data: Uint8Array }>`select word, data from search_words
        where block = ${block} and word > ${after} order by word limit ${BATCH}`.execute(db);
      for (const row of rows) {
        for (const [word, lists] of wordsOf(row)) {
          for (const mark of lists.decode()) {
            const at = slot + (mark >> 2);
            digests[at] = (digests[at] ?? 0) ^ wordDigest(word, mark & 3);
          }
        }
      }
      const last = rows.at(-1);
      if (last === undefined) break;
      after = last.word;
    }
  }
  return digests;
}

function wordsOf({ word, data }: { word: string; data: Uint8Array }): ReturnType<typeof wordsOfRun> {
  const words = wordsOfRun(data);
  if (words[0]?.[0] !== word)
    throw new DamagedIndex(`the run of words that begins with "${word}" cannot be read`);
  return words;
}

const wordDigest = (word: string, list: number): number => crc32(word, list);

/** As BlockWriter stores a document: each word once, in the first list that has it. */
function digestOf({ whole, names, terms }: WordDocument): number {
  const lists = new Map<string, number>([[whole, WHOLE]]);
  for (const word of names) if (!lists.has(word)) lists.set(word, NAME);
  for (const words of terms) for (const word of words) if (!lists.has(word)) lists.set(word, TEXT);
  let digest = 0;
  for (const [word, list] of lists) if (word !== "") digest = (digest ^ wordDigest(word, list)) >>> 0;
  return digest;
}

function* batches<T>(all: Iterable<T>): Generator<T[]> {
  let batch: T[] = [];
  for (const one of all) {
    if (batch.push(one) < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
