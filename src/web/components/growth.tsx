import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { type ChartPoint, DAY_STEP, gainsOf } from "../../charts/charts.js";
import type { Rank } from "../../discovery/discovery.js";
import {
  countAgo,
  type Explanation,
  gainWords,
  growthFrom,
  SCORE_LABELS,
  SCORE_NAMES,
  type ScoreName,
  type Series,
  type Trend,
  usualWords,
  WINDOW_LABELS,
  WINDOW_SHORT_LABELS,
  WINDOWS,
  type Window,
  whyWords,
  windowMs,
} from "../../growth/growth.js";
import { DAY_MS, HOUR_MS } from "../../lib/clock.js";
import type { Readings, Repository, SnapshotRange } from "../../repositories/repositories.js";
import { Link, Scroll, withQuery } from "./elements.js";
import {
  AsOf,
  capital,
  Delta,
  formatCount,
  formatDate,
  formatDelta,
  formatGrowth,
  formatTime,
} from "./numbers.js";
import { rankWords, weightiest } from "./ranks.js";
import { Bars, gainsBetween } from "./small-charts.js";
import { indexAt, Table } from "./table.js";

/** The growth of a repository on its page: in words, as tiles, and as a table with the reasons why it is missing or doubtful. */

interface HeadlineProps {
  window: Window;
  trend: Trend | null;
  /** The present ranks. */
  ranks: readonly Rank[];
  days: readonly DayGain[];
  series: Series;
  facts: NoGrowthFacts;
}

/** The growth in a sentence: the gain, how unusual it is, and the two weightiest ranks of the window. */
export const Headline: FC<HeadlineProps> = ({ window, trend, ranks, days, series, facts }) => {
  if (trend === null) return <p class="headline">{noGrowthText([window], facts)}</p>;
  const usual = usualWords(trend);
  const counted = gainWords(trend);
  const record = window === "24h" && trend.starsDelta > 0 ? recordWords(days, trend.to, series) : "";
  const named = weightiest(ranks.filter((rank) => (rank.window ?? window) === window))
    .filter(({ position }) => position <= HEADLINE_RANKS)
    .slice(0, 2)
    .map((rank) => rankWords(rank));
  return (
    <p class="headline">
      <Delta value={trend.starsDelta} /> stars in {WINDOW_LABELS[window]}
      {record === "" ? "" : `, ${record}`}
      {usual.includes("×") && !usual.startsWith("about") ? `: ${usual}` : ""}.
      {counted === undefined ? null : <small class="soft"> {capital(counted.full)}.</small>}
      {named.length === 0 ? "" : ` ${named.join(", ")}.`}
    </p>
  );
};

/** Lower ranks are not worth a headline. */
const HEADLINE_RANKS = 100;

/** Fewer days make no record, nor do fewer stars. */
const RECORD = { days: 30, stars: 20 };

/** "its best day on record" if the last day gained most of all, "since 3 Jan 2026" if nothing earlier is known; otherwise empty. */
export function recordWords(
  days: readonly DayGain[],
  to: number,
  { isFromCreation, unseen }: Series,
): string {
  const [best, last, first] = [bestDay(days), days.at(-1), days[0]];
  if (best === undefined || first === undefined || best !== last || to - best.at > DAY_MS) return "";
  return `its best day ${isFromCreation && unseen === null ? "on record" : `since ${formatDate(first.at)}`}`;
}

const ORDINALS = ["first", "second", "third", "fourth", "fifth"];

/** "its second day above 7,000 on record", of the last day; empty if more days were above the round number below it, or few are known. */
export function nthWords(days: readonly DayGain[], to: number): string {
  const last = days.at(-1);
  if (
    last === undefined ||
    days.length < RECORD.days / 2 ||
    last.change < RECORD.stars ||
    to - last.at > DAY_MS
  )
    return "";
  const step = 10 ** Math.floor(Math.log10(last.change));
  const round = Math.floor(last.change / step) * step;
  const nth = ORDINALS[days.filter(({ change }) => change > round).length - 1];
  return nth === undefined || last.change === round
    ? ""
    : `its ${nth} day above ${formatCount(round)} on record`;
}

