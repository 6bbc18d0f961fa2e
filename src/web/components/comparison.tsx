import type { FC } from "hono/jsx";
import { type Repository, startOfStep } from "../../catalog/catalog.js";
import { DAY_MS } from "../../clock.js";
import type { ChartInput, ChartSeries, ChartWindow, Metric } from "../../embeds/embeds.js";
import { forgeName } from "../../forges.js";
import { repositoryPage } from "../../page-addresses.js";
import { type Rank, type Trend, WINDOW_LABELS, WINDOWS, type Window } from "../../rankings/rankings.js";
import { Language } from "./language.js";
import { formatCount, formatDay, Gain } from "./numbers.js";
import { METRIC_WORDS } from "./plot.js";
import { Scroll } from "./scroll.js";
import { StillHeldNote } from "./still-held.js";

/** A repository in a comparison. */
export interface Compared {
  repository: Repository;
  trends: Readonly<Record<Window, Trend | undefined>>;
  ranks: readonly Rank[];
  /** Whether its counts are no longer recent. */
  isStale: boolean;
  /** The comparison without it. */
  without: string;
}

/** The numbers of the repositories, one row each. */
export const ComparisonTable: FC<{ compared: readonly Compared[] }> = ({ compared }) => (
  <Scroll label="Repositories side by side">
    <table class="compared">
      <caption class="hidden">Repositories side by side</caption>
      <thead>
        <tr>
          <th scope="col">
            <span class="hidden">Remove</span>
          </th>
          <th scope="col">Repository</th>
          <th scope="col" class="number">
            Stars
          </th>
          {WINDOWS.map((window) => (
            <th scope="col" class="number">
              {WINDOW_LABELS[window]}
            </th>
          ))}
          <th scope="col" class="number">
            Forks
          </th>
          <th scope="col" class="number">
            Open issues
          </th>
          <th scope="col" class="number">
            Rank by stars
          </th>
          <th scope="col" class="number">
            Rank in Trending, {WINDOW_LABELS["7d"]}
          </th>
          <th scope="col">Created</th>
          <th scope="col">Language</th>
        </tr>
      </thead>
      <tbody>
        {compared.map(({ repository, trends, ranks, without, isStale }) => (
          <tr>
            <td class="out">
              <a href={without} title="Remove" aria-label={`Remove ${repository.fullName}`}>
                ×
              </a>
            </td>
            <th scope="row">
              <a href={repositoryPage(repository)}>{repository.fullName}</a>{" "}
              <small class="soft">
                {forgeName(repository.provider)}
                {repository.availability === "AVAILABLE" ? "" : `, ${repository.availability.toLowerCase()}`}
                {repository.archived ? ", archived" : ""}
                {isStale ? `, not seen since ${formatDay(repository.countedAt)}` : ""}
              </small>
            </th>
            <td class="number strong">{formatCount(repository.stars)}</td>
            {WINDOWS.map((window) => (
              <td class="number">
                <Gain trend={trends[window]} measure="stars" />
              </td>
            ))}
            <td class="number">{formatCount(repository.forks)}</td>
            <td class="number">{formatCount(repository.openIssues)}</td>
            <td class="number">{rankText(ranks, "stars", null)}</td>
            <td class="number">{rankText(ranks, "trending", "7d")}</td>
            <td>{formatDay(repository.createdAt)}</td>
            <td>
              <Language name={repository.language} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
    <StillHeldNote trends={compared.flatMap(({ trends }) => WINDOWS.map((window) => trends[window]))} />
  </Scroll>
);

/** The overall rank, such as "#12"; a dash if it is not ranked. */
function rankText(ranks: readonly Rank[], ranking: Rank["ranking"], window: Window | null): string {
  const rank = ranks.find(
    (one) => one.ranking === ranking && one.window === window && one.scope === "overall",
  );
  return rank === undefined ? "–" : `#${formatCount(rank.position)}`;
}

const WEEK_MS = 7 * DAY_MS;
const MONTH_MS = 30.4375 * DAY_MS;

/** Row steps of ages. */
const AGE_STEPS_MS = { day: DAY_MS, week: WEEK_MS, month: MONTH_MS } as const;

/** The row step of a range: its name, and the start of the row of a time. */
function stepOf(
  range: ChartWindow,
  align: ChartInput["align"],
): { word: string; of: (at: number) => number } {
  const word = range === "30d" ? "day" : range === "all" ? "month" : "week";
  if (align === "age") {
    // Ages start at 0, not on a Monday or the first of a month.
    const step = AGE_STEPS_MS[word];
    return { word, of: (at) => Math.floor(at / step) * step };
  }
  if (word === "month")
    return { word, of: (at) => Date.UTC(new Date(at).getUTCFullYear(), new Date(at).getUTCMonth()) };
  return { word, of: (at) => startOfStep(at, word === "day" ? "1d" : "1w") };
}

/** The label of a row: a day, or an age. */
function nameOf(at: number, align: ChartInput["align"], word: string): string {
  if (align === "date") return formatDay(at);
  const unit = word === "month" ? "month" : "day";
  const count = Math.round(at / AGE_STEPS_MS[unit]);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

export interface ComparedNumbersProps {
  metric: Metric;
  range: ChartWindow;
  align: ChartInput["align"];
  series: readonly ChartSeries[];
}

/** The data of the chart: the last count of each repository in each day, week or month, newest first. */
export const ComparedNumbers: FC<ComparedNumbersProps> = ({ metric, range, align, series }) => {
  const { word, of } = stepOf(range, align);
  const columns = series.map(
    ({ points }) => new Map(points.map(({ at, value }) => [of(at), value] as const)),
  );
  const rows = [...new Set(columns.flatMap((column) => [...column.keys()]))].sort((a, b) => b - a);
  return (
    <details class="numbers">
      <summary>
        Chart data by {word} ({rows.length})
      </summary>
      <Scroll label="Chart data">
        <table>
          <caption class="hidden">
            {METRIC_WORDS[metric].title}: the last count of each {word}, newest first
          </caption>
          <thead>
            <tr>
              <th scope="col">{align === "age" ? "Age" : "From"}</th>
              {series.map(({ name }) => (
                <th scope="col" class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr>
                <th scope="row">{nameOf(row, align, word)}</th>
                {columns.map((column) => (
                  <td class="number">{formatCount(column.get(row) ?? null)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </details>
  );
};
