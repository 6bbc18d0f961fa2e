import { sql } from "kysely";
import type { Database, Db, Dialect, Prepared } from "../database/database.js";
import {
  fullNameKey,
  REPOSITORY,
  type Repository,
  type RepositoryValues,
  repositoryOf,
} from "./repository.js";
import { rangeColumn, rangeOf, type SnapshotRange } from "./snapshots/snapshots.js";

export interface PreviousName {
  fullName: string;
  until: number;
}

/** A repository found by its current name, or by a previous one. */
interface FoundByName {
  repository: Repository;
  isPreviousName: boolean;
}

interface Name {
  provider: string;
  key: string;
}

/** A repository with its details; found by a previous name, the repository alone. */
export type Described = { repository: Repository; isPreviousName: true } | CurrentlyDescribed;

/** A repository with its previous names. */
export interface CurrentlyDescribed {
  repository: Repository;
  isPreviousName: false;
  /** Newest first. */
  previousNames: PreviousName[];
}

type DescribedValues = [...RepositoryValues, names: string];
type PreviousNameValues = [fullName: string, until: number];

/** The repository with a name, or that had it. */
export interface NamedRepository {
  id: number;
  url: string;
  isPreviousName: boolean;
}

/** The repository that continues a RENAMED one. */
export interface RenamedRepository {
  id: number;
  provider: string;
  fullName: string;
  /** The full name of the RENAMED one. */
  renamedFrom: string;
}

type RenamedValues = [
  fromId: number,
  renamedFrom: string,
  id: number,
  provider: string,
  owner: string,
  name: string,
];

interface ProviderName {
  provider: string;
  fullName: string;
}

type NameRow = [provider: string, key: string];
type NamedValues = [provider: string, key: string, id: number, url: string];

/** Nothing is found that an operator has hidden. */
const SHOWN = sql`r.availability <> 'HIDDEN'`;

/** Finds repositories by id and by name, except hidden ones. */
export class Lookup {
  readonly #byIds: Prepared<readonly number[], RepositoryValues>;
  readonly #byName: Prepared<Name, RepositoryValues>;
  readonly #byPreviousName: Prepared<Name, RepositoryValues>;
  readonly #described: Prepared<Name, DescribedValues>;
  readonly #describedById: Prepared<number, DescribedValues>;
  readonly #range: Prepared<number, [range: string]>;
  readonly #byNames: Prepared<readonly NameRow[], NamedValues>;
  readonly #byPreviousNames: Prepared<readonly NameRow[], NamedValues>;
  readonly #renamedTo: Prepared<readonly number[], RenamedValues>;

