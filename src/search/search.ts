/**
 * Search owns the words of repositories and queries (`words.ts`), the search index, and suggestions. The index is made of
 * tables that are the same on both engines, so the results are the same, too. How well a repository matches is defined in
 * `tiers.ts`. No input is syntax. Lists with a search text are read by `lists`, from the ids that `find` returns.
 */
import { sql } from "kysely";
import type { Catalog, Repository } from "../catalog/catalog.js";
import type { Clock } from "../clock.js";
import type { Database } from "../database/database.js";
import { readState, type SearchState } from "./layout.js";
import { findMatches, type MatchQuery } from "./matches.js";
import { isOutOfOrder } from "./order.js";
import { IndexPages } from "./pages.js";
import { parseQuery } from "./query.js";
import { rebuildWords } from "./rebuild.js";
import { Vocabulary } from "./typos.js";
import { updateWords } from "./update.js";

/** A suggested language or topic. */
export interface SuggestedFacet {
  name: string;
  repositories: number;
}

export interface Suggestions {
  repositories: Repository[];
  languages: SuggestedFacet[];
  topics: SuggestedFacet[];
}

/** The repositories that match a text. */
export interface Found {
  /** Ids, best match first. */
  ids: number[];
  /** Whether there are more. */
  hasMore: boolean;
  /** The text whose matches these are, if it is not the one searched for but one without its typing errors. */
  corrected: string | undefined;
}

export interface FindOptions {
  /** Maximum number of ids. */
  limit: number;
  /** Whether typing errors are corrected. Default: true. */
  correct?: boolean;
}

/** An index and the pages of it in memory. */
interface SearchedIndex {
  state: SearchState;
  pages: IndexPages;
}

/** With fewer matches, typing errors are looked for. */
const FEW = 5;
/** A correction needs this many times the matches of the text as it is. */
const FAR_MORE = 10;
/** Words of a query that are corrected. */
const CORRECTED_WORDS = 3;
/** Exact matches whose full names are compared with the text. */
const COMPARED = 50;

/** Positions found beyond those wanted, as some may no longer be in use. */
const SPARE_PART = 1 / 8;
const SPARE = 8;

/** If more names than this start with a prefix, the most popular names are scanned instead. */
const FACETS_GATHERED = 2_000;

const NOTHING: Found = { ids: [], hasMore: false, corrected: undefined };

export class Search {
  readonly #database: Database;
  readonly #catalog: Catalog;
  readonly #clock: Clock;
  /** Of the index that was searched last. */
  #pages: IndexPages | undefined;
  #vocabulary: { firstBlock: number; words: Vocabulary } | undefined;

  constructor(database: Database, catalog: Catalog, clock: Clock) {
    this.#database = database;
    this.#catalog = catalog;
    this.#clock = clock;
  }

