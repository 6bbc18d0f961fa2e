import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { z } from "zod";
import {
  alignedAt,
  type ChartPoint,
  chartPoints,
  countAt,
  crossingsOf,
  gainOfLine,
  type History,
  isByDate,
  METRIC_WORDS,
  missingReason,
  monthWords,
  newestOf,
  noteOn,
  paceOf,
  passingsOf,
  readHistory,
  type Standing,
  seriesOf,
  shortNamesOf,
  spansOf,
  standingsOf,
  storyOf,
  subjectOf,
  THEMES,
  viewOf,
} from "../../charts/charts.js";
import {
  readSeveralSeries,
  shownPoints,
  type Trend,
  WINDOW_LABELS,
  WINDOWS,
  type Window,
} from "../../growth/growth.js";
import { DAY_MS, WEEK_MS } from "../../lib/clock.js";
import { chartPage, queryOf, repositoryKey, repositoryPage } from "../../lib/page-addresses.js";
import type { Modules } from "../../modules.js";
import type { Repository } from "../../repositories/repositories.js";
import {
  alignedParameters,
  ChartControls,
  ChartDates,
  LookOptions,
  readChartQuery,
} from "../components/chart-controls.js";
import { AddForm, Chosen, RefusedNames } from "../components/chosen-repositories.js";
import { Link, withQuery } from "../components/elements.js";
import { Delta, formatCount, formatDate, formatGrowth, formatRate, Gain } from "../components/numbers.js";
import { LineSample, PLOT_SCRIPTS, Plot } from "../components/plot.js";
import { Bars, gainsBetween, Lines } from "../components/small-charts.js";
import { ComparedNumbers, Table } from "../components/table.js";
import { READING_SECONDS, Reading } from "../components/tracking-state.js";
import { isUnknown, readComparedNames } from "../naming.js";
import { Problems } from "../page.js";
import type { Page, PageRequest } from "../page-request.js";
import { SHARE_SCRIPTS, ShareChart } from "../share.js";
import { FIELD_SCRIPTS, NotIt, offerTracking, readAsking, readingOf, TrackButton } from "../tracking.js";

/** The parameters of the page besides `repo`. */
export const compareQuery = alignedParameters.extend({
  theme: z.enum(THEMES).default("auto"),
});
type State = z.output<typeof compareQuery>;

/** Repositories on one chart: who passed whom, who leads, and what is next. */
export async function showComparison(request: PageRequest): Promise<Page> {
  const comparison = await readComparison(request);
  const { repositories, problems, names, requests, story } = comparison;
  const keys = repositories.map(repositoryKey);
  const fullNames = repositories.map(({ fullName }) => fullName);
  return {
    title: keys.length === 0 ? "Compare repositories" : `Compare ${fullNames.join(", ")}`,
    status: problems.length === 0 && names.refused.length === 0 && !names.isCut ? 200 : 400,
    ...(requests.length > 0 && { isFresh: true, isLive: true, refreshSeconds: READING_SECONDS }),
    description: story?.clauses.join(", ") ?? "Up to six repositories on one chart, and who passed whom.",
    canonical:
      keys.length === 0 ? "/compare" : `/compare?${queryOf(keys.map((key) => ["repo", key] as const))}`,
    scripts: [...PLOT_SCRIPTS, ...SHARE_SCRIPTS, "compare.js", ...FIELD_SCRIPTS],
    body: <Comparison {...comparison} />,
  };
}

type ComparisonData = Awaited<ReturnType<typeof readComparison>>;