  constructor(database: Database) {
    const { prepare, dialect } = database;
    const columns = REPOSITORY.sql;
    this.#byIds = prepare((given) => {
      const ids = given((list) => list);
      return sql`select ${columns} from repositories r where ${dialect.among(sql`r.id`, ids)} and ${SHOWN}`;
    });
    this.#byName = prepare(
      (given) => sql`select ${columns} from repositories r
        where r.provider = ${given(({ provider }) => provider)} and r.name_key = ${given(({ key }) => key)}
          and ${SHOWN}`,
    );
    this.#byPreviousName = prepare(
      (given) => sql`select ${columns} from repositories r where r.id = (
        select p.repository_id from previous_names p join repositories r on r.id = p.repository_id
        where p.provider = ${given(({ provider }) => provider)} and p.name_key = ${given(({ key }) => key)}
          and r.availability <> 'RENAMED' and ${SHOWN} order by p.until desc limit 1)`,
    );
    const among = { provider: "text", name_key: "text" } as const;
    this.#byNames = prepare(
      (given) =>
        sql`select n.provider, n.name_key, r.id, r.url from (${dialect.rowsOf(
          among,
          given((names) => names),
        )}) as n join repositories r on r.provider = n.provider and r.name_key = n.name_key and ${SHOWN}`,
    );
    this.#byPreviousNames = prepare(
      (given) => sql`select n.provider, n.name_key, r.id, r.url from (${dialect.rowsOf(
        among,
        given((names) => names),
      )}) as n join previous_names p on p.provider = n.provider and p.name_key = n.name_key
        join repositories r on r.id = p.repository_id and r.availability <> 'RENAMED'
          and ${SHOWN} order by p.until`,
    );
    this.#renamedTo = prepare((given) => {
      const ids = given((list) => list);
      return sql`select n.from_id, f.owner || '/' || f.name, r.id, r.provider, r.owner, r.name from renames n
        join repositories f on f.id = n.from_id join repositories r on r.id = n.to_id and ${SHOWN}
        where ${dialect.among(sql`n.from_id`, ids)}`;
    });
    const namePair = dialect.jsonRow([sql.ref("full_name"), sql.ref("until")]);
    const described = sql`${columns},
        (select ${dialect.jsonArray(namePair)} from (select full_name, until from previous_names
          where repository_id = r.id order by until desc, name_key) as names)`;
    this.#described = prepare(
      (given) => sql`select ${described} from repositories r
        where r.provider = ${given(({ provider }) => provider)} and r.name_key = ${given(({ key }) => key)}
          and ${SHOWN}`,
    );
    this.#describedById = prepare(
      (given) => sql`select ${described} from repositories r where r.id = ${given((id) => id)} and ${SHOWN}`,
    );
    this.#range = prepare((given) => sql`select ${rangeColumn(dialect, sql`${given((id) => id)}`)}`);
  }

  /** The repositories with these ids, in the same order; ids that do not exist are skipped. */
  async findMany(ids: readonly number[]): Promise<Repository[]> {
    if (ids.length === 0) return [];
    const found = (await this.#byIds(ids)).map(repositoryOf);
    return inOrder(ids, found);
  }

  /** Ignores case. Of repositories that were joined, only the present one is found. A current name wins over a previous one, and a later previous name over an earlier one. */
  async findByName(provider: string, fullName: string): Promise<FoundByName | undefined> {
    const name = { provider, key: fullNameKey(fullName) };
    const [current] = await this.#byName(name);
    if (current !== undefined) return { repository: repositoryOf(current), isPreviousName: false };
    return this.#findByPreviousName(name);
  }

  /** The result of `findByName` for each of the names, in their order. Costs two statements for any number of names. */
  async findByNames(names: readonly ProviderName[]): Promise<(NamedRepository | undefined)[]> {
    const keys = names.map(({ provider, fullName }): NameRow => [provider, fullNameKey(fullName)]);
    const found = new Map<string, NamedRepository>();
    for (const isPreviousName of [false, true]) {
      const find = isPreviousName ? this.#byPreviousNames : this.#byNames;
      const wanted = keys.filter((key) => !found.has(textOf(key)));
      if (wanted.length === 0) break;
      const rows = await find(wanted);
      // Of several repositories with one previous name, the last one is the latest.
      for (const [provider, key, id, url] of rows)
        found.set(textOf([provider, key]), { id, url, isPreviousName });
    }
    return keys.map((key) => found.get(textOf(key)));
  }

  /** The repositories that continue RENAMED ones, by their ids. One statement, and one more for each further rename. */
  async renamedTo(ids: readonly number[]): Promise<Map<number, RenamedRepository>> {
    const rows = ids.length === 0 ? [] : await this.#renamedTo(ids);
    const next = rows.length === 0 ? new Map() : await this.renamedTo(rows.map(([, , id]) => id));
    return new Map(
      rows.map(([fromId, renamedFrom, id, provider, owner, name]) => {
        const present = { id, provider, fullName: `${owner}/${name}`, ...next.get(id) };
        return [fromId, { ...present, renamedFrom }];
      }),
    );
  }

  /** The same as `findByName`, with the details of the repository, by one statement; two for a previous name. */
  async describe(provider: string, fullName: string): Promise<Described | undefined> {
    const name = { provider, key: fullNameKey(fullName) };
    const [current] = await this.#described(name);
    if (current === undefined) return this.#findByPreviousName(name);
    return describedOf(current);
  }

  /** The repository with this id and its details, by one statement. */
  async describeById(id: number): Promise<CurrentlyDescribed | undefined> {
    const [found] = await this.#describedById(id);
    return found && describedOf(found);
  }

  async snapshotRange(id: number): Promise<SnapshotRange> {
    const [row] = await this.#range(id);
    return rangeOf(row?.[0] ?? "[]");
  }

  async #findByPreviousName(
    name: Name,
  ): Promise<{ repository: Repository; isPreviousName: true } | undefined> {
    const [previous] = await this.#byPreviousName(name);
    return previous && { repository: repositoryOf(previous), isPreviousName: true };
  }
}

function describedOf(values: DescribedValues): CurrentlyDescribed {
  const pairs: PreviousNameValues[] = JSON.parse(values[REPOSITORY.count]);
  const previousNames = pairs.map(([previous, until]) => ({ fullName: previous, until }));
  return { repository: repositoryOf(values), isPreviousName: false, previousNames };
}

const textOf = ([provider, key]: NameRow): string => `${provider}:${key}`;

function inOrder(ids: readonly number[], found: readonly Repository[]): Repository[] {
  const byId = new Map(found.map((repository) => [repository.id, repository]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** The next ids after `after`, in ascending order. */
export async function repositoriesAfter(
  db: Db,
  dialect: Dialect,
  after: number,
  limit: number,
): Promise<number[]> {
  const { rows } = await sql<{ ids: string }>`select ${dialect.jsonArray(sql`id`)} as ids from (
    select id from repositories where id > ${after} order by id limit ${limit}) as page`.execute(db);
  return JSON.parse(rows[0]?.ids ?? "[]");
}

/** See `Catalog.popular`. */
export async function popular(db: Db, limit: number): Promise<number[]> {
  const rows = await db
    .selectFrom("repositories")
    .select("id")
    .where("availability", "=", "AVAILABLE")
    .orderBy(sql`coalesce(stars, -1)`, "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}