  /**
   * Updates the index for the repositories marked as outdated; safe to kill and run again. Returns the number of repositories
   * processed.
   */
  update(onProgress: (done: number) => void = () => {}): Promise<number> {
    return updateWords(this.#database, this.#clock, onProgress);
  }

  /** Rebuilds the index if its order no longer follows the stars. Takes time proportional to the catalogue. */
  async reorder(): Promise<void> {
    if (await isOutOfOrder(this.#database)) await rebuildWords(this.#database, this.#clock, () => {});
  }

  /** The repositories that match a text, best first. See `tiers.ts` for what that means. */
  async find(text: string, { limit, correct = true }: FindOptions): Promise<Found> {
    const query = parseQuery(text);
    if (query === undefined) return NOTHING;
    return this.#find({ query, scope: "all", limit }, correct);
  }

  /** At most `limit` suggestions of each kind; the most popular ones for an empty text. */
  async suggest(text: string, limit: number): Promise<Suggestions> {
    const prefix = text.trim().toLowerCase();
    const [repositories, languages, topics] = await Promise.all([
      this.#suggestRepositories(text, limit),
      this.#suggestFacets("language", prefix, limit),
      this.#suggestFacets("topic", prefix.replaceAll(/\s+/g, "-"), limit),
    ]);
    return { repositories, languages, topics };
  }

  async #find(match: MatchQuery, correct: boolean): Promise<Found> {
    const index = await this.#openIndex();
    if (index === undefined) return NOTHING;
    const { hasExact, ...found } = await this.#idsOf(index, match);
    // While somebody types, few matches are no sign of an error.
    const few = match.scope === "names" ? 1 : FEW;
    if (!correct || hasExact || found.ids.length >= few) return found;
    const corrected = await this.#corrected(index, match);
    const isBetter = corrected !== undefined && corrected.ids.length > found.ids.length * FAR_MORE;
    return isBetter ? corrected : found;
  }

  /** The index as it is now; undefined until it has been built. */
  async #openIndex(): Promise<SearchedIndex | undefined> {
    const { read } = this.#database;
    const state = await readState(read);
    if (state === undefined) return undefined;
    if (this.#pages?.firstBlock !== state.firstBlock) this.#pages = new IndexPages(state);
    const pages = this.#pages;
    await pages.update(read, state.version);
    return { state, pages };
  }

  async #idsOf({ state, pages }: SearchedIndex, match: MatchQuery): Promise<Found & { hasExact: boolean }> {
    const { read, dialect } = this.#database;
    const spare = Math.min(state.changes, Math.ceil(match.limit * SPARE_PART) + SPARE);
    const limit = match.limit + 1 + spare;
    const { positions, exact } = await findMatches(this.#database, state, { ...match, limit });
    await pages.load(read, dialect, positions);
    const ids = pages.idsAt(positions);
    const hasMore = ids.length > match.limit;
    const { fullName } = match.query;
    const named = fullName === undefined ? [] : pages.idsAt(exact.slice(0, COMPARED));
    const first = await this.#withFullName(named, fullName);
    const ordered = first.length === 0 ? ids : [...first, ...ids.filter((id) => !first.includes(id))];
    return {
      ids: hasMore ? ordered.slice(0, match.limit) : ordered,
      hasMore,
      corrected: undefined,
      hasExact: exact.length > 0,
    };
  }

  /** Those with exactly this full name, if there are several with the same words. */
  async #withFullName(ids: readonly number[], fullName: string | undefined): Promise<number[]> {
    if (fullName === undefined || ids.length < 2) return [];
    const { read, dialect } = this.#database;
    const { rows } = await sql<{ id: number }>`select id from repositories
      where ${dialect.among(sql`id`, ids)} and name_key = ${fullName}`.execute(read);
    const same = new Set(rows.map(({ id }) => id));
    return ids.filter((id) => same.has(id));
  }

  async #corrected(index: SearchedIndex, match: MatchQuery): Promise<Found | undefined> {
    const { query } = match;
    const vocabulary = await this.#vocabularyOf(index.state);
    let { text } = query;
    for (const word of query.words.filter((one) => !vocabulary.has(one)).slice(0, CORRECTED_WORDS))
      text = text.replace(word, () => vocabulary.nearest(word) ?? word);
    const parsed = text === query.text ? undefined : parseQuery(text);
    if (parsed === undefined) return undefined;
    const { ids, hasMore } = await this.#idsOf(index, { ...match, query: parsed });
    return { ids, hasMore, corrected: text };
  }

  async #vocabularyOf({ firstBlock }: SearchState): Promise<Vocabulary> {
    if (this.#vocabulary?.firstBlock === firstBlock) return this.#vocabulary.words;
    const { rows } = await sql<{ vocabulary: string }>`select vocabulary from search_state`.execute(
      this.#database.read,
    );
    const words = new Vocabulary(rows[0]?.vocabulary ?? "");
    this.#vocabulary = { firstBlock, words };
    return words;
  }

  async #suggestRepositories(text: string, limit: number): Promise<Repository[]> {
    const { read } = this.#database;
    if (text.trim() === "") {
      const popular = await sql<{ id: number }>`select id from repositories where availability = 'AVAILABLE'
        order by coalesce(stars, -1) desc, id desc limit ${limit}`.execute(read);
      return this.#catalog.findMany(popular.rows.map((row) => row.id));
    }
    const query = parseQuery(text);
    if (query === undefined) return [];
    const { ids } = await this.#find({ query, scope: "names", limit }, true);
    return this.#catalog.findMany(ids);
  }

  async #suggestFacets(kind: "language" | "topic", prefix: string, limit: number): Promise<SuggestedFacet[]> {
    const { read } = this.#database;
    const here = sql`kind = ${kind} and provider = ''`;
    // Every name with the prefix sorts between the prefix and the prefix followed by the greatest character.
    const begins = sql`name_key >= ${prefix} and name_key < ${`${prefix}\u{10ffff}`}`;
    const counted = await sql<{ names: number }>`select count(*) as names from (
      select 1 from facets where ${here} and ${begins} limit ${FACETS_GATHERED + 1}) as bounded`.execute(
      read,
    );
    const many = Number(counted.rows[0]?.names ?? 0) > FACETS_GATHERED;
    const source = many
      ? sql`facets where ${here} and substr(name_key, 1, ${[...prefix].length}) = ${prefix}`
      : sql`(select * from facets where ${here} and ${begins} limit ${FACETS_GATHERED}) as gathered`;
    const rows = await sql<SuggestedFacet>`select name, repositories from ${source}
      order by repositories desc, name limit ${limit}`.execute(read);
    return rows.rows;
  }
}