async function readComparison(request: PageRequest) {
  const { modules, url } = request;
  const { query: state, problems, ...parsed } = readChartQuery(compareQuery, url);
  const given = await readComparedNames(modules, url.searchParams.getAll("repo"));
  const { repositories, refused } = given;
  const unknown = refused.filter(isUnknown).map(({ text }) => text);
  const asking = await readAsking(request);
  const [only, ...others] = repositories;
  const [compared, examples, similar, { offers, reading }, read] = await Promise.all([
    readCompared(modules, repositories, state),
    only === undefined ? readExamples(modules) : [],
    only === undefined || others.length > 0 ? [] : readSimilar(modules, only),
    offerTracking(request, asking, unknown),
    Promise.all(repositories.map((one) => readingOf(request, one))),
  ]);
  const texts = new Set(reading.map(({ text }) => text));
  return {
    ...{ state, problems, repositories, compared, examples, similar, offers },
    story: storyOf(compared, METRIC_WORDS[state.metric].unit),
    /** Those that are left out, without those that are being read. */
    names: { ...given, refused: refused.filter(({ text }) => !texts.has(text)) },
    /** The first name that was not found, to correct. */
    unknown: unknown[0] ?? "",
    requests: [...reading.map((one) => one.request), ...read.filter((one) => one !== undefined)],
    /** The address of the comparison as it is read, and the one that was sent. */
    here: new URL(withQuery(parsed.url, { repo: repositories.map(repositoryKey) }), "http://localhost"),
    sent: `${url.pathname}${url.search}`,
    mayAsk: asking.isOpen,
  };
}

const Comparison: FC<ComparisonData> = (comparison) => {
  const { problems, repositories, names, requests, offers, here, sent, mayAsk } = comparison;
  const keys = repositories.map(repositoryKey);
  const chosen = Object.fromEntries([...here.searchParams].filter(([name]) => name !== "repo"));
  return (
    <div
      id="comparison"
      data-whole=""
      data-chart=""
      data-live={requests.length > 0 ? "comparison" : undefined}
    >
      <Heading {...comparison} />
      <Problems problems={problems} isLeftOut />
      <RefusedNames names={names} here={here} askedIn={mayAsk ? sent : undefined} />
      {names.taken.map(({ text, repository, others }) => (
        <NotIt
          {...{ text, others, mayAsk }}
          comparison={{
            next: sent,
            hrefOf: (other) =>
              withQuery(here, {
                repo: repositories.map((one) => repositoryKey(one.id === repository.id ? other : one)),
              }),
          }}
        />
      ))}
      {requests.map((one) => (
        <section class="note">
          <h2>{one.fullName}</h2>
          <Reading request={one} />
        </section>
      ))}
      <TrackButton offers={offers} next={sent} />
      <div class="compare-bar">
        <div class="row">
          <Chosen repositories={repositories} here={here} />
          <AddForm keys={keys} state={chosen} refused={comparison.unknown} />
        </div>
        {keys.length === 0 ? null : <Controls {...comparison} />}
      </div>
      {keys.length === 0 ? <Examples {...comparison} /> : <ComparisonChart {...comparison} />}
      {keys.length === 0 ? null : <ComparisonTable {...comparison} />}
    </div>
  );
};

/** What happened, and what is next; without repositories what the page is for. */
const Heading: FC<ComparisonData> = ({ repositories, state: { metric }, story }) =>
  repositories.length === 0 ? (
    <>
      <h1>Compare repositories</h1>
      <p class="say soft">Two to six repositories on one chart: who passed whom, and who is next.</p>
    </>
  ) : (
    <>
      <p class="crumb small">
        <Link href="/compare" isControl>
          Compare
        </Link>
      </p>
      <h1>
        {metric === "stars" || repositories.length < 2 ? "" : `${METRIC_WORDS[metric].title}: `}
        {(story?.clauses ?? ["Compare repositories"]).map((clause, i, { length }) => (
          <>
            <span class="clause">
              {clause}
              {i < length - 1 ? "," : ""}
            </span>{" "}
          </>
        ))}
      </h1>
      {story?.next === undefined ? null : <p class="say soft">{story.next}</p>}
    </>
  );

const Controls: FC<ComparisonData> = ({ state, compared, repositories, here }) => (
  <div class="row">
    <ChartControls
      url={here}
      state={state}
      aligned={alignedAt(
        compared.map(({ history }) => history),
        state,
      )}
      section="comparison"
    />
    <ShareChart {...{ state, repositories }} />
  </div>
);

