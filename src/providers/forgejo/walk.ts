/**
 * Walks through the repositories of a Forgejo or Gitea with at least `minStars` stars. Pure: a cursor gives a request, and its
 * page the next cursor.
 *
 * Most repositories have no star, so a walk reads the list with most stars first, and ends where the stars fall below
 * `minStars`. After that it reads a seventh of the list by ascending id: another one each day, so that a week of daily walks
 * reads all of it. Where the instance does not sort by stars, or with `minStars` of 0, a walk reads the whole list by id.
 *
 * Guarantee: the walk by id sees every repository that existed before it, except after one on an earlier page was deleted
 * meanwhile. The list by stars has numbered pages and no order among repositories with the same stars. So a walk may miss
 * repositories: one that gains stars and passes the current page; one for each repository further up that is deleted or loses
 * stars meanwhile; and any number of those with the same stars as a page's first or last row, if the database orders them
 * differently for each page. The next walk sees the first two, and the walk by id sees all of them within a week of daily walks.
 * Pages cannot overlap, as an offset is always a multiple of their length.
 */
import { DAY_MS } from "../../clock.js";
import {
  checkWithin,
  highestId,
  isSortedByStars,
  type ListPage,
  type ListRequest,
  type Mark,
  nextMark,
  type WalkContext,
} from "../lists.js";

/** The default maximum of an instance. */
export const PAGE_SIZE = 50;
/** Number of walks whose parts by id make up the whole list. */
const PARTS = 7;

/** By stars, most first. */
interface ByStars extends Mark {
  /** Stars of the last row of the page before. */
  least: number;
}

/** By ascending id. */
interface ById {
  page: number;
  /** The highest id so far; 0 at the start. */
  lastId: number;
  /** The last page to read; 0: the last of the list. */
  end: number;
}

/** The page of a walk at a cursor: `stars:page:least:mark` or `ids:page:lastId:end`. Any other cursor starts a new walk. */
export function listForgejo(cursor: string | null, context: WalkContext): ListRequest {
  const [, starPage, least, mark = ""] =
    /^stars:([1-9]\d{0,8}):(\d{1,15}):(\d{1,19})$/.exec(cursor ?? "") ?? [];
  if (starPage !== undefined) return byStars({ page: Number(starPage), least: Number(least), mark }, context);
  const [, idPage, lastId, end] = /^ids:([1-9]\d{0,8}):(\d{1,15}):(\d{1,9})$/.exec(cursor ?? "") ?? [];
  if (idPage !== undefined) return byId({ page: Number(idPage), lastId: Number(lastId), end: Number(end) });
  return context.minStars > 0 ? byStars(FIRST, context) : byId(WHOLE);
}

const FIRST: ByStars = { page: 1, least: Number.POSITIVE_INFINITY, mark: "" };
const WHOLE: ById = { page: 1, lastId: 0, end: 0 };
const cursorOf = ({ page, lastId, end }: ById): string => `ids:${page}:${lastId}:${end}`;

function byStars(at: ByStars, { minStars, now }: WalkContext): ListRequest {
  const { page, least } = at;
  return {
    path: searchPath("stars", "desc", page),
    // Older versions reject the order.
    instead: () => byId(WHOLE),
    next: (list) => {
      const { records, rows, hasMore, total } = list;
      const stars = records.map(({ repository }) => repository.stars);
      if (!isSortedByStars(stars, least)) return cursorOf(WHOLE);
      checkWithin(page, list);
      if (!hasMore) return null;
      const mark = nextMark(at, records[0]?.repository.providerId ?? "");
      const last = stars.at(-1) ?? 0;
      return last >= minStars ? `stars:${page + 1}:${last}:${mark}` : cursorOf(partOf(now, total, rows));
    },
  };
}

function byId(at: ById): ListRequest {
  const { page, lastId, end } = at;
  return {
    path: searchPath("id", "asc", page),
    next: ({ records, hasMore }: ListPage) => {
      if (!hasMore || page === end) return null;
      return cursorOf({ page: page + 1, lastId: highestId(lastId, records), end });
    },
  };
}

/** The part of the list by id that a walk on this day reads; it overlaps with the one before by a page. */
function partOf(now: number, total: number | null, pageLength: number): ById {
  if (total === null) return WHOLE;
  const pages = Math.ceil(total / Math.max(1, pageLength));
  const part = Math.floor(now / DAY_MS) % PARTS;
  const end = part === PARTS - 1 ? 0 : Math.ceil(((part + 1) * pages) / PARTS);
  return { page: Math.max(1, Math.floor((part * pages) / PARTS)), lastId: 0, end };
}

const searchPath = (sort: string, order: string, page: number): string =>
  `/repos/search?private=false&sort=${sort}&order=${order}&limit=${PAGE_SIZE}&page=${page}`;
