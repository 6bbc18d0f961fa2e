/**
 * Discovery on GitHub: walks through all public repositories with at least `minStars` stars, most stars first, with a search that shows
 * 100 rows per page and 1,000 in total. `rangeOf`, `queryOf` and `advance` are pure: a walk and a search result give the next walk.
 *
 * Ranges of stars are not paged. Rows are sorted by stars, so the next range begins after the last row. If more repositories
 * have the same star count than fit on a page, they are split into ranges of creation time, which never changes, until
 * each fits. So rows that move during the walk cannot hide others. Only repositories with the same star count and the
 * same second of creation are paged.
 *
 * Guarantee: the walk sees every repository that keeps its star count, whatever the others do, and every one that loses stars
 * but stays at or above `minStars`. A repository that gains stars is missed if it passes the walk at that very moment (ranges
 * overlap by one star count, which catches most); the next walk sees it. Not seen: all but 1,000 of the repositories that were
 * created in the same second and have the same star count.
 */
import { z } from "zod";
import type { ForgeClient } from "../client.js";
import type { Discovered } from "../contract.js";
import { notOfRepository, UpstreamFailure } from "../failures.js";
import { count, parseRecord, parseRecords } from "../fields.js";
import { fromRest, restRepository } from "./repository.js";

export const ROWS = 100;
/** Maximum number of rows that paging can reach. */
const REACHABLE_ROWS = 1000;
/** Number of rows a range of creation time aims for, so that most fit on a page at the first try. */
const AIM = 75;
/** A remainder of at most this many rows is requested as one range. */
const REST = 90;
/** With fewer rows a result says little about the density of neighbouring ranges. */
const SIGNIFICANT = 10;
/** Number of last rows that the next range repeats, because the counts shown may be newer than the sort order. */
const OVERLAP = 10;
const FIRST_LOW = 10_000;
/** An incomplete result is requested again once, then with narrower ranges; after this many tries it is accepted. */
const MAX_TRIES = 4;
const MAX_SPAN = 2 ** 30;
/** Bound of the nesting: each range is at most AIM / ROWS of its parent and at least a second long. */
const MAX_RESTS = 80;
/** Earlier than any repository on GitHub, in seconds since 1970. The first range includes anything older. */
const BEGINNING = Date.UTC(2007, 0, 1) / 1000;

/** Status of a search for repositories of an account that does not exist. */
const REFUSED = 422;

const searchResponse = z.object({
  total_count: count,
  incomplete_results: z.boolean().catch(false),
  items: z.array(z.unknown()).max(ROWS),
});

/** The next page of a walk over public repositories. Pages may repeat some. An invalid cursor starts a new walk. */
export async function discover(
  client: ForgeClient,
  { minStars, cursor, signal }: { minStars: number; cursor: string | null; signal: AbortSignal },
): Promise<Discovered> {
  const walk = parseCursor(cursor, minStars);
  const range = rangeOf(walk, minStars);
  const wanted = { q: queryOf(range), per_page: ROWS, page: range.page };
  const { page, rows } = await searchRepositories(client, wanted, signal).catch((error) => {
    throw error instanceof UpstreamFailure ? notOfRepository(error) : error;
  });
  const found = {
    total: page.total_count,
    isIncomplete: page.incomplete_results,
    stars: rows.map((row) => row.stars),
  };
  const next = advance(walk, found, { minStars, now: client.clock.now() });
  return {
    repositories: rows.flatMap((row) => fromRest(row) ?? []),
    next: next === null ? null : JSON.stringify(next),
  };
}

