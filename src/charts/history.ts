import { forgeName } from "../config/config.js";
import type { Database } from "../database/database.js";
import {
  endOfGrowth,
  type Hole,
  holesOf,
  isLeftOut,
  type Measured,
  readSeries,
  type Series,
  shownPoints,
  type Trend,
} from "../growth/growth.js";
import { ageInDays, DAY_MS } from "../lib/clock.js";
import {
  type Catalog,
  type Days,
  type HistoryState,
  isHistoryMissing,
  isStale,
  type Readings,
  type Repository,
  type SeriesSpan,
  SNAPSHOT_SOURCES,
  spanOfDays,
  thin,
} from "../repositories/repositories.js";
import { drawChart } from "./chart.js";
import { anomalySpans, MAX_SPANS, spansWithin } from "./events.js";
import { shortNames } from "./lines.js";
import { dateText, exactNumber, plural } from "./numbers.js";
import { drawNotice, isYoung } from "./picture-young.js";
import {
  type Alignment,
  type ChartInput,
  type ChartPoint,
  type ChartSeries,
  type ChartSpan,
  METRIC_WORDS,
  type Metric,
} from "./series.js";
import type { Theme } from "./themes.js";
import { historyWords, sinceWords, titleOf } from "./words.js";

/** The windows of charts, up to the newest counts of each repository. */
export const CHART_WINDOWS = ["30d", "90d", "1y", "all"] as const;
export type ChartWindow = (typeof CHART_WINDOWS)[number];

const WINDOW_DAYS = { "30d": 30, "90d": 90, "1y": 365 } as const;

/** The length of a window; undefined for all. */
const chartWindowMs = (window: ChartWindow): number | undefined =>
  window === "all" ? undefined : WINDOW_DAYS[window] * DAY_MS;

/** Maximum number of points of a repository; more cannot be distinguished in a picture. */
const MAX_CHART_POINTS = 600;

/** Growth of one repository, as far as charts depend on it. */
type ChartTrend = Pick<Trend, "from" | "to" | "anomalies"> & Partial<Pick<Trend, "window" | "starsDelta">>;

/** The data of one repository in a chart. */
export interface History {
  repository: Repository;
  /** Oldest first; points of its series without the count are left out. Round counts. */
  points: readonly ChartPoint[];
  /** Times in which nobody looked, without those before the first point. */
  gaps: readonly Hole[];
  /** Everything that is known of its past. */
  series: Series;
  /** Counts that are not in the series, as they failed, wait for confirmation or were soon taken back. */
  leftOut: readonly Pick<ChartPoint, "at" | "value">[];
  /** When the repository was created; its first snapshot if that is earlier. null: unknown, so it has no age. */
  bornAt: number | null;
  /** When its counts would begin if all of its star history were read; undefined: they do, or that is unknown. */
  unreadFrom: number | undefined;
  /** Whether it ends with the newest counts. */
  isCurrent: boolean;
  firstSnapshotAt: number | null;
  snapshots: number;
  /** Its growth, null for a window without. */
  trends: readonly (ChartTrend | null)[];
  /** When its growth ends, or else its newest counts. */
  asOf: number | null;
  /** How much of its star history was read. */
  historyState: HistoryState;
  /** Before when its stars are those of its star history, for readers; undefined: all are totals. */
  seam: string | undefined;
  /** From when it shows stars while earlier ones are not read, or how many have no day, for readers; undefined: it shows all. */
  shown: string | undefined;
  /** The end of the chart: its newest counts, or earlier; of a stale one, with the newest counts that it should have been among. */
  until: number | null;
  isStale: boolean;
}

export interface HistoryRequest extends Days {
  metric: Metric;
  trends: readonly (ChartTrend | null)[];
  /** Begins where the trend of this length does. Ignored with `from`; ends at `to` if that is earlier than the newest snapshot. */
  window: ChartWindow;
  /** Its series, if it was read already. */
  measured?: Promise<Measured>;
}

export interface Stores {
  catalog: Pick<Catalog, "recency" | "historyState">;
  database: Database;
}

