import {
  type Catalog,
  type Gap,
  gapsOf,
  isStale,
  type Repository,
  type Seam,
  type Snapshot,
  type SnapshotRange,
  seamsOf,
} from "../catalog/catalog.js";
import { ageInDays, DAY_MS } from "../clock.js";
import { drawChart } from "./chart.js";
import { drawNotice } from "./notice.js";
import { dateText } from "./numbers.js";
import { type ChartInput, describe } from "./plan.js";
import { type ChartPoint, type ChartSeries, METRIC_NAMES, type Metric } from "./series.js";
import type { Theme } from "./themes.js";

/** The windows of charts, up to the newest snapshot of the provider. */
export const CHART_WINDOWS = ["30d", "90d", "1y", "all"] as const;
export type ChartWindow = (typeof CHART_WINDOWS)[number];

const WINDOW_DAYS: Readonly<Record<Exclude<ChartWindow, "all">, number>> = {
  "30d": 30,
  "90d": 90,
  "1y": 365,
};

/** Most snapshots read per repository; more cannot be distinguished in a picture. */
const MAX_SNAPSHOTS = 600;

/** The data of one repository in a chart. */
export interface History {
  repository: Repository;
  /** Oldest first; snapshots that lack the count are left out. */
  points: readonly ChartPoint[];
  gaps: readonly Gap[];
  seams: readonly Seam[];
  /** When the repository was created; its first snapshot if that is unknown or earlier. */
  bornAt: number | null;
  firstSnapshotAt: number | null;
  snapshots: number;
  /** The newest snapshot of its provider, where the window ends. */
  asOf: number | null;
  isStale: boolean;
}

export interface HistoryRequest {
  metric: Metric;
  window: ChartWindow;
  /** What was read before. */
  known?: { asOf: number | null; stored: SnapshotRange };
}

/** Reads the data of one repository. */
export async function readHistory(
  catalog: Catalog,
  repository: Repository,
  { metric, window, known }: HistoryRequest,
): Promise<History> {
  const asOf = known === undefined ? ((await catalog.asOf(repository.provider)) ?? null) : known.asOf;
  const readSeries = () =>
    window === "all" || asOf === null
      ? catalog.series(repository.id, 0, { most: MAX_SNAPSHOTS })
      : catalog.windowSeries(
          repository.id,
          { asOf, lengthMs: WINDOW_DAYS[window] * DAY_MS },
          { most: MAX_SNAPSHOTS },
        );
  const [series, stored, recency] = await Promise.all([
    readSeries(),
    known?.stored ?? catalog.snapshotRange(repository.id),
    catalog.recency(),
  ]);
  const points = series.points.flatMap((snapshot: Snapshot) => {
    const value = snapshot[metric];
    return value === null ? [] : [{ at: snapshot.capturedAt, value, source: snapshot.source }];
  });
  const isWhole = points.length === series.points.length;
  const counted = series.points.filter((snapshot) => snapshot[metric] !== null);
  const { snapshots, firstSnapshotAt } = stored;
  return {
    repository,
    points,
    gaps: isWhole ? series.gaps : gapsOf(counted),
    seams: isWhole ? series.seams : seamsOf(counted),
    bornAt: bornAt(repository.createdAt, firstSnapshotAt),
    firstSnapshotAt,
    snapshots,
    asOf,
    isStale: isStale(repository, recency),
  };
}

/** A repository with snapshots from before its reported creation is at least as old as they are. */
function bornAt(createdAt: number | null, firstSnapshotAt: number | null): number | null {
  if (createdAt === null || firstSnapshotAt === null) return createdAt ?? firstSnapshotAt;
  return Math.min(createdAt, firstSnapshotAt);
}

/** Notes on repositories that are no longer reachable. */
export const UNREACHABLE = {
  GONE: "gone",
  PRIVATE: "private",
  BLOCKED: "blocked",
  RENAMED: "renamed",
} as const;

/** A short note for readers: that a repository is no longer reachable, or since when its counts were not seen. */
export function noteOn({ availability, countedAt }: Repository, isStale: boolean): string | undefined {
  if (availability !== "AVAILABLE") return UNREACHABLE[availability];
  return isStale && countedAt !== null ? `not seen since ${dateText(countedAt)}` : undefined;
}

/** The series of a chart, with distinct names. */
export function seriesOf(histories: readonly History[], align: "date" | "age"): ChartSeries[] {
  const keys = histories.map(({ repository }) => repository.fullName.toLowerCase());
  return histories.map((history, i) => {
    const { repository, points, gaps, bornAt: born } = history;
    const isShared = keys.indexOf(keys[i] ?? "") !== keys.lastIndexOf(keys[i] ?? "");
    const begin = align === "age" ? (born ?? 0) : 0;
    const { availability, fullName, provider } = repository;
    const last = points.at(-1);
    const noted = points.length === 0 ? "no counts in this time" : noteOn(repository, history.isStale);
    const note =
      availability === "AVAILABLE"
        ? noted
        : `${UNREACHABLE[availability]}${last === undefined ? "" : `, last seen ${dateText(last.at)}`}`;
    return {
      name: isShared ? `${provider.toLowerCase()}:${fullName}` : fullName,
      points: points.map((point) => ({ ...point, at: point.at - begin })),
      gaps: gaps.map(({ from, to }) => ({ from: from - begin, to: to - begin })),
      ...(note === undefined ? {} : { note }),
    };
  });
}

/** The newest time of the histories. */
export function newestOf(histories: readonly History[]): number | null {
  const times = histories.flatMap(({ asOf }) => asOf ?? []);
  return times.length === 0 ? null : Math.max(...times);
}

/** Parameters of a chart of histories. */
export type ChartRequest = Pick<ChartInput, "metric" | "scale" | "align" | "width" | "height"> & {
  theme: Theme;
  /** Time of the response. */
  now: number;
};

/** Draws a chart of the histories, or a notice if there is nothing to draw. */
export function drawHistories(histories: readonly History[], request: ChartRequest): string {
  const { theme, now, ...rest } = request;
  if (histories.some(({ points }) => points.length >= 2)) {
    const series = seriesOf(histories, request.align);
    const asOf = newestOf(histories);
    return drawChart({ ...rest, series, asOf, ageDays: ageInDays(asOf, now), theme });
  }
  const { title } = describe({ ...request, asOf: null, ageDays: null }, seriesOf(histories, request.align));
  return drawNotice({ title, message: missingReason(histories, request.metric), ...request });
}

/** The title of the chart of the histories. */
export function titleOf(
  histories: readonly History[],
  request: Pick<ChartRequest, "metric" | "align">,
): string {
  return describe({ ...request, asOf: null, ageDays: null }, seriesOf(histories, request.align)).title;
}

function missingReason(histories: readonly History[], metric: Metric): string {
  const counts = METRIC_NAMES[metric].toLowerCase();
  const [only] = histories;
  if (only === undefined || histories.length > 1)
    return `A chart needs two snapshots of one repository with ${counts} in this time; there are none yet.`;
  const since = dateText(only.firstSnapshotAt ?? only.repository.discoveredAt);
  if (only.snapshots < 2) return `First seen on ${since}; a chart needs two snapshots.`;
  return `First seen on ${since}. There are not two snapshots with ${counts} in this time.`;
}
