/**
 * The way through a search that shows 100 rows in an answer and 1,000 in all, past everything of at least `minStars` stars,
 * most stars first. Pure: a walk and an answer give the next walk.
 *
 * Ranges are not paged through. The rows of an answer are sorted by stars, so the next range begins where they end; a
 * star count that more repositories have than fit into one answer is cut into ranges of creation time, which never
 * changes, until each fits. So rows that move while the walk goes on push no other row out of sight. Only what is of one
 * second and one star count is paged.
 *
 * Guaranteed: a repository whose count is at least `minStars` and stays the same during the walk is seen, whatever the
 * others do; so is one that loses stars and stays at or above `minStars`. One that gains stars is missed if it climbs past
 * the walk just as that goes by (ranges overlap by one star count, which catches most), and is seen by the next walk.
 * Not seen: the rest where over 1,000 repositories were created in the same second and have the same number of stars.
 */
import { z } from "zod";

/** Rows in an answer, at most. */
export const ROWS = 100;
/** Rows that can be reached by paging. */
const REACHABLE_ROWS = 1000;
/** As many rows as a range of creation time aims at: few enough that most fit at the first try. */
const AIM = 75;
/** A rest of so few is asked for at once. */
const REST = 90;
/** With fewer rows an answer says little about how many there are beside it. */
const TELLING = 10;
/** So many of the last rows are seen again in the next answer: counts shown may be newer than those sorted by. */
const OVERLAP = 10;
/** Where the first range ends. */
const FIRST_LOW = 10_000;
/** An answer that is cut short is asked for again once and then narrowed; after so many it is taken as it is. */
const MAX_TRIES = 4;
const MAX_SPAN = 2 ** 30;
/** Each is at most AIM / ROWS of the one around it, and none is shorter than a second. */
const MAX_RESTS = 80;
/** Earlier than any repository of GitHub, in seconds since 1970; what is even older falls into the first range. */
const BEGINNING = Date.UTC(2007, 0, 1) / 1000;

/** No number of stars and no second since 1970 is larger. */
const MAX_COUNT = 2 ** 33;
const count = z.int().min(0).max(MAX_COUNT);

/** Where a walk is. Goes into a cursor; what comes out of one is parsed with this. */
export const walkSchema = z.strictObject({
  /** The highest number of stars that is not done with; null: nothing is. */
  top: count.nullable(),
  /** How many numbers of stars the next range takes. */
  span: count.min(1).max(MAX_SPAN),
  /** Within the repositories of `top` stars, by creation time in seconds since 1970; null: in a range of stars. */
  within: z
    .strictObject({
      from: count,
      /** The next range takes so many seconds. */
      seconds: count.min(1),
      page: count.min(1).max(REACHABLE_ROWS / ROWS),
      /** Ends of the ranges that were too full, and how many are left in each; the outermost, which is open, first. */
      rests: z
        .array(z.tuple([count, count]))
        .min(1)
        .max(MAX_RESTS),
    })
    .nullable(),
  /** Answers to the present query that were cut short. */
  tries: count.max(MAX_TRIES),
});
export type Walk = z.infer<typeof walkSchema>;
type Within = NonNullable<Walk["within"]>;
type Rest = Within["rests"][number];

export const FIRST_WALK: Walk = { top: null, span: FIRST_LOW, within: null, tries: 0 };

/** What is asked for; both ends are included, null is an open end. */
export interface Range {
  lowStars: number;
  highStars: number | null;
  /** Seconds since 1970. */
  createdFrom: number | null;
  createdTo: number | null;
  page: number;
}

export interface SearchAnswer {
  /** Repositories in the range, as the search says. */
  total: number;
  /** Whether the search ended before it had looked everywhere. */
  isIncomplete: boolean;
  /** Stars of the rows, in their order. */
  stars: readonly number[];
}