export async function readHistory(
  { catalog, database }: Stores,
  repository: Repository,
  { metric, trends, window, from, to, measured }: HistoryRequest,
): Promise<History> {
  const { countedAt } = repository;
  const lengthMs = chartWindowMs(window);
  const span = spanOfDays({ from, to }, lengthMs);
  const until = countedAt === null ? null : Math.min(countedAt, span.until ?? countedAt);
  const [{ readings, series }, recency, historyState] = await Promise.all([
    measured ?? readSeries(database, repository.id),
    catalog.recency(),
    catalog.historyState(repository.id),
  ]);
  const firstSnapshotAt = readings.length === 0 ? null : readings.at(0);
  const part = shownPart(series, { ...span, lengthMs });
  const { kept } = thin(part, { most: MAX_CHART_POINTS, step: "all", keepsFirst: true });
  const stale = isStale(repository, recency);
  const missedAt =
    recency.newestFiles.get(repository.importSource ?? "") ?? recency.fullDays.get(repository.provider);
  const isFirst = metric === "stars" && !(part.at(0) > shownPoints(series).at(0));
  const born = bornAt(repository.createdAt, firstSnapshotAt);
  return {
    repository,
    unreadFrom:
      isFirst && from === undefined && isHistoryMissing(historyState) && born !== null
        ? Math.max(born, (until ?? born) - (lengthMs ?? Number.POSITIVE_INFINITY))
        : undefined,
    isCurrent: to === undefined,
    points: chartPoints(series, metric, part.picked(kept)),
    gaps: holesOf(series).filter((hole) => hole.from >= part.at(0) && hole.to <= part.at(part.length - 1)),
    series,
    leftOut: leftOutOf({ readings, series }, metric),
    bornAt: born,
    firstSnapshotAt,
    snapshots: readings.length,
    trends,
    asOf: endOfGrowth(trends, countedAt),
    historyState,
    seam: metric === "stars" ? seamWords(series, part.at(0), repository.provider) : undefined,
    shown: isFirst ? shownWords(series, historyState, part.at(0)) : undefined,
    until: stale && to === undefined ? Math.max(until ?? 0, missedAt ?? 0) : until,
    isStale: stale,
  };
}

/** Columns of a point. */
const COLUMNS = { stars: 1, forks: 2, openIssues: 3 } as const satisfies Record<Metric, number>;
const SOURCE = 5;

/** The points of a series that have a count; by default all that are shown of it. */
export function chartPoints(series: Series, metric: Metric, part = shownPoints(series)): ChartPoint[] {
  return Array.from({ length: part.length }, (_, i) => i).flatMap((i): ChartPoint[] => {
    const value = part.count(i, COLUMNS[metric]);
    const at = part.at(i);
    if (value === null) return [];
    const isApart = series.unseen?.to === at;
    const source = SNAPSHOT_SOURCES[part.value(i, SOURCE)] ?? "OBSERVED";
    return [{ at, value: Math.round(value), source, ...(isApart && { isApart }) }];
  });
}

/** The points of a span. A window begins where its gain does. */
function shownPart(series: Series, { from, until, lengthMs }: SeriesSpan): Readings {
  const points = shownPoints(series, from === undefined ? lengthMs : undefined);
  const end = until === undefined ? points.length : points.countBefore(until);
  return points.slice(points.countBefore(from ?? 0), end);
}

/** The counts that are not believed. */
function leftOutOf(measured: Measured, metric: Metric): History["leftOut"] {
  const { readings } = measured;
  return Array.from({ length: readings.length }, (_, i) => i).flatMap((i) => {
    const value = readings.count(i, COLUMNS[metric]);
    return value === null || !isLeftOut(measured, i, COLUMNS[metric]) ? [] : [{ at: readings.at(i), value }];
  });
}

/** Of the series, not of the points that are drawn, so that all charts of a repository name the same day. */
function seamWords({ points, firstTotal }: Series, begin: number, provider: string): string | undefined {
  const history = `${forgeName(provider)}’s history`;
  if (!points.isRetained(0)) return undefined;
  if (firstTotal === points.length) return history;
  const seamAt = points.at(firstTotal);
  return begin < seamAt ? `before ${dateText(seamAt)}: ${history}` : undefined;
}

