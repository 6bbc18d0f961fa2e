import type { FunctionComponent as FC } from "preact";
import {
  bestDay,
  type ChartPoint,
  chartPoints,
  type DayGain,
  dayGains,
  MAX_SERIES,
} from "../../charts/charts.js";
import { type ListRow, listPage, listQuery } from "../../discovery/discovery.js";
import { lastDays, readSeveralSeries, type Trend } from "../../growth/growth.js";
import { DAY_MS } from "../../lib/clock.js";
import { chartPage } from "../../lib/page-addresses.js";
import type { Repository } from "../../repositories/repositories.js";
import { type Fact, Facts, NameLink } from "../components/elements.js";
import { timeWords } from "../components/front.js";
import { monthWords, type Next, nextRound, PACE_DAYS } from "../components/next.js";
import {
  AsOf,
  Delta,
  formatCompact,
  formatCount,
  formatDate,
  formatDelta,
  isOld,
  withEmoji,
} from "../components/numbers.js";
import { DayBars, Life } from "../components/small-charts.js";
import type { Page, PageRequest } from "../page-request.js";
import { sharePage } from "../share.js";
import { AskForm, type Asking } from "../tracking.js";

/** The first page of a catalogue of so few repositories that they are somebody's own: each with its life, and all together. */

/** A repository with its past. */
interface Own {
  row: ListRow;
  month: Trend | undefined;
  points: readonly ChartPoint[];
  days: readonly DayGain[];
  best: DayGain | undefined;
  next: Next | undefined;
}

/** Fewer stars make no best day. */
const LEAST_BEST = 3;

async function readOwn({ modules, now }: PageRequest): Promise<Own[]> {
  const { rows } = await listPage(modules, listQuery.parse({ sort: "stars", window: "7d" }));
  const ids = rows.map(({ repository }) => repository.id);
  const months = await modules.rankings.trends(ids, "30d");
  const pasts = new Map<number, Pick<Own, "points" | "days" | "next">>();
  for await (const [id, { series }] of readSeveralSeries(modules.database, ids)) {
    const all = chartPoints(series, "stars");
    // What came between its creation and the first count is unknown.
    const points = all[1]?.isApart ? all.slice(1) : all;
    const end = points.at(-1)?.at ?? now;
    const next = isOld(end, now) ? undefined : nextRound(lastDays(series, PACE_DAYS), end);
    pasts.set(id, { points, next, days: dayGains(points) });
  }
  return rows.map((row) => {
    const past = pasts.get(row.repository.id) ?? { points: [], days: [], next: undefined };
    return { row, month: months.get(row.repository.id), best: bestDay(past.days, LEAST_BEST), ...past };
  });
}

/** All of them together. */
interface Total {
  stars: number | null;
  week: number | null;
  month: number | null;
  /** Gained on each of the last days up to `end`; null: unknown. */
  days: readonly (number | null)[];
  end: number;
  best: DayGain | undefined;
}

const sumOf = (values: readonly (number | null | undefined)[]): number | null =>
  values.reduce<number | null>((sum, value) => (value == null ? sum : (sum ?? 0) + value), null);

function totalOf(own: readonly Own[]): Total {
  const gains = Map.groupBy(
    own.flatMap(({ days }) => days),
    ({ at }) => Math.floor(at / DAY_MS),
  );
  const changeOn = (day: number) => sumOf((gains.get(day) ?? []).map(({ change }) => change));
  const dated = [...gains.keys()].sort((a, b) => a - b);
  const [first = 0, last = 0] = [dated[0], dated.at(-1)];
  const length = Math.min(PACE_DAYS, last - first + 1);
  return {
    stars: sumOf(own.map(({ row }) => row.repository.stars)),
    week: sumOf(own.map(({ row }) => row.trend?.starsDelta)),
    month: sumOf(own.map(({ month }) => month?.starsDelta)),
    days: Array.from({ length }, (_, i) => changeOn(last - length + 1 + i)),
    end: last * DAY_MS,
    best: bestDay(
      dated.map((day) => ({ at: day * DAY_MS, change: changeOn(day) ?? 0 })),
      LEAST_BEST,
    ),
  };
}

/** The page; `asking`: who may add to it. */
export async function showYours(
  request: PageRequest,
  asking: Asking,
): Promise<Pick<Page, "title" | "body" | "showsAge">> {
  const { now, summary } = request;
  const isPast = isOld(summary.asOf, now);
  const own = await readOwn(request);
  const total = totalOf(own);
  // One has the whole width, and two have half of it each.
  const wide = [undefined, { width: 1104, height: 260 }, { width: 542, height: 180 }][own.length];
  return {
    title: "Yours",
    showsAge: true,
    body: (
      <>
        <div class="mast">
          <div>
            <h1>Yours</h1>
            <p class="say">
              <Story own={own} week={total.week} {...{ now, isPast }} />
            </p>
            {isPast ? (
              <p class="soft">
                <AsOf at={summary.asOf} measured={summary.measured} />
              </p>
            ) : null}
          </div>
          {asking.isOpen ? <AskForm asking={asking} isAdding /> : null}
        </div>
        <Summary total={total} count={own.length} />
        <ul class="own">
          {own.map((one) => (
            <OwnCard own={one} {...{ now, isPast, wide }} />
          ))}
        </ul>
        <Elsewhere repositories={own.map(({ row }) => row.repository)} />
      </>
    ),
  };
}

