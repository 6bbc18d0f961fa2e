/**
 * Search owns the words of repositories and queries (`words.ts`), the search index (`index.ts`) and suggestions, most popular
 * first. All words of a query must match; the last one may be a prefix. No input is syntax. Lists with a search text are read
 * by `lists`.
 */
import { sql } from "kysely";
import type { Catalog, Repository } from "../catalog/catalog.js";
import type { Database } from "../database/database.js";
import { queryWords } from "./words.js";

export { orderWords, updateWords } from "./index.js";
export { queryWords } from "./words.js";

/** A suggested language or topic. */
export interface SuggestedFacet {
  name: string;
  repositories: number;
}

export interface Suggestions {
  repositories: Repository[];
  languages: SuggestedFacet[];
  topics: SuggestedFacet[];
}

/** If more names than this start with a prefix, the most popular names are scanned instead. */
const FACETS_GATHERED = 2_000;

export class Search {
  readonly #database: Database;
  readonly #catalog: Catalog;

  constructor(database: Database, catalog: Catalog) {
    this.#database = database;
    this.#catalog = catalog;
  }

  /** At most `limit` suggestions of each kind; the most popular ones for an empty text. */
  async suggest(text: string, limit: number): Promise<Suggestions> {
    const prefix = text.trim().toLowerCase();
    const [repositories, languages, topics] = await Promise.all([
      this.#suggestRepositories(text, limit),
      this.#suggestFacets("language", prefix, limit),
      this.#suggestFacets("topic", prefix.replaceAll(/\s+/g, "-"), limit),
    ]);
    return { repositories, languages, topics };
  }

  async #suggestRepositories(text: string, limit: number): Promise<Repository[]> {
    const { read, dialect } = this.#database;
    if (text.trim() === "") {
      const popular = await sql<{ id: number }>`select id from repositories where availability = 'AVAILABLE'
        order by coalesce(stars, -1) desc, id desc limit ${limit}`.execute(read);
      return this.#catalog.findMany(popular.rows.map((row) => row.id));
    }
    const words = queryWords(text);
    if (words.length === 0) return [];
    const matches = dialect.matchWords({ words, scope: "names" }, limit);
    const found = await sql<{ id: number }>`select id from (${matches}) as w order by w.position`.execute(
      read,
    );
    return this.#catalog.findMany(found.rows.map((row) => row.id));
  }

  async #suggestFacets(kind: "language" | "topic", prefix: string, limit: number): Promise<SuggestedFacet[]> {
    const { read } = this.#database;
    const here = sql`kind = ${kind} and provider = ''`;
    // Every name with the prefix sorts between the prefix and the prefix followed by the greatest character.
    const begins = sql`name_key >= ${prefix} and name_key < ${`${prefix}\u{10ffff}`}`;
    const counted = await sql<{ names: number }>`select count(*) as names from (
      select 1 from facets where ${here} and ${begins} limit ${FACETS_GATHERED + 1}) as bounded`.execute(
      read,
    );
    const many = Number(counted.rows[0]?.names ?? 0) > FACETS_GATHERED;
    const source = many
      ? sql`facets where ${here} and substr(name_key, 1, ${[...prefix].length}) = ${prefix}`
      : sql`(select * from facets where ${here} and ${begins} limit ${FACETS_GATHERED}) as gathered`;
    const rows = await sql<SuggestedFacet>`select name, repositories from ${source}
      order by repositories desc, name limit ${limit}`.execute(read);
    return rows.rows;
  }
}
