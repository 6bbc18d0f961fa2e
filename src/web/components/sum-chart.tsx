import type { FC } from "hono/jsx";
import type { SumPoint } from "../../watchlists/watchlists.js";
import { Delta, formatCount, formatDay } from "./numbers.js";

const WIDTH = 1_000;
const HEIGHT = 100;

/** The stars of a list added up over time, as a line; a table of the same numbers follows. */
export const SumChart: FC<{ points: readonly SumPoint[] }> = ({ points }) => {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2) return null;
  const stars = points.map((point) => point.stars);
  const [least, most] = [Math.min(...stars), Math.max(...stars)];
  const span = last.capturedAt - first.capturedAt;
  const x = (at: number) => (((at - first.capturedAt) * WIDTH) / span).toFixed(1);
  const y = (value: number) =>
    (most === least ? HEIGHT / 2 : HEIGHT - ((value - least) * HEIGHT) / (most - least)).toFixed(1);
  const joined = points.filter(
    (point, i) => i > 0 && point.repositories > (points[i - 1]?.repositories ?? 0),
  );
  return (
    <figure class="sum-chart">
      <figcaption>
        Stars of all together: {formatCount(last.stars)}, <Delta value={last.stars - first.stars} /> since{" "}
        {formatDay(first.capturedAt)}
      </figcaption>
      <div class="axis">
        <span>{formatCount(most)}</span>
      </div>
      <svg
        class="plot"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Stars of all together from ${formatDay(first.capturedAt)} to ${formatDay(last.capturedAt)}: from ${formatCount(first.stars)} to ${formatCount(last.stars)}.`}
      >
        <polyline
          class="chart-1"
          points={points.map(({ capturedAt, stars: value }) => `${x(capturedAt)},${y(value)}`).join(" ")}
          vector-effect="non-scaling-stroke"
        />
      </svg>
      <div class="axis">
        <span>{formatCount(least)}</span>
      </div>
      <div class="axis ends">
        <span>{formatDay(first.capturedAt)}</span>
        <span>{formatDay(last.capturedAt)}</span>
      </div>
      {joined.length === 0 ? null : (
        <p class="soft small">
          A repository counts from its first snapshot on: the line steps up where one joins, last on{" "}
          {formatDay(joined.at(-1)?.capturedAt ?? null)}.
        </p>
      )}
      <details>
        <summary>The numbers as a table</summary>
        <SumTable points={points} />
      </details>
    </figure>
  );
};

const SumTable: FC<{ points: readonly SumPoint[] }> = ({ points }) => (
  <table>
    <caption class="hidden">Counts of all repositories of the list together, the newest first</caption>
    <thead>
      <tr>
        <th scope="col">Day</th>
        <th scope="col" class="number">
          Stars
        </th>
        <th scope="col" class="number">
          Forks
        </th>
        <th scope="col" class="number">
          Repositories
        </th>
      </tr>
    </thead>
    <tbody>
      {points.toReversed().map((point) => (
        <tr>
          <th scope="row">{formatDay(point.capturedAt)}</th>
          <td class="number">{formatCount(point.stars)}</td>
          <td class="number">{formatCount(point.forks)}</td>
          <td class="number">{formatCount(point.repositories)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