interface Present {
  now: number;
  /** Whether the numbers are too old to speak of the present. */
  isPast: boolean;
}

interface StoryProps extends Present {
  own: readonly Own[];
  week: number | null;
}

/** The week in a sentence, and what comes next. */
const Story: FC<StoryProps> = ({ own, week, now, isPast }) => {
  const gainOf = ({ row }: Own) => row.trend?.starsDelta ?? 0;
  const [first] = own.toSorted((a, b) => gainOf(b) - gainOf(a));
  const [next] = own
    .flatMap((one) => (one.next === undefined ? [] : [{ ...one, next: one.next }]))
    .sort((a, b) => a.next.at - b.next.at);
  const isAlone = own.length === 1;
  return (
    <>
      {first === undefined || week === null ? (
        "Growth follows the second count."
      ) : week <= 0 || gainOf(first) <= 0 ? (
        `${isPast ? "Seven quiet days" : "A quiet week"}.`
      ) : isAlone ? (
        `${formatCount(week)} new stars ${timeWords("7d", isPast)}.`
      ) : (
        <>
          {formatCount(gainOf(first))} of {isPast ? "" : "this week’s "}
          {formatCount(week)} stars{isPast ? " in 7 days" : ""} went to{" "}
          <NameLink repository={first.row.repository} />.
        </>
      )}
      {next === undefined ? null : (
        <>
          {" "}
          Next: {isAlone ? "it" : <b>{next.row.repository.name}</b>} passes {formatCount(next.next.stars)}{" "}
          {monthWords(next.next.at, now)}.
        </>
      )}
    </>
  );
};

const Summary: FC<{ total: Total; count: number }> = ({ total, count }) => (
  <section class="card totals" aria-label={count === 1 ? "In all" : `All ${count} together`}>
    <Facts
      facts={[
        { name: "Stars", value: formatCount(total.stars) },
        { name: "7 days", value: <Delta value={total.week} /> },
        { name: "30 days", value: <Delta value={total.month} /> },
        ...(total.best === undefined ? [] : [bestFact(total.best)]),
      ]}
    />
    {total.days.length < 2 ? null : (
      <div>
        <DayBars
          values={total.days}
          end={total.end}
          wide={{ width: 560, height: 112 }}
          narrow={{ width: 326, height: 96 }}
        />
      </div>
    )}
  </section>
);

const bestFact = ({ at, change }: DayGain): Fact => ({
  name: "Best day",
  value: <span class="record">{formatDelta(change)}</span>,
  more: formatDate(at),
});

interface OwnCardProps extends Present {
  own: Own;
  /** The size of its chart on a wide screen, if that differs. */
  wide: { width: number; height: number } | undefined;
}

const OwnCard: FC<OwnCardProps> = ({ own: one, now, isPast, wide }) => {
  const { row, points, best } = one;
  const { repository, trend } = row;
  const gain = trend?.starsDelta ?? null;
  return (
    <li class="card">
      <h2>
        <NameLink repository={repository} />
      </h2>
      <p class="about">
        <bdi>{withEmoji(repository.description ?? "")}</bdi>
      </p>
      <p class="own-now">
        <b>{formatCount(repository.stars)}</b>
        {gain === null ? (
          <span class="soft">since {formatDate(points[0]?.at ?? repository.discoveredAt)}</span>
        ) : gain === 0 ? (
          <span class="soft">quiet {timeWords("7d", isPast)}</span>
        ) : (
          <span>
            <Delta value={gain} /> <span class={gain > 0 ? "rise" : "fall"}>{timeWords("7d", isPast)}</span>
          </span>
        )}
      </p>
      <div class={wide && "plot-narrow"}>
        <Life points={points} best={best} />
      </div>
      {wide === undefined ? null : (
        <div class="plot-wide">
          <Life points={points} best={best} {...wide} />
        </div>
      )}
      <Facts facts={factsOf(one, now)} />
    </li>
  );
};

function factsOf({ month, best, next }: Own, now: number): Fact[] {
  const facts: Fact[] = [
    { name: "30 days", value: month?.starsDelta === 0 ? "quiet" : <Delta value={month?.starsDelta} /> },
  ];
  if (best !== undefined) facts.push({ name: "Best day", value: formatDate(best.at) });
  if (next === undefined) return facts;
  const value = (
    <>
      <b>{formatCompact(next.stars)}</b> {monthWords(next.at, now)}
    </>
  );
  return [...facts, { name: "Next", value }];
}

/** Pictures of them for other places. */
const Elsewhere: FC<{ repositories: readonly Repository[] }> = ({ repositories }) => {
  const shown = repositories.slice(0, MAX_SERIES);
  const isAll = shown.length === repositories.length;
  const words = isAll
    ? shown.length === 1
      ? ""
      : ` of all ${shown.length}`
    : ` of the first ${shown.length}`;
  return (
    <section class="elsewhere">
      <div>
        <h2>Show them elsewhere</h2>
        <p class="soft">A picture, a badge for a README, or a comparison.</p>
      </div>
      <p>
        <a class="button press" href={sharePage(shown, "post")}>
          Picture{words}
        </a>
        <a class="button" href={sharePage(shown, "badge")}>
          Badges
        </a>
        {shown.length < 2 ? null : (
          <a class="button" href={chartPage(shown)}>
            Compare {isAll ? "all" : `the first ${shown.length}`}
          </a>
        )}
      </p>
    </section>
  );
};
