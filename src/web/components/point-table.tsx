import type { FC } from "hono/jsx";
import { isSeam } from "../../catalog/catalog.js";
import { DAY_MS } from "../../clock.js";
import {
  type ChartPoint,
  type ChartSpan,
  hasMilestones,
  type Metric,
  milestonesOf,
  signedRate,
} from "../../embeds/embeds.js";
import { Delta, formatCompact, formatCount, SOURCE_WORDS, Time } from "./numbers.js";
import { METRIC_WORDS } from "./plot.js";
import { rowStep } from "./row-step.js";

export interface PointTableProps {
  metric: Metric;
  points: readonly ChartPoint[];
  spans: readonly ChartSpan[];
  /** Path of the CSV with all points. */
  csvPath: string;
}

/** The data of a chart: the last point of each day, week or month, newest first, and the points of milestones. */
export const PointTable: FC<PointTableProps> = ({ metric, points, spans, csvPath }) => {
  const { word, of } = rowStep((points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0));
  const milestones = new Map(
    hasMilestones({ metric, align: "date" })
      ? milestonesOf(points, spans).map(({ point, value }) => [point, value])
      : [],
  );
  const kept = new Set([
    ...[...Map.groupBy(points, ({ at }) => of(at)).values()].flatMap((group) => group.at(-1) ?? []),
    ...milestones.keys(),
  ]);
  const rows = points.filter((point) => kept.has(point));
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
            <th scope="col" class="number">
              Per day
            </th>
            <th scope="col" class="roomy">
              Source
            </th>
          </tr>
        </thead>
        <tbody>
          {rows
            .map((row, i) => ({ ...row, row, before: rows[i - 1] }))
            .reverse()
            .map(({ row, at, value, source, before }) => {
              const change = before === undefined || isSeam(before, { source }) ? null : value - before.value;
              const milestone = milestones.get(row);
              return (
                <tr>
                  <th scope="row">
                    <Time at={at} exact />
                  </th>
                  <td class="number">
                    {formatCount(value)} <span class="hidden">{unit}</span>
                    {milestone === undefined ? null : (
                      <small class="counted">first over {formatCompact(milestone)}</small>
                    )}
                  </td>
                  <td class="number">
                    <Delta value={change} />
                  </td>
                  <td class="number">{perDay(change, at - (before?.at ?? at))}</td>
                  <td class="roomy soft">{SOURCE_WORDS[source]}</td>
                </tr>
              );
            })}
        </tbody>
      </table>
    </details>
  );
};

function perDay(change: number | null, lengthMs: number): string {
  return change === null || lengthMs <= 0 ? "–" : signedRate((change * DAY_MS) / lengthMs);
}
