import type { FunctionComponent as FC } from "preact";
import { type Trend, WINDOW_LABELS, type Window } from "../../growth/growth.js";
import { isoTime } from "../../lib/clock.js";
import { repositoryPage } from "../../lib/page-addresses.js";
import { isSeam, type Readings, type Repository, type Snapshot } from "../../repositories/repositories.js";
import { Scroll } from "./elements.js";
import { Delta, formatCount, formatTime, SOURCE_WORDS } from "./numbers.js";

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
  const columns: Columns = {
    watchers: shown.some((index) => readings.snapshot(index).watchers !== null),
    source: others.length > 0,
  };
  const markOf = (index: number) =>
    index === to ? `end of ${window}` : index === from ? `start of ${window}` : undefined;
  return (
    <Scroll label="Stored snapshots">
      <table class="snapshots">
        <caption class="small">
          Newest first · {columns.source ? "" : `all ${SOURCE_WORDS[only]} · `}UTC
        </caption>
        <Head columns={columns} />
        {runs.toReversed().map(([first, last], index) => (
          <>
            {index === 0 ? null : (
              <tbody>
                <tr>
                  <td colspan={5 + Number(columns.watchers) + Number(columns.source)} class="soft">
                    {formatCount((runs.at(-index)?.[0] ?? 0) - last - 1)} more between these
                  </td>
                </tr>
              </tbody>
            )}
            <tbody>
              {indexes(first, last)
                .toReversed()
                .map((index) => (
                  <SnapshotRow
                    snapshot={readings.snapshot(index)}
                    previous={index === 0 ? undefined : readings.snapshot(index - 1)}
                    mark={markOf(index)}
                    columns={columns}
                  />
                ))}
            </tbody>
          </>
        ))}
      </table>
    </Scroll>
  );
};

/** Columns that are left out where they would say the same in each row. */
interface Columns {
  watchers: boolean;
  source: boolean;
}

const Head: FC<{ columns: Columns }> = ({ columns }) => (
  <thead>
    <tr>
      <th scope="col">Captured</th>
      {["Stars", "Gain", "Forks", "Issues", ...(columns.watchers ? ["Watchers"] : [])].map((name) => (
        <th scope="col" class="number">
          {name}
        </th>
      ))}
      {columns.source ? <th scope="col">Source</th> : null}
    </tr>
  </thead>
);

interface SnapshotRowProps {
  snapshot: Snapshot;
  previous: Snapshot | undefined;
  mark: string | undefined;
  columns: Columns;
}

const SnapshotRow: FC<SnapshotRowProps> = ({ snapshot, previous, mark, columns }) => {
  const { capturedAt, stars, forks, openIssues, watchers, source } = snapshot;
  // Stars still held and totals are not compared.
  const gained = previous === undefined || isSeam(previous, snapshot) ? null : stars - previous.stars;
  return (
    <tr class={mark === undefined ? undefined : "marked"}>
      <th scope="row">
        <time datetime={isoTime(capturedAt)}>{formatTime(capturedAt).replace(" UTC", "")}</time>
        {mark === undefined ? null : (
          <>
            {" "}
            <span class="badge">{mark}</span>
          </>
        )}
      </th>
      <td class="number">{formatCount(stars)}</td>
      <td class="number">
        <Delta value={gained} />
      </td>
      <td class="number">{formatCount(forks)}</td>
      <td class="number">{formatCount(openIssues)}</td>
      {columns.watchers ? <td class="number">{formatCount(watchers)}</td> : null}
      {columns.source ? <td>{SOURCE_WORDS[source]}</td> : null}
    </tr>
  );
};

function indexes(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** The index of the snapshot taken at exactly this time; undefined without one. */
export function indexAt(readings: Readings, at: number): number | undefined {
  const index = readings.countBefore(at);
  return readings.at(index) === at ? index : undefined;
}
