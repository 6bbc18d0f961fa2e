import { sql } from "kysely";
import { BatchSize, type BulkRow, type BulkTable, type Dialect, type Tx } from "../../database/database.js";
import type { Run } from "../../repositories/repositories.js";
import { encodeBoards } from "./codec.js";
import type { RankScope, ScopeLeaderboards } from "./leaderboard.js";

/** The ranks of a repository in one scope as text; null: it has none any more. */
export interface RankRow {
  id: number;
  scope: RankScope;
  name: string;
  ranks: string | null;
}

/** Rows, repositories and bytes written in one transaction. */
const ROWS = { least: 250, most: 4_000 };
const REPOSITORIES = { least: 100, most: 1_000 };
const WRITTEN_BYTES = 400_000;

const RANK_KEY = { repository_id: "bigint", scope: "text", scope_name: "text" } as const;
const RANKS: BulkTable = {
  table: "repository_ranks",
  columns: { ...RANK_KEY, ranks: "text" },
  key: Object.keys(RANK_KEY),
};
const SCOPE_KEY = { scope: "text", scope_name: "text" } as const;
const BOARDS: BulkTable = {
  table: "leaderboards",
  columns: { ...SCOPE_KEY, data: "bytea" },
  key: Object.keys(SCOPE_KEY),
};

/** Writes changed ranks, in the order of the repositories, as neighbours share database pages. */
export async function writeRankRows(run: Run, dialect: Dialect, rows: readonly RankRow[]): Promise<void> {
  const sorted = rows.toSorted((a, b) => a.id - b.id);
  await run.stepThrough(sorted, new BatchSize(dialect, ROWS), async (tx, part) => {
    const [written, gone]: [BulkRow[], BulkRow[]] = [[], []];
    for (const { id, scope, name, ranks } of part) {
      if (ranks === null) gone.push([id, scope, name]);
      else written.push([id, scope, name, ranks]);
    }
    await dialect.upsert(tx, RANKS, written);
    await deleteRows(tx, dialect, gone);
  });
}

async function deleteRows(tx: Tx, dialect: Dialect, keys: readonly BulkRow[]): Promise<void> {
  if (keys.length === 0) return;
  const ids = [...new Set(keys.map(([id]) => Number(id)))];
  await sql`delete from repository_ranks where ${dialect.among(sql.ref("repository_id"), ids)}
    and (repository_id, scope, scope_name) in (${dialect.rowsOf(RANK_KEY, keys)})`.execute(tx);
}

/** Replaces the stored ranks of all repositories. `all`: those of each repository, by ascending id. */
export async function replaceRankRows(
  run: Run,
  dialect: Dialect,
  all: Iterable<readonly RankRow[]>,
): Promise<void> {
  let last = 0;
  await run.stepThrough(all, new BatchSize(dialect, REPOSITORIES), async (tx, part) => {
    const end = part.at(-1)?.[0]?.id ?? last;
    await tx
      .deleteFrom("repository_ranks")
      .where("repository_id", ">", last)
      .where("repository_id", "<=", end)
      .execute();
    const rows = part.flat().map(({ id, scope, name, ranks }): BulkRow => [id, scope, name, ranks]);
    await dialect.insertNew(tx, RANKS, rows);
    last = end;
  });
  await run.step(async (tx) => {
    await tx.deleteFrom("repository_ranks").where("repository_id", ">", last).execute();
  });
}

/** The leaderboards of a scope as bytes; null if there is no repository in them. */
export interface EncodedScope {
  scope: RankScope;
  name: string;
  data: Uint8Array | null;
}

export function encodeScope({ scope, name, boards }: ScopeLeaderboards): EncodedScope {
  const isEmpty = boards.every(({ entries }) => entries.length === 0);
  return { scope, name, data: isEmpty ? null : encodeBoards(boards) };
}

/** Writes the leaderboards of scopes; those of a scope without any repository are deleted. */
export async function writeBoards(run: Run, dialect: Dialect, scopes: Iterable<EncodedScope>): Promise<void> {
  let rows: BulkRow[] = [];
  let emptied: BulkRow[] = [];
  let bytes = 0;
  const flush = async () => {
    const [written, deleted] = [rows, emptied];
    [rows, emptied, bytes] = [[], [], 0];
    if (written.length + deleted.length === 0) return;
    await run.step(async (tx) => {
      await dialect.upsert(tx, BOARDS, written);
      if (deleted.length === 0) return;
      await sql`delete from leaderboards where (scope, scope_name) in (${dialect.rowsOf(SCOPE_KEY, deleted)})`.execute(
        tx,
      );
    });
  };
  for (const { scope, name, data } of scopes) {
    if (data === null) {
      emptied.push([scope, name]);
      continue;
    }
    rows.push([scope, name, data]);
    bytes += data.length;
    if (bytes >= WRITTEN_BYTES) await flush();
  }
  await flush();
}
