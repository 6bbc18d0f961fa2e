import { sql } from "kysely";
import { columnsOf, type Database, type Db, type Dialect, type Prepared } from "../database/database.js";
import {
  fromRow,
  REPOSITORY_READ_COLUMNS,
  type Repository,
  type RepositoryValues,
  takeRepository,
} from "./repository.js";

export interface PreviousName {
  fullName: string;
  until: number;
}

/** A repository found by its current name, or by a previous one. */
export interface FoundByName {
  repository: Repository;
  isPreviousName: boolean;
}

interface Name {
  provider: string;
  key: string;
}

/** Finds repositories by id and by name. */
export class Lookup {
  readonly #byIds: Prepared<readonly number[], RepositoryValues>;
  readonly #byName: Prepared<Name, RepositoryValues>;
  readonly #byPreviousName: Prepared<Name, RepositoryValues>;
  readonly #previousNames: Prepared<number, [fullName: string, until: number]>;

  constructor({ prepare, dialect }: Database) {
    const columns = columnsOf("r", REPOSITORY_READ_COLUMNS);
    this.#byIds = prepare((given) => {
      const ids = given((list) => list);
      return sql`select ${columns} from repositories r where ${dialect.among(sql`r.id`, ids)}`;
    });
    this.#byName = prepare(
      (given) => sql`select ${columns} from repositories r
        where r.provider = ${given(({ provider }) => provider)} and r.name_key = ${given(({ key }) => key)}`,
    );
    this.#byPreviousName = prepare(
      (given) => sql`select ${columns} from repositories r where r.id = (
        select repository_id from previous_names
        where provider = ${given(({ provider }) => provider)} and name_key = ${given(({ key }) => key)}
        order by until desc limit 1)`,
    );
    this.#previousNames = prepare(
      (given) => sql`select full_name, until from previous_names
        where repository_id = ${given((id) => id)} order by until desc, name_key`,
    );
  }

  /** The repositories with these ids, in the same order; ids that do not exist are skipped. */
  async findMany(ids: readonly number[]): Promise<Repository[]> {
    if (ids.length === 0) return [];
    const found = (await this.#byIds(ids)).map((values) => takeRepository(values).repository);
    return inOrder(ids, found);
  }

  /** See `Catalog.findByName`. */
  async findByName(provider: string, fullName: string): Promise<FoundByName | undefined> {
    const name = { provider, key: fullName.toLowerCase() };
    const [current] = await this.#byName(name);
    if (current !== undefined)
      return { repository: takeRepository(current).repository, isPreviousName: false };
    const [previous] = await this.#byPreviousName(name);
    return previous && { repository: takeRepository(previous).repository, isPreviousName: true };
  }

  /** Previous names of a repository, newest first. */
  async previousNames(id: number): Promise<PreviousName[]> {
    return (await this.#previousNames(id)).map(([fullName, until]) => ({ fullName, until }));
  }
}

/** As `Catalog.findMany`, for callers inside a transaction. */
export async function findRepositories(
  db: Db,
  dialect: Dialect,
  ids: readonly number[],
): Promise<Repository[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom("repositories")
    .select(REPOSITORY_READ_COLUMNS)
    .where(dialect.among(sql.ref("id"), ids))
    .execute();
  return inOrder(ids, rows.map(fromRow));
}

function inOrder(ids: readonly number[], found: readonly Repository[]): Repository[] {
  const byId = new Map(found.map((repository) => [repository.id, repository]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
