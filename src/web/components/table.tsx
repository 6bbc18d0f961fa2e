import type { ComponentChildren as Child, FunctionComponent as FC, VNode } from "preact";
import {
  ageText,
  type ChartInput,
  type ChartPoint,
  type ChartSeries,
  isByDate,
  METRIC_WORDS,
  type Metric,
  milestonesOf,
  passingsOf,
  SHORTEST_STEP,
  shortNames,
  signedRate,
  type View,
} from "../../charts/charts.js";
import { type Trend, WINDOW_LABELS, type Window } from "../../growth/growth.js";
import { DAY_MS, isoTime, WEEK_MS } from "../../lib/clock.js";
import { repositoryPage } from "../../lib/page-addresses.js";
import { isSeam, type Readings, type Repository, startOfStep } from "../../repositories/repositories.js";
import { Link, Scroll } from "./elements.js";
import { Delta, formatCompact, formatCount, formatDate, formatTime, SOURCE_WORDS, Time } from "./numbers.js";

/** The head of a column that the table is or can be sorted by. */
export interface Sorting {
  /** The target of its link, if it has one. */
  href?: string | undefined;
  sorted: "ascending" | "descending" | undefined;
}

/** A column of a table. */
export interface Column<Row> {
  head: Child;
  cell: (row: Row, index: number) => Child;
  /** Whether it names the rows; the first column does unless another one says so. */
  isName?: boolean;
  isNumber?: boolean;
  /** Whether only screen readers get the head. */
  isHeadHidden?: boolean;
  /** The class of its cells besides. */
  class?: string | undefined;
  sorting?: Sorting | undefined;
}

/** The column of a row's actions. */
export const ACTIONS = { head: "Actions", isHeadHidden: true, class: "actions" } as const;

interface Group<Row> {
  /** A line above its rows. */
  head?: Child;
  rows: readonly Row[];
}

interface TableProps<Row> {
  /** Its accessible name, and its caption for screen readers unless `caption` is given. */
  label: string;
  caption?: Child;
  class?: string;
  /** Entries that are false are left out. */
  columns: readonly (Column<Row> | false)[];
  /** The rows, or groups of them. */
  rows: readonly Row[] | { groups: readonly Group<Row>[] };
  /** The class of a row. */
  rowClass?: (row: Row, index: number) => string | undefined;
}

/**
 * A table. It scrolls on narrow screens, by keyboard too, unless its class has another layout for them: a `list`. With the class
 * `stacked` the cells of a row are below each other on a phone, each with its head.
 */