const ComparisonChart: FC<ComparisonData> = ({ state, compared, similar, here }) => {
  const { metric, align, scale } = state;
  const view = viewOf(state);
  const histories = compared.map(({ history }) => history);
  const aligned = alignedAt(histories, state);
  const series = seriesOf(histories, aligned);
  const subject = subjectOf({ metric, view, ...aligned });
  const ends = histories.flatMap(({ points }) => [points[0]?.at ?? [], points.at(-1)?.at ?? []].flat());
  const shown = ends.length === 0 ? undefined : { from: Math.min(...ends), to: Math.max(...ends) };
  const hasChart = series.some(({ points }) => points.length > 1);
  return (
    <section id="chart" class="card compared-chart">
      <h2 class="hidden">{subject}</h2>
      {hasChart ? (
        <Plot
          {...{ metric, series, view, scale, ...aligned, asOf: newestOf(histories) }}
          spans={spansOf(histories, metric)}
          label={`${subject}: ${series.map(({ name }) => name).join(", ")}`}
          canZoom={isByDate(align)}
        />
      ) : (
        <p class="plot-empty">{missingReason(histories, { metric, ...aligned })}</p>
      )}
      <div class="chart-foot">
        {isByDate(align) ? <ChartDates {...{ url: here, state, shown }} section="comparison" /> : null}
        {hasChart ? <ComparedNumbers {...{ metric, align, series, view }} /> : null}
        <LookOptions {...{ url: here, state, align }} section="comparison" />
        {passingsOf({ series, align, view }).length === 0 ? null : (
          <p class="soft">
            <svg class="ring" viewBox="0 0 12 12" aria-hidden="true">
              <circle cx="6" cy="6" r="4.5" />
            </svg>{" "}
            one passes another
          </p>
        )}
      </div>
      {similar.length === 0 ? null : (
        <p>
          Compare it with{" "}
          {similar.map((one, i) => (
            <>
              {i === 0 ? "" : ", "}
              <a href={withQuery(here, { repo: [...here.searchParams.getAll("repo"), repositoryKey(one)] })}>
                {one.fullName}
              </a>
            </>
          ))}
        </p>
      )}
    </section>
  );
};

/** A repository in a comparison: what the chart shows of it, and its last weeks. */
interface Compared {
  name: string;
  history: History;
  trends: Readonly<Record<Window, Trend | null>>;
  points: readonly ChartPoint[];
  perDay: number | null;
  /** Gains of its last weeks, oldest first; null: unknown. */
  weeks: readonly (number | null)[];
}

const WEEKS = 17;

export async function readCompared(
  modules: Modules,
  repositories: readonly Repository[],
  { range: window, ...state }: State,
): Promise<Compared[]> {
  const names = shortNamesOf(repositories);
  return Promise.all(
    repositories.map(async (repository, i) => {
      const trends = await modules.rankings.trendsOf(repository.id);
      const request = { ...state, window, trends: Object.values(trends) };
      const history = await readHistory(modules, repository, request);
      const { series, points, isStale } = history;
      const lately = chartPoints(series, state.metric, shownPoints(series, (WEEKS + 1) * WEEK_MS));
      const end = lately.at(-1)?.at ?? 0;
      const totals = Array.from({ length: WEEKS + 1 }, (_, week) => {
        const total = countAt(lately, end - (WEEKS - week) * WEEK_MS);
        return total === undefined ? null : total;
      });
      const perDay = isStale ? null : paceOf(lately);
      return { name: names[i] ?? "", history, trends, points, perDay, weeks: gainsBetween(totals) };
    }),
  );
}

async function readSimilar({ catalog, rankings }: Modules, to: Repository): Promise<Repository[]> {
  return catalog.findMany(await rankings.similar(to, EXAMPLES));
}

