/** Forgejo and Gitea, such as Codeberg: their documents, which Gogs shares, and the walk through all repositories. */
import { z } from "zod";
import type { ProviderSettings } from "../../config/config.js";
import { DAY_MS } from "../../lib/clock.js";
import type { Connection } from "../client.js";
import type { Provider } from "../contract.js";
import {
  avatarAddress,
  count,
  fullName,
  homepage,
  id,
  label,
  licenseOf,
  orNull,
  record,
  text,
  time,
  topics,
  webUrl,
} from "../fields.js";
import {
  checkWithin,
  type ForgeRecord,
  highestId,
  isSortedByStars,
  type ListPage,
  type ListRequest,
  type Mark,
  nextMark,
  type WalkContext,
} from "../lists.js";
import { createRestProvider, type RestForge, restClient } from "../rest-provider.js";
import { checkForgejoToken } from "../token-check.js";

/** The default maximum of an instance. */
export const PAGE_SIZE = 50;
/** Number of walks whose parts by id make up the whole list. */
const PARTS = 7;

/** An instance of Forgejo or Gitea, such as Codeberg. Mirrors and empty repositories are included. */
export function createForgejo(settings: ProviderSettings, connection: Connection): Provider {
  return createRestProvider(FORGEJO, settings, restClient(FORGEJO, settings, connection));
}

const envelope = z.object({ ok: z.literal(true), data: z.unknown() });

