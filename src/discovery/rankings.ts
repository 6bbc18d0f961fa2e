/**
 * Rankings: how repositories have grown, with all that follows: trends, ranks, languages and topics, the summary and the first page; and
 * suggestions while somebody types. `update` brings stored growth up to date after snapshots were recorded. The result does not depend on
 * the order and batches in which they were.
 */

import { sql } from "kysely";
import type { Database } from "../database/database.js";
import {
  byWindow,
  type Explanation,
  type GrowthOptions,
  isUpdateDue,
  type Measure,
  perWindow,
  type Ranking,
  readExplanations,
  TREND,
  type Trend,
  TrendReader,
  type TrendValues,
  trendOfRollup,
  update as updateGrowth,
  type Window,
} from "../growth/growth.js";
import type { Clock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import type { Catalog, Repository } from "../repositories/repositories.js";
import { type DamagedBlock, rangeColumn, rangeOf, type SnapshotRange } from "../repositories/repositories.js";
import { selectByColumn } from "./evaluate.js";
import {
  type Facet,
  type FacetDays,
  type FacetKind,
  type FacetPage,
  type FacetRequest,
  type FacetTotals,
  inWindow,
} from "./facets.js";
import type { LiveModel, LoadedModel } from "./live.js";
import type { Evaluation } from "./model.js";
import { listQuery, listSpec } from "./query.js";
import {
  archiveRanks,
  type PastRank,
  packRankHistory,
  rankHistoryReader,
  ranksBefore,
} from "./rank-history.js";
import { type Leaders, type LeadersRequest, RANK_LIMITS, type Rank, similarTo } from "./ranks.js";
import { bestOf, type SearchOptions, type SearchScope, searchIn } from "./search.js";
import { firstOf } from "./slots.js";
import { type CurrentCounters, type CurrentSummary, SummaryReader, updateSummary } from "./summary.js";
import { findRenamed } from "./unmatched.js";

interface RankingsContext {
  clock: Clock;
  log: Logger;
  live: LiveModel;
}

export class Rankings {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #live: LiveModel;
  /** Repositories whose damage is in the log. */
  readonly #damaged = new Set<number>();
  readonly #trends: TrendReader;
  readonly #summary: SummaryReader;
  readonly #readStanding: (id: number) => Promise<Omit<Standing, "ranks">>;
  /** The ranks of a repository by day, overall and in its language, oldest first; at most the latest `limit`. */
  readonly rankHistory: (id: number, since: number, limit: number) => Promise<PastRank[]>;

  constructor(database: Database, { clock, log, live }: RankingsContext) {
    this.#database = database;
    this.#clock = clock;
    this.#log = log;
    this.#live = live;
    this.#trends = new TrendReader(database);
    this.#summary = new SummaryReader(database);
    this.#readStanding = standingReader(database);
    this.rankHistory = rankHistoryReader(database, (id) => this.ranks(id));
  }

  /**
   * Brings growth and the summary up to date. Returns the number of repositories whose growth was computed. May be killed and run
   * again.
   */
  async update(options: GrowthOptions = {}): Promise<number> {
    const context = { clock: this.#clock, onDamaged: (block: DamagedBlock) => this.#report(block) };
    await archiveRanks(this.#database, this.#clock);
    const changed = await updateGrowth(this.#database, context, options);
    await updateSummary(this.#database, this.#clock.now());
    return changed;
  }

  /** Whether `update` has something to do: snapshots were recorded since the last one, or all growth was marked. */
  isUpdateDue(): Promise<boolean> {
    return isUpdateDue(this.#database);
  }

  /** Once for each repository, as a damaged history is found again with each of its snapshots. */
  #report({ repositoryId, message }: DamagedBlock): void {
    if (this.#damaged.has(repositoryId)) return;
    this.#damaged.add(repositoryId);
    this.#log.error(
      { repositoryId, error: message },
      "a repository has no growth, as its history is damaged",
    );
  }

  /** The trends of repositories in one window, by id. Repositories without one are absent. */
  trends(ids: readonly number[], window: Window): Promise<Map<number, Trend>> {
    return this.#trends.ofMany(ids, window);
  }

  /** The trends of one repository; null for a window without two snapshots to compare. */
  trendsOf(id: number): Promise<Record<Window, Trend | null>> {
    return this.#trends.ofOne(id);
  }

  /** The terms of a repository's scores; null for a window without a trend. */
  explain(id: number): Promise<Record<Window, Explanation | null>> {
    return readExplanations(this.#database.read, id);
  }

  /** The present ranks of a repository, as far down as RANK_LIMITS; none while the catalogue is loaded. */
  async ranks(id: number): Promise<Rank[]> {
    const loaded = await this.#live.ifLoaded();
    return loaded === undefined ? [] : (await loaded.ranks.get()).of(id);
  }

  /** The trends and the present ranks of a repository, and which snapshots are stored. */
  async standing(id: number): Promise<Standing> {
    const [stored, ranks] = await Promise.all([this.#readStanding(id), this.ranks(id)]);
    return { ...stored, ranks };
  }

  /** The first repositories of each ranking in one scope. */
  async leaders(request: LeadersRequest): Promise<Leaders> {
    const { ranks } = await this.#live.current();
    return (await ranks.get()).leaders(request);
  }

  /** The ids of the repositories most like one, see `similarTo`; none while the catalogue is loaded. */
  async similar(repository: Repository, most: number): Promise<number[]> {
    const loaded = await this.#live.ifLoaded();
    return loaded === undefined ? [] : similarTo(loaded.model, repository, most);
  }

  /** The ids around a repository in a ranking of all: the one before it, itself, and the one after it; none if it has no rank. */
  async neighbours(id: number, ranking: Ranking, window: Window): Promise<readonly number[]> {
    const ranks = await (await this.#live.ifLoaded())?.ranks.get();
    const ids =
      ranks?.leaders({ scope: "overall", name: "", limit: RANK_LIMITS.overall })(ranking, window) ?? [];
    const at = ids.indexOf(id);
    return at < 0 ? [] : ids.slice(Math.max(0, at - 1), at + 2);
  }

  /**
   * How many ranks these first repositories of a ranking of all, in their order, have risen since the last day whose ranks are
   * stored; negative: fallen. Without those that had no rank then, and if that day is over a week ago.
   */
  async moves(ids: readonly number[], measure: Measure): Promise<Map<number, number>> {
    const before = await ranksBefore(this.#database.read, ids, measure);
    return new Map(
      ids.flatMap((id, i) => {
        const position = before.get(id);
        return position === undefined ? [] : [[id, position - (i + 1)]];
      }),
    );
  }

  async facets(request: FacetRequest): Promise<FacetPage> {
    return (await this.#live.current()).facets.page(request);
  }

  /** See `Facets.find`. */
  async findFacet(kind: FacetKind, name: string): Promise<FacetTotals | undefined> {
    return (await this.#live.current()).facets.find(kind, name);
  }

  /** The days of some languages or topics, by name. See `Facets.days`. */
  async facetDays(kind: FacetKind, names: readonly string[]): Promise<Map<string, FacetDays>> {
    const { facets } = await this.#live.current();
    return new Map(names.map((name) => [name, facets.days(kind, name)]));
  }

  /** The most unusual language or topic of a window; undefined: none is. */
  async hottest(kind: FacetKind, window: Window): Promise<string | undefined> {
    return (await (await this.#live.current()).facets.of(kind)).hottest[window];
  }

  /** Packs past ranks of at most `most` repositories, so that they take less room. Changes no response. */
  pack(most: number): Promise<number> {
    return packRankHistory(this.#database, this.#clock, most);
  }

  async home(): Promise<Home> {
    return homeOf(await this.#live.current());
  }

  /** Whether topics are known: not while the catalogue is loaded. */
  async hasTopics(): Promise<boolean> {
    return (await this.#live.ifLoaded())?.model.topics.isEmpty === false;
  }

  /** The summary without languages and topics: all that is stored. */
  counters(): Promise<CurrentCounters> {
    return this.#summary.read(this.#clock.now());
  }

  /** The summary; without languages and topics while the catalogue is loaded. */
  async summary(): Promise<CurrentSummary> {
    const facets = (await this.#live.ifLoaded())?.facets;
    const [languages = 0, topics = 0] = await Promise.all(
      (["language", "topic"] as const).map(async (kind) => (await facets?.of(kind))?.total),
    );
    return { ...(await this.counters()), languages, topics };
  }
}

/** The growth of a repository, its present ranks, and which snapshots are stored. */
export interface Standing {
  /** null for a window without two snapshots to compare. */
  trends: Record<Window, Trend | null>;
  /** Ordered by ranking, window and scope. */
  ranks: Rank[];
  stored: SnapshotRange;
}

/** Reads the stored standing of a repository, by one statement. */
function standingReader(database: Database): (repositoryId: number) => Promise<Omit<Standing, "ranks">> {
  const { dialect, prepare } = database;
  type Values = [range: string, ...(TrendValues | [window_hours: null, ...others: null[]])];
  const read = prepare<number, Values>((given) => {
    const id = sql`${given((repositoryId) => repositoryId)}`;
    // A repository without growth still gives a row with the range.
    return sql`select ${rangeColumn(dialect, id)}, ${TREND.sql}
      from (select 1 as one) as o left join rollups g on g.repository_id = ${id}`;
  });
  return async (repositoryId) => {
    const rows = await read(repositoryId);
    const rollups: TrendValues[] = [];
    for (const [, ...rollup] of rows) if (rollup[0] !== null) rollups.push(rollup as TrendValues);
    return {
      trends: byWindow(rollups.map(trendOfRollup)),
      stored: rangeOf(rows[0]?.[0] ?? "[]"),
    };
  };
}

/** Rows of each list on the first page. */
const ROWS = 10;
const FIRST = listQuery.parse({ limit: String(ROWS) });

/** The top of a ranking. */
export interface RankedList {
  window: "24h" | "7d";
  /** Whether 7 days replace 24 hours, for which too little is known. */
  isFallback: boolean;
  ids: readonly number[];
}

/** The languages and topics that gained most stars in a window, the greatest gain first. */
interface GainingFacets {
  languages: readonly Facet[];
}

export interface Home {
  trending: RankedList;
  rising: RankedList;
  newHot: RankedList;
  languages: Facet[];
  topics: Facet[];
  /** Those that gained most, by window. */
  gaining: Readonly<Record<Window, GainingFacets>>;
}

export async function homeOf({ model, ranks, facets }: LoadedModel): Promise<Home> {
  const leaders = (await ranks.get()).leaders({ scope: "overall", name: "", limit: ROWS });
  const [languages, topics] = [await facets.of("language"), await facets.of("topic")];
  const rising = (window: Window): number[] => {
    const spec = listSpec({ ...FIRST, sort: "rising", window });
    const page = { ...spec, among: undefined };
    return model.evaluate((evaluation) => selectByColumn(evaluation, "rising", page)).ids;
  };
  return {
    trending: rankedList((window) => leaders("trending", window)),
    rising: rankedList(rising),
    newHot: rankedList((window) => leaders("new-hot", window)),
    languages: languages.frequent.slice(0, ROWS).map((facet) => inWindow(facet, "24h")),
    topics: topics.frequent.slice(0, ROWS).map((facet) => inWindow(facet, "24h")),
    gaining: perWindow((window) => ({
      languages: languages.gaining[window],
    })),
  };
}

/** The list of 24 hours, or that of 7 days if the first is not full and the second is longer. */
function rankedList(idsOf: (window: Window) => readonly number[]): RankedList {
  const day = idsOf("24h");
  const week = day.length >= ROWS ? [] : idsOf("7d");
  return week.length > day.length
    ? { window: "7d", isFallback: true, ids: week }
    : { window: "24h", isFallback: false, ids: day };
}

/** A language or topic, and how many listed repositories have it. */
export interface SuggestedFacet {
  name: string;
  repositories: number;
}

export interface Suggestions {
  repositories: Repository[];
  languages: SuggestedFacet[];
  topics: SuggestedFacet[];
}

export class Search {
  readonly #live: LiveModel;
  readonly #catalog: Catalog;

  constructor(live: LiveModel, catalog: Catalog) {
    this.#live = live;
    this.#catalog = catalog;
  }

  /** The ids of the repositories that match a text best. */
  async find(text: string, limit: number): Promise<number[]> {
    return this.#find(text, limit, "all");
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
    const { facets } = await this.#live.current();
    const prefix = text.trim().toLowerCase();
    const suggested = async (kind: FacetKind, begin: string) => {
      const { frequent, keys } = await facets.of(kind);
      const found: SuggestedFacet[] = [];
      for (let i = 0; i < keys.length && found.length < limit; i++) {
        const facet = keys[i]?.startsWith(begin) ? frequent[i] : undefined;
        if (facet !== undefined) found.push({ name: facet.name, repositories: facet.repositories });
      }
      return found;
    };
    return {
      languages: await suggested("language", prefix),
      topics: await suggested("topic", prefix.replaceAll(/\s+/g, "-")),
    };
  }

  /** At most `limit` repositories whose names fit; the most popular ones for an empty text. */
  async suggestRepositories(text: string, limit: number): Promise<Repository[]> {
    return this.#catalog.findMany(await this.suggestIds(text, limit));
  }

  /** The ids of `suggestRepositories`: that of a repository by its earlier full name first. */
  async suggestIds(text: string, limit: number): Promise<number[]> {
    const search = { scope: { kind: "search", text }, filters: {} } as const;
    const renamed = await findRenamed(this.#catalog, search, await this.#live.current());
    const found = await this.#find(text, limit, "names");
    return renamed === undefined ? found : [...new Set([renamed.to.id, ...found])].slice(0, limit);
  }

  async #find(text: string, limit: number, scope: SearchScope): Promise<number[]> {
    const { model, vocabulary } = await this.#live.current();
    const options = { limit, scope, vocabulary: await vocabulary.get() };
    return model.evaluate((evaluation) => idsOf(evaluation, text, options));
  }
}

function idsOf(
  evaluation: Evaluation,
  text: string,
  { limit, ...options }: SearchOptions & { limit: number },
): number[] {
  const { model } = evaluation;
  const { id, listed } = model.columns;
  if (text.trim() === "" && options.scope === "names") {
    const slots = firstOf(listed, model.order({ column: "stars" }), { direction: "desc", count: limit });
    return slots.map((slot) => id[slot] ?? 0);
  }
  const found = searchIn(evaluation, text, options);
  return found === undefined ? [] : bestOf(model, found.matches, limit).map((slot) => id[slot] ?? 0);
}
