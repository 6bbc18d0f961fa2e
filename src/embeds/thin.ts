/** A point of a line, in any units. */
export interface Place {
  x: number;
  y: number;
}

/** Number of slices of the width; the first, lowest, highest and last point of each is kept. */
const PARTS = 72;

/**
 * Keeps at most about 300 points, given in order of x: the extremes, the first, the last, and those for which `isKept` is true.
 * More cannot be distinguished in a picture.
 */
export function thin<P extends Place>(points: readonly P[], isKept: (index: number) => boolean): P[] {
  if (points.length <= 4 * PARTS) return [...points];
  const first = points[0]?.x ?? 0;
  const span = (points.at(-1)?.x ?? 0) - first;
  const partOf = (x: number) =>
    span > 0 ? Math.min(PARTS - 1, Math.floor(((x - first) / span) * PARTS)) : 0;
  const chosen = new Set<number>();
  for (let start = 0; start < points.length; ) {
    const part = partOf(points[start]?.x ?? 0);
    let [low, high, end] = [start, start, start];
    const y = (index: number) => points[index]?.y ?? 0;
    while (end < points.length && partOf(points[end]?.x ?? 0) === part) {
      if (y(end) < y(low)) low = end;
      if (y(end) > y(high)) high = end;
      end++;
    }
    for (const index of [start, low, high, end - 1]) chosen.add(index);
    start = end;
  }
  return points.filter((_, index) => chosen.has(index) || isKept(index));
}
