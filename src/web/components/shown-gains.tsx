import { raw } from "hono/html";
import type { FC } from "hono/jsx";
import { DAY_MS } from "../../clock.js";
import { drawMark, type History, longestPart, type Metric, noteOn } from "../../embeds/embeds.js";
import { repositoryPage } from "../../page-addresses.js";
import { Delta, formatCount, formatDate, formatGrowth } from "./numbers.js";
import { METRIC_WORDS } from "./plot.js";
import { Scroll } from "./scroll.js";

/** The growth of one line over the time that a chart shows. */
export interface ShownGain {
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
export function shownGain({ points }: Pick<History, "points">): ShownGain {
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

/** The lines of a chart with their counts and their growth over the time it shows: its legend, and what people quote. */
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
                <LineMark index={i} />{" "}
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

/** The line of a chart as a sign: its colour and its marker. */
export const LineMark: FC<{ index: number }> = ({ index }) => (
  <svg class="line-mark" viewBox="0 0 26 12" aria-hidden="true">
    <path class={`chart-line-${index + 1}`} d="M1 6H20" stroke-width="2.3" />
    {raw(drawMark({ x: 20, y: 6 }, index + 1, { size: 4.2 }).xml)}
  </svg>
);
