import type { FunctionComponent as FC } from "preact";
import { type Trend, WINDOW_LABELS, type Window } from "../../growth/growth.js";
import { isoTime } from "../../lib/clock.js";
import { repositoryPage } from "../../lib/page-addresses.js";
import { isSeam, type Readings, type Repository } from "../../repositories/repositories.js";
import { Delta, formatCount, formatTime, SOURCE_WORDS } from "./numbers.js";
import { Table } from "./table.js";

/** Snapshots shown before and after the ones compared, and at most between them. */
const AROUND = 2;
const MOST_BETWEEN = 12;
/** Where more are between them, the number shown after the first and before the second. */
const INSIDE = 3;
/** Snapshots shown where none are compared: the latest. */
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
  /** Those of the time that the chart shows, where the reader has chosen one; they are shown instead. */
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
    <details class="part snapshot-part" open={chosen !== undefined}>
      <summary>
        <h2>Snapshots</h2>
      </summary>
      <div id="snapshots">
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
      </div>
    </details>
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

/** A snapshot with what was gained since the one before; stars still held and totals are not compared. */
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
