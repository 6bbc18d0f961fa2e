/** Reads renames: those of a repository, pages of them, and suspected earlier names. */
import { type RawBuilder, sql } from "kysely";
import type { Database, Db, Dialect, Prepared } from "../../database/database.js";
import type { Counts, Likeness } from "./likeness.js";

/** SUSPECTED by the counts; ACCEPTED or REJECTED by the operator. */
export const RENAME_STATUSES = ["SUSPECTED", "ACCEPTED", "REJECTED"] as const;
export type RenameStatus = (typeof RENAME_STATUSES)[number];

/** Why one name seems to continue as another. */
export interface RenameEvidence extends Likeness {
  /** The archive with both names. */
  source: string;
  /** The last counts of the earlier name, and the first ones of the later name after it. */
  from: Counts;
  to: Counts;
  /** Whether the later name was in use before the earlier one: the repository got it back. */
  isReturn: boolean;
}

/** One of the two names of a rename. */
export interface RenamedRepository {
  id: number;
  provider: string;
  fullName: string;
}

/** A rename, suspected or decided. Times in ms since 1970. */
export interface Rename {
  id: number;
  from: RenamedRepository;
  to: RenamedRepository;
  status: RenameStatus;
  evidence: RenameEvidence;
  suspectedAt: number;
  /** null: not decided. */
  decidedAt: number | null;
}

type RenameValues = [
  id: number,
  status: RenameStatus,
  evidence: string,
  suspectedAt: number,
  decidedAt: number | null,
  provider: string,
  fromId: number,
  fromOwner: string,
  fromName: string,
  toId: number,
  toOwner: string,
  toName: string,
];

interface Page {
  after: number;
  status: string;
  limit: number;
}

const COLUMNS = [
  "n.id",
  "n.status",
  "n.evidence",
  "n.suspected_at",
  "n.decided_at",
  "f.provider",
  "f.id",
  "f.owner",
  "f.name",
  "t.id",
  "t.owner",
  "t.name",
].map((name) => sql.ref(name));

/** Renames with both repositories. */
const NAMED = sql`from renames n join repositories f on f.id = n.from_id join repositories t on t.id = n.to_id`;

/** Whether a repository is one of the names. */
const isOf = (id: RawBuilder<unknown>) => sql`n.id in (
  select id from renames where from_id = ${id} union select id from renames where to_id = ${id})`;

/** The renames of the repository with this id, as JSON text that `readRenames` reads. */
export function renamesColumn(dialect: Dialect, id: RawBuilder<unknown>): RawBuilder<unknown> {
  const aliases = COLUMNS.map((_, i) => sql.ref(`c${i}`));
  const aliased = COLUMNS.map((column, i) => sql`${column} as ${aliases[i]}`);
  return sql`(select ${dialect.jsonArray(dialect.jsonRow(aliases))} from (
    select ${sql.join(aliased)} ${NAMED} where ${isOf(id)} order by n.id) as own)`;
}

/** Reads what `renamesColumn` selects. */
export function readRenames(text: string): Rename[] {
  const rows: RenameValues[] = JSON.parse(text);
  return rows.map(renameOf);
}

/** Reads renames for requests, by statements that are prepared once. */
export class RenameReader {
  readonly #ofOne: Prepared<number, RenameValues>;
  readonly #page: Prepared<Page, RenameValues>;
  readonly #continuations: Prepared<
    readonly number[],
    [fromId: number, id: number, provider: string, owner: string, name: string]
  >;