/** A page of a search for repositories, most stars first. Throws `gone` if GitHub refuses the search: it names no account. */
export async function searchRepositories(
  client: ForgeClient,
  wanted: { q: string; per_page: number; page: number },
  signal: AbortSignal,
) {
  const query = new URLSearchParams({
    q: wanted.q,
    sort: "stars",
    order: "desc",
    per_page: String(wanted.per_page),
    page: String(wanted.page),
  });
  const path = `/search/repositories?${query}`;
  const document = await client.get(path, { resource: "search", signal, expected: [REFUSED] });
  if (document.status === REFUSED) throw new UpstreamFailure("gone", "search: status 422");
  const page = parseRecord(searchResponse, document.body);
  return { page, rows: parseRecords(restRepository, page.items) };
}

function parseCursor(cursor: string | null, minStars: number): Walk {
  try {
    const walk = walkSchema.parse(JSON.parse(cursor ?? ""));
    // A walk that is already below a raised `minStars` starts over.
    if ((walk.top ?? minStars) >= minStars) return walk;
  } catch {
    // No cursor, or a damaged one.
  }
  return FIRST_WALK;
}

/** Upper bound of star counts and of seconds since 1970. */
const MAX_NUMBER = 2 ** 33;
const number = z.int().min(0).max(MAX_NUMBER);
/** The end of a range of creation time, and the remaining rows up to it. */
const rest = z.tuple([number, number]);
type Rest = z.infer<typeof rest>;

/** The state of a walk, kept in its cursor. */
export const walkSchema = z.strictObject({
  /** The highest star count not yet finished; null at the start. */
  top: number.nullable(),
  /** Number of star counts in the next range. */
  span: number.min(1).max(MAX_SPAN),
  /** Progress by creation time (seconds since 1970) among repositories with `top` stars; null: in a range of stars. */
  within: z
    .strictObject({
      from: number,
      seconds: number.min(1),
      page: number.min(1).max(REACHABLE_ROWS / ROWS),
      /** Ends of the ranges that were too full, with the remaining rows of each; the outermost, open one first. */
      rests: z.array(rest).min(1).max(MAX_RESTS),
    })
    .nullable(),
  tries: number.max(MAX_TRIES),
});
export type Walk = z.infer<typeof walkSchema>;
type Within = NonNullable<Walk["within"]>;

export const FIRST_WALK: Walk = { top: null, span: FIRST_LOW, within: null, tries: 0 };

/** A range to search. Both ends are inclusive; null is an open end. */
export interface Range {
  lowStars: number;
  highStars: number | null;
  /** Seconds since 1970. */
  createdFrom: number | null;
  createdTo: number | null;
  page: number;
}

interface SearchResult {
  total: number;
  /** Whether the search timed out before it was complete. */
  isIncomplete: boolean;
  stars: readonly number[];
}

export function rangeOf({ top, span, within, tries }: Walk, minStars: number): Range {
  const narrowing = 2 ** Math.max(0, tries - 1);
  if (top === null || within === null) {
    const low = top === null ? FIRST_LOW * narrowing : top + 1 - Math.max(1, Math.floor(span / narrowing));
    return { lowStars: Math.max(minStars, low), highStars: top, createdFrom: null, createdTo: null, page: 1 };
  }
  const to = within.from + Math.max(1, Math.floor(within.seconds / narrowing)) - 1;
  return {
    lowStars: top,
    highStars: top,
    createdFrom: within.from <= BEGINNING ? null : within.from,
    createdTo: to >= (within.rests[0]?.[0] ?? to) ? null : to,
    page: within.page,
  };
}

