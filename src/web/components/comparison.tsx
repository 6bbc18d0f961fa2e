import type { FunctionComponent as FC } from "preact";
import { type History, longestPart, METRIC_WORDS, type Metric, noteOn } from "../../charts/charts.js";
import { forgeName } from "../../config/config.js";
import type { Rank } from "../../discovery/discovery.js";
import { type Trend, WINDOW_LABELS, WINDOWS, type Window } from "../../growth/growth.js";
import { DAY_MS } from "../../lib/clock.js";
import { repositoryPage } from "../../lib/page-addresses.js";
import type { Repository } from "../../repositories/repositories.js";
import { BadgeReasons, Badges, badgesOf } from "./badges.js";
import { Scroll } from "./elements.js";
import { Language } from "./language.js";
import { Delta, formatCount, formatDate, formatGrowth, Gain, StillHeldNote } from "./numbers.js";
import { LineSample } from "./plot.js";

/** The numbers of compared repositories: side by side, and their growth in the chart. */

/** A repository in a comparison. */
export interface Compared {
  repository: Repository;
  trends: Readonly<Record<Window, Trend | undefined>>;
  ranks: readonly Rank[];
  /** Whether its counts are no longer recent. */
  isStale: boolean;
}

/** The numbers of the repositories, one row each. */
export const ComparisonTable: FC<{ compared: readonly Compared[] }> = ({ compared }) => {
  const rows = compared.map((one) => ({
    ...one,
    badges: badgesOf({ ...one, trends: WINDOWS.map((window) => one.trends[window]) }),
  }));
  return (
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
          {rows.map(({ repository, trends, ranks, badges }) => (
            <tr>
              <th scope="row">
                <a href={repositoryPage(repository)}>{repository.fullName}</a>{" "}
                <small class="soft">{forgeName(repository.provider)}</small> <Badges badges={badges} />
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
              <td>{formatDate(repository.createdAt)}</td>
              <td>
                <Language name={repository.language} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <StillHeldNote trends={compared.flatMap(({ trends }) => WINDOWS.map((window) => trends[window]))} />
      {rows.map(({ repository, badges }) =>
        badges.some(({ reason }) => reason !== undefined) ? (
          <section class="small">
            <h3>{repository.fullName}</h3>
            <BadgeReasons badges={badges} />
          </section>
        ) : null,
      )}
    </Scroll>
  );
};

/** The overall rank, such as "#12"; a dash if it is not ranked. */
function rankText(ranks: readonly Rank[], ranking: Rank["ranking"], window: Window | null): string {
  const rank = ranks.find(
    (one) => one.ranking === ranking && one.window === window && one.scope === "overall",
  );
  return rank === undefined ? "–" : `#${formatCount(rank.position)}`;
}

/** The growth of one line over the time that a chart shows. */
interface ShownGain {
  /** Its newest count in this time; null without any. */
  latest: number | null;
  /** From its first count to its last; null with fewer than two that can be compared. */
  gained: number | null;
  /** `gained` as a part of the first count; null if that is 0. */
  growth: number | null;
  from: number | null;
  to: number | null;
  isRetained: boolean;
}

/**
 * The growth of a line. Totals and stars still held cannot be compared with each other, so it covers the basis that was counted
 * for longer.
 */
function shownGain({ points }: Pick<History, "points">): ShownGain {
  const part = longestPart(points);
  const latest = points.at(-1)?.value ?? null;
  if (part === undefined || part.first.at === part.last.at)
    return { latest, gained: null, growth: null, from: null, to: null, isRetained: false };
  const { first, last, basis } = part;
  const gained = last.value - first.value;
  return {
    latest,
    gained,
    growth: first.value > 0 ? gained / first.value : null,
    from: first.at,
    to: last.at,
    isRetained: basis === "RETAINED",
  };
}

/** A line that begins or ends within this time of the others covers the same days. */
const SAME_MS = 1.5 * DAY_MS;

/** The lines of a chart with their counts and their growth over the time it shows: its legend, and the numbers that people quote. */
export const ShownGains: FC<{ histories: readonly History[]; metric: Metric }> = ({ histories, metric }) => {
  const rows = histories.map((history) => ({ ...history, ...shownGain(history) }));
  const begin = Math.min(...rows.flatMap(({ from }) => from ?? []));
  const end = Math.max(...rows.flatMap(({ to }) => to ?? []));
  const hasGains = Number.isFinite(begin);
  return (
    <Scroll label="Growth in this chart">
      <table class="shown-gains">
        <caption class="hidden">Growth in this chart</caption>
        <thead>
          <tr>
            <th scope="col">Repository</th>
            <th scope="col" class="number">
              {METRIC_WORDS[metric].title}
            </th>
            <th scope="col" class="number">
              {hasGains ? `Gained since ${formatDate(begin)}` : "Gained"}
            </th>
            <th scope="col" class="number">
              <abbr title="Percent">%</abbr>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ repository, latest, gained, growth, from, to, isRetained, isStale }, i) => (
            <tr>
              <th scope="row">
                <LineSample class="line-mark" index={i} />{" "}
                <a href={repositoryPage(repository)}>
                  {repository.owner}/<wbr />
                  {repository.name}
                </a>{" "}
                <small class="soft">{noteOn(repository, isStale)}</small>
              </th>
              <td class="number strong">{formatCount(latest)}</td>
              <td class="number">
                <Delta value={gained} />
                <small class="counted">
                  {spanWords({ from, to, begin, end })}
                  {isRetained ? " stars still held" : ""}
                </small>
              </td>
              <td class="number">{formatGrowth(growth)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
};

/** The days a gain covers, if they are not those of the chart. */
function spanWords(span: Pick<ShownGain, "from" | "to"> & { begin: number; end: number }): string {
  const { from, to, begin, end } = span;
  if (from === null || to === null) return "";
  const isLate = from - begin > SAME_MS;
  const isEarly = end - to > SAME_MS;
  if (isEarly) return `${formatDate(from)} to ${formatDate(to)}`;
  return isLate ? `since ${formatDate(from)}` : "";
}