  constructor({ dialect, prepare }: Pick<Database, "dialect" | "prepare">) {
    const select = (where: RawBuilder<unknown>) =>
      sql<RenameValues>`select ${sql.join(COLUMNS)} ${NAMED} where ${where}`;
    this.#ofOne = prepare((given) => {
      const id = sql`${given((repositoryId) => repositoryId)}`;
      return select(sql`${isOf(id)} order by n.id`);
    });
    this.#continuations = prepare(
      (given) => sql`select n.from_id, t.id, t.provider, t.owner, t.name
        from renames n join repositories t on t.id = n.to_id
        where n.status = ${"SUSPECTED" satisfies RenameStatus} and ${dialect.among(
          sql`n.from_id`,
          given((ids) => ids),
        )} order by n.id`,
    );
    this.#page = prepare((given) =>
      select(sql`n.id > ${given(({ after }) => after)} and ${given(({ status }) => status)} in ('', n.status)
        order by n.id limit ${given(({ limit }) => limit)}`),
    );
  }

  /** The renames in which a repository is one of the names, by id. */
  async ofOne(repositoryId: number): Promise<Rename[]> {
    return (await this.#ofOne(repositoryId)).map(renameOf);
  }

  /** The names under which these repositories seem to continue, by id; those without a suspicion are absent. */
  async continuations(ids: readonly number[]): Promise<Map<number, RenamedRepository>> {
    const rows = ids.length === 0 ? [] : await this.#continuations(ids);
    return new Map(
      rows.map(([fromId, id, provider, owner, name]) => [
        fromId,
        { id, provider, fullName: `${owner}/${name}` },
      ]),
    );
  }

  /** The next renames by id after `after`, of one status or of all. */
  async page({
    after,
    status,
    limit,
  }: {
    after: number;
    status?: RenameStatus;
    limit: number;
  }): Promise<Rename[]> {
    return (await this.#page({ after, status: status ?? "", limit })).map(renameOf);
  }
}

function renameOf([
  id,
  status,
  evidence,
  suspectedAt,
  decidedAt,
  provider,
  fromId,
  fromOwner,
  fromName,
  toId,
  toOwner,
  toName,
]: RenameValues): Rename {
  return {
    id,
    from: { id: fromId, provider, fullName: `${fromOwner}/${fromName}` },
    to: { id: toId, provider, fullName: `${toOwner}/${toName}` },
    status,
    evidence: JSON.parse(evidence),
    suspectedAt,
    decidedAt,
  };
}

/** The evidence as short phrases, such as "37,171 → 38,212 stars". */
export function describeEvidence({ from, to, ...rest }: RenameEvidence): string[] {
  const count = (value: number) => value.toLocaleString("en-US");
  const { sameDescription, sameName, similarName, sameOwner, sameLanguage, isReturn } = rest;
  return [
    `${count(from.stars)} → ${count(to.stars)} stars`,
    ...(from.forks === null || to.forks === null ? [] : [`${count(from.forks)} → ${count(to.forks)} forks`]),
    ...(sameDescription ? ["same description"] : []),
    ...(sameName ? ["same name"] : similarName ? ["similar name"] : []),
    ...(sameOwner ? ["same owner"] : []),
    ...(sameLanguage ? ["same language"] : []),
    ...(isReturn ? ["a name it had before"] : []),
  ];
}

/** Maximum number of earlier names of a repository. */
const MAX_CHAIN = 5;

/**
 * The suspected earlier names of repositories, by id, the latest first; repositories without one are absent. Those of an accepted
 * rename are not among them, as their snapshots have been joined. Costs one statement, and one more per step of the longest chain.
 */
export async function readPredecessors(
  db: Db,
  dialect: Dialect,
  ids: readonly number[],
): Promise<Map<number, number[]>> {
  const chains = new Map<number, number[]>();
  let ends = new Map(ids.map((id) => [id, [id]]));
  for (let step = 0; step < MAX_CHAIN && ends.size > 0; step++) {
    const rows = await db
      .selectFrom("renames")
      .select(["from_id", "to_id"])
      .where("status", "=", "SUSPECTED")
      .where(dialect.among(sql.ref("to_id"), [...ends.keys()]))
      .orderBy("id")
      .execute();
    const next = new Map<number, number[]>();
    for (const { from_id, to_id } of rows) {
      for (const id of ends.get(to_id) ?? []) {
        const chain = chains.get(id) ?? [];
        // Two repositories may have exchanged their names.
        if (from_id === id || chain.includes(from_id)) continue;
        chains.set(id, [...chain, from_id]);
        next.set(from_id, [...(next.get(from_id) ?? []), id]);
      }
    }
    ends = next;
  }
  return chains;
}
