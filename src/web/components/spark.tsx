import type { FC } from "hono/jsx";
import type { Basis, StarCount } from "../../catalog/catalog.js";

const WIDTH = 96;
const HEIGHT = 24;
const EDGE = 2;

/** A sparkline of stars. */
export const StarSpark: FC<{ counts: readonly (StarCount | null)[] }> = ({ counts }) => (
  <Spark values={counts.map((count) => count?.stars ?? null)} bases={counts.map((count) => count?.basis)} />
);

interface SparkProps {
  values: readonly (number | null)[];
  /** What each value counts; absent: all the same. The line is broken where it changes, and dotted where stars are still held. */
  bases?: readonly (Basis | undefined)[];
}

/** A sparkline; unknown values are left out. Hidden from screen readers, which get the numbers next to it. */
export const Spark: FC<SparkProps> = ({ values, bases = [] }) => {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return null;
  const least = Math.min(...known);
  const range = Math.max(...known) - least;
  const x = (i: number) => EDGE + (i * (WIDTH - 2 * EDGE)) / (values.length - 1);
  const y = (value: number) =>
    range === 0 ? HEIGHT / 2 : HEIGHT - EDGE - ((value - least) * (HEIGHT - 2 * EDGE)) / range;
  const runs: { basis: Basis | undefined; points: string[] }[] = [];
  for (const [i, value] of values.entries()) {
    if (value === null) continue;
    if (runs.length === 0 || runs.at(-1)?.basis !== bases[i]) runs.push({ basis: bases[i], points: [] });
    runs.at(-1)?.points.push(`${x(i).toFixed(1)},${y(value).toFixed(1)}`);
  }
  const [lastX, lastY] = runs.at(-1)?.points.at(-1)?.split(",") ?? [];
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      {runs.map(({ basis, points }) => (
        <polyline class={basis === "RETAINED" ? "chart-1 still-held" : "chart-1"} points={points.join(" ")} />
      ))}
      <circle class="chart-end" cx={lastX} cy={lastY} r="2" />
    </svg>
  );
};
