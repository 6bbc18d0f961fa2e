/**
 * Search owns the words of repositories and queries (`words.ts`), the search index, and suggestions. The index is made of
 * tables that are the same on both engines, so the results are the same, too. How well a repository matches is defined in
 * `tiers.ts`. No input is syntax. Lists with a search text are read by `lists`, from the ids that `find` returns.
 */
import { sql } from "kysely";
import type { Database, Prepared } from "../../database/database.js";
import type { Clock } from "../../lib/clock.js";
import type { Catalog, Repository } from "../../repositories/repositories.js";
import { FacetNames, type SuggestedFacet } from "./facet-names.js";
import { readStatus, SELECT_STATE, type SearchStatus, type StateValues, stateOf } from "./layout.js";
import { findMatches, type MatchQuery, type SearchedIndex } from "./matches.js";
import { IndexPages, PageReader } from "./pages.js";
import { isOutOfOrder } from "./placement.js";
import { rebuildWords } from "./rebuild.js";
import { RunReader } from "./runs.js";
import { Vocabulary } from "./typos.js";
import { updateWords } from "./update.js";
import { parseQuery } from "./words.js";

export type { SuggestedFacet } from "./facet-names.js";
export type { SearchStatus } from "./layout.js";
export { parseQuery } from "./words.js";

export interface Suggestions {
  repositories: Repository[];
  languages: SuggestedFacet[];
  topics: SuggestedFacet[];
}

/** The repositories that match a text. */
export interface Found {
  /** Ids, best match first. */
  ids: number[];
  /** Number of matches, counted up to the number requested. */
  total: number;
  /** The text whose matches these are, if it is not the one searched for but one without its typing errors. */
  corrected: string | undefined;
}

export interface FindOptions {
  /** Maximum number of ids. */
  limit: number;
  /** Matches are counted up to here. Default: one more than `limit`, which shows whether there are more. */
  counted?: number;
  /** Whether typing errors are corrected. Default: true. */
  correct?: boolean;
}

/** A search with fewer matches is checked for typing errors. */
const FEW = 5;
/** A correction needs this many times the matches of the text as it is. */
const FAR_MORE = 10;
/** Maximum number of words of a query that are corrected. */
const CORRECTED_WORDS = 3;

const NOTHING: Found = { ids: [], total: 0, corrected: undefined };

export class Search {
  readonly #database: Database;
  readonly #catalog: Catalog;
  readonly #clock: Clock;
  readonly #facets: FacetNames;
  readonly #runs: RunReader;
  readonly #pageReader: PageReader;
  readonly #readState: Prepared<null, StateValues>;
  readonly #readNamed: Prepared<{ ids: readonly number[]; fullName: string }, [id: number]>;
  readonly #readPopular: Prepared<number, [id: number]>;
  /** Of the index that was searched last. */
  #pages: IndexPages | undefined;
  #vocabulary: { firstBlock: number; words: Vocabulary } | undefined;

