import type { FunctionComponent as FC } from "preact";
import {
  bestDay,
  bestPlace,
  type DayGain,
  dayOf,
  headlineOf,
  type Milestone,
  placeWords,
} from "../../charts/charts.js";
import type { Rank } from "../../discovery/discovery.js";
import {
  countAgo,
  type Explanation,
  gainWords,
  growthFrom,
  SCORE_LABELS,
  type Series,
  type Trend,
  WINDOW_LABELS,
  WINDOWS,
  type Window,
  whyWords,
  windowMs,
} from "../../growth/growth.js";
import type { SnapshotRange } from "../../repositories/repositories.js";
import type { RenderContext } from "../page-request.js";
import { Link, withQuery } from "./elements.js";
import { capital, Delta, formatDate, formatDelta, formatTime, isOld } from "./numbers.js";
import { Bars } from "./small-charts.js";

/** The growth of a repository on its page: in words, as tiles, and as a table with the reasons why it is missing or doubtful. */

interface HeadlineProps {
  window: Window;
  trend: Trend | null;
  /** The present ranks; none in a catalogue that is too small for them. */
  ranks: readonly Rank[];
  days: readonly DayGain[];
  /** The last round number, for a repository without a gain. */
  passed: Milestone | undefined;
  facts: NoGrowthFacts;
}

/** What happened in a sentence, and at most one place. */
export const Headline: FC<HeadlineProps> = (
  { window, trend, ranks, days, passed, facts },
  { now }: RenderContext,
) => {
  const headline = headlineOf(trend, { days, passed });
  if (trend === null || headline === undefined)
    return <p class="headline">{noGrowthText([window], facts)}</p>;
  const { gain, isRise, words } = headline;
  if (gain === "") return <p class="headline">{words}</p>;
  const counted = gainWords(trend);
  const place = bestPlace(ranks, window);
  return (
    <p class="headline">
      <span class={isRise ? "rise" : "fall"}>{gain}</span> {words}
      {place === undefined ? null : (
        <span class="soft"> {placeWords(place, now !== undefined && isOld(trend.to, now))}.</span>
      )}
      {counted === undefined ? null : <small class="soft"> {capital(counted.full)}.</small>}
    </p>
  );
};

/** The number of bars in a tile. */
const BARS: Readonly<Record<Window, number>> = { "24h": 14, "7d": 12, "30d": 12 };

interface TilesProps {
  url: URL;
  window: Window;
  trends: Readonly<Record<Window, Trend | null>>;
  series: Series;
  days: readonly DayGain[];
}

/** The gain in each window with the last ones as bars, and the best day; a tile selects the window of the page. */
export const Tiles: FC<TilesProps> = ({ url, window, trends, series, days }) => {
  const best = bestDay(days);
  return (
    <nav class="tiles" aria-label="Window">
      {WINDOWS.map((one) => (
        <Link
          class="tile card"
          href={withQuery(url, { window: one })}
          aria-current={one === window ? "true" : undefined}
        >
          <span>{WINDOW_LABELS[one]}</span>
          <strong>
            <Delta value={trends[one]?.starsDelta} />
          </strong>
          <Bars values={lastGains(series, BARS[one], windowMs(one))} height={36} />
        </Link>
      ))}
      <div class="tile card">
        <span>Best day</span>
        <strong class="record">{best === undefined ? "–" : formatDelta(best.change)}</strong>
        <small>{best === undefined ? "" : formatDate(dayOf(best.at))}</small>
      </div>
    </nav>
  );
};

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

interface ProofProps {
  trend: Trend | null;
  trends: Readonly<Record<Window, Trend | null>>;
  facts: NoGrowthFacts;
}

/** The evidence for the headline: the two counts compared, how far they can be trusted, and what is to say about other windows. */
export const Proof: FC<ProofProps> = ({ trend, trends, facts }) => (
  <>
    {trend === null ? null : (
      <p>
        <a href="#snapshots">{whyWords(trend, "stars").compared}</a>, confidence {trend.confidence.toFixed(2)}
        {trend.reliable ? "" : `: ${trend.confidenceReasons.join(", ") || "too low"}`}
        {partsText(trend)}
      </p>
    )}
    <GainNotes trends={trends} facts={facts} />
  </>
);

/** Of a gain that begins in the star history and ends in our own counts: the part of each. */
function partsText({ parts }: Trend): string {
  const [held, own] = parts;
  if (held === undefined || own === undefined) return "";
  return `; ${formatDelta(held.starsDelta)} from the star history until ${formatDate(held.to)}, ${formatDelta(own.starsDelta)} from our own counts since then`;
}

/**
 * One line for each window whose gains need words: why there are none, the compared counts, how much of them counts ("7 days: +12,400
 * stars, none counted: dropped and recovered"), and why they are not reliable. Windows without growth for the same reason share a line.
 */
const GainNotes: FC<Omit<ProofProps, "trend">> = ({ trends, facts }) => {
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
  const { snapshots, firstSnapshotAt } = facts.stored;
  if (snapshots === 1) return `Seen once, on ${formatDate(firstSnapshotAt)}.`;
  const names = windows.map((window) => WINDOW_LABELS[window]).join(" and ");
  return `No growth over ${names}${noGrowthReason(windows[0] ?? "24h", facts)}.`;
}

/** The end of the sentence "No growth over 7 days …". */
function noGrowthReason(window: Window, { stored, asOf, isStale }: NoGrowthFacts): string {
  const { firstSnapshotAt: first, lastSnapshotAt: last } = stored;
  if (first === null || last === null) return ": no snapshot of it is stored";
  const from = `a count after ${formatTime(growthFrom(window, first))}`;
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

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 2 });

/** The trending score with its formula and the values in it. */
export const ScoreTable: FC<{ explanation: Explanation; window: Window }> = ({ explanation, window }) => {
  const { score, formula, values } = explanation.trending;
  const { label, description } = SCORE_LABELS.trending;
  return (
    <table class="terms">
      <caption>
        <strong>{label}</strong>, {WINDOW_LABELS[window]}: {score?.toFixed(2)} = {formula}{" "}
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
