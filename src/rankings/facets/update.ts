import { sql } from "kysely";
import type { BulkRow, BulkTable, Dialect, Tx } from "../../database/database.js";
import type { ChangedRepositories, Contribution } from "../contributions.js";
import { type FacetPart, FacetSums } from "./sums.js";

const PARTS: BulkTable = {
  table: "facet_parts",
  columns: {
    repository_id: "bigint",
    provider: "text",
    language: "text",
    topics: "text",
    stars: "bigint",
    stars_gained_24h: "bigint",
    stars_gained_7d: "bigint",
    stars_gained_30d: "bigint",
  },
  key: ["repository_id"],
};

/** Replaces what changed repositories contribute to the facets. The cost follows their number. */
export async function updateFacets(
  tx: Tx,
  dialect: Dialect,
  { ids, contributions }: ChangedRepositories,
): Promise<void> {
  const sums = new FacetSums();
  for (const part of await readParts(tx, dialect, ids)) sums.subtract(part);
  for (const contribution of contributions) sums.add(contribution);
  await tx
    .deleteFrom("facet_parts")
    .where(dialect.among(sql.ref("repository_id"), ids))
    .execute();
  await writeParts(tx, dialect, contributions);
  await sums.applyTo(tx, dialect);
}

/** Rebuilds all facets from the contributions of all repositories. */
export class FacetRebuild {
  readonly #sums = new FacetSums();

  /** Deletes the stored contributions; call it once before adding any. */
  static async clear(tx: Tx): Promise<void> {
    await sql`delete from facet_parts`.execute(tx);
  }

  async add(tx: Tx, dialect: Dialect, contributions: readonly Contribution[]): Promise<void> {
    for (const contribution of contributions) this.#sums.add(contribution);
    await writeParts(tx, dialect, contributions);
  }

  /** Replaces all facets by the sums of what was added. */
  async finish(tx: Tx, dialect: Dialect): Promise<void> {
    await this.#sums.replaceAll(tx, dialect);
  }
}

/** What repositories contribute to the stored facets. */
async function readParts(tx: Tx, dialect: Dialect, ids: readonly number[]): Promise<FacetPart[]> {
  const rows = await tx
    .selectFrom("facet_parts")
    .selectAll()
    .where(dialect.among(sql.ref("repository_id"), ids))
    .execute();
  return rows.map((row) => ({
    provider: row.provider,
    language: row.language,
    topics: JSON.parse(row.topics),
    stars: row.stars,
    gained: { "24h": row.stars_gained_24h, "7d": row.stars_gained_7d, "30d": row.stars_gained_30d },
  }));
}

async function writeParts(tx: Tx, dialect: Dialect, contributions: readonly Contribution[]): Promise<void> {
  const rows = contributions.map(
    ({ repositoryId, provider, language, topics, stars, gained }): BulkRow => [
      repositoryId,
      provider,
      language,
      JSON.stringify(topics),
      stars,
      gained["24h"],
      gained["7d"],
      gained["30d"],
    ],
  );
  await dialect.upsert(tx, PARTS, rows);
}