/** What readers must know of the stars of a single line. */
export function notesOf({ seam, shown }: Pick<History, "seam" | "shown">): string | undefined {
  return [seam, shown].filter((one) => one !== undefined).join("; ") || undefined;
}

/** What a chart that shows its line from the beginning does not show of the stars. `begin`: of the line; NaN without points. */
function shownWords({ fit }: Series, historyState: HistoryState, begin: number): string | undefined {
  if (isHistoryMissing(historyState)) return Number.isNaN(begin) ? undefined : sinceWords(begin);
  const undated = Math.round(fit?.undated ?? 0);
  return undated === 0 ? undefined : `${plural(undated, "star")} of unknown days`;
}

/** A repository with snapshots from before its reported creation is at least as old as they are. */
function bornAt(createdAt: number | null, firstSnapshotAt: number | null): number | null {
  if (createdAt === null || firstSnapshotAt === null) return createdAt;
  return Math.min(createdAt, firstSnapshotAt);
}

/** A short note for readers: that a repository is no longer reachable, or since when its counts were not seen. */
export function noteOn({ availability, countedAt }: Repository, isStale: boolean): string | undefined {
  if (availability !== "AVAILABLE") return availability.toLowerCase();
  return isStale && countedAt !== null ? `not seen since ${dateText(countedAt)}` : undefined;
}

/** How the lines of a chart are aligned: `alignedAt` is the count of `first-count`, or the time at which an index is 100. */
export type Aligned = Pick<ChartInput, "align" | "alignedAt">;

/** Counts at which lines may be aligned, the highest that all of them passed first. */
const FIRST_COUNTS = [100_000, 10_000, 1_000, 100, 10];

/** Aligns histories at the given count (`first`) or day (`base`); by default the one at which most lines can be shown. */
export function alignedAt(
  histories: readonly History[],
  { align, first, base }: { align: Alignment; first?: number | undefined; base?: number | undefined },
): Aligned {
  const lines = histories.map(({ points }) => points).filter((points) => points.length > 0);
  if (align === "first-count") {
    const shown = (count: number) => lines.filter((points) => reachedAt(points, count) !== undefined).length;
    const most = Math.max(...FIRST_COUNTS.map(shown));
    return { align, alignedAt: first ?? FIRST_COUNTS.find((count) => shown(count) === most) };
  }
  if (align !== "index") return { align };
  const begins = lines.flatMap((points) => points[0]?.at ?? []);
  return { align, alignedAt: base ?? (begins.length === 0 ? undefined : Math.max(...begins)) };
}

/** When a line passed a count; undefined if it never did, or had done so by its first point. */
function reachedAt(points: readonly ChartPoint[], count: number): number | undefined {
  const index = points.findIndex(({ value }) => value >= count);
  return index <= 0 ? undefined : points[index]?.at;
}

/** The series of a chart, with distinct names. One that cannot be aligned has no points and a note. */
export function seriesOf(histories: readonly History[], aligned: Aligned): ChartSeries[] {
  const names = namesOf(histories.map(({ repository }) => repository));
  return histories.map((history, i) => ({
    name: names[i] ?? history.repository.fullName,
    ...alignedLine(history, aligned, noteOnLine(history, histories.length === 1)),
  }));
}

function alignedLine(
  history: History,
  aligned: Aligned,
  note: string | undefined,
): Omit<ChartSeries, "name"> {
  const { points, gaps } = history;
  const noted = note === undefined ? {} : { note };
  if (aligned.align === "index") {
    const whole = indexBase(points, aligned.alignedAt);
    if (whole === undefined) return { points: [], gaps: [], note: "no count by the day of the index" };
    const indexed = points.map((one) => ({ ...one, value: Math.round((1_000 * one.value) / whole) / 10 }));
    return { points: indexed, gaps, ...noted };
  }
  const begin = beginOf(history, aligned);
  if (typeof begin === "string") return { points: [], gaps: [], note: begin };
  return {
    points: points.filter(({ at }) => at >= begin).map((point) => ({ ...point, at: point.at - begin })),
    gaps: gaps
      .filter(({ from }) => from >= begin)
      .map(({ from, to }) => ({ from: from - begin, to: to - begin })),
    ...noted,
  };
}

