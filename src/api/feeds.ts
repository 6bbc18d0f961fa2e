import {
  FEEDS,
  filterParameters,
  filterWords,
  type ListFilters,
  type ListPage,
  type ListRow,
  listPage,
  listQuery,
  measuredAt,
  otherDaysWords,
  SORT_DEFINITIONS,
  type Sort,
} from "../discovery/discovery.js";
import { gainWords, type Trend, WINDOW_LABELS, WINDOWS, type Window, whySentence } from "../growth/growth.js";
import { content } from "../http/http.js";
import { isoDay, isoTime } from "../lib/clock.js";
import { explorePage, LANGUAGES_PAGE, repositoryPage, TOPICS_PAGE } from "../lib/page-addresses.js";
import { oneOf, z } from "../lib/schema.js";
import { element, type Xml, xmlDocument } from "../lib/xml.js";
import { startOfStep } from "../repositories/repositories.js";
import { operation, type ResponseContract } from "./operation.js";

/** Rankings and other lists as Atom feeds (RFC 4287). */

const EXAMPLE =
  '<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Trending</title></feed>';

export const feedResponse: ResponseContract = {
  description: "The feed.",
  content: { "application/atom+xml": { schema: z.string().openapi({ example: EXAMPLE }) } },
};

/** The filters of a list. The default window is a week: people do not read daily rank changes. */
export const feedQuery = listQuery.omit({ sort: true, order: true, page: true, cursor: true }).extend({
  window: z.enum(WINDOWS).default("7d").openapi({
    description: "The window over which growth is measured, and how often a repository gets a new entry.",
  }),
});

const DEFAULT_LIMIT = feedQuery.shape.limit.parse(undefined);

export interface FeedRequest {
  feed: Sort;
  filters: ListFilters;
  window: Window;
  limit: number;
  baseUrl: string;
}

const format = new Intl.NumberFormat("en-US");
const signed = new Intl.NumberFormat("en-US", { signDisplay: "exceptZero" });

/**
 * An Atom feed (RFC 4287) of a page of a list.
 *
 * A repository has one entry per period: the day for 24 hours, the week from Monday for 7 days, the month for 30 days, in UTC
 * and at the newest snapshot. Its id and time stay the same until the period ends, so readers show it once; its content is
 * current. The ranking by stars hardly changes, so its entries are permanent.
 */
export function atomFeed(
  request: FeedRequest,
  { rows, ...freshness }: Pick<ListPage, "rows" | "asOf" | "ageDays" | "measured">,
): string {
  const { baseUrl, window, feed } = request;
  const self = selfAddress(request);
  const context = { feed, window, baseUrl, path: `/api/feeds/${feed}.atom` };
  return feedDocument({
    id: self,
    self,
    title: titleOf(request),
    ...freshness,
    page: `${baseUrl}${explorePage(listParameters(request, { sort: feed, window }))}`,
    entries: rows.map((row) => growthEntry(context, row)),
  });
}

/** The head of a feed, and its entries. */
interface FeedHead extends Pick<ListPage, "asOf" | "ageDays" | "measured"> {
  /** An absolute address that stays the same. */
  id: string;
  /** Its own address; absent if that is a secret, since readers pass it on when people share entries. */
  self?: string;
  title: string;
  /** The address of the page with the same content. */
  page: string;
  entries: readonly Xml[];
}

/** An Atom feed (RFC 4287). */
export function feedDocument({ id, self, title, asOf, ageDays, measured, page, entries }: FeedHead): string {
  return xmlDocument(
    element(
      "feed",
      { xmlns: "http://www.w3.org/2005/Atom" },
      element("id", {}, id),
      element("title", {}, title),
      element("subtitle", {}, subtitleOf({ asOf, ageDays, measured })),
      element("updated", {}, isoTime(asOf ?? 0)),
      ...(self === undefined
        ? []
        : [element("link", { rel: "self", type: "application/atom+xml", href: self })]),
      element("link", { rel: "alternate", type: "text/html", href: page }),
      element("author", {}, element("name", {}, "Sidereal")),
      element("generator", {}, "Sidereal"),
      ...entries,
    ),
  );
}

/** The feed of an entry. */
export interface EntryContext extends Pick<FeedRequest, "feed" | "window" | "baseUrl"> {
  /** The path that its id begins with. */
  path: string;
}

/** The entry of a repository for the period in which it was measured last. */
export function growthEntry(context: EntryContext, row: ListRow): Xml {
  const { feed, window } = context;
  const { repository } = row;
  const isPeriodic = feed !== "stars";
  const begin = isPeriodic
    ? periodStart(window, measuredAt(row) ?? repository.discoveredAt)
    : repository.discoveredAt;
  const period = isPeriodic ? `-${window}-${isoDay(begin)}` : "";
  return repositoryEntry(context, repository, {
    // Our own id: a renamed repository must not get a new entry.
    key: `${repository.id}${period}`,
    title: `${repository.fullName}${gainOf(context, row)}`,
    at: begin,
    summary: summaryOf(row),
  });
}

/** The text of an entry. `key`: its id within the feed. `at`: in ms since 1970. */
interface EntryText {
  key: string;
  title: string;
  at: number;
  summary: string;
}

