/**
 * Facets: how many listed repositories use each language or topic, with their stars and gains, per provider and overall.
 * The totals are kept up to date by subtracting what a changed repository contributed before and adding what it contributes
 * now. `updateFacets` applies changes, `FacetRebuild` starts from all repositories; both give the same totals.
 */
import { sql } from "kysely";
import {
  BatchSize,
  type BulkRow,
  type BulkTable,
  type Database,
  type Db,
  type Dialect,
  type FacetPartTable,
  type Tx,
} from "../../database/database.js";
import type { ChangedRepositories, Contribution } from "../../growth/growth.js";
import type { Run } from "../../repositories/repositories.js";
import { type FacetPart, FacetSums } from "./sums.js";

export {
  FACET_SORTS,
  type Facet,
  type FacetKind,
  type FacetPage,
  type FacetRequest,
  type FacetSort,
  type FacetTotals,
  type FindFacet,
  facetFinder,
  facetReader,
  LISTED,
  spellFacets,
} from "./read.js";

/** Repositories whose contributions are written in one transaction. */
const REPOSITORIES = { least: 250, most: 2_000 };

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

/** Replaces the contributions of changed repositories to the facets. `before`: their contributions until now. */
export async function updateFacets(
  dialect: Dialect,
  run: Run,
  { ids, contributions, before }: ChangedRepositories & { before: readonly FacetPart[] },
): Promise<void> {
  const sums = new FacetSums();
  for (const part of before) sums.subtract(part);
  for (const contribution of contributions) sums.add(contribution);
  const listed = new Set(contributions.map(({ repositoryId }) => repositoryId));
  const gone = ids.filter((id) => !listed.has(id));
  const size = new BatchSize(dialect, REPOSITORIES);
  await run.stepThrough(contributions, size, (tx, part) => writeParts(tx, dialect, part));
  await run.stepThrough(gone, size, async (tx, part) => {
    await tx
      .deleteFrom("facet_parts")
      .where(dialect.among(sql.ref("repository_id"), part))
      .execute();
  });
  await sums.applyTo(run, dialect);
}

/** Rebuilds all facets from the contributions of all repositories, which come in the order of their ids. */
export class FacetRebuild {
  readonly #sums = new FacetSums();
  readonly #size: BatchSize;
  /** Repositories up to this one are done. */
  #last = 0;

  constructor(dialect: Dialect) {
    this.#size = new BatchSize(dialect, REPOSITORIES);
  }

  async add(run: Run, dialect: Dialect, contributions: readonly Contribution[]): Promise<void> {
    for (const contribution of contributions) this.#sums.add(contribution);
    await run.stepThrough(contributions, this.#size, async (tx, part) => {
      const end = part.at(-1)?.repositoryId ?? this.#last;
      await tx
        .deleteFrom("facet_parts")
        .where("repository_id", ">", this.#last)
        .where("repository_id", "<=", end)
        .execute();
      await dialect.insertNew(tx, PARTS, part.map(partRow));
      this.#last = end;
    });
  }

  /** Replaces all facets by the sums of the added contributions. */
  async finish({ dialect, write }: Database, run: Run): Promise<void> {
    await run.step(async (tx) => {
      await tx.deleteFrom("facet_parts").where("repository_id", ">", this.#last).execute();
    });
    await this.#sums.replaceAll(write, run, dialect);
  }
}

/** The stored contributions of repositories, by id. */
export async function readFacetParts(
  db: Db,
  dialect: Dialect,
  ids: readonly number[],
): Promise<Map<number, FacetPart>> {
  const rows = await db
    .selectFrom("facet_parts")
    .selectAll()
    .where(dialect.among(sql.ref("repository_id"), ids))
    .execute();
  return new Map(rows.map((row) => [row.repository_id, partOf(row)]));
}

export function partOf(row: FacetPartTable): FacetPart {
  return {
    provider: row.provider,
    language: row.language,
    topics: JSON.parse(row.topics),
    stars: row.stars,
    gained: { "24h": row.stars_gained_24h, "7d": row.stars_gained_7d, "30d": row.stars_gained_30d },
  };
}

async function writeParts(tx: Tx, dialect: Dialect, contributions: readonly Contribution[]): Promise<void> {
  await dialect.upsert(tx, PARTS, contributions.map(partRow));
}

function partRow({ repositoryId, provider, language, topics, stars, gained }: Contribution): BulkRow {
  return [
    repositoryId,
    provider,
    language,
    JSON.stringify(topics),
    stars,
    gained["24h"],
    gained["7d"],
    gained["30d"],
  ];
}