/** The day that gained most; undefined with too few days or stars. */
export function bestDay(days: readonly DayGain[], least = RECORD.stars): DayGain | undefined {
  const best = days.reduce<DayGain | undefined>(
    (most, day) => (day.change > (most?.change ?? 0) ? day : most),
    undefined,
  );
  return days.length < RECORD.days || (best?.change ?? 0) < least ? undefined : best;
}

/** The stars gained in a day that ends at a time. */
export interface DayGain {
  at: number;
  change: number;
}

/** Tolerance for the two readings of a day. */
const DAY_READINGS = { from: 18 * HOUR_MS, to: 30 * HOUR_MS };

/** The gains of the days of a series, oldest first; days without two comparable readings a day apart are left out. */
export function dayGains(points: readonly ChartPoint[]): DayGain[] {
  return gainsOf(points, DAY_STEP).flatMap(({ since, at, change }) =>
    change !== null && at - since >= DAY_READINGS.from && at - since <= DAY_READINGS.to
      ? [{ at, change }]
      : [],
  );
}

/** The number of bars in a tile. */
const BARS: Readonly<Record<Window, number>> = { "24h": 14, "7d": 12, "30d": 12 };

interface TilesProps {
  url: URL;
  repository: Repository;
  window: Window;
  trends: Readonly<Record<Window, Trend | null>>;
  /** The stars of a year, oldest first. */
  points: readonly ChartPoint[];
  series: Series;
}

/** The stars, and the gain in each window with its last ones as bars; a tile selects the window of the page. */
export const Tiles: FC<TilesProps> = ({ url, repository, window, trends, points, series }) => (
  <nav class="tiles" aria-label="Window">
    <div class="tile">
      <span>Stars</span>
      <strong>{formatCount(repository.stars)}</strong>
      <Bars values={gainsBetween(points.slice(-31).map(({ value }) => value))} />
    </div>
    {WINDOWS.map((one) => {
      const trend = trends[one];
      return (
        <Link
          class="tile"
          href={withQuery(url, { window: one })}
          aria-current={one === window ? "true" : undefined}
        >
          <span>{WINDOW_LABELS[one]}</span>
          <strong>
            <Delta value={trend?.starsDelta} />
            {trend === null || trend.starsGrowth === null ? null : (
              <small class="soft spare"> {formatGrowth(trend.starsGrowth)}</small>
            )}
          </strong>
          <Bars values={lastGains(series, BARS[one], windowMs(one))} />
        </Link>
      );
    })}
  </nav>
);

/** The gains of the last windows of a length, oldest first, each as the trend of the last one is measured; null: unknown. */
function lastGains(series: Series, count: number, lengthMs: number): (number | null)[] {
  const { points } = series;
  const gains: (number | null)[] = [];
  let [at, stars] = [points.at(points.length - 1), Math.round(points.stars(points.length - 1))];
  while (gains.length < count && at > points.at(0)) {
    const from = countAgo(series, lengthMs, at);
    if (from === undefined || from.at >= at) break;
    gains.push(stars - from.stars);
    [at, stars] = [from.at, from.stars];
  }
  return [...new Array<null>(count - gains.length).fill(null), ...gains.reverse()];
}

interface ProofProps extends GrowthTableProps {
  trend: Trend | null;
  facts: NoGrowthFacts;
}