/** The range to ask for next. */
export function rangeOf(walk: Walk, minStars: number): Range {
  const narrowing = 2 ** Math.max(0, walk.tries - 1);
  const { top, within } = walk;
  if (top === null) {
    const lowStars = Math.max(minStars, FIRST_LOW * narrowing);
    return { lowStars, highStars: null, createdFrom: null, createdTo: null, page: 1 };
  }
  if (within === null) {
    const span = Math.max(1, Math.floor(walk.span / narrowing));
    const lowStars = Math.max(minStars, top - span + 1);
    return { lowStars, highStars: top, createdFrom: null, createdTo: null, page: 1 };
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

/** The range in the language of the search. */
export function queryOf(range: Range): string {
  const time = (seconds: number) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
  const from = range.createdFrom === null ? null : time(range.createdFrom);
  const to = range.createdTo === null ? null : time(range.createdTo);
  const stars =
    range.highStars === null ? `stars:>=${range.lowStars}` : `stars:${range.lowStars}..${range.highStars}`;
  const created =
    from === null && to === null
      ? ""
      : from === null
        ? ` created:<=${to}`
        : to === null
          ? ` created:>=${from}`
          : ` created:${from}..${to}`;
  return `${stars}${created} fork:true is:public`;
}

/** The walk after the answer to its range; null: everything has been seen. `now`: ms since 1970. */
export function advance(walk: Walk, answer: SearchAnswer, minStars: number, now: number): Walk | null {
  const range = rangeOf(walk, minStars);
  const inside = answer.stars.filter(
    (stars) => stars >= range.lowStars && stars <= (range.highStars ?? Number.POSITIVE_INFINITY),
  );
  const isCutShort = answer.isIncomplete || (answer.total > ROWS && inside.length === 0);
  if (isCutShort && walk.tries < MAX_TRIES) return { ...walk, tries: walk.tries + 1 };
  const total = inside.length === 0 ? 0 : Math.min(answer.total, MAX_COUNT);
  if (walk.within !== null) return advanceWithin(walk, walk.within, range, total, minStars);
  if (total <= ROWS) return below(walk, range, total, minStars);

  const end = Math.max(...inside.slice(-OVERLAP));
  if (range.highStars === null || end < range.highStars) {
    return { top: end, span: nextSpan(walk.span, total), within: null, tries: 0 };
  }
  if (range.lowStars < range.highStars) return { ...walk, span: 1, tries: 0 };
  const present = Math.floor(now / 1000);
  const within: Within = { from: BEGINNING, seconds: 1, page: 1, rests: [[present, total]] };
  const seconds = nextSeconds(within, present - BEGINNING + 1, total);
  return { ...walk, within: { ...within, seconds }, tries: 0 };
}

/** Everything in a range of stars has been seen; ranges of several numbers overlap by one, for those that climb. */
function below(walk: Walk, range: Range, total: number, minStars: number): Walk | null {
  if (range.lowStars <= minStars) return null;
  const top = range.lowStars === range.highStars ? range.lowStars - 1 : range.lowStars;
  return { top, span: nextSpan(walk.span, total), within: null, tries: 0 };
}

/** Ranges hold a few hundred: many are slow to search, and few waste an answer. */
function nextSpan(span: number, total: number): number {
  if (total > REACHABLE_ROWS) return Math.max(1, Math.floor(span / 2));
  return total < REACHABLE_ROWS / 3 ? Math.min(MAX_SPAN, span * 2) : span;
}

function advanceWithin(
  walk: Walk,
  within: Within,
  range: Range,
  total: number,
  minStars: number,
): Walk | null {
  const { from, page } = within;
  const outer = within.rests.slice(0, -1);
  const [end, left] = within.rests.at(-1) ?? [from, 0];
  const to = range.createdTo ?? end;
  const seconds = Math.max(1, to - from + 1);
  const rest: Rest = [end, Math.max(0, left - total)];
  const go = (next: Omit<Within, "seconds">): Walk => ({
    ...walk,
    within: { ...next, seconds: nextSeconds(next, seconds, total) },
    tries: 0,
  });

  if (total > ROWS && seconds > 1) {
    const around = to < end ? [...outer, rest] : outer;
    return go({ from, page: 1, rests: [...around, [to, total]] });
  }
  if (total > page * ROWS && page < REACHABLE_ROWS / ROWS) {
    return { ...walk, within: { ...within, page: page + 1 }, tries: 0 };
  }
  const rests = [...outer, rest].filter(([until]) => until > to);
  if (rests.length > 0) return go({ from: to + 1, page: 1, rests });
  return range.lowStars <= minStars ? null : { top: range.lowStars - 1, span: 1, within: null, tries: 0 };
}

/** How long the next range is, when in one of `seconds` there were `total`. */
function nextSeconds({ from, rests }: Omit<Within, "seconds">, seconds: number, total: number): number {
  const [end, left] = rests.at(-1) ?? [from, 0];
  const all = end - from + 1;
  if (left <= REST) return all;
  const holdsAim = total < TELLING ? (all * AIM) / left : (seconds * AIM) / total;
  return Math.max(1, Math.min(all, Math.floor(holdsAim)));
}
