import type { FC } from "hono/jsx";

const WIDTH = 96;
const HEIGHT = 24;
const EDGE = 2;

/** A sparkline; unknown values are left out. Hidden from screen readers, which get the numbers next to it. */
export const Spark: FC<{ values: readonly (number | null)[] }> = ({ values }) => {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return null;
  const least = Math.min(...known);
  const range = Math.max(...known) - least;
  const x = (i: number) => EDGE + (i * (WIDTH - 2 * EDGE)) / (values.length - 1);
  const y = (value: number) =>
    range === 0 ? HEIGHT / 2 : HEIGHT - EDGE - ((value - least) * (HEIGHT - 2 * EDGE)) / range;
  const points = values.flatMap((value, i) =>
    value === null ? [] : [`${x(i).toFixed(1)},${y(value).toFixed(1)}`],
  );
  const [lastX, lastY] = points.at(-1)?.split(",") ?? [];
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <polyline class="chart-1" points={points.join(" ")} />
      <circle class="chart-end" cx={lastX} cy={lastY} r="2" />
    </svg>
  );
};
