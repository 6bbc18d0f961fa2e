import type { FC } from "hono/jsx";
import type { StarSum } from "../../watchlists/watchlists.js";
import { Delta, formatCount, formatDay } from "./numbers.js";

const WIDTH = 1_000;
const HEIGHT = 100;

/** The stars of a list added up over time, as a line; a table of the same numbers follows. */
export const SumChart: FC<{ points: readonly StarSum[] }> = ({ points }) => {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2) return null;
  const stars = points.map((point) => point.stars);
  const [least, most] = [Math.min(...stars), Math.max(...stars)];
  const span = last.at - first.at;
  const x = (at: number) => (((at - first.at) * WIDTH) / span).toFixed(1);
  const y = (value: number) =>
    (most === least ? HEIGHT / 2 : HEIGHT - ((value - least) * HEIGHT) / (most - least)).toFixed(1);
  const joined = points.filter(
    (point, i) => i > 0 && point.repositories > (points[i - 1]?.repositories ?? 0),
  );
  // A sum that others have joined has not grown by the difference.
  const hasJoined = joined.length > 0;
  return (
    <figure class="sum-chart">
      <figcaption>
        Stars of all together: {formatCount(last.stars)}
        {hasJoined ? null : (
          <>
            , <Delta value={last.stars - first.stars} /> since {formatDay(first.at)}
          </>
        )}
      </figcaption>
      <div class="axis">
        <span>{formatCount(most)}</span>
      </div>
      <svg
        class="plot"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Stars of all together from ${formatDay(first.at)} to ${formatDay(last.at)}: from ${formatCount(first.stars)} to ${formatCount(last.stars)}.`}
      >
        <polyline
          class="chart-1"
          points={points.map(({ at, stars: value }) => `${x(at)},${y(value)}`).join(" ")}
          vector-effect="non-scaling-stroke"
        />
      </svg>
      <div class="axis">
        <span>{formatCount(least)}</span>
      </div>
      <div class="axis ends">
        <span>{formatDay(first.at)}</span>
        <span>{formatDay(last.at)}</span>
      </div>
      {!hasJoined ? null : (
        <p class="soft small">
          A repository counts from its first snapshot on: the line steps up where one joins, last on{" "}
          {formatDay(joined.at(-1)?.at ?? null)}.
        </p>
      )}
      <details>
        <summary>The numbers as a table</summary>
        <SumTable points={points} />
      </details>
    </figure>
  );
};

const SumTable: FC<{ points: readonly StarSum[] }> = ({ points }) => (
  <table>
    <caption class="hidden">Stars of all repositories of the list together, the newest first</caption>
    <thead>
      <tr>
        <th scope="col">Day</th>
        <th scope="col" class="number">
          Stars
        </th>
        <th scope="col" class="number">
          Repositories
        </th>
      </tr>
    </thead>
    <tbody>
      {points.toReversed().map((point) => (
        <tr>
          <th scope="row">{formatDay(point.at)}</th>
          <td class="number">{formatCount(point.stars)}</td>
          <td class="number">{formatCount(point.repositories)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);