const EXAMPLES = 6;
/** Those of a language or topic that gained most are candidates; an example has at most four of them, the largest at most this many times the smallest. */
const CANDIDATES = 10;
const MOST_COMPARED = 4;
const CLOSE = 3;
const EXAMPLE_DAYS = 365;

/** Those of close size among the ones that gained most in the topics and languages that did, and among all; those that passed somebody last are first. Reads a year of about 40 repositories. */
async function readExamples({ rankings, catalog, database }: Modules) {
  const groups: (readonly number[])[] = [];
  for (const kind of ["topic", "language"] as const) {
    const request = { kind, sort: "stars-gained", window: "30d", limit: 2 * EXAMPLES, offset: 0 } as const;
    for (const { name } of (await rankings.facets(request)).facets) {
      const leaders = await rankings.leaders({ scope: kind, name, limit: CANDIDATES });
      groups.push(leaders("stars-gained", "30d"));
    }
  }
  const leaders = await rankings.leaders({ scope: "overall", name: "", limit: CANDIDATES });
  groups.push(leaders("stars", "30d"));
  const known = new Map((await catalog.findMany([...new Set(groups.flat())])).map((one) => [one.id, one]));
  const chosen: Repository[][] = [];
  for (const group of groups) {
    const free = group.flatMap((id) => known.get(id) ?? []);
    const isClose = (a: Repository, b: Repository) =>
      (a.stars ?? 0) <= CLOSE * (b.stars ?? 0) && (b.stars ?? 0) <= CLOSE * (a.stars ?? 0);
    const close = free
      .map((one) => free.filter((other) => isClose(one, other)).slice(0, MOST_COMPARED))
      .find(({ length }) => length > 1);
    if (close === undefined || chosen.length === 2 * EXAMPLES) continue;
    chosen.push(close);
    for (const { id } of close) known.delete(id);
  }
  const lengthMs = EXAMPLE_DAYS * DAY_MS;
  const points = new Map<number, ChartPoint[]>();
  const ids = chosen.flat().map(({ id }) => id);
  for await (const [id, { series }] of readSeveralSeries(database, ids, lengthMs))
    points.set(id, chartPoints(series, "stars", shownPoints(series, lengthMs)));
  const examples = chosen.map((repositories) => {
    const names = shortNamesOf(repositories);
    const lines = repositories.map(({ id }, i) => {
      const own = points.get(id) ?? [];
      return { name: names[i] ?? "", points: own, perDay: paceOf(own) };
    });
    const passed = crossingsOf(lines.map((line) => line.points)).at(-1)?.at ?? 0;
    return { repositories, lines, passed, headline: (storyOf(lines, "stars")?.clauses ?? names).join(", ") };
  });
  return examples.sort((a, b) => b.passed - a.passed).slice(0, EXAMPLES);
}

/** Comparisons to start from, with what happened in each. */
const Examples: FC<Pick<ComparisonData, "examples">> = ({ examples }) =>
  examples.length === 0 ? null : (
    <>
      <h2>Who passed whom lately</h2>
      <ul class="examples">
        {examples.map(({ repositories, lines, headline }) => (
          <li>
            <a class="card" href={chartPage(repositories)}>
              <h3>{headline}</h3>
              <Lines lines={lines.map(({ points }) => points)} />
              <p class="small soft">
                {lines.map(({ name }, i) => (
                  <span>
                    <LineSample class="line-mark" index={i} /> {name}
                  </span>
                ))}
              </p>
            </a>
          </li>
        ))}
      </ul>
    </>
  );

type ComparedRow = Compared & { index: number; standing: Standing | undefined };

