import type { Db, Dialect, Tx } from "../../database/database.js";
import type { Contribution } from "../contributions.js";
import { MEASURES, type Measure } from "../definitions.js";
import {
  hoursOf,
  type Leaderboard,
  leaderboardKey,
  type RankScope,
  readFrequentTopics,
  scopesOf,
  storedSize,
  writeLeaderboard,
} from "./leaderboard.js";
import { TopList } from "./top-list.js";

interface Collected {
  scope: RankScope;
  name: string;
  top: TopList;
}

/** Rebuilds all leaderboards from the contributions of all repositories, which may come in any order. */
export class RankRebuild {
  readonly #topics: ReadonlySet<string>;
  /** In the order of MEASURES, by leaderboard. */
  readonly #collected = MEASURES.map(() => new Map<string, Collected>());

  private constructor(topics: ReadonlySet<string>) {
    this.#topics = topics;
  }

  static async start(db: Db): Promise<RankRebuild> {
    return new RankRebuild(await readFrequentTopics(db));
  }

  add(contributions: readonly Contribution[]): void {
    for (const contribution of contributions) this.#addOne(contribution);
  }

  #addOne(contribution: Contribution): void {
    const scopes = scopesOf(contribution, this.#topics);
    for (const [i, boards] of this.#collected.entries()) {
      const value = contribution.values[i];
      if (value === null || value === undefined) continue;
      for (const [scope, name] of scopes) {
        const key = leaderboardKey(scope, name);
        let board = boards.get(key);
        if (board === undefined) {
          board = { scope, name, top: new TopList(storedSize(scope)) };
          boards.set(key, board);
        }
        board.top.offer(value, contribution.repositoryId);
      }
    }
  }

  /** The writes that replace what is stored, one per measure, each to be run in a separate transaction. */
  writes(dialect: Dialect): ((tx: Tx) => Promise<void>)[] {
    return MEASURES.map((measure, i) => (tx) => {
      const boards = [...(this.#collected[i]?.values() ?? [])].map(({ scope, name, top }): Leaderboard => {
        const entries = top.entries();
        return { scope, name, entries, cutoff: top.isTruncated ? entries.at(-1) : undefined };
      });
      return replaceAll(tx, dialect, measure, boards);
    });
  }
}

async function replaceAll(
  tx: Tx,
  dialect: Dialect,
  measure: Measure,
  boards: readonly Leaderboard[],
): Promise<void> {
  for (const table of ["ranks", "rank_cutoffs"] as const) {
    await tx
      .deleteFrom(table)
      .where("ranking", "=", measure.ranking)
      .where("window_hours", "=", hoursOf(measure))
      .execute();
  }
  for (const board of boards) await writeLeaderboard(tx, dialect, { measure, board, before: [] });
}
