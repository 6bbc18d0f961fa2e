import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import {
  type CountedMeasure,
  gainWords,
  type Trend,
  usualWords,
  WINDOW_LABELS,
  WINDOW_SHORT_LABELS,
  WINDOWS,
  type Window,
  whyWords,
  windowMs,
} from "../../growth/growth.js";
import type { Readings, Repository, SnapshotRange } from "../../repositories/repositories.js";
import { WindowTabs } from "./links.js";
import { AsOf, Delta, formatCount, formatDate, formatDelta, formatGrowth } from "./numbers.js";
import { indexAt } from "./snapshot-table.js";

/** The growth of a repository on its page: in the window of the page, in all windows, and why it has none or is doubtful. */

interface GainSummaryProps {
  url: URL;
  repository: Repository;
  window: Window;
  trend: Trend | null;
  facts: NoGrowthFacts;
}

/** The stars of a repository, its gain in the window of the page, and the evidence for it. */
export const GainSummary: FC<GainSummaryProps> = ({ url, repository, window, trend, facts }) => (
  <section class="gain-summary" aria-label="Stars and gain">
    <div class="apart">
      <p class="tally">
        <strong>{formatCount(repository.stars)}</strong> stars
        {trend === null ? null : (
          <span class="gained">
            <Delta value={trend.starsDelta} /> in {WINDOW_LABELS[window]}
            <CountedPart trend={trend} />
          </span>
        )}
      </p>
      <WindowTabs url={url} current={window} />
    </div>
    <p class="soft small">
      {trend === null ? noGrowthText([window], facts) : <WhyText trend={trend} asOf={facts.asOf} />}
    </p>
  </section>
);

/** The two counts, how unusual the gain is, how far it can be trusted, and how old it is. */
const WhyText: FC<{ trend: Trend; asOf: number | null }> = ({ trend, asOf }) => {
  const { compared, confidence } = whyWords(trend, "stars");
  return (
    <>
      <a href="#snapshots">{compared}</a>
      {` · ${usualWords(trend)} · ${confidence}${doubtText(trend)} · `}
      <AsOf at={asOf} />
    </>
  );
};

const CountedPart: FC<{ trend: Trend }> = ({ trend }) => {
  const words = gainWords(trend, "stars");
  return words === undefined ? null : <small class="soft"> ({words.full})</small>;
};

/** Why the gain is not reliable; empty for one that is. */
function doubtText({ reliable, confidenceReasons }: Trend): string {
  return reliable ? "" : `, not reliable: ${confidenceReasons.join(", ") || "too low"}`;
}

interface GrowthTableProps {
  repository: Repository;
  trends: Readonly<Record<Window, Trend | null>>;
  /** The stored snapshots around those that the trends compare. */
  readings: Readings;
}

/** The counts of a repository, their gains in each window, and how reliable those are. */
export const GrowthTable: FC<GrowthTableProps> = ({ repository, trends, readings }) => {
  const watchersAt = (at: number) => {
    const index = indexAt(readings, at);
    return index === undefined ? null : readings.snapshot(index).watchers;
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
 * One line for each window whose gains need words: why there are none, what they compare, how much of them counts ("7 days: +12,400
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

interface NoGrowthFacts {
  stored: SnapshotRange;
  /** The newest snapshot of its provider. */
  asOf: number | null;
  isStale: boolean;
}

/** Why a repository has no growth in these windows, in a sentence. */
function noGrowthText(windows: readonly Window[], facts: NoGrowthFacts): string {
  const names = windows.map((window) => WINDOW_LABELS[window]).join(" and ");
  return `No growth over ${names}${noGrowthReason(windows[0] ?? "24h", facts)}.`;
}

/** The end of the sentence "No growth over 7 days …". */
function noGrowthReason(window: Window, { stored, asOf, isStale }: NoGrowthFacts): string {
  const { snapshots, firstSnapshotAt: first, lastSnapshotAt: last } = stored;
  if (first === null || last === null) return ": no snapshot of it is stored";
  if (snapshots === 1) return ` yet: growth compares two snapshots, and its first is of ${formatDate(first)}`;
  const half = windowMs(window) / 2;
  if (isStale || last < (asOf ?? last) - half)
    return `: its last snapshot, of ${formatDate(last)}, is too old to count`;
  if (last - first < half)
    return ` yet: its snapshots begin on ${formatDate(first)}, too close to the last one`;
  return ": no snapshot is near enough to the start of that time";
}
