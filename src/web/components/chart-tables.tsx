import type { FunctionComponent as FC } from "preact";
import {
  ageText,
  type ChartInput,
  type ChartPoint,
  type ChartSeries,
  type ChartSpan,
  isByDate,
  METRIC_WORDS,
  type Metric,
  milestonesOf,
  signedRate,
} from "../../charts/charts.js";
import { DAY_MS, WEEK_MS } from "../../lib/clock.js";
import { isSeam, startOfStep } from "../../repositories/repositories.js";
import { Delta, formatCompact, formatCount, formatDate, SOURCE_WORDS, Time } from "./numbers.js";
import { Table } from "./table.js";

/** The data of charts as tables, one row for each day, week or month. */

interface PointTableProps {
  metric: Metric;
  points: readonly ChartPoint[];
  spans: readonly ChartSpan[];
  /** Path of the CSV with all points. */
  csvPath: string;
}

/** The data of a chart of one repository: the last point of each day, week or month, newest first, and the points of milestones. */
export const PointTable: FC<PointTableProps> = ({ metric, points, spans, csvPath }) => {
  const { word, of } = rowStep((points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0));
  const milestones = new Map(
    milestonesOf({ metric, align: "date", series: [{ points }], spans }).map(({ point, value }) => [
      point,
      value,
    ]),
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
      <Table
        label={`${title}: the last snapshot of each ${word}, newest first`}
        columns={[
          { head: "Time", cell: ({ row }) => <Time at={row.at} exact /> },
          {
            head: title,
            isNumber: true,
            cell: ({ row }) => {
              const milestone = milestones.get(row);
              return (
                <>
                  {formatCount(row.value)} <span class="hidden">{unit}</span>
                  {milestone === undefined ? null : (
                    <small class="counted">first over {formatCompact(milestone)}</small>
                  )}
                </>
              );
            },
          },
          { head: "Change", isNumber: true, cell: ({ change }) => <Delta value={change} /> },
          { head: "Per day", isNumber: true, cell: ({ change, lengthMs }) => perDay(change, lengthMs) },
          { head: "Source", class: "roomy soft", cell: ({ row }) => SOURCE_WORDS[row.source] },
        ]}
        rows={rows
          .map((row, i) => {
            const before = rows[i - 1];
            const change = before === undefined || isSeam(before, row) ? null : row.value - before.value;
            return { row, change, lengthMs: row.at - (before?.at ?? row.at) };
          })
          .reverse()}
      />
    </details>
  );
};

function perDay(change: number | null, lengthMs: number): string {
  return change === null || lengthMs <= 0 ? "–" : signedRate((change * DAY_MS) / lengthMs);
}

interface ComparedNumbersProps {
  metric: Metric;
  align: ChartInput["align"];
  series: readonly ChartSeries[];
}

/** The data of a comparison: the last count of each repository in each day, week or month, newest first. */
export const ComparedNumbers: FC<ComparedNumbersProps> = ({ metric, align, series }) => {
  const { word, of } = rowStepOf({ align, series });
  const columns = series.map(
    ({ points }) => new Map(points.map(({ at, value }) => [of(at), value] as const)),
  );
  const rows = [...new Set(columns.flatMap((column) => [...column.keys()]))].sort((a, b) => b - a);
  return (
    <details class="numbers">
      <summary>
        Chart data by {word} ({rows.length})
      </summary>
      <Table
        label={`${METRIC_WORDS[metric].title}: the last count of each ${word}, newest first`}
        columns={[
          {
            head: isByDate(align) ? "From" : align === "age" ? "Age" : "After",
            cell: (row) => nameOf(row, align, word),
          },
          ...series.map(({ name }, i) => ({
            head: name,
            isNumber: true,
            cell: (row: number) => formatCount(columns[i]?.get(row) ?? null),
          })),
        ]}
        rows={rows}
      />
    </details>
  );
};

/** Row steps of ages. */
const AGE_STEPS_MS = { day: DAY_MS, week: WEEK_MS, month: 30.4375 * DAY_MS } as const;

/** The row step of the points that are shown. */
function rowStepOf({ align, series }: Pick<ComparedNumbersProps, "align" | "series">): RowStep {
  const starts = series.flatMap(({ points }) => points[0]?.at ?? []);
  const ends = series.flatMap(({ points }) => points.at(-1)?.at ?? []);
  const step = rowStep(Math.max(...ends) - Math.min(...starts));
  if (isByDate(align)) return step;
  // Ages start at 0, not on a Monday or the first of a month.
  const lengthMs = AGE_STEPS_MS[step.word];
  return { word: step.word, of: (at) => Math.floor(at / lengthMs) * lengthMs };
}

/** The label of a row: a day, or an age. */
function nameOf(at: number, align: ChartInput["align"], word: string): string {
  return isByDate(align) ? formatDate(at) : ageText(at, word === "month" ? "month" : "day");
}

/** The time that a row covers. */
interface RowStep {
  word: "day" | "week" | "month";
  /** The start of the row of a time. */
  of: (at: number) => number;
}

/** One row per step keeps a table short. `days`: the longest time with this step. */
const STEPS = [
  { word: "day", days: 45, of: (at: number) => startOfStep(at, "1d") },
  { word: "week", days: 400, of: (at: number) => startOfStep(at, "1w") },
  {
    word: "month",
    days: Number.POSITIVE_INFINITY,
    of: (at: number) => Date.UTC(new Date(at).getUTCFullYear(), new Date(at).getUTCMonth()),
  },
] as const;

/** The step of the rows that show this time. */
function rowStep(lengthMs: number): RowStep {
  return STEPS.find(({ days }) => lengthMs <= days * DAY_MS) ?? STEPS[2];
}
