import type { FunctionComponent as FC } from "preact";
import type { ListRow } from "../../discovery/discovery.js";
import { type Trend, timesUsual, timesWords, usualWords } from "../../growth/growth.js";
import { DAY_MS } from "../../lib/clock.js";
import { chartPage, repositoryPage } from "../../lib/page-addresses.js";
import type { Repository } from "../../repositories/repositories.js";
import { Ways } from "./elements.js";
import { Delta, formatCount, formatRate } from "./numbers.js";

/** How unusual a gain is, in a chip; in a ranking it opens and says why the repository has its place. */

/** From these multiples of the usual day on, a chip is stronger. The first is the least that has one. */
const STEPS = [2, 5, 20];

/** The step of a gain as it is written, from 0 on; undefined below the first. */
function stepOf(times: number | null): number | undefined {
  const step = STEPS.findLastIndex((least) => Number((times ?? 0).toPrecision(2)) >= least);
  return step < 0 ? undefined : step;
}

/** The chip of a repository. */
export const Times: FC<{ trend: Trend | undefined }> = ({ trend }) => (
  <TimesChip times={trend === undefined ? null : timesUsual(trend)} />
);

/** "22×" as a chip; nothing for a gain that is not unusual. */
export const TimesChip: FC<{ times: number | null }> = ({ times }) => {
  const step = stepOf(times);
  return times === null || step === undefined ? null : (
    <b class={`times times-${step + 1}`}>{timesWords(times)}</b>
  );
};

interface WhyProps {
  rows: readonly ListRow[];
  index: number;
  /** The place of the first row. */
  from?: number;
  isTrending?: boolean;
}

/** The chip of a row. In Trending it opens a panel: its gain and those of its neighbours, each against the usual. */
export const Why: FC<WhyProps> = ({ rows, index, from = 1, isTrending = false }) => {
  const row = rows[index];
  if (row?.trend === undefined || stepOf(timesUsual(row.trend)) === undefined) return null;
  if (!isTrending) return <Times trend={row.trend} />;
  const compared = [index - 1, index, index + 1].flatMap((at) => {
    const { repository, trend } = rows[at] ?? {};
    return repository === undefined || trend === undefined ? [] : [{ place: from + at, repository, trend }];
  });
  return (
    <details class="why" data-menu="">
      <summary>
        <span class="hidden">Why {row.repository.fullName} is here: </span>
        <Times trend={row.trend} />
      </summary>
      <div>
        <p>{whyText(compared, from + index)}</p>
        <PlaceBars rows={compared} place={from + index} />
        <Ways
          links={[
            ["Compare these", chartPage(compared.map(({ repository }) => repository))],
            ["Readings", `${repositoryPage(row.repository)}?window=${row.trend.window}#snapshots`],
          ]}
        />
      </div>
    </details>
  );
};

/** A repository with its place in a ranking, and its gain. */
export interface Placed {
  place: number;
  repository: Repository;
  trend: Trend;
}

/** "546 new stars, 25 are usual. #2 gained 875 over 77; #4 2,848 over 1,459." */
export function whyText(rows: readonly Placed[], place: number): string {
  const own = rows.find((row) => row.place === place);
  if (own === undefined) return "";
  const others = rows
    .filter((row) => row !== own)
    .map(({ place: other, trend }, i) => `#${other} ${i === 0 ? "gained " : ""}${overUsual(trend)}`);
  const [count, usual] = [formatCount(own.trend.starsDelta), usualOf(own.trend)];
  const lead = usual === null ? usualWords(own.trend) : `${formatRate(usual)} are usual`;
  return `${count} new stars, ${lead}.${others.length === 0 ? "" : ` ${others.join("; ")}.`}`;
}

function overUsual(trend: Trend): string {
  const usual = usualOf(trend);
  return `${formatCount(trend.starsDelta)}${usual === null ? "" : ` over ${formatRate(usual)}`}`;
}

/** The stars that are usual in the window of a gain. */
function usualOf({ usualPerDay, from, to }: Trend): number | null {
  return usualPerDay === null ? null : (usualPerDay * (to - from)) / DAY_MS;
}

/** Gains as bars to one scale, each over that of its usual days. */
export const PlaceBars: FC<{ rows: readonly Placed[]; place: number }> = ({ rows, place }) => {
  const most = Math.max(1, ...rows.flatMap(({ trend }) => [trend.starsDelta, usualOf(trend) ?? 0]));
  const widthOf = (value: number) => ((100 * Math.max(0, value)) / most).toFixed(1);
  return (
    <ol class="places">
      {rows.map(({ place: at, repository, trend }) => (
        <li class={at === place ? "here" : undefined}>
          <span class="place">{formatCount(at)}</span>
          <a href={repositoryPage(repository)}>
            <bdi class="owner">{repository.owner}/</bdi>
            <bdi>{repository.name}</bdi>
          </a>
          <svg viewBox="0 0 100 14" preserveAspectRatio="none" aria-hidden="true">
            <rect class={at === place ? "now" : "past"} width={widthOf(trend.starsDelta)} height="8" />
            <rect class="usual" y="9" width={widthOf(usualOf(trend) ?? 0)} height="4" />
          </svg>
          <Delta value={trend.starsDelta} />
          <span class="soft small">{formatRate(usualOf(trend))}</span>
        </li>
      ))}
    </ol>
  );
};
