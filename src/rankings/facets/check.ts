import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import type { Db, Dialect } from "../../database/database.js";
import type { ChangedRepositories } from "../contributions.js";
import { FacetSums } from "./sums.js";
import { partOf } from "./update.js";

/** Compares the stored facets with the stored contributions, and these with what repositories contribute now. */
export class FacetCheck {
  readonly #sums = new FacetSums();
  readonly #onWrong: (found: string) => void;

  constructor(onWrong: (found: string) => void) {
    this.#onWrong = onWrong;
  }

  /** Adds the next repositories. Returns those whose stored contribution is not the given one. */
  async add(db: Db, dialect: Dialect, { ids, contributions }: ChangedRepositories): Promise<number[]> {
    const rows = await db
      .selectFrom("facet_parts")
      .selectAll()
      .where(dialect.among(sql.ref("repository_id"), ids))
      .execute();
    const stored = new Map(rows.map((row) => [row.repository_id, partOf(row)]));
    for (const part of stored.values()) this.#sums.add(part);
    const present = new Map(
      contributions.map(({ repositoryId, provider, language, topics, stars, gained }) => [
        repositoryId,
        { provider, language, topics, stars, gained: { ...gained } },
      ]),
    );
    return ids.filter((id) => !isDeepStrictEqual(stored.get(id), present.get(id)));
  }

  async finish(db: Db): Promise<void> {
    for (const found of await this.#sums.differences(db)) this.#onWrong(found);
  }
}
