import {
  type Catalog,
  findGaps,
  type Gap,
  type Repository,
  type Series,
  type Snapshot,
  type SnapshotSource,
} from "../catalog/catalog.js";
import { DAY_MS } from "../clock.js";
import { dateText } from "./numbers.js";
import type { ChartSeries, Metric } from "./series.js";

/** The range of a chart: this long before the newest snapshot of the provider, or everything. */
export const RANGES = ["30d", "90d", "1y", "all"] as const;
export type Range = (typeof RANGES)[number];

const RANGE_DAYS: Readonly<Record<Exclude<Range, "all">, number>> = { "30d": 30, "90d": 90, "1y": 365 };

/** Most snapshots read per repository; more cannot be distinguished in a picture. */
const MAX_SNAPSHOTS = 600;

const EMPTY: Series = { points: [], resolution: "all", gaps: [] };

/** What a chart shows of one repository. */
export interface History {
  repository: Repository;
  /** Oldest first; snapshots that lack the count are left out. */
  points: readonly { at: number; value: number; source: SnapshotSource }[];
  gaps: readonly Gap[];
  /** Where its age starts: its creation, or its first snapshot if that is unknown or earlier. */
  bornAt: number | null;
  firstSnapshotAt: number | null;
  snapshots: number;
  /** The newest snapshot of its provider, where the range ends. */
  asOf: number | null;
}

/** Reads what a chart shows of a repository. */
export async function readHistory(
  catalog: Catalog,
  repository: Repository,
  metric: Metric,
  range: Range,
): Promise<History> {
  const asOf = (await catalog.asOf(repository.provider)) ?? null;
  const from =
    range === "all" || asOf === null
      ? 0
      : await catalog.seriesStart(repository.id, asOf, RANGE_DAYS[range] * DAY_MS);
  const [series, stored] = await Promise.all([
    from === undefined ? EMPTY : catalog.series(repository.id, from, MAX_SNAPSHOTS),
    catalog.snapshotRange(repository.id),
  ]);
  const points = series.points.flatMap((snapshot: Snapshot) => {
    const value = snapshot[metric];
    return value === null ? [] : [{ at: snapshot.capturedAt, value, source: snapshot.source }];
  });
  const gaps = points.length === series.points.length ? series.gaps : findGaps(points.map(({ at }) => at));
  const { snapshots, firstSnapshotAt } = stored;
  return {
    repository,
    points,
    gaps,
    bornAt: bornAt(repository.createdAt, firstSnapshotAt),
    firstSnapshotAt,
    snapshots,
    asOf,
  };
}

/** A repository with snapshots from before its reported creation is at least as old as they are. */
function bornAt(createdAt: number | null, firstSnapshotAt: number | null): number | null {
  if (createdAt === null || firstSnapshotAt === null) return createdAt ?? firstSnapshotAt;
  return Math.min(createdAt, firstSnapshotAt);
}

/** What readers must know about a repository that is no longer reachable. */
export const UNREACHABLE = { GONE: "gone", PRIVATE: "private", BLOCKED: "blocked" } as const;

/** The histories as lines with distinct names. */
export function seriesOf(histories: readonly History[], align: "date" | "age"): ChartSeries[] {
  const keys = histories.map(({ repository }) => repository.fullName.toLowerCase());
  return histories.map(({ repository, points, gaps, bornAt: born }, i) => {
    const isShared = keys.indexOf(keys[i] ?? "") !== keys.lastIndexOf(keys[i] ?? "");
    const begin = align === "age" ? (born ?? 0) : 0;
    const { availability, fullName, provider } = repository;
    const last = points.at(-1);
    const noted = points.length === 0 ? "no counts in this time" : undefined;
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

/** The newest time of all the histories. */
export function newestOf(histories: readonly History[]): number | null {
  const times = histories.flatMap(({ asOf }) => asOf ?? []);
  return times.length === 0 ? null : Math.max(...times);
}
