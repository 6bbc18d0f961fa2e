import { sql } from "kysely";
import type { FacetKind } from "../../../src/discovery/facets.js";
import type { Modules } from "../../../src/modules.js";

/** What anybody can find out about a catalogue by reading it: the largest of everything. */
export interface CatalogueFacts {
  /** At most 500, those with the longest rows first. */
  repositories: readonly { id: number; provider: string; fullName: string }[];
  /** By number of repositories, most first. */
  languages: readonly string[];
  topics: readonly string[];
}

const REPOSITORIES = 500;
/** As many as a request may name. */
const NAMES = 20;

/** Reads the facts of a catalogue. */
export async function readFacts({ database: { read }, rankings }: Modules): Promise<CatalogueFacts> {
  const repositories = await read
    .selectFrom("repositories")
    .select(["id", "provider", "owner", "name"])
    .where("availability", "=", "AVAILABLE")
    .orderBy(sql`length(topics) + length(coalesce(description, ''))`, "desc")
    .orderBy("id")
    .limit(REPOSITORIES)
    .execute();
  const named = async (kind: FacetKind) => {
    const { facets } = await rankings.facets({
      kind,
      window: "24h",
      sort: "repository-count",
      limit: NAMES,
      offset: 0,
    });
    return facets.map(({ name }) => name);
  };
  return {
    repositories: repositories.map(({ id, provider, owner, name }) => ({
      id,
      provider: provider.toLowerCase(),
      fullName: `${owner}/${name}`,
    })),
    languages: await named("language"),
    topics: await named("topic"),
  };
}
