import type { FC } from "hono/jsx";
import type { Repository } from "../../catalog/catalog.js";
import { DAY_MS } from "../../clock.js";
import type { ChartInput, ChartSeries, Metric } from "../../embeds/embeds.js";
import { forgeName } from "../../forges.js";
import { type RepositoryName, repositoryPage } from "../../page-addresses.js";
import { type Rank, type Trend, WINDOW_LABELS, WINDOWS, type Window } from "../../rankings/rankings.js";
import { type BadgeFacts, BadgeReasons, Badges, badgesOf } from "./badges.js";
import { Language } from "./language.js";
import { formatCount, formatDay, Gain } from "./numbers.js";
import { METRIC_WORDS } from "./plot.js";
import { type RowStep, rowStep } from "./row-step.js";
import { Scroll } from "./scroll.js";
import { StillHeldNote } from "./still-held.js";

/** A repository in a comparison. */
export interface Compared {
  repository: Repository;
  trends: Readonly<Record<Window, Trend | undefined>>;
  ranks: readonly Rank[];
  /** Whether its counts are no longer recent. */
  isStale: boolean;
  /** Under which name it seems to continue. */
  movedTo: RepositoryName | undefined;
}

/** The numbers of the repositories, one row each. */
export const ComparisonTable: FC<{ compared: readonly Compared[] }> = ({ compared }) => (
  <Scroll label="Repositories side by side">
    <table class="compared">
      <caption class="hidden">Repositories side by side</caption>
      <thead>
        <tr>
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
        {compared.map((one) => {
          const { repository, trends, ranks } = one;
          return (
            <tr>
              <th scope="row">
                <a href={repositoryPage(repository)}>{repository.fullName}</a>{" "}
                <small class="soft">{forgeName(repository.provider)}</small> <Badges {...badgeFacts(one)} />
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
          );
        })}
      </tbody>
    </table>
    <StillHeldNote trends={compared.flatMap(({ trends }) => WINDOWS.map((window) => trends[window]))} />
    {compared.map((one) =>
      badgesOf(badgeFacts(one)).some(({ reason }) => reason !== undefined) ? (
        <section class="small">
          <h3>{one.repository.fullName}</h3>
          <BadgeReasons {...badgeFacts(one)} />
        </section>
      ) : null,
    )}
  </Scroll>
);

function badgeFacts({ repository, trends, isStale, movedTo }: Compared): BadgeFacts {
  return { repository, isStale, movedTo, trends: WINDOWS.map((window) => trends[window]) };
}

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

/** The row step of the points that are shown. */
function stepOf({ align, series }: Pick<ComparedNumbersProps, "align" | "series">): RowStep {
  const starts = series.flatMap(({ points }) => points[0]?.at ?? []);
  const ends = series.flatMap(({ points }) => points.at(-1)?.at ?? []);
  const step = rowStep(Math.max(...ends) - Math.min(...starts));
  if (align === "date") return step;
  // Ages start at 0, not on a Monday or the first of a month.
  const lengthMs = AGE_STEPS_MS[step.word];
  return { word: step.word, of: (at) => Math.floor(at / lengthMs) * lengthMs };
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
  align: ChartInput["align"];
  series: readonly ChartSeries[];
}

/** The data of the chart: the last count of each repository in each day, week or month, newest first. */
export const ComparedNumbers: FC<ComparedNumbersProps> = ({ metric, align, series }) => {
  const { word, of } = stepOf({ align, series });
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