/** The evidence for the headline, folded: the two counts compared, how far they can be trusted, and the gains of all windows. */
export const Proof: FC<ProofProps> = ({ repository, trend, trends, readings, facts }) => (
  <details class="proof small">
    <summary class="soft">
      <AsOf at={facts.asOf} /> · How we know
    </summary>
    {trend === null ? null : (
      <p>
        <a href="#snapshots">{whyWords(trend, "stars").compared}</a>, confidence {trend.confidence.toFixed(2)}
        {trend.reliable ? "" : `: ${trend.confidenceReasons.join(", ") || "too low"}`}
        {partsText(trend)}
      </p>
    )}
    <GrowthTable repository={repository} trends={trends} readings={readings} />
    <GainNotes trends={trends} facts={facts} />
  </details>
);

/** Of a gain that begins in the star history and ends in our own counts: the part of each. */
function partsText({ parts }: Trend): string {
  const [held, own] = parts;
  if (held === undefined || own === undefined) return "";
  return `; ${formatDelta(held.starsDelta)} from the star history until ${formatDate(held.to)}, ${formatDelta(own.starsDelta)} from our own counts since then`;
}

interface GrowthTableProps {
  repository: Repository;
  trends: Readonly<Record<Window, Trend | null>>;
  /** The stored snapshots around those that the trends compare. */
  readings: Readings;
}

/** The counts of a repository, their gains in each window, and how reliable those are. */
const GrowthTable: FC<GrowthTableProps> = ({ repository, trends, readings }) => {
  const watchersAt = (at: number) => {
    const index = indexAt(readings, at);
    return index === undefined ? null : readings.snapshot(index).watchers;
  };
  const watchersDelta = ({ from, to }: Trend) => {
    const [before, after] = [watchersAt(from), watchersAt(to)];
    return before === null || after === null ? null : after - before;
  };
  const rows: { name: string; count?: number | null; gain: (trend: Trend) => Child }[] = [
    // The lines below this narrow table name the compared counts, and how much of the gains counts.
    { name: "Stars", count: repository.stars, gain: ({ starsDelta }) => <Delta value={starsDelta} /> },
    { name: "Forks", count: repository.forks, gain: ({ forksDelta }) => <Delta value={forksDelta} /> },
    {
      name: "Open issues",
      count: repository.openIssues,
      // More of them is neither good nor bad.
      gain: ({ openIssuesDelta }) => formatDelta(openIssuesDelta),
    },
    { name: "Watchers", count: repository.watchers, gain: (trend) => formatDelta(watchersDelta(trend)) },
    { name: "Star growth", gain: ({ starsGrowth }) => formatGrowth(starsGrowth) },
    {
      name: "Confidence",
      gain: ({ confidence, confidenceReasons, reliable }) => (
        <>
          <span title={confidenceReasons.join("; ")}>{confidence.toFixed(2)}</span>
          <small>{reliable ? "reliable" : "not reliable"}</small>
        </>
      ),
    },
  ];
  return (
    <Table
      label="Latest counts and gains in each window"
      class="growth"
      columns={[
        { head: "Count", cell: ({ name }) => name },
        {
          head: "Latest",
          isNumber: true,
          class: "strong",
          cell: ({ count }) => (count === undefined ? "" : formatCount(count)),
        },
        ...WINDOWS.map((window) => ({
          head: <abbr title={WINDOW_LABELS[window]}>{WINDOW_SHORT_LABELS[window]}</abbr>,
          isNumber: true,
          cell: ({ gain }: (typeof rows)[number]) => {
            const trend = trends[window];
            return trend === null ? <span class="soft">–</span> : gain(trend);
          },
        })),
      ]}
      rows={rows.filter(({ count }) => count !== null)}
    />
  );
};

interface GainNotesProps extends Pick<GrowthTableProps, "trends"> {
  facts: NoGrowthFacts;
}

/**
 * One line for each window whose gains need words: why there are none, the compared counts, how much of them counts ("7 days: +12,400
 * stars, none counted: dropped and recovered"), and why they are not reliable. Windows without growth for the same reason share a line.
 */
