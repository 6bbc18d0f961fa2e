import { sql } from "kysely";
import type { Database, Prepared } from "../../database/database.js";
import type { Catalog } from "../../repositories/repositories.js";
import { afterPrefix } from "./words.js";

/** A suggested language or topic. */
export interface SuggestedFacet {
  name: string;
  repositories: number;
}

type FacetKind = "language" | "topic";

/** Names of each kind in memory, those with most repositories; most prefixes need no others. */
const KEPT = 1_000;
/** If more names than this begin with a prefix, names are scanned instead, those with most repositories first. */
const GATHERED = 2_000;

interface Gathering {
  kind: FacetKind;
  prefix: string;
  limit: number;
}

type Names = readonly { name: string; key: string; repositories: number }[];

/** Suggests languages and topics by the beginning of their names. */
export class FacetNames {
  readonly #database: Database;
  readonly #catalog: Catalog;
  readonly #read: Prepared<FacetKind, [name: string, key: string, repositories: number]>;
  readonly #gather: Prepared<Gathering, [name: string, repositories: number, gathered: number]>;
  /** The names with most repositories in one revision of the catalogue. */
  #kept: { revision: number; names: Map<FacetKind, Promise<Names>> } | undefined;

  constructor(database: Database, catalog: Catalog) {
    this.#database = database;
    this.#catalog = catalog;
    this.#read = database.prepare(
      (given) => sql`select name, name_key, repositories from facets
        where kind = ${given((kind) => kind)} and provider = ''
        order by repositories desc, name limit ${sql.lit(KEPT)}`,
    );
    this.#gather = database.prepare((given) => {
      const [from, to] = [given(({ prefix }) => prefix), given(({ prefix }) => afterPrefix(prefix))];
      return sql`select name, repositories, count(*) over () from (
          select name, repositories from facets where kind = ${given(({ kind }) => kind)} and provider = ''
            and name_key >= ${from} and name_key < ${to} limit ${sql.lit(GATHERED + 1)}) as gathered
        order by repositories desc, name limit ${given(({ limit }) => limit)}`;
    });
  }

  /** At most `limit` names that begin with a folded prefix, those with most repositories first. */
  async suggest(kind: FacetKind, prefix: string, limit: number): Promise<SuggestedFacet[]> {
    const names = await this.#namesOf(kind);
    const found = firstWith(names, prefix, limit);
    if (found.length === limit || names.length < KEPT) return found;
    const rows = await this.#gather({ kind, prefix, limit });
    if ((rows[0]?.[2] ?? 0) > GATHERED) return this.#scan({ kind, prefix, limit });
    return rows.map(([name, repositories]) => ({ name, repositories }));
  }

  async #namesOf(kind: FacetKind): Promise<Names> {
    const revision = await this.#catalog.recentRevision();
    if (this.#kept?.revision !== revision) this.#kept = { revision, names: new Map() };
    const { names } = this.#kept;
    const known = names.get(kind);
    if (known !== undefined) return known;
    const reading = this.#read(kind).then((rows) =>
      rows.map(([name, key, repositories]) => ({ name, key, repositories })),
    );
    names.set(kind, reading);
    reading.catch(() => names.delete(kind));
    return reading;
  }

  async #scan({ kind, prefix, limit }: Gathering): Promise<SuggestedFacet[]> {
    const { rows } = await sql<SuggestedFacet>`select name, repositories from facets
      where kind = ${kind} and provider = '' and substr(name_key, 1, ${[...prefix].length}) = ${prefix}
      order by repositories desc, name limit ${limit}`.execute(this.#database.read);
    return rows;
  }
}

/** The first names that begin with a prefix. A loop inside the async function would be slower. */
function firstWith(names: Names, prefix: string, limit: number): SuggestedFacet[] {
  const found: SuggestedFacet[] = [];
  for (let i = 0; i < names.length && found.length < limit; i++) {
    const one = names[i];
    if (one?.key.startsWith(prefix)) found.push({ name: one.name, repositories: one.repositories });
  }
  return found;
}