const pathOf = ({ owner, name }: { owner: string; name: string }): string =>
  `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;

/** The common part of the APIs of Forgejo, Gitea and Gogs; each is a branch of the one after it. */
export const API_OF_FAMILY = {
  base: "/api/v1",
  authorization: (token) => `token ${token}`,
  // Undefined if the response of a search has no list.
  listOf: (body) => envelope.safeParse(body).data?.data,
  pathOfName: pathOf,
  pathOfFile: (name, file) => `${pathOf(name)}/contents/${file}`,
  controlPath: "/version",
  checkToken: checkForgejoToken,
} as const satisfies Partial<RestForge>;

/** A repository. Older versions have no topics and language; most have no licenses; Gogs has no `archived` either. */
export const REPOSITORY = {
  providerId: ["id", id],
  fullName: ["full_name", fullName],
  stars: ["stars_count", count],
  owner: ["owner", orNull(z.object({ avatar_url: orNull(avatarAddress), visibility: orNull(z.string()) }))],
  url: ["html_url", orNull(webUrl)],
  description: ["description", orNull(text)],
  homepage: ["website", orNull(homepage)],
  language: ["language", orNull(label)],
  license: ["licenses", orNull(z.array(z.string()).transform(soleLicense))],
  topics: ["topics", orNull(topics)],
  forks: ["forks_count", orNull(count)],
  openIssues: ["open_issues_count", orNull(count)],
  watchers: ["watchers_count", orNull(count)],
  fork: ["fork", orNull(z.boolean())],
  archived: ["archived", orNull(z.boolean())],
  isPrivate: ["private", orNull(z.boolean())],
  isInternal: ["internal", orNull(z.boolean())],
  isEmpty: ["empty", orNull(z.boolean())],
  importedFrom: ["original_url", orNull(z.string())],
  createdAt: ["created_at", orNull(time)],
  // The closest to a push that Forgejo reports; changed settings count too.
  pushedAt: ["updated_at", orNull(time)],
} as const;
const repositorySchema = record(REPOSITORY);

export function toRecord({
  owner,
  fullName,
  isPrivate,
  isInternal,
  isEmpty,
  importedFrom,
  ...facts
}: z.output<typeof repositorySchema>): ForgeRecord {
  // All repositories of a `limited` owner are visible only after sign-in, like those that are internal.
  const isOwnerPublic = (owner?.visibility ?? "public") === "public";
  return {
    isPublic: isPrivate !== true && isInternal !== true && isOwnerPublic,
    isBeingImported: isEmpty === true && Boolean(importedFrom),
    repository: { ...facts, ...fullName, avatarUrl: owner?.avatar_url ?? null },
  };
}

/** With several license files it is unknown which one applies. */
function soleLicense([license, ...others]: readonly string[]): string | null {
  return license === undefined || others.length > 0 ? null : licenseOf(license);
}

const account = z.object({ id: z.int().positive() });
const LISTED_BY_STARS = `private=false&sort=stars&order=desc&limit=${PAGE_SIZE}`;

const FORGEJO: RestForge = {
  kind: "forgejo",
  ...API_OF_FAMILY,
  list: listForgejo,
  listsAreComplete: true,
  pageSize: PAGE_SIZE,
  pathOfId: (repositoryId) => `/repositories/${repositoryId}`,
  pathOfNamed: (name) => `/repos/search?q=${encodeURIComponent(name)}&${LISTED_BY_STARS}`,
  async pathOfOwned(owner, read) {
    const { data } = account.safeParse(await read(`/users/${encodeURIComponent(owner)}`));
    return data === undefined ? null : `/repos/search?uid=${data.id}&exclusive=true&${LISTED_BY_STARS}`;
  },
  record: repositorySchema.transform(toRecord),
};

/**
 * A page of a walk through the repositories with at least `minStars` stars. Pure: a cursor gives a request, and its page the next
 * cursor, `stars:page:least:mark` or `ids:page:lastId:end`. Any other cursor starts a new walk.
 *
 * Most repositories have no star, so a walk reads the list with most stars first, and ends once the stars fall below
 * `minStars`. After that it reads a seventh of the list by ascending id: another one each day, so that a week of daily walks
 * reads all of it. If the instance does not sort by stars, or with `minStars` of 0, a walk reads the whole list by id.
 *
 * Guarantee: the walk by id sees every repository that existed before it, except after one on an earlier page was deleted
 * meanwhile. The list by stars has numbered pages and no order among repositories with the same stars. So a walk may miss
 * repositories: one that gains stars and passes the current page; one for each repository further up that is deleted or loses
 * stars meanwhile; and any number of those with the same stars as a page's first or last row, if the database orders them
 * differently for each page. The next walk sees the first two, and the walk by id sees all of them within a week of daily walks.
 * Pages cannot overlap, as an offset is always a multiple of their length.
 */
export function listForgejo(cursor: string | null, context: WalkContext): ListRequest {
  const [, starPage, least, mark = ""] =
    /^stars:([1-9]\d{0,8}):(\d{1,15}):(\d{1,19})$/.exec(cursor ?? "") ?? [];
  if (starPage !== undefined) return byStars({ page: Number(starPage), least: Number(least), mark }, context);
  const [, idPage, lastId, end] = /^ids:([1-9]\d{0,8}):(\d{1,15}):(\d{1,9})$/.exec(cursor ?? "") ?? [];
  if (idPage !== undefined) return byId({ page: Number(idPage), lastId: Number(lastId), end: Number(end) });
  return context.minStars > 0 ? byStars(FIRST, context) : byId(WHOLE);
}

interface ByStars extends Mark {
  /** Stars of the last row of the page before. */
  least: number;
}

interface ById {
  page: number;
  /** The highest id so far; 0 at the start. */
  lastId: number;
  /** The last page to read; 0: the last of the list. */
  end: number;
}

const FIRST: ByStars = { page: 1, least: Number.POSITIVE_INFINITY, mark: "" };
const WHOLE: ById = { page: 1, lastId: 0, end: 0 };
const cursorOf = ({ page, lastId, end }: ById): string => `ids:${page}:${lastId}:${end}`;

function byStars(at: ByStars, { minStars, now }: WalkContext): ListRequest {
  const { page, least } = at;
  return {
    path: searchPath("stars", "desc", page),
    page,
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
    page,
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
