import { crc32 } from "node:zlib";
import { sql } from "kysely";
import type { Db, Dialect } from "../../database/database.js";
import type { Contribution } from "../../growth/growth.js";
import { DamagedPack } from "../../lib/packed-numbers.js";
import { decodeBoards, decodeRanks } from "./codec.js";
import {
  isBefore,
  type Leaderboard,
  RANK_LIMITS,
  RANK_SCOPES,
  type RankScope,
  scopeKey,
} from "./leaderboard.js";
import { rankText } from "./rank.js";

/** Kinds of damage of ranks. */
export type RankDamage = "leaderboard-damaged" | "ranks-wrong" | "rank-block-damaged";
type OnDamage = (kind: RankDamage, found: string) => void;
/** Reads the values that repositories are ranked by now: "unknown" where an update is due, undefined for those not listed. */
type ReadKnown = (ids: readonly number[]) => Promise<(id: number) => Contribution | "unknown" | undefined>;

/** Rows read at a time, and repositories whose blocks are. */
const RANKS = 20_000;
const REPOSITORIES = 200;

interface StoredScope {
  scope: RankScope;
  name: string;
  /** undefined: they cannot be read. */
  boards: readonly Leaderboard[] | undefined;
}

async function* storedScopes(db: Db): AsyncGenerator<StoredScope> {
  for (let last: readonly string[] = ["", ""]; ; ) {
    const { rows } = await sql<{ scope: string; scope_name: string; data: Uint8Array }>`
      select scope, scope_name, data from leaderboards where (scope, scope_name) > (${sql.join(last)})
      order by scope, scope_name limit 50`.execute(db);
    for (const { scope, scope_name, data } of rows) {
      const known = RANK_SCOPES.find((one) => one === scope);
      const boards = known === undefined ? undefined : decodeBoards(data);
      yield { scope: known ?? "overall", name: scope_name, boards };
    }
    const end = rows.at(-1);
    if (end === undefined) return;
    last = [end.scope, end.scope_name];
  }
}

/** Checks the order and the values of all leaderboards. Reads the repositories on them once per scope. */
export async function checkLeaderboards(db: Db, readKnown: ReadKnown, onDamage: OnDamage): Promise<void> {
  for await (const { scope, name, boards } of storedScopes(db)) {
    const named = `${scope} ${name}`.trim();
    if (boards === undefined) {
      onDamage("leaderboard-damaged", `${named}: its bytes cannot be read`);
      continue;
    }
    const ids = new Set(boards.flatMap(({ entries }) => entries.ids()));
    const known = await readKnown([...ids]);
    const isWrong = boards.some(({ entries }, measure) =>
      entries.ids().some((id, i) => {
        const [before, entry] = [entries.at(i - 1), entries.at(i)];
        if (before !== undefined && entry !== undefined && !isBefore(before, entry)) return true;
        const contribution = known(id);
        return contribution !== "unknown" && contribution?.values[measure] !== entry?.value;
      }),
    );
    if (isWrong)
      onDamage("leaderboard-damaged", `${named}: an entry is not what its repository is ranked by`);
  }
}

/** The rows of a scope in two numbers: how many there are, and a sum of checksums that does not depend on their order. */
class Digests {
  readonly #digests = new Map<string, { rows: number; sum: number }>();

  add(scope: string, name: string, row: string): void {
    const key = scopeKey(scope, name);
    const digest = this.#digests.get(key) ?? { rows: 0, sum: 0 };
    this.#digests.set(key, { rows: digest.rows + 1, sum: (digest.sum + crc32(row)) % 2 ** 48 });
  }

  /** The scopes that differ. */
  differing(other: Digests): string[] {
    const keys = new Set([...this.#digests.keys(), ...other.#digests.keys()]);
    return [...keys].filter((key) => {
      const [a, b] = [this.#digests.get(key), other.#digests.get(key)];
      return a?.rows !== b?.rows || a?.sum !== b?.sum;
    });
  }
}

const rowText = (id: number, ranks: readonly string[]) => `${id} ${ranks.toSorted().join(",")}`;

/** Compares the ranks of repositories with the leaderboards. */
export async function checkRankRows(db: Db, onDamage: OnDamage): Promise<void> {
  const [expected, stored] = [new Digests(), new Digests()];
  for await (const { scope, name, boards } of storedScopes(db)) {
    const ranks = new Map<number, string[]>();
    for (const [measure, { entries }] of (boards ?? []).entries())
      for (const [i, id] of entries.ids(RANK_LIMITS[scope]).entries()) {
        const own = ranks.get(id) ?? [];
        own.push(rankText(measure, scope, i + 1));
        ranks.set(id, own);
      }
    for (const [id, own] of ranks) expected.add(scope, name, rowText(id, own));
  }
  for (let last: readonly (number | string)[] = [0, "", ""]; ; ) {
    const { rows } = await sql<{ repository_id: number; scope: string; scope_name: string; ranks: string }>`
      select repository_id, scope, scope_name, ranks from repository_ranks
      where (repository_id, scope, scope_name) > (${sql.join(last)})
      order by repository_id, scope, scope_name limit ${RANKS}`.execute(db);
    for (const { repository_id, scope, scope_name, ranks } of rows)
      stored.add(scope, scope_name, rowText(repository_id, ranks.split(",")));
    const end = rows.at(-1);
    if (end === undefined) break;
    last = [end.repository_id, end.scope, end.scope_name];
  }
  for (const scope of stored.differing(expected)) onDamage("ranks-wrong", scope.trim());
}

/** Reads all packed rank histories. */
export async function checkRankBlocks(db: Db, dialect: Dialect, onDamage: OnDamage): Promise<void> {
  for (let after = 0; ; ) {
    const { rows: found } = await sql<{ id: number }>`select distinct repository_id as id from rank_blocks
      where repository_id > ${after} order by repository_id limit ${REPOSITORIES}`.execute(db);
    const ids = found.map(({ id }) => id);
    const last = ids.at(-1);
    if (last === undefined) return;
    after = last;
    const { rows } = await sql<{ repository_id: number; from_day: number; data: Uint8Array }>`
      select repository_id, from_day, data from rank_blocks
      where ${dialect.among(sql.ref("repository_id"), ids)} order by repository_id, from_day`.execute(db);
    for (const { repository_id, from_day, data } of rows) {
      try {
        decodeRanks(data, from_day);
      } catch (error) {
        if (!(error instanceof DamagedPack)) throw error;
        onDamage("rank-block-damaged", `repository ${repository_id}, day ${from_day}: ${error.message}`);
      }
    }
  }
}
