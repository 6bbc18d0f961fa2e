import { sql } from "kysely";
import type { Database, Db, Dialect } from "../../database/database.js";
import {
  type ChangedRepositories,
  type Contribution,
  MEASURES,
  readContributions,
} from "../../growth/growth.js";
import { type Run, repositoriesAfter } from "../../repositories/repositories.js";
import {
  type Competitor,
  Entries,
  forEachScope,
  type Leaderboard,
  RANK_LIMITS,
  RANK_SCOPES,
  type RankScope,
  readFrequentTopics,
  type ScopeLeaderboards,
  scopeKey,
  storedSize,
  TopList,
} from "./leaderboard.js";
import { rankText } from "./rank.js";
import { encodeScope, type RankRow, replaceRankRows, writeBoards } from "./rank-rows.js";

/** Repositories read at a time. */
const BATCH = 5_000;

type ScopeName = Pick<ScopeLeaderboards, "scope" | "name">;

interface Collected {
  scope: RankScope;
  name: string;
  /** In the order of MEASURES; absent while nothing was offered. */
  tops: (TopList | undefined)[];
}

/** Rebuilds leaderboards from the contributions of all repositories that compete in them, which may come in any order. */
export class RankRebuild {
  readonly #topics: ReadonlySet<string>;
  /** The keys of the scopes that are rebuilt; undefined: all. */
  readonly #only: ReadonlySet<string> | undefined;
  readonly #collected: Readonly<Record<RankScope, Map<string, Collected>>> = {
    overall: new Map(),
    provider: new Map(),
    language: new Map(),
    topic: new Map(),
  };
  /** Indexes of the values that the present contribution has. */
  readonly #measures = new Uint8Array(MEASURES.length);

  private constructor(topics: ReadonlySet<string>, only?: ReadonlySet<string>) {
    this.#topics = topics;
    this.#only = only;
  }

  /** Of all scopes. */
  static async start(db: Db): Promise<RankRebuild> {
    return new RankRebuild(await readFrequentTopics(db));
  }

  /** Of these scopes alone. */
  static of(scopes: readonly ScopeName[]): RankRebuild {
    const topics = scopes.flatMap(({ scope, name }) => (scope === "topic" ? [name] : []));
    return new RankRebuild(new Set(topics), new Set(scopes.map(({ scope, name }) => scopeKey(scope, name))));
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
      if (this.#only?.has(scopeKey(scope, name)) === false) return;
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

  /** The leaderboards of all scopes in which somebody competes. To be called once, at the end. */
  finish(): ScopeLeaderboards[] {
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
    return scopes;
  }

  /** Replaces all stored ranks. A repository always has all of its ranks, the old ones or the new ones. */
  async write(run: Run, dialect: Dialect): Promise<void> {
    const scopes = this.finish();
    await replaceRankRows(run, dialect, rowsOf(scopes));
    await run.step(async (tx) => {
      await tx.deleteFrom("leaderboards").execute();
    });
    await writeBoards(run, dialect, Iterator.from(scopes).map(encodeScope));
  }
}

/** Changed repositories, and how to read in which scopes others have competed until now, by id. */
export interface RankChanges extends ChangedRepositories {
  competedUntilNow: (ids: readonly number[]) => Promise<ReadonlyMap<number, Competitor>>;
}

/**
 * The leaderboards of some scopes, by `scopeKey`, from all repositories that compete in them, each of which is read once; absent
 * where none does. In which scopes a repository competes is what this update or an earlier one found, not what has changed since:
 * the update that brings that change removes it only from scopes in which it is known to compete.
 */
export async function rebuildScopes(
  { dialect, write }: Database,
  run: Run,
  { scopes, ids: changed, contributions, competedUntilNow }: RankChanges & { scopes: readonly ScopeName[] },
): Promise<Map<string, readonly Leaderboard[]>> {
  const rebuild = RankRebuild.of(scopes);
  rebuild.add(contributions);
  const done = new Set(changed);
  for await (const ids of competitorsIn(write, dialect, scopes)) {
    const others = ids.filter((id) => !done.has(id));
    const competed = await competedUntilNow(others);
    const present = await readContributions(write, dialect, others);
    rebuild.add(
      present.flatMap((contribution) => {
        const known = competed.get(contribution.repositoryId);
        if (known === undefined) return [];
        const { provider, language, topics } = known;
        return [{ ...contribution, provider, language, topics }];
      }),
    );
    // Other processes take a run without steps for one that has been abandoned.
    await run.step(async () => {});
  }
  return new Map(rebuild.finish().map(({ scope, name, boards }) => [scopeKey(scope, name), boards]));
}

/** Ids of all repositories that compete in some scopes, and maybe of others, in ascending order. */
async function* competitorsIn(
  db: Db,
  dialect: Dialect,
  scopes: readonly ScopeName[],
): AsyncGenerator<readonly number[]> {
  if (scopes.some(({ scope }) => scope === "overall")) {
    for (let after = 0; ; ) {
      const ids = await repositoriesAfter(db, dialect, { after, limit: BATCH });
      const last = ids.at(-1);
      if (last === undefined) return;
      yield ids;
      after = last;
    }
  }
  const selects = SELECTS.flatMap(([kind, select]) => {
    const names = scopes.flatMap(({ scope, name }) => (scope === kind ? [name] : []));
    return names.length === 0 ? [] : [sql`${select} ${dialect.among(sql.ref(kind), names)}`];
  });
  const { rows } = await sql<{ ids: string | null }>`select ${dialect.jsonArray(sql`id`)} as ids
    from (${sql.join(selects, sql` union `)} order by id) as competitors`.execute(db);
  const ids: number[] = JSON.parse(rows[0]?.ids ?? "[]");
  for (let start = 0; start < ids.length; start += BATCH) yield ids.slice(start, start + BATCH);
}

/** Who competes in a scope, by the column that has its name. */
const SELECTS = [
  ["provider", sql`select id from repositories where availability = 'AVAILABLE' and`],
  ["language", sql`select id from repositories where availability = 'AVAILABLE' and`],
  ["topic", sql`select distinct repository_id as id from repository_topics where`],
] as const;

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
