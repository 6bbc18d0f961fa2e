import type { FC } from "hono/jsx";
import { isSeam, startOfStep } from "../../catalog/catalog.js";
import type { ChartPoint, ChartWindow, Metric } from "../../embeds/embeds.js";
import { Delta, formatCount, SOURCE_WORDS, Time } from "./numbers.js";
import { METRIC_WORDS } from "./plot.js";

/** One row per step keeps the table readable. */
const STEPS = {
  "30d": { word: "day", of: (at: number) => startOfStep(at, "1d") },
  "90d": { word: "week", of: (at: number) => startOfStep(at, "1w") },
  "1y": { word: "week", of: (at: number) => startOfStep(at, "1w") },
  all: {
    word: "month",
    of: (at: number) => Date.UTC(new Date(at).getUTCFullYear(), new Date(at).getUTCMonth()),
  },
} as const satisfies Record<ChartWindow, { word: string; of: (at: number) => number }>;

export interface PointTableProps {
  metric: Metric;
  range: ChartWindow;
  points: readonly ChartPoint[];
  /** Path of the CSV with all points. */
  csvPath: string;
}

/** The data of a chart: the last point of each day, week or month, newest first. */
export const PointTable: FC<PointTableProps> = ({ metric, range, points, csvPath }) => {
  const { word, of } = STEPS[range];
  const rows = [...Map.groupBy(points, ({ at }) => of(at)).values()].flatMap((group) => group.at(-1) ?? []);
  const { title, unit } = METRIC_WORDS[metric];
  return (
    <details class="numbers">
      <summary>
        Chart data by {word} ({rows.length})
      </summary>
      <p>
        <a href={csvPath}>All snapshots as CSV</a>
      </p>
      <table>
        <caption class="hidden">
          {title}: the last snapshot of each {word}, newest first
        </caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col" class="number">
              {title}
            </th>
            <th scope="col" class="number">
              Change
            </th>
            <th scope="col" class="roomy">
              Source
            </th>
          </tr>
        </thead>
        <tbody>
          {rows
            .map((row, i) => ({ ...row, before: rows[i - 1] }))
            .reverse()
            .map(({ at, value, source, before }) => (
              <tr>
                <th scope="row">
                  <Time at={at} />
                </th>
                <td class="number">
                  {formatCount(value)} <span class="hidden">{unit}</span>
                </td>
                <td class="number">
                  <Delta
                    value={before === undefined || isSeam(before, { source }) ? null : value - before.value}
                  />
                </td>
                <td class="roomy soft">{SOURCE_WORDS[source]}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </details>
  );
};
