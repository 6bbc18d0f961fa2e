import type { FC } from "hono/jsx";
import type { Basis, StarCount } from "../../catalog/catalog.js";

const WIDTH = 96;
const HEIGHT = 24;
const EDGE = 2;
/** The scale spans at least this part of the count, so that a movement of a few stars does not look like a crash or a leap. */
const LEAST_SPAN = 0.02;
const LEAST_STARS = 10;

/** A sparkline of stars. */
export const StarSpark: FC<{ counts: readonly (StarCount | null)[] }> = ({ counts }) => (
  <Spark values={counts.map((count) => count?.stars ?? null)} bases={counts.map((count) => count?.basis)} />
);

interface SparkProps {
  values: readonly (number | null)[];
  /** What each value counts; absent: all the same. The line is broken where it changes, and dotted where stars are still held. */
  bases?: readonly (Basis | undefined)[];
}

/** Takes the place of a sparkline where too few counts are known. */
const NoSpark: FC = () => (
  <svg
    class="spark none"
    viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
    role="img"
    aria-label="Too few counts for a line"
  >
    <line x1={EDGE} x2={WIDTH - EDGE} y1={HEIGHT / 2} y2={HEIGHT / 2} />
  </svg>
);

/** A sparkline on a scale of its own; unknown values are left out. Hidden from screen readers, which get the numbers next to it. */
export const Spark: FC<SparkProps> = ({ values, bases = [] }) => {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return <NoSpark />;
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const span = Math.max(most - least, LEAST_SPAN * most, LEAST_STARS);
  const middle = (least + most) / 2;
  const x = (i: number) => EDGE + (i * (WIDTH - 2 * EDGE)) / (values.length - 1);
  const y = (value: number) => HEIGHT / 2 - ((value - middle) * (HEIGHT - 2 * EDGE)) / span;
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
