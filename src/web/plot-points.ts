import type { SnapshotSource } from "../catalog/catalog.js";

/** A point of a line, and the source that tells it. */
export interface LinePoint {
  at: number;
  value: number;
  source: SnapshotSource;
}

/** Where counts are missing, from one point to another. */
export interface LineGap {
  from: number;
  to: number;
}

/** Gaps that are kept of one line: the widest. */
const MAX_GAPS = 30;

/**
 * At most `most` of the points, which are in the order of their times: of equal parts of the time the first, lowest,
 * highest and last of each, and both ends of the widest gaps. Few enough points are all kept. `most` is 100 or more.
 */
export function reducePoints<P extends LinePoint>(
  points: readonly P[],
  gaps: readonly LineGap[],
  most: number,
): P[] {
  if (points.length <= most) return [...points];
  const edges = new Set(widest(gaps).flatMap(({ from, to }) => [from, to]));
  const parts = Math.max(1, Math.floor((most - edges.size) / 4));
  const first = points[0]?.at ?? 0;
  const span = (points.at(-1)?.at ?? 0) - first;
  const partOf = (at: number) =>
    span > 0 ? Math.min(parts - 1, Math.floor(((at - first) / span) * parts)) : 0;
  const groups = Map.groupBy(points, ({ at }) => partOf(at));
  const kept = new Set<P>();
  for (const group of groups.values()) {
    const [begin, end] = [group[0], group.at(-1)];
    const low = group.reduce((least, point) => (point.value < least.value ? point : least));
    const high = group.reduce((greatest, point) => (point.value > greatest.value ? point : greatest));
    for (const point of [begin, low, high, end]) if (point !== undefined) kept.add(point);
  }
  return points.filter((point) => kept.has(point) || edges.has(point.at));
}

/** The widest gaps, in the order of their times. */
export function widest<G extends LineGap>(gaps: readonly G[]): G[] {
  const width = ({ from, to }: G) => to - from;
  const chosen = new Set([...gaps].sort((a, b) => width(b) - width(a)).slice(0, MAX_GAPS));
  return gaps.filter((gap) => chosen.has(gap));
}