/** The time of a line that is 0 in the chart, or why the line has no such time. */
function beginOf(
  { points, bornAt, firstSnapshotAt }: History,
  { align, alignedAt }: Aligned,
): number | string {
  switch (align) {
    case "age":
      return bornAt ?? "creation date unknown, so not shown by age";
    case "first-snapshot":
      return firstSnapshotAt ?? "no snapshot";
    case "first-count": {
      const count = alignedAt ?? 0;
      const isEarlier = (points[0]?.value ?? 0) >= count;
      return (
        reachedAt(points, count) ??
        (isEarlier
          ? `had ${exactNumber(count)} before this time`
          : `never had ${exactNumber(count)} in this time`)
      );
    }
    default:
      return 0;
  }
}

/** The last count by a day, its end included; undefined without one, or if it is 0. */
function indexBase(points: readonly ChartPoint[], at: number | undefined): number | undefined {
  if (at === undefined) return undefined;
  const value = points.findLast((point) => point.at < Math.floor(at / DAY_MS) * DAY_MS + DAY_MS)?.value;
  return value === 0 ? undefined : value;
}

/** The names of repositories without their owners, as far as these are distinct. */
export const shortNamesOf = (repositories: readonly Repository[]): string[] =>
  shortNames(namesOf(repositories));

/** The full names, with their providers if two are alike. */
function namesOf(repositories: readonly Repository[]): string[] {
  const keys = repositories.map(({ fullName }) => fullName.toLowerCase());
  return repositories.map(({ fullName, provider }, i) => {
    const isShared = keys.indexOf(keys[i] ?? "") !== keys.lastIndexOf(keys[i] ?? "");
    return isShared ? `${provider.toLowerCase()}:${fullName}` : fullName;
  });
}

function noteOnLine(history: History, isOnly: boolean): string | undefined {
  const { repository, points, isStale, shown } = history;
  const note = noteOn(repository, isStale);
  const last = points.at(-1);
  const isAvailable = repository.availability === "AVAILABLE";
  if (last === undefined) return isAvailable ? "no counts in this time" : note;
  const seen = isAvailable ? note : `${note ?? ""}, last seen ${dateText(last.at)}`;
  const notes = [seen, isOnly ? notesOf(history) : shown].filter((one) => one !== undefined);
  return notes.length === 0 ? undefined : notes.join("; ");
}

/** The times to shade in a chart by date: those that are unusual, and for a single history those without counts. */
export function spansOf(histories: readonly History[], metric: Metric): ChartSpan[] {
  const names = namesOf(histories.map(({ repository }) => repository));
  const isOne = histories.length === 1;
  const spans = histories.flatMap((history, i) => {
    const { points, trends, until } = history;
    const [first, last] = [points[0], points.at(-1)];
    if (first === undefined || last === undefined) return [];
    const unusual = anomalySpans(trends, metric, history);
    const all = isOne ? [...unusual, ...unseenSpan(history, last.at)] : unusual;
    return spansWithin(all, first.at, isOne ? Math.max(last.at, until ?? 0) : last.at).map((span) =>
      isOne ? span : { ...span, words: `${names[i] ?? ""} ${span.words}` },
    );
  });
  return spans.sort((a, b) => a.from - b.from).slice(-MAX_SPANS);
}

/** From when a repository was last seen to the end of the chart, if it is missed by then. */
function unseenSpan({ repository, isStale, until }: History, lastAt: number): ChartSpan[] {
  const from = Math.max(lastAt, repository.countedAt ?? 0);
  const isReachable = repository.availability === "AVAILABLE";
  if ((isReachable && !isStale) || until === null || until - from < DAY_MS) return [];
  const words = isReachable ? "not seen" : repository.availability.toLowerCase();
  return [{ from, to: until, kind: "unseen", words }];
}

/** When the newest growth of the histories ends. */
export function newestOf(histories: readonly Pick<History, "asOf">[]): number | null {
  const times = histories.flatMap(({ asOf }) => asOf ?? []);
  return times.length === 0 ? null : Math.max(...times);
}

