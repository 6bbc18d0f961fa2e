import type { Run } from "../../catalog/catalog.js";
import type { Db, Dialect } from "../../database/database.js";
import type { Contribution } from "../contributions.js";
import { MEASURES } from "../definitions.js";
import {
  Entries,
  forEachScope,
  RANK_LIMITS,
  RANK_SCOPES,
  type RankScope,
  readFrequentTopics,
  type ScopeLeaderboards,
  storedSize,
  TopList,
} from "./leaderboard.js";
import { rankText } from "./rank.js";
import { encodeScope, type RankRow, replaceRankRows, writeBoards } from "./rank-rows.js";

interface Collected {
  scope: RankScope;
  name: string;
  /** In the order of MEASURES; absent while nothing was offered. */
  tops: (TopList | undefined)[];
}

/** Rebuilds all leaderboards from the contributions of all repositories, which may come in any order. */
export class RankRebuild {
  readonly #topics: ReadonlySet<string>;
  readonly #collected: Readonly<Record<RankScope, Map<string, Collected>>> = {
    overall: new Map(),
    provider: new Map(),
    language: new Map(),
    topic: new Map(),
  };
  /** Indexes of the values that the present contribution has. */
  readonly #measures = new Uint8Array(MEASURES.length);

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
    const { repositoryId, values } = contribution;
    // Most repositories have few values.
    const measures = this.#measures;
    let count = 0;
    for (let i = 0; i < values.length; i++) if (values[i] !== null) measures[count++] = i;
    forEachScope(contribution, this.#topics, (scope, name) => {
      const { tops } = this.#collectedOf(scope, name);
      for (let m = 0; m < count; m++) {
        const i = measures[m] ?? 0;
        let top = tops[i];
        if (top === undefined) {
          top = new TopList(storedSize(scope));
          tops[i] = top;
        }
        top.offer(values[i] ?? 0, repositoryId);
      }
    });
  }

  #collectedOf(scope: RankScope, name: string): Collected {
    const ofScope = this.#collected[scope];
    let collected = ofScope.get(name);
    if (collected === undefined) {
      collected = { scope, name, tops: MEASURES.map(() => undefined) };
      ofScope.set(name, collected);
    }
    return collected;
  }

  /** Replaces the stored ranks. A repository always has all of its ranks, the old ones or the new ones. */
  async write(run: Run, dialect: Dialect): Promise<void> {
    const scopes = RANK_SCOPES.flatMap((scope) => [...this.#collected[scope].values()]).map(
      ({ scope, name, tops }): ScopeLeaderboards => {
        const boards = tops.map((top) => {
          const entries = Entries.of(top?.entries() ?? []);
          return { entries, cutoff: top?.isTruncated === true ? entries.at(entries.length - 1) : undefined };
        });
        return { scope, name, boards };
      },
    );
    for (const scope of RANK_SCOPES) this.#collected[scope].clear();
    await replaceRankRows(run, dialect, rowsOf(scopes));
    await run.step(async (tx) => {
      await tx.deleteFrom("leaderboards").execute();
    });
    await writeBoards(run, dialect, Iterator.from(scopes).map(encodeScope));
  }
}

/** The rows of each repository, by ascending id. A million repositories have more than a million ranks: as numbers, they fit. */
function* rowsOf(scopes: readonly ScopeLeaderboards[]): Generator<RankRow[]> {
  const total = scopes.reduce((sum, { scope, boards }) => sum + shown(scope, boards), 0);
  const keys = new Float64Array(total);
  const scopeOf = new Uint32Array(total);
  const measureOf = new Uint8Array(total);
  const positionOf = new Uint16Array(total);
  let end = 0;
  for (const [s, { scope, boards }] of scopes.entries()) {
    for (const [m, { entries }] of boards.entries()) {
      const length = Math.min(RANK_LIMITS[scope], entries.length);
      for (let i = 0; i < length; i++, end++) {
        // The id of the repository above the number of the rank.
        keys[end] = entries.id(i) * total + end;
        scopeOf[end] = s;
        measureOf[end] = m;
        positionOf[end] = i + 1;
      }
    }
  }
  keys.sort();
  let rows: RankRow[] = [];
  for (const key of keys) {
    const id = Math.floor(key / total);
    const rank = key - id * total;
    const own = scopes[scopeOf[rank] ?? 0];
    if (own === undefined) continue;
    if (rows[0] !== undefined && rows[0].id !== id) {
      yield rows;
      rows = [];
    }
    const { scope, name } = own;
    const text = rankText(measureOf[rank] ?? 0, scope, positionOf[rank] ?? 0);
    const row = rows.at(-1);
    if (row?.scope === scope && row.name === name) row.ranks = `${row.ranks},${text}`;
    else rows.push({ id, scope, name, ranks: text });
  }
  if (rows.length > 0) yield rows;
}

/** The number of ranks that a scope shows. */
function shown(scope: RankScope, boards: ScopeLeaderboards["boards"]): number {
  return boards.reduce((sum, { entries }) => sum + Math.min(RANK_LIMITS[scope], entries.length), 0);
}
