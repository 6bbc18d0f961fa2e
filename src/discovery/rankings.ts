/**
 * Rankings: how repositories have grown, and everything derived from that: scores, ranks, facets, the summary and the first
 * page. `update` brings all of it up to date after snapshots were recorded; everything else reads one prepared row or a few.
 * The result does not depend on the order and batches in which snapshots were recorded.
 * It does not decide which repositories exist, takes no snapshots, and does not build lists.
 */
import { sql } from "kysely";
import { columnsOf, type Database } from "../database/database.js";
import type { Window } from "../growth/growth.js";
import {
  byWindow,
  type Explanation,
  type GrowthOptions,
  isUpdateDue,
  readExplanations,
  TREND_COLUMNS,
  type Trend,
  TrendReader,
  type TrendValues,
  trendsOfRollups,
  update as updateGrowth,
} from "../growth/growth.js";
import type { Clock } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import { type DamagedBlock, rangeColumn, rangeOf, type SnapshotRange } from "../repositories/repositories.js";
import { updateAggregates } from "./aggregates.js";
import {
  type FacetKind,
  type FacetPage,
  type FacetRequest,
  type FindFacet,
  facetFinder,
  facetReader,
  spellFacets,
} from "./facets/facets.js";
import {
  type CurrentSummary,
  type DocumentReader,
  documentReader,
  type Home,
  readHome,
  readSummary,
  update as updateHome,
} from "./home/home.js";
import {
  type Leaders,
  type LeadersRequest,
  leaderReader,
  type PastRank,
  packRankHistory,
  RANK_COLUMNS,
  type Rank,
  type RankValues,
  rankHistoryReader,
  rankReader,
  ranksOf,
  readAllLeaders,
} from "./ranks/ranks.js";

export {
  FACET_SORTS,
  type Facet,
  type FacetKind,
  type FacetPage,
  type FacetSort,
  type FacetTotals,
} from "./facets/read.js";
export type { GainingFacets, Home, RankedList } from "./home/home.js";
export type { CurrentSummary, Summary } from "./home/summary.js";
export { RANK_LIMITS, RANK_SCOPES } from "./ranks/leaderboard.js";
export type { Leaders } from "./ranks/leaders.js";
export type { Rank } from "./ranks/rank.js";
export type { PastRank } from "./ranks/rank-history.js";

export class Rankings {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #log: Logger;
  /** Repositories whose damage is in the log. */
  readonly #damaged = new Set<number>();
  readonly #trends: TrendReader;
  readonly #readDocument: DocumentReader;
  /** The language or topic with this name, ignoring case; undefined if no listed repository has it. */
  readonly findFacet: FindFacet;
  readonly facets: (request: FacetRequest) => Promise<FacetPage>;
  /** The present ranks of a repository, as far down as RANK_LIMITS. */
  readonly ranks: (id: number) => Promise<Rank[]>;
  /** The first repositories of each ranking in one scope, by one statement. */
  readonly leaders: (request: LeadersRequest) => Promise<Leaders>;
  /** The trends and the present ranks of a repository, by one statement. */
  readonly standing: (id: number) => Promise<Standing>;
  /** The ranks of a repository by day, overall and in its language, oldest first; at most the latest `limit`. */
  readonly rankHistory: (id: number, since: number, limit: number) => Promise<PastRank[]>;

  constructor(database: Database, clock: Clock, log: Logger) {
    this.#database = database;
    this.#clock = clock;
    this.#log = log;
    this.#trends = new TrendReader(database);
    this.#readDocument = documentReader(database);
    this.findFacet = facetFinder(database);
    this.facets = facetReader(database);
    this.ranks = rankReader(database);
    this.leaders = leaderReader(database);
    this.standing = standingReader(database);
    this.rankHistory = rankHistoryReader(database);
  }

  /**
   * Brings growth, ranks, facets, the summary and the first page up to date: for what has changed, or with `all` for
   * everything. Returns the number of repositories whose growth was computed. May be killed and run again.
   */
  async update(options: GrowthOptions = {}): Promise<number> {
    const context = { clock: this.#clock, onDamaged: (block: DamagedBlock) => this.#report(block) };
    const changed = await updateGrowth(this.#database, context, options);
    await updateAggregates(this.#database, this.#clock);
    await updateHome(this.#database, this.#clock.now());
    return changed;
  }

  /** Whether `update` has something to do: snapshots were recorded since the last one, or the store was upgraded. */
  isUpdateDue(): Promise<boolean> {
    return isUpdateDue(this.#database, this.#clock);
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

  /** Languages as the catalogue spells them, ignoring the case of the given names. Unknown names are returned unchanged. */
  async languageNames(names: readonly string[]): Promise<string[]> {
    const spelled = await this.facetNames("language", names);
    return names.flatMap((name, i) => {
      const known = spelled[i] ?? [];
      return known.length === 0 ? name : known;
    });
  }

  /** See `spellFacets`. */
  facetNames(kind: FacetKind, names: readonly string[]): Promise<(readonly string[])[]> {
    return spellFacets(this.#database.read, kind, names);
  }

  /** Packs past ranks of at most `most` repositories, so that they take less room. Changes no response. */
  pack(most: number): Promise<number> {
    return packRankHistory(this.#database, this.#clock, most);
  }

  /** See `readAllLeaders`. */
  allLeaders(most: number): Promise<number[]> {
    return readAllLeaders(this.#database, most);
  }

  home(): Promise<Home> {
    return readHome(this.#readDocument, this.#clock.now());
  }

  summary(): Promise<CurrentSummary> {
    return readSummary(this.#readDocument, this.#clock.now());
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

/** Reads the standing of a repository by one statement. */
function standingReader(database: Database): (repositoryId: number) => Promise<Standing> {
  const { dialect, prepare } = database;
  type Values = [ranks: string, range: string, ...(TrendValues | [window_hours: null, ...others: null[]])];
  const read = prepare<number, Values>((given) => {
    const id = sql`${given((repositoryId) => repositoryId)}`;
    const rank = dialect.jsonRow(RANK_COLUMNS.map((name) => sql.ref(name)));
    // A repository without growth still gives a row with the rest.
    return sql`select (select ${dialect.jsonArray(rank)} from (
          select ${columnsOf("r", RANK_COLUMNS)} from repository_ranks r where r.repository_id = ${id}) as own),
        ${rangeColumn(dialect, id)},
        ${columnsOf("g", TREND_COLUMNS)}
      from (select 1 as one) as o left join rollups g on g.repository_id = ${id}`;
  });
  return async (repositoryId) => {
    const rows = await read(repositoryId);
    const rollups: TrendValues[] = [];
    for (const row of rows) if (row[2] !== null) rollups.push(row.slice(2) as TrendValues);
    const [ranksText = "[]", rangeText = "[]"] = rows[0] ?? [];
    const ranks: RankValues[] = JSON.parse(ranksText);
    return {
      trends: byWindow(await trendsOfRollups(database, rollups)),
      ranks: ranksOf(ranks),
      stored: rangeOf(rangeText),
    };
  };
}