export function Table<Row>({ label, caption, columns, rows, rowClass, ...props }: TableProps<Row>): VNode {
  const shown = columns.filter((column) => column !== false);
  const name = shown.find(({ isName }) => isName) ?? shown[0];
  const isStacked = props.class?.includes("stacked") ?? false;
  const groups = "groups" in rows ? rows.groups : [{ rows }];
  const table = (
    <table class={props.class}>
      <caption class={caption === undefined ? "hidden" : "small"}>{caption ?? label}</caption>
      <thead>
        <tr>
          {shown.map((column) => (
            <Head {...column} />
          ))}
        </tr>
      </thead>
      {groups.map((group: Group<Row>) => (
        <tbody>
          {group.head === undefined ? null : (
            <tr class="group">
              <th scope="rowgroup" colspan={shown.length}>
                {group.head}
              </th>
            </tr>
          )}
          {group.rows.map((row, index) => (
            <tr class={rowClass?.(row, index)}>
              {shown.map((column) =>
                column === name ? (
                  <th scope="row" class={classOf(column)}>
                    {column.cell(row, index)}
                  </th>
                ) : (
                  <td
                    class={classOf(column)}
                    data-label={isStacked && column.isHeadHidden !== true ? `${column.head}` : undefined}
                  >
                    {column.cell(row, index)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  );
  return props.class?.startsWith("list") ? table : <Scroll label={label}>{table}</Scroll>;
}

type HeadProps = Omit<Column<never>, "cell" | "isName">;

function classOf({ isNumber = false, ...column }: HeadProps): string | undefined {
  if (!isNumber) return column.class;
  return column.class === undefined ? "number" : `number ${column.class}`;
}

const Head: FC<HeadProps> = (column) => {
  const { head, isHeadHidden = false, sorting } = column;
  const shown = isHeadHidden ? <span class="hidden">{head}</span> : head;
  return (
    <th scope="col" class={classOf(column)} aria-sort={sorting?.sorted}>
      {sorting?.href === undefined ? shown : <Link href={sorting.href}>{shown}</Link>}
      {sorting?.sorted === undefined ? null : (
        <span class="sorted" aria-hidden="true">
          {sorting.sorted === "ascending" ? "▲" : "▼"}
        </span>
      )}
    </th>
  );
};

/** The data of charts as tables, one row for each day, week or month. */

interface PointTableProps {
  metric: Metric;
  points: readonly ChartPoint[];
  /** Path of the CSV with all points. */
  csvPath: string;
}

/** The data of a chart of one repository: the last point of each day, week or month, newest first, and the points of milestones. */
export const PointTable: FC<PointTableProps> = ({ metric, points, csvPath }) => {
  const { word, of } = rowStep((points.at(-1)?.at ?? 0) - (points[0]?.at ?? 0));
  const milestones = new Map(
    milestonesOf({ metric, align: "date", series: [{ points }] }).map(({ point, value }) => [point, value]),
  );
  const kept = new Set([
    ...[...Map.groupBy(points, ({ at }) => of(at)).values()].flatMap((group) => group.at(-1) ?? []),
    ...milestones.keys(),
  ]);
  const rows = points.filter((point) => kept.has(point));
  const { title, unit } = METRIC_WORDS[metric];
  return (
    <details class="numbers">
      <summary>Table</summary>
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
            const change = before === undefined || row.isApart ? null : row.value - before.value;
            return { row, change, lengthMs: row.at - (before?.at ?? row.at) };
          })
          .reverse()}
      />
    </details>
  );
};

function perDay(change: number | null, lengthMs: number): string {
  if (change === null || lengthMs < SHORTEST_STEP * DAY_MS) return "–";
  return signedRate((change * DAY_MS) / lengthMs);
}

interface ComparedNumbersProps {
  metric: Metric;
  align: ChartInput["align"];
  view: View;
  series: readonly ChartSeries[];
}

/** The data of a comparison: the last count of each repository in each day, week or month, newest first, and whom it passed in that. */
export const ComparedNumbers: FC<ComparedNumbersProps> = ({ metric, align, series, ...props }) => {
  const { word, of } = rowStepOf({ align, series });
  const columns = series.map(
    ({ points }) => new Map(points.map(({ at, value }) => [of(at), value] as const)),
  );
  const rows = [...new Set(columns.flatMap((column) => [...column.keys()]))].sort((a, b) => b - a);
  const names = shortNames(series.map(({ name }) => name));
  const crossings = passingsOf({ series, align, ...props });
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
            cell: (row: number) => {
              const passed = crossings.filter(({ at, passer }) => passer === i && of(at) === row);
              return (
                <>
                  {formatCount(columns[i]?.get(row) ?? null)}
                  {passed.map((one) => (
                    <small class="counted">passed {names[one.passed]}</small>
                  ))}
                </>
              );
            },
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

/** Snapshots shown before and after the ones compared, and at most between them. */
const AROUND = 2;
const MOST_BETWEEN = 12;
/** If more are between them, the number shown after the first and before the second. */
const INSIDE = 3;
/** Snapshots shown if none are compared: the latest. */
const LATEST = 8;

/** Snapshots shown of a time that the reader has chosen: the latest of it. */
const MOST_CHOSEN = 62;

/** A run of consecutive snapshots, by their indexes, both included. */
export type Run = readonly [first: number, last: number];

/**
 * Which of `length` snapshots are shown, as runs in order: those around the two compared, and between them if they are few.
 * Without any compared, the `latest`. A bounded number, however many there are.
 */
export function shownRuns(length: number, compared: Run | undefined, latest = LATEST): Run[] {
  if (length === 0) return [];
  const end = length - 1;
  if (compared === undefined) return [[Math.max(0, length - latest), end]];
  const [from, to] = compared;
  const [first, last] = [Math.max(0, from - AROUND), Math.min(end, to + AROUND)];
  if (to - from - 1 <= MOST_BETWEEN) return [[first, last]];
  return [
    [first, from + INSIDE],
    [to - INSIDE, last],
  ];
}

interface SnapshotSectionProps {
  repository: Repository;
  /** The stored snapshots around those that trends compare. */
  readings: Readings;
  /** Those of the time that the chart shows, if the reader has chosen one; they are shown instead. */
  chosen: Readings | undefined;
  window: Window;
  trend: Trend | null;
  /** How many are stored in all. */
  stored: number;
}

/** The stored snapshots behind the growth of the page's window, with the two compared marked. */
export const SnapshotSection: FC<SnapshotSectionProps> = (props) => {
  const { repository, chosen, window, trend, stored } = props;
  const csv = `/api/repos/${repository.id}/metrics?window=all&format=csv`;
  return (
    <section id="snapshots">
      <h3>Snapshots</h3>
      {chosen === undefined ? null : (
        <p class="soft read">
          Snapshots of the days in the chart ({MOST_CHOSEN} at most).{" "}
          <a href={`${repositoryPage(repository)}?window=${window}#snapshots`}>Show the compared ones</a>
        </p>
      )}
      {trend === null || chosen !== undefined ? null : (
        <p class="soft read">Growth over {WINDOW_LABELS[window]}: the two marked rows.</p>
      )}
      <SnapshotTable {...props} />
      <p class="soft small">
        Download {stored === 1 ? "the only one" : `all ${formatCount(stored)}`}: <a href={csv}>CSV</a> ·{" "}
        <a href={`/api/repos/${repository.id}/metrics?window=all`}>JSON</a>
      </p>
    </section>
  );
};

const SnapshotTable: FC<SnapshotSectionProps> = ({ readings: around, chosen, window, trend }) => {
  const readings = chosen ?? around;
  const from = trend === null ? undefined : indexAt(readings, trend.from);
  const to = trend === null ? undefined : indexAt(readings, trend.to);
  const runs =
    chosen === undefined
      ? shownRuns(readings.length, to === undefined ? undefined : [from ?? 0, to])
      : shownRuns(readings.length, undefined, MOST_CHOSEN);
  const shown = runs.flatMap(([first, last]) => indexes(first, last));
  const [only, ...others] = new Set(shown.map((index) => readings.snapshot(index).source));
  if (only === undefined) return <p class="soft">There are none to show.</p>;
  const hasSources = others.length > 0;
  const groups = runs.toReversed().map(([first, last], i, all) => {
    const later = all[i - 1]?.[0];
    const rows = indexes(first, last)
      .toReversed()
      .map((index) => rowOf(readings, index));
    return later === undefined
      ? { rows }
      : { head: `${formatCount(later - last - 1)} more between these`, rows };
  });
  const markOf = (index: number) =>
    index === to ? `end of ${window}` : index === from ? `start of ${window}` : undefined;
  return (
    <Table
      label="Stored snapshots"
      caption={`Newest first · ${hasSources ? "" : `all ${SOURCE_WORDS[only]} · `}UTC`}
      class="snapshots"
      columns={[
        {
          head: "Captured",
          cell: ({ index, capturedAt }) => <Captured at={capturedAt} mark={markOf(index)} />,
        },
        { head: "Stars", isNumber: true, cell: ({ stars }) => formatCount(stars) },
        { head: "Gain", isNumber: true, cell: ({ gained }) => <Delta value={gained} /> },
        { head: "Forks", isNumber: true, cell: ({ forks }) => formatCount(forks) },
        { head: "Issues", isNumber: true, cell: ({ openIssues }) => formatCount(openIssues) },
        // Columns that would say the same in each row are left out.
        shown.some((index) => readings.snapshot(index).watchers !== null) && {
          head: "Watchers",
          isNumber: true,
          cell: ({ watchers }) => formatCount(watchers),
        },
        hasSources && { head: "Source", cell: ({ source }) => SOURCE_WORDS[source] },
      ]}
      rows={{ groups }}
      rowClass={({ index }) => (markOf(index) === undefined ? undefined : "marked")}
    />
  );
};

/** A snapshot with the gain since the one before; stars still held and totals are not compared. */
function rowOf(readings: Readings, index: number) {
  const snapshot = readings.snapshot(index);
  const previous = index === 0 ? undefined : readings.snapshot(index - 1);
  const gained =
    previous === undefined || isSeam(previous, snapshot) ? null : snapshot.stars - previous.stars;
  return { ...snapshot, index, gained };
}

const Captured: FC<{ at: number; mark: string | undefined }> = ({ at, mark }) => (
  <>
    <time datetime={isoTime(at)}>{formatTime(at).replace(" UTC", "")}</time>
    {mark === undefined ? null : (
      <>
        {" "}
        <span class="badge">{mark}</span>
      </>
    )}
  </>
);

function indexes(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** The index of the snapshot taken at exactly this time; undefined without one. */
export function indexAt(readings: Readings, at: number): number | undefined {
  const index = readings.countBefore(at);
  return readings.at(index) === at ? index : undefined;
}
