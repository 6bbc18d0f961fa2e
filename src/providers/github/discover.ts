import { z } from "zod";
import { UpstreamFailure } from "../failures.js";
import { count, parseRecord } from "../fields.js";
import type { Discovered } from "../providers.js";
import type { GithubClient } from "./client.js";
import { aboutNone } from "./limits.js";
import { advance, FIRST_WALK, queryOf, ROWS, rangeOf, type Walk, walkSchema } from "./partition.js";
import { fromRest, restRepository } from "./records.js";

/** Where more rows than these are all wrong, it is the answer that is wrong. */
const FEW_ROWS = 10;

const searchAnswer = z.object({
  total_count: count,
  incomplete_results: z.boolean().catch(false),
  items: z.array(z.unknown()).max(ROWS),
});

/**
 * The next answer of a walk over all public repositories of at least `minStars` stars; what the walk guarantees stands with
 * `partition`. The same repository may come several times. A cursor that is none begins anew.
 */
export async function discover(
  client: GithubClient,
  minStars: number,
  cursor: string | null,
  signal: AbortSignal,
): Promise<Discovered> {
  const walk = walkOf(cursor, minStars);
  const range = rangeOf(walk, minStars);
  const parameters = { q: queryOf(range), sort: "stars", order: "desc", per_page: ROWS, page: range.page };
  const document = await client
    .get("/search/repositories", parameters, { resource: "search", signal })
    .catch((error) => {
      throw error instanceof UpstreamFailure ? aboutNone(error) : error;
    });
  const answer = parseRecord(searchAnswer, document?.body);
  // A row that is wrong must not hold the walk for ever.
  const rows = answer.items.flatMap((item) => restRepository.safeParse(item).data ?? []);
  if (rows.length === 0 && answer.items.length > FEW_ROWS) {
    throw new UpstreamFailure("malformed", `search: none of ${answer.items.length} rows is a repository`);
  }
  const found = {
    total: answer.total_count,
    isIncomplete: answer.incomplete_results,
    stars: rows.map((row) => row.stargazers_count),
  };
  const next = advance(walk, found, minStars, client.clock.now());
  return {
    repositories: rows.flatMap((row) => fromRest(row) ?? []),
    next: next === null ? null : JSON.stringify(next),
  };
}

function walkOf(cursor: string | null, minStars: number): Walk {
  if (cursor === null) return FIRST_WALK;
  let value: unknown;
  try {
    value = JSON.parse(cursor);
  } catch {
    return FIRST_WALK;
  }
  const walk = walkSchema.safeParse(value).data;
  // One of a lower `minStars` than is wanted now has nothing before it.
  return walk === undefined || (walk.top ?? minStars) < minStars ? FIRST_WALK : walk;
}