type ChartRequest = Pick<
  ChartInput,
  | "metric"
  | "view"
  | "scale"
  | "align"
  | "alignedAt"
  | "width"
  | "height"
  | "spans"
  | "site"
  | "shape"
  | "style"
  | "isClear"
  | "title"
  | "sentence"
> & {
  theme: Theme;
  /** Time of the response. */
  now: number;
};

const isEmpty = ({ points }: ChartSeries) => points.length === 0;

/** Draws a chart of the histories, or a notice if there is nothing to draw. */
export function drawHistories(histories: readonly History[], request: ChartRequest): string {
  const { now, sentence: _, ...rest } = request;
  const series = seriesOf(histories, request);
  const [only] = histories.length === 1 ? histories : [];
  if (series.some(({ points }) => points.length >= (only === undefined ? 2 : 1))) {
    const facts = only === undefined ? {} : factsOf(only, request);
    // Those until a day of the past are as of their last counts, however old these are.
    const isCurrent = histories.every((one) => one.isCurrent);
    const ends = histories.flatMap(({ points }) => points.at(-1)?.at ?? []);
    const asOf = isCurrent ? newestOf(histories) : Math.max(...ends);
    const ageDays = isCurrent ? ageInDays(asOf, now) : null;
    return drawChart({ ...rest, ...facts, series, asOf, ageDays }).svg;
  }
  return drawNotice(titleOf(request, series), missingReason(histories, request), request);
}

/** What a picture says of a single line of stars by date: its headline, and what is not read yet. */
function factsOf(
  history: History,
  { metric, align, view = "total", sentence }: ChartRequest,
): Pick<ChartInput, "sentence" | "week" | "bornAt" | "unread"> {
  const { points, trends, unreadFrom, isCurrent, historyState, bornAt: born } = history;
  const [first] = points;
  if (metric !== "stars" || align !== "date" || first === undefined) return {};
  const week = isCurrent ? trends.find((trend) => trend?.window === "7d")?.starsDelta : undefined;
  const current = isCurrent ? sentence : undefined;
  if (isYoung({ metric, align, view }, { points })) {
    const isMissing = points.length === 1 && historyWords(historyState, "") !== undefined;
    const words = isMissing ? missingReason([history], { metric, align }) : current;
    return { week, sentence: words, bornAt: born ?? undefined };
  }
  const isBegun = unreadFrom === undefined || first.at - unreadFrom < DAY_MS || view !== "total";
  if (isBegun) return { week, sentence: current };
  const isRead = historyState.state === "READING" || historyState.state === "WAITING";
  return {
    ...{ week, bornAt: unreadFrom, unread: isRead ? "being read" : "not read" },
    sentence: isRead ? `From ${dateText(first.at)}; earlier stars are being read.` : current,
  };
}

export const titleOfHistories = (
  histories: readonly History[],
  request: Pick<ChartRequest, "metric" | "view" | "align" | "alignedAt">,
): string => titleOf(request, seriesOf(histories, request));

/** Why there is no chart of these histories. */
export function missingReason(
  histories: readonly History[],
  request: Pick<ChartRequest, "metric" | "align" | "alignedAt">,
): string {
  const { metric, align, alignedAt } = request;
  if (align === "age" && histories.every(({ bornAt }) => bornAt === null))
    return "Age unknown: align at the first snapshot instead.";
  const counts = METRIC_WORDS[metric].unit;
  if (align === "first-count" && alignedAt !== undefined && seriesOf(histories, request).every(isEmpty))
    return `No repository passed ${exactNumber(alignedAt)} ${counts} in this time.`;
  const [only] = histories;
  if (only === undefined || histories.length > 1)
    return `A chart needs two snapshots of one repository with ${counts} in this time; there are none yet.`;
  const since = dateText(only.firstSnapshotAt ?? only.repository.discoveredAt);
  const missing = historyWords(only.historyState, only.repository.provider);
  if (metric === "stars" && missing !== undefined) return `First seen on ${since}. ${missing}`;
  if (only.snapshots < 2) return `First seen on ${since}; a chart needs two snapshots.`;
  return `First seen on ${since}. There are not two snapshots with ${counts} in this time.`;
}