/** The numbers of the repositories, one row each, the highest first. */
const ComparisonTable: FC<ComparisonData> = ({ compared, state: { metric } }) => {
  const standings = standingsOf(compared);
  const all = compared.map((one, index): ComparedRow => ({ ...one, index, standing: standings[index] }));
  const gains = all.flatMap(({ points }) => gainOfLine(points) ?? []);
  const begin = Math.min(...gains.map(({ first }) => first.at));
  const end = Math.max(...gains.map(({ last }) => last.at));
  return (
    <Table
      label="Repositories side by side"
      class="list compared"
      columns={[
        { head: "Repository", cell: (row) => <RepositoryCell {...row} /> },
        {
          ...number(METRIC_WORDS[metric].title, "strong", ({ standing }) =>
            formatCount(standing?.value ?? null),
          ),
          sorting: { sorted: "descending" },
        },
        ...WINDOWS.map(
          (window) =>
            metric !== "openIssues" &&
            number(WINDOW_LABELS[window], "window", ({ trends }) => (
              <Gain trend={trends[window]} measure={metric} />
            )),
        ),
        number(gains.length === 0 ? "Gained" : `Since ${formatDate(begin)}`, "gained", ({ points }) => (
          <Gained {...{ points, begin, end }} />
        )),
        number("A day now", undefined, ({ perDay }) => formatRate(perDay)),
        number("By week", "weeks", ({ weeks }) => <Bars values={weeks} width={120} height={28} />),
        all.length > 1 && {
          head: "Overtakes",
          class: "overtakes",
          cell: (row) => <Overtakes row={row} all={all} />,
        },
      ]}
      rows={all.toSorted((a, b) => (b.standing?.value ?? -1) - (a.standing?.value ?? -1))}
    />
  );
};

const number = (head: string, className: string | undefined, cell: (row: ComparedRow) => Child) => ({
  ...{ head, cell, class: className },
  isNumber: true,
});

const RepositoryCell: FC<ComparedRow> = ({ index, history: { repository, isStale } }) => (
  <>
    <LineSample class="line-mark" index={index} />
    <a href={repositoryPage(repository)}>
      <span class="owner">{repository.owner}/</span>
      <span class="title">{repository.name}</span>
    </a>{" "}
    <small class="soft">{noteOn(repository, isStale)}</small>
  </>
);

/** A line that begins or ends within this time of the others covers the same days. */
const SAME_MS = 1.5 * DAY_MS;

/** The gain of a line in the time of the chart, and its days if they are not those of the chart. */
const Gained: FC<Pick<Compared, "points"> & { begin: number; end: number }> = ({ points, begin, end }) => {
  const gain = gainOfLine(points);
  if (gain === undefined) return <>–</>;
  const { gained, first, last } = gain;
  const isLate = first.at - begin > SAME_MS;
  const isEarly = end - last.at > SAME_MS;
  const days = isEarly
    ? `${formatDate(first.at)} to ${formatDate(last.at)}`
    : `since ${formatDate(first.at)}`;
  return (
    <>
      <Delta value={gained} />{" "}
      <span class="soft">{first.value > 0 ? formatGrowth(gained / first.value) : ""}</span>
      {isLate || isEarly ? <small class="counted">{days}</small> : null}
    </>
  );
};

/** What a repository passes next at the pace of 14 days, or how it fares against the next one above it. */
const Overtakes: FC<{ row: ComparedRow; all: readonly ComparedRow[] }> = ({ row, all }) => {
  const { standing, perDay } = row;
  if (standing === undefined) return <>–</>;
  if (standing.above === undefined) return <>leads</>;
  if (standing.next !== undefined) {
    const days = Math.max(1, Math.round(standing.next.days));
    return (
      <>
        <strong>{all[standing.next.other]?.name}</strong> in {formatCount(days)} {days === 1 ? "day" : "days"}
        , {monthWords(standing.next.at)}
      </>
    );
  }
  const above = all[standing.above]?.perDay ?? null;
  if (perDay === null || above === null) return <>–</>;
  const slower = above - perDay;
  return Math.abs(slower) < 0.05 ? (
    <>keeps its distance</>
  ) : (
    <>
      {slower > 0 ? "falls behind" : "catches up"} by {formatRate(Math.abs(slower))} a day
    </>
  );
};