export function repositoryEntry(
  { baseUrl, path }: Pick<EntryContext, "baseUrl" | "path">,
  repository: ListRow["repository"],
  { key, title, at, summary }: EntryText,
): Xml {
  const categories = [
    ...(repository.language === null ? [] : [{ term: repository.language, scheme: LANGUAGES_PAGE }]),
    ...repository.topics.map((term) => ({ term, scheme: TOPICS_PAGE })),
  ];
  return element(
    "entry",
    {},
    element("id", {}, `${baseUrl}${path}#${key}`),
    element("title", {}, title),
    element("updated", {}, isoTime(at)),
    element("link", { rel: "alternate", type: "text/html", href: `${baseUrl}${repositoryPage(repository)}` }),
    ...(isWebAddress(repository.url) ? [element("link", { rel: "related", href: repository.url })] : []),
    element("author", {}, element("name", {}, repository.owner)),
    ...categories.map(({ term, scheme }) => element("category", { term, scheme: `${baseUrl}${scheme}` })),
    element("summary", { type: "text" }, summary),
  );
}

/** The part of an entry's title after the name. */
function gainOf({ feed, window }: EntryContext, { repository, trend }: ListRow): string {
  if (feed === "stars") return repository.stars === null ? "" : `: ${format.format(repository.stars)} stars`;
  if (trend === undefined) return "";
  const { starsDelta: delta } = trend;
  const gain = ` ${signed.format(delta)} star${Math.abs(delta) === 1 ? "" : "s"} in ${WINDOW_LABELS[window]}`;
  return gain + countedPart(trend);
}

/** The words after a gain that counts only in part: ", none counted: dropped and recovered". */
function countedPart(trend: Trend): string {
  const words = gainWords(trend);
  return words === undefined ? "" : `, ${words.full}`;
}

/** The description, and below it the counts with their growth. */
function summaryOf({ repository, trend, isStale }: ListRow): string {
  const { description, language, license, stars, forks, openIssues } = repository;
  const count = (value: number | null, what: string, growth: string) =>
    value === null ? [] : [`${format.format(value)} ${what}${growth}`];
  const facts = [
    ...count(stars, "stars", changed(trend?.starsDelta, trend, countedPart)),
    ...count(forks, "forks", changed(trend?.forksDelta, trend)),
    ...count(openIssues, "open issues", changed(trend?.openIssuesDelta, trend)),
    ...(language === null ? [] : [language]),
    ...(license === null ? [] : [license]),
    ...(isStale && repository.countedAt !== null ? [`not seen since ${isoDay(repository.countedAt)}`] : []),
  ];
  const why = trend === undefined ? [] : [whySentence(trend)];
  const doubts = trend?.anomalies.map((anomaly) => anomaly.reason) ?? [];
  return [description ?? "", facts.join(" · "), ...why, ...doubts].filter((line) => line !== "").join("\n");
}

function changed(
  delta: number | null | undefined,
  trend: Trend | undefined,
  more = (_: Trend) => "",
): string {
  if (typeof delta !== "number" || trend === undefined) return "";
  return ` (${signed.format(delta)} in ${WINDOW_LABELS[trend.window]}${more(trend)})`;
}

/** How recent the feed is: "Growth between two counts of each repository, as of 2026-04-30 (90 days ago)." */
function subtitleOf({ asOf, ageDays, measured }: Pick<FeedHead, "asOf" | "ageDays" | "measured">): string {
  if (asOf === null || ageDays === null) return "Growth between two counts of each repository.";
  const age = ageDays === 0 ? "" : ageDays === 1 ? " (1 day ago)" : ` (${format.format(ageDays)} days ago)`;
  const words = otherDaysWords({ asOf, measured });
  return `Growth between two counts of each repository, as of ${isoDay(asOf)}${age}${words === "" ? "" : `: ${words}`}.`;
}

function titleOf({ feed, filters, window }: FeedRequest): string {
  const over = feed === "stars" ? "" : ` in ${WINDOW_LABELS[window]}`;
  const words = filterWords(filters);
  const about = words === "" ? "" : `: ${words}`;
  return `Sidereal, ${SORT_DEFINITIONS[feed].feed}${over}${about}`;
}

/** The canonical address of this feed, independent of the order and case of the parameters. */
function selfAddress(request: FeedRequest): string {
  const { feed, window, limit, baseUrl } = request;
  const own = { window, ...(limit === DEFAULT_LIMIT ? {} : { limit: String(limit) }) };
  return `${baseUrl}/api/feeds/${feed}.atom?${listParameters(request, own)}`;
}

function listParameters({ filters }: FeedRequest, first: Record<string, string>): URLSearchParams {
  return new URLSearchParams([...Object.entries(first), ...filterParameters(filters)]);
}

/** Start of the period that contains a time. */
export function periodStart(window: Window, at: number): number {
  if (window !== "30d") return startOfStep(at, window === "24h" ? "1d" : "1w");
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

function isWebAddress(url: string): boolean {
  return /^https?:$/.test(URL.parse(url)?.protocol ?? "");
}

export const getFeed = operation({
  id: "getFeed",
  tags: ["Rankings"],
  summary: "A ranking as an Atom feed",
  description:
    "RFC 4287. A repository has one entry a day, week (from Monday) or month (UTC), for windows of 24h, 7d and 30d; its id and time stay the same until the next. The stars feed keeps one permanent entry.",
  params: z.object({
    ranking: z
      .string()
      // The parameter is the whole segment.
      .transform((segment) => segment.replace(/\.atom$/, ""))
      .pipe(oneOf(FEEDS))
      .openapi({ type: "string", enum: [...FEEDS] }),
  }),
  query: feedQuery,
  responses: { 200: feedResponse },
  handle: async ({ params: { ranking: feed }, query, services: { modules, config } }) => {
    const { window, limit, ...filters } = query;
    const ranked = { ...filters, window, limit, sort: feed, order: "desc" } as const;
    const page = await listPage(modules, ranked);
    const body = atomFeed({ feed, filters, window, limit, baseUrl: config.baseUrl }, page);
    return content("application/atom+xml; charset=utf-8", body);
  },
});
