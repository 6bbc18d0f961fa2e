import type { Child, FC } from "hono/jsx";
import type { Readings, Repository } from "../../catalog/catalog.js";
import {
  type CountedMeasure,
  gainWords,
  type Trend,
  WINDOW_LABELS,
  WINDOW_SHORT_LABELS,
  WINDOWS,
  type Window,
} from "../../rankings/rankings.js";
import { type NoGrowthFacts, noGrowthReason, noGrowthText } from "./no-growth.js";
import { Delta, formatCount, formatDelta, formatGrowth } from "./numbers.js";

export interface GrowthTableProps {
  repository: Repository;
  trends: Readonly<Record<Window, Trend | null>>;
  /** The stored snapshots around those that the trends compare. */
  readings: Readings;
}

/** The counts of a repository, their gains in each window, and how reliable those are. */
export const GrowthTable: FC<GrowthTableProps> = ({ repository, trends, readings }) => {
  const watchersAt = (at: number) => {
    const index = readings.countBefore(at);
    return readings.at(index) === at ? readings.snapshot(index).watchers : null;
  };
  const watchersDelta = ({ from, to }: Trend) => {
    const [before, after] = [watchersAt(from), watchersAt(to)];
    return before === null || after === null ? null : after - before;
  };
  const rows = [
    // The lines below this narrow table say what they compare, and how much of them counts.
    { name: "Stars", count: repository.stars, gain: ({ starsDelta }: Trend) => <Delta value={starsDelta} /> },
    { name: "Forks", count: repository.forks, gain: ({ forksDelta }: Trend) => <Delta value={forksDelta} /> },
    {
      name: "Open issues",
      count: repository.openIssues,
      // More of them is neither good nor bad.
      gain: ({ openIssuesDelta }: Trend) => formatDelta(openIssuesDelta),
    },
    ...(repository.watchers === null
      ? []
      : [
          {
            name: "Watchers",
            count: repository.watchers,
            gain: (trend: Trend) => formatDelta(watchersDelta(trend)),
          },
        ]),
  ];
  return (
    <table class="growth">
      <caption class="hidden">Latest counts and gains in each window</caption>
      <thead>
        <tr>
          <th scope="col">Count</th>
          <th scope="col" class="number">
            Latest
          </th>
          {WINDOWS.map((window) => (
            <th scope="col" class="number">
              <abbr title={WINDOW_LABELS[window]}>{WINDOW_SHORT_LABELS[window]}</abbr>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ name, count, gain }) => (
          <tr>
            <th scope="row">{name}</th>
            <td class="number strong">{formatCount(count)}</td>
            <Each trends={trends} cell={gain} />
          </tr>
        ))}
        <tr>
          <th scope="row">Star growth</th>
          <td />
          <Each trends={trends} cell={(trend) => formatGrowth(trend.starsGrowth)} />
        </tr>
        <tr>
          <th scope="row">Confidence</th>
          <td />
          <Each
            trends={trends}
            cell={({ confidence, confidenceReasons, reliable }) => (
              <>
                <span title={confidenceReasons.join("; ")}>{confidence.toFixed(2)}</span>
                <small>{reliable ? "reliable" : "not reliable"}</small>
              </>
            )}
          />
        </tr>
      </tbody>
    </table>
  );
};

interface GainNotesProps extends Pick<GrowthTableProps, "trends"> {
  facts: NoGrowthFacts;
}

/**
 * One line for each window whose gains need words: why it has none, what they compare, what of them counts ("7 days: +12,400
 * stars, none counted: dropped and recovered"), and why they are not reliable. Windows without growth for the same reason share a line.
 */
export const GainNotes: FC<GainNotesProps> = ({ trends, facts }) => {
  const missing = WINDOWS.filter((window) => trends[window] === null);
  const reasons = Map.groupBy(missing, (window) => noGrowthReason(window, facts));
  const notes = WINDOWS.flatMap((window) => {
    const trend = trends[window];
    if (trend === null) return [];
    const parts = [...countedParts(trend), ...doubtsOf(trend)];
    return parts.length === 0 ? [] : [`${WINDOW_LABELS[window]}: ${parts.join("; ")}`];
  });
  if (notes.length + reasons.size === 0) return null;
  return (
    <ul class="plain small">
      {[...notes, ...[...reasons.values()].map((windows) => noGrowthText(windows, facts))].map((note) => (
        <li>{note}</li>
      ))}
    </ul>
  );
};

function countedParts(trend: Trend): string[] {
  const partOf = (measure: CountedMeasure, delta: number | null) => {
    const words = gainWords(trend, measure);
    return words === undefined ? [] : [`${formatDelta(delta)} ${measure}, ${words.full}`];
  };
  return [...partOf("stars", trend.starsDelta), ...partOf("forks", trend.forksDelta)];
}

function doubtsOf({ reliable, confidenceReasons }: Trend): string[] {
  return reliable || confidenceReasons.length === 0 ? [] : [`not reliable: ${confidenceReasons.join(", ")}`];
}

/** A cell for each window; a dash without two snapshots to compare. */
const Each: FC<{ trends: GrowthTableProps["trends"]; cell: (trend: Trend) => Child }> = ({
  trends,
  cell,
}) => (
  <>
    {WINDOWS.map((window) => {
      const trend = trends[window];
      return <td class="number">{trend === null ? <span class="soft">–</span> : cell(trend)}</td>;
    })}
  </>
);
