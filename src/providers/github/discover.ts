import { z } from "zod";
import type { ForgeClient } from "../client.js";
import { type Discovered, UpstreamFailure } from "../contract.js";
import { count, parseRecord, parseRecords } from "../fields.js";
import { notOfRepository } from "../responses.js";
import { advance, FIRST_WALK, queryOf, ROWS, rangeOf, type Walk, walkSchema } from "./partition.js";
import { fromRest, restRepository } from "./rest.js";

const searchResponse = z.object({
  total_count: count,
  incomplete_results: z.boolean().catch(false),
  items: z.array(z.unknown()).max(ROWS),
});

/**
 * The next page of a walk over all public repositories with at least `minStars` stars; `partition.ts` says what a walk
 * guarantees. Pages may repeat repositories. An invalid cursor starts a new walk.
 */
export async function discover(
  client: ForgeClient,
  { minStars, cursor, signal }: { minStars: number; cursor: string | null; signal: AbortSignal },
): Promise<Discovered> {
  const walk = parseCursor(cursor, minStars);
  const range = rangeOf(walk, minStars);
  const query = new URLSearchParams({
    q: queryOf(range),
    sort: "stars",
    order: "desc",
    per_page: String(ROWS),
    page: String(range.page),
  });
  const document = await client
    .get(`/search/repositories?${query}`, { resource: "search", signal })
    .catch((error) => {
      throw error instanceof UpstreamFailure ? notOfRepository(error) : error;
    });
  const page = parseRecord(searchResponse, document?.body);
  const rows = parseRecords(restRepository, page.items);
  const found = {
    total: page.total_count,
    isIncomplete: page.incomplete_results,
    stars: rows.map((row) => row.stargazers_count),
  };
  const next = advance(walk, found, { minStars, now: client.clock.now() });
  return {
    repositories: rows.flatMap((row) => fromRest(row) ?? []),
    next: next === null ? null : JSON.stringify(next),
  };
}

function parseCursor(cursor: string | null, minStars: number): Walk {
  if (cursor === null) return FIRST_WALK;
  let value: unknown;
  try {
    value = JSON.parse(cursor);
  } catch {
    return FIRST_WALK;
  }
  const walk = walkSchema.safeParse(value).data;
  // A walk that is already below a raised `minStars` starts over.
  return walk === undefined || (walk.top ?? minStars) < minStars ? FIRST_WALK : walk;
}
