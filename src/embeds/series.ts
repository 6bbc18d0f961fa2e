import type { SnapshotSource } from "../catalog/catalog.js";

/** The counts a chart can show, named as in the API. */
export const METRICS = ["stars", "forks", "openIssues"] as const;
export type Metric = (typeof METRICS)[number];

export const METRIC_NAMES: Readonly<Record<Metric, string>> = {
  stars: "Stars",
  forks: "Forks",
  openIssues: "Open issues",
};

/** A count at a time (ms since 1970), or at an age (ms). */
export interface ChartPoint {
  at: number;
  value: number;
  source: SnapshotSource;
}

/** A line of a chart. */
export interface ChartSeries {
  /** The full name of the repository, or another label. */
  name: string;
  /** Oldest first. Points whose value is not a count are ignored. */
  points: readonly ChartPoint[];
  /** Ranges without counts, from one point to the next. */
  gaps: readonly { from: number; to: number }[];
  /** A short note for readers. */
  note?: string;
}

/** Maximum number of gaps kept when a line is reduced. */
const MAX_GAPS = 30;

/**
 * Reduces a line to at most `max` points (at least 100): the first, lowest, highest and last point of equal parts of the time,
 * and both ends of the widest gaps. Expects points in order of time.
 */
export function reducePoints<P extends { at: number; value: number }>(
  points: readonly P[],
  gaps: ChartSeries["gaps"],
  max: number,
): P[] {
  if (points.length <= max) return [...points];
  const edges = new Set(widestGaps(gaps).flatMap(({ from, to }) => [from, to]));
  const parts = Math.max(1, Math.floor((max - edges.size) / 4));
  const first = points[0]?.at ?? 0;
  const span = (points.at(-1)?.at ?? 0) - first;
  const partOf = (at: number) =>
    span > 0 ? Math.min(parts - 1, Math.floor(((at - first) / span) * parts)) : 0;
  const kept = new Set<P>();
  for (const part of Map.groupBy(points, ({ at }) => partOf(at)).values()) {
    const low = part.reduce((least, point) => (point.value < least.value ? point : least));
    const high = part.reduce((greatest, point) => (point.value > greatest.value ? point : greatest));
    for (const point of [part[0], low, high, part.at(-1)]) if (point !== undefined) kept.add(point);
  }
  return points.filter((point) => kept.has(point) || edges.has(point.at));
}

/** The widest gaps, in their original order. */
export function widestGaps<G extends { from: number; to: number }>(gaps: readonly G[]): G[] {
  const width = ({ from, to }: G) => to - from;
  const chosen = new Set([...gaps].sort((a, b) => width(b) - width(a)).slice(0, MAX_GAPS));
  return gaps.filter((gap) => chosen.has(gap));
}