export function queryOf(range: Range): string {
  const time = (seconds: number | null) =>
    seconds === null ? null : `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
  const between = (low: string | number | null, high: string | number | null) =>
    low === null ? `<=${high}` : high === null ? `>=${low}` : `${low}..${high}`;
  const [from, to] = [time(range.createdFrom), time(range.createdTo)];
  const stars = `stars:${between(range.lowStars, range.highStars)}`;
  const created = from === null && to === null ? "" : ` created:${between(from, to)}`;
  return `${stars}${created} fork:true is:public`;
}

/** The walk after the result of its range; null: everything has been seen. `now`: ms since 1970. */
export function advance(
  walk: Walk,
  result: SearchResult,
  { minStars, now }: { minStars: number; now: number },
): Walk | null {
  const range = rangeOf(walk, minStars);
  const inside = result.stars.filter(
    (stars) => stars >= range.lowStars && stars <= (range.highStars ?? Number.POSITIVE_INFINITY),
  );
  const isIncomplete = result.isIncomplete || (result.total > ROWS && inside.length === 0);
  if (isIncomplete && walk.tries < MAX_TRIES) return { ...walk, tries: walk.tries + 1 };
  const total = inside.length === 0 ? 0 : Math.min(result.total, MAX_NUMBER);
  const isLowest = range.lowStars <= minStars;
  if (walk.within !== null) {
    const next = advanceWithin({ ...walk, within: walk.within }, range, total);
    if (next !== undefined) return next;
    return isLowest ? null : { top: range.lowStars - 1, span: 1, within: null, tries: 0 };
  }
  const span = nextSpan(walk.span, total);
  if (total <= ROWS) {
    if (isLowest) return null;
    // Ranges of several counts overlap by one, for rising repositories.
    const top = range.lowStars === range.highStars ? range.lowStars - 1 : range.lowStars;
    return { top, span, within: null, tries: 0 };
  }
  const end = Math.max(...inside.slice(-OVERLAP));
  if (range.highStars === null || end < range.highStars) return { top: end, span, within: null, tries: 0 };
  if (range.lowStars < range.highStars) return { ...walk, span: 1, tries: 0 };
  const present = Math.floor(now / 1000);
  const within: Within = { from: BEGINNING, seconds: 1, page: 1, rests: [[present, total]] };
  const seconds = nextSeconds(within, present - BEGINNING + 1, total);
  return { ...walk, within: { ...within, seconds }, tries: 0 };
}

/** Aims for a few hundred rows per range: more are slow to search, fewer waste requests. */
function nextSpan(span: number, total: number): number {
  if (total > REACHABLE_ROWS) return Math.max(1, Math.floor(span / 2));
  return total < REACHABLE_ROWS / 3 ? Math.min(MAX_SPAN, span * 2) : span;
}

/** The walk among the repositories with one count of stars; undefined once all of them have been seen. */
function advanceWithin(walk: Walk & { within: Within }, range: Range, total: number): Walk | undefined {
  const { within } = walk;
  const { from, page } = within;
  const outer = within.rests.slice(0, -1);
  const [end, left] = within.rests.at(-1) ?? [from, 0];
  const to = range.createdTo ?? end;
  const seconds = Math.max(1, to - from + 1);
  const open: Rest = [end, Math.max(0, left - total)];
  const go = (next: Omit<Within, "seconds">): Walk => ({
    ...walk,
    within: { ...next, seconds: nextSeconds(next, seconds, total) },
    tries: 0,
  });

  if (total > ROWS && seconds > 1) {
    const around = to < end ? [...outer, open] : outer;
    return go({ from, page: 1, rests: [...around, [to, total]] });
  }
  if (total > page * ROWS && page < REACHABLE_ROWS / ROWS) {
    return { ...walk, within: { ...within, page: page + 1 }, tries: 0 };
  }
  const rests = [...outer, open].filter(([until]) => until > to);
  return rests.length > 0 ? go({ from: to + 1, page: 1, rests }) : undefined;
}

/** Length of the next range, given that one of `seconds` had `total` rows. */
function nextSeconds({ from, rests }: Omit<Within, "seconds">, seconds: number, total: number): number {
  const [end, left] = rests.at(-1) ?? [from, 0];
  const all = end - from + 1;
  if (left <= REST) return all;
  const holdsAim = total < SIGNIFICANT ? (all * AIM) / left : (seconds * AIM) / total;
  return Math.max(1, Math.min(all, Math.floor(holdsAim)));
}