const GainNotes: FC<GainNotesProps> = ({ trends, facts }) => {
  const missing = WINDOWS.filter((window) => trends[window] === null);
  const reasons = Map.groupBy(missing, (window) => noGrowthReason(window, facts));
  const notes = WINDOWS.flatMap((window) => {
    const trend = trends[window];
    if (trend === null) return [];
    const counted = gainWords(trend);
    const stars = counted && [`${formatDelta(trend.starsDelta)} stars, ${counted.full}`];
    const parts = [...(stars ?? []), ...doubtsOf(trend)];
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

function doubtsOf({ reliable, confidenceReasons }: Trend): string[] {
  return reliable || confidenceReasons.length === 0 ? [] : [`not reliable: ${confidenceReasons.join(", ")}`];
}

interface NoGrowthFacts {
  stored: SnapshotRange;
  /** Time of its counts. */
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
  const from = `a count after ${formatTime(growthFrom(window, first))}`;
  if (snapshots === 1)
    return ` yet: growth compares two snapshots, its first of ${formatDate(first)} and ${from}`;
  const half = windowMs(window) / 2;
  if (isStale || last < (asOf ?? last) - half) return `: last update ${formatDate(last)}`;
  if (last - first < half) return ` yet: first snapshot ${formatDate(first)}, and growth needs ${from}`;
  return ": no snapshot is near enough to the start of that time";
}

/** The meanings of the values in the formulas. */
const VALUES = {
  gained: "Stars gained that count",
  usualDay: "Stars on a usual day",
  pace: "Stars a day",
} as const satisfies Record<keyof Explanation["trending"]["values"], string>;

/** Why a score is unknown; see docs/RANKINGS.md. */
const UNKNOWN: Readonly<Partial<Record<ScoreName, string>>> = {
  rising: "its usual day is not known, or the window is too long",
  newHot:
    "the date of its creation is not known and it does not seem to be young, or it may have had another name",
};

export interface ScoreExplanationProps {
  window: Window;
  explanation: Explanation | null;
  trend: Trend | null;
}

/** How the trending score is made up, and the other scores in a disclosure. */
export const ScoreExplanation: FC<ScoreExplanationProps> = ({ window, explanation, trend }) => {
  if (explanation === null || trend === null)
    return <p class="soft read">No scores for {WINDOW_LABELS[window]}, as there is no growth to score.</p>;
  const { score } = explanation.trending;
  return (
    <>
      {score === 0 ? (
        <p class="soft">
          {trend.starsDelta <= 0 ? "No stars were gained" : "None of the gained stars count"}, so the trending
          score is 0.
        </p>
      ) : null}
      <Scroll label="The trending score">
        <ScoreTable name="trending" explanation={explanation} window={window} />
      </Scroll>
      <details>
        <summary>Other scores</summary>
        {SCORE_NAMES.slice(1).map((name) => (
          <ScoreTable name={name} explanation={explanation} window={window} />
        ))}
      </details>
      <p class="soft small">
        Gains are scaled to {WINDOW_LABELS[window]}. <a href="/about">How scores work</a>
      </p>
    </>
  );
};

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });

/** A score with its formula and the values in it. */
export const ScoreTable: FC<{ name: ScoreName; explanation: Explanation; window: Window }> = ({
  name,
  explanation,
  window,
}) => {
  const { score, formula, values } = explanation[name];
  const { label, description } = SCORE_LABELS[name];
  if (score === null)
    return (
      <p class="soft read">
        <strong>{label}</strong> ({description}): cannot be computed, as{" "}
        {UNKNOWN[name] ?? "too little is known"}.
      </p>
    );
  return (
    <table class="terms">
      <caption>
        <strong>{label}</strong>, {WINDOW_LABELS[window]}: {score.toFixed(2)} = {formula}{" "}
        <span class="small">({description})</span>
      </caption>
      <tbody>
        {Object.entries(values).map(([value, number]) => (
          <tr>
            <th scope="row">{VALUES[value as keyof typeof VALUES]}</th>
            <td class="number">{whole.format(number)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};