  constructor(database: Database, catalog: Catalog, clock: Clock) {
    const { prepare, dialect } = database;
    this.#database = database;
    this.#catalog = catalog;
    this.#clock = clock;
    this.#facets = new FacetNames(database, catalog);
    this.#runs = new RunReader(database);
    this.#pageReader = new PageReader(database);
    this.#readState = prepare(() => SELECT_STATE);
    this.#readNamed = prepare((given) => {
      const among = dialect.among(
        sql`id`,
        given(({ ids }) => ids),
      );
      return sql`select id from repositories where ${among} and name_key = ${given(({ fullName }) => fullName)}`;
    });
    this.#readPopular = prepare(
      (given) => sql`select id from repositories where availability = 'AVAILABLE'
        order by coalesce(stars, -1) desc, id desc limit ${given((limit) => limit)}`,
    );
  }

  /** Counts the waiting repositories. */
  status(): Promise<SearchStatus> {
    return readStatus(this.#database, this.#clock);
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
  async find(text: string, { limit, counted = limit + 1, correct = true }: FindOptions): Promise<Found> {
    const query = parseQuery(text);
    if (query === undefined) return NOTHING;
    // Counts far enough to see whether a correction has many more matches.
    const enough = Math.max(counted, FEW * FAR_MORE);
    const found = await this.#find({ query, scope: "all", limit, counted: enough }, correct);
    return { ...found, total: Math.min(found.total, counted) };
  }

  /** At most `limit` suggestions of each kind; the most popular ones for an empty text. */
  async suggest(text: string, limit: number): Promise<Suggestions> {
    const [repositories, facets] = await Promise.all([
      this.suggestRepositories(text, limit),
      this.suggestFacets(text, limit),
    ]);
    return { repositories, ...facets };
  }

  /** At most `limit` languages and topics whose names begin with the text. */
  async suggestFacets(text: string, limit: number): Promise<Omit<Suggestions, "repositories">> {
    const prefix = text.trim().toLowerCase();
    const [languages, topics] = await Promise.all([
      this.#facets.suggest("language", prefix, limit),
      this.#facets.suggest("topic", prefix.replaceAll(/\s+/g, "-"), limit),
    ]);
    return { languages, topics };
  }

  /** At most `limit` repositories whose names fit; the most popular ones for an empty text. */
  async suggestRepositories(text: string, limit: number): Promise<Repository[]> {
    return this.#catalog.findMany(await this.suggestIds(text, limit));
  }

  /** The ids of `suggestRepositories`. */
  async suggestIds(text: string, limit: number): Promise<number[]> {
    if (text.trim() === "") return (await this.#readPopular(limit)).map(([id]) => id);
    const query = parseQuery(text);
    if (query === undefined) return [];
    return (await this.#find({ query, scope: "names", limit, counted: 0 }, true)).ids;
  }

  async #find(match: MatchQuery, correct: boolean): Promise<Found> {
    const index = await this.#openIndex();
    if (index === undefined) return NOTHING;
    const { hasExact, ...found } = await this.#idsOf(index, match);
    // While somebody types, few matches are no sign of an error.
    const few = match.scope === "names" ? 1 : FEW;
    if (!correct || hasExact || found.total >= few) return found;
    const corrected = await this.#corrected(index, match);
    const isBetter = corrected !== undefined && corrected.total > found.total * FAR_MORE;
    return isBetter ? corrected : found;
  }

  /** The index as it is now; undefined until it has been built. */
  async #openIndex(): Promise<SearchedIndex | undefined> {
    const state = stateOf((await this.#readState(null))[0]);
    if (state === undefined) return undefined;
    if (this.#pages?.firstBlock !== state.firstBlock) this.#pages = new IndexPages(this.#pageReader, state);
    const pages = this.#pages;
    await pages.update(state);
    return { state, pages, runs: this.#runs };
  }

  async #idsOf(index: SearchedIndex, match: MatchQuery): Promise<Found & { hasExact: boolean }> {
    const { pages } = index;
    const { positions, exact, total } = await findMatches(index, match);
    const { fullName } = match.query;
    const compared = fullName === undefined || exact.length < 2 ? [] : exact;
    await Promise.all([pages.load(positions), pages.load(compared)]);
    const ids = pages.idsAt(positions);
    const first = await this.#withFullName(pages.idsAt(compared), fullName);
    const ordered = first.length === 0 ? ids : [...first, ...ids.filter((id) => !first.includes(id))];
    return {
      ids: ordered.slice(0, match.limit),
      total: Math.max(total, ids.length),
      corrected: undefined,
      hasExact: exact.length > 0,
    };
  }

  /** Those with exactly this full name, if there are several with the same words. */
  async #withFullName(ids: readonly number[], fullName: string | undefined): Promise<number[]> {
    if (fullName === undefined || ids.length < 2) return [];
    const same = new Set((await this.#readNamed({ ids, fullName })).map(([id]) => id));
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
    const { ids, total } = await this.#idsOf(index, { ...match, query: parsed });
    return { ids, total, corrected: text };
  }

  async #vocabularyOf({ firstBlock }: SearchedIndex["state"]): Promise<Vocabulary> {
    if (this.#vocabulary?.firstBlock === firstBlock) return this.#vocabulary.words;
    const { rows } = await sql<{ vocabulary: string }>`select vocabulary from search_state`.execute(
      this.#database.read,
    );
    const words = new Vocabulary(rows[0]?.vocabulary ?? "");
    this.#vocabulary = { firstBlock, words };
    return words;
  }
}
