import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { z } from "zod";
import {
  alignedAt,
  gainOfLine,
  type History,
  isByDate,
  METRIC_WORDS,
  type Metric,
  missingReason,
  newestOf,
  noteOn,
  readHistory,
  seriesOf,
  spansOf,
  subjectOf,
  THEMES,
  viewOf,
} from "../../charts/charts.js";
import { forgeName } from "../../config/config.js";
import type { Rank } from "../../discovery/discovery.js";
import { type Trend, WINDOW_LABELS, WINDOWS, type Window } from "../../growth/growth.js";
import { DAY_MS } from "../../lib/clock.js";
import { queryOf, repositoryKey, repositoryPage } from "../../lib/page-addresses.js";
import type { Modules } from "../../modules.js";
import type { Repository } from "../../repositories/repositories.js";
import { BadgeReasons, Badges, badgesOf } from "../components/badges.js";
import {
  alignedParameters,
  ChartControls,
  ChartDates,
  readChartQuery,
} from "../components/chart-controls.js";
import { AddForm, Chosen, Examples, RefusedNames } from "../components/chosen-repositories.js";
import { Language, withQuery } from "../components/elements.js";
import { Delta, formatCount, formatDate, formatGrowth, Gain } from "../components/numbers.js";
import { LineSample, PLOT_SCRIPTS, Plot } from "../components/plot.js";
import { ComparedNumbers, Table } from "../components/table.js";
import { READING_SECONDS, Reading } from "../components/tracking-state.js";
import { SHARE_SCRIPTS, ShareChart } from "../embed-pictures.js";
import { isUnknown, readComparedNames } from "../naming.js";
import { Problems } from "../page.js";
import type { Page, PageRequest } from "../page-request.js";
import { FIELD_SCRIPTS, NotIt, offerTracking, readAsking, readingOf, TrackButton } from "../tracking.js";

/** The parameters of the page besides `repo`. */
export const compareQuery = alignedParameters.extend({
  theme: z.enum(THEMES).default("auto"),
});
type State = z.output<typeof compareQuery>;

/** Repositories on one chart, and their numbers side by side. */
export async function showComparison(request: PageRequest): Promise<Page> {
  const comparison = await readComparison(request);
  const { repositories, problems, names, requests } = comparison;
  const keys = repositories.map(repositoryKey);
  const fullNames = repositories.map(({ fullName }) => fullName);
  return {
    title: keys.length === 0 ? "Compare repositories" : `Compare ${fullNames.join(", ")}`,
    status: problems.length === 0 && names.refused.length === 0 && !names.isCut ? 200 : 400,
    ...(requests.length > 0 && { isFresh: true, isLive: true, refreshSeconds: READING_SECONDS }),
    description:
      "Up to six repositories on one chart, by date, by age or as an index, and their numbers side by side.",
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
  const [compared, examples, { offers, reading }, read] = await Promise.all([
    readCompared(modules, repositories, state),
    repositories.length < 2 ? readExamples(modules, repositories) : [],
    offerTracking(request, asking, unknown),
    Promise.all(repositories.map((one) => readingOf(request, one))),
  ]);
  const texts = new Set(reading.map(({ text }) => text));
  return {
    state,
    problems,
    repositories,
    /** Those that are left out, without those that are being read. */
    names: { ...given, refused: refused.filter(({ text }) => !texts.has(text)) },
    /** The first name that was not found, to correct. */
    unknown: unknown[0] ?? "",
    requests: [...reading.map((one) => one.request), ...read.filter((one) => one !== undefined)],
    compared,
    examples,
    offers,
    /** The address of the comparison as it is read, and the one that was sent. */
    here: new URL(withQuery(parsed.url, { repo: repositories.map(repositoryKey) }), "http://localhost"),
    sent: `${url.pathname}${url.search}`,
    mayAsk: asking.isOpen,
    baseUrl: request.site.baseUrl,
  };
}

const Comparison: FC<ComparisonData> = (comparison) => {
  const { problems, repositories, names, requests, examples, offers, here, sent, mayAsk } = comparison;
  const keys = repositories.map(repositoryKey);
  const chosen = Object.fromEntries([...here.searchParams].filter(([name]) => name !== "repo"));
  return (
    <div id="comparison" data-whole="" data-live={requests.length > 0 ? "comparison" : undefined}>
      <h1>Compare repositories</h1>
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
      <div class="compare-head">
        <Chosen repositories={repositories} here={here} />
        <AddForm keys={keys} state={chosen} refused={comparison.unknown} />
      </div>
      {keys.length < 2 ? <Examples examples={examples} keys={keys} here={here} /> : null}
      {keys.length === 0 ? null : (
        <>
          <ComparisonChart {...comparison} />
          <section>
            <h2>Side by side</h2>
            <ComparisonTable compared={comparison.compared} />
          </section>
        </>
      )}
    </div>
  );
};

const ComparisonChart: FC<ComparisonData> = ({ state, compared, repositories, here, baseUrl }) => {
  const { metric, align, scale } = state;
  const view = viewOf(state);
  const histories = compared.map(({ history }) => history);
  const aligned = alignedAt(histories, state);
  const series = seriesOf(histories, aligned);
  const subject = subjectOf({ metric, view, ...aligned });
  const times = histories.flatMap(({ points }) => points.map(({ at }) => at));
  const shown =
    times.length === 0
      ? undefined
      : {
          from: times.reduce((a, b) => Math.min(a, b)),
          to: times.reduce((a, b) => Math.max(a, b)),
        };
  const hasChart = series.some(({ points }) => points.length > 1);
  return (
    <section id="chart" data-chart="">
      <h2>
        {subject}
        {align === "date" && view === "total" ? " over time" : ""}
      </h2>
      <ChartControls url={here} state={state} aligned={aligned} section="chart" />
      {hasChart ? (
        <Plot
          {...{ metric, series, view, scale, ...aligned, asOf: newestOf(histories) }}
          spans={spansOf(histories, metric)}
          label={`${subject}: ${series.map(({ name }) => name).join(", ")}`}
          hasLegend={align !== "date"}
          canZoom={isByDate(align)}
        />
      ) : (
        <p class="plot-empty">{missingReason(histories, { metric, ...aligned })}</p>
      )}
      <div class="chart-foot">
        {isByDate(align) ? <ChartDates {...{ url: here, state, shown }} section="chart" /> : null}
        {hasChart ? (
          <>
            <ComparedNumbers {...{ metric, align, series }} />
            <ShareChart {...{ url: here, state, repositories, baseUrl }} />
          </>
        ) : null}
      </div>
      {hasChart ? <ShownGains histories={histories} metric={metric} /> : null}
    </section>
  );
};

async function readCompared(
  modules: Modules,
  repositories: readonly Repository[],
  { range: window, ...state }: State,
): Promise<Compared[]> {
  return Promise.all(
    repositories.map(async (repository) => {
      const { trends, ranks } = await modules.rankings.standing(repository.id);
      const request = { ...state, window, trends: Object.values(trends) };
      return { trends, ranks, history: await readHistory(modules, repository, request) };
    }),
  );
}

/** Trending repositories as examples. */
async function readExamples(
  { catalog, rankings }: Modules,
  chosen: readonly Repository[],
): Promise<Repository[]> {
  const { trending } = await rankings.home();
  const taken = new Set(chosen.map(({ id }) => id));
  return catalog.findMany(trending.ids.filter((id) => !taken.has(id)).slice(0, 6));
}

/** A repository in a comparison. */
interface Compared {
  history: History;
  trends: Readonly<Record<Window, Trend | null>>;
  ranks: readonly Rank[];
}

/** The numbers of the repositories, one row each. */
const ComparisonTable: FC<{ compared: readonly Compared[] }> = ({ compared }) => {
  const rows = compared.map(({ history: { repository, isStale }, trends, ranks }) => ({
    ...{ repository, trends, ranks },
    badges: badgesOf({ repository, isStale, trends: Object.values(trends) }),
  }));
  return (
    <>
      <Table
        label="Repositories side by side"
        class="compared"
        columns={[
          {
            head: "Repository",
            cell: ({ repository, badges }) => (
              <>
                <a href={repositoryPage(repository)}>{repository.fullName}</a>{" "}
                <small class="soft">{forgeName(repository.provider)}</small> <Badges badges={badges} />
              </>
            ),
          },
          number("Stars", ({ repository }) => <strong>{formatCount(repository.stars)}</strong>),
          ...WINDOWS.map((window) =>
            number(WINDOW_LABELS[window], ({ trends }) => <Gain trend={trends[window]} measure="stars" />),
          ),
          number("Forks", ({ repository }) => formatCount(repository.forks)),
          number("Open issues", ({ repository }) => formatCount(repository.openIssues)),
          number("# by stars", ({ ranks }) => rankText(ranks, "stars", null)),
          number("# in Trending", ({ ranks }) => rankText(ranks, "trending", "7d")),
          { head: "Created", cell: ({ repository }) => formatDate(repository.createdAt) },
          { head: "Language", cell: ({ repository }) => <Language name={repository.language} /> },
        ]}
        rows={rows}
      />
      {rows.map(({ repository, badges }) =>
        badges.some(({ reason }) => reason !== undefined) ? (
          <section class="small">
            <h3>{repository.fullName}</h3>
            <BadgeReasons badges={badges} />
          </section>
        ) : null,
      )}
    </>
  );
};

type ComparedRow = Pick<Compared, "trends" | "ranks"> & Pick<History, "repository">;
const number = (head: string, cell: (one: ComparedRow) => Child) => ({ head, cell, isNumber: true });

/** The overall rank, such as "#12"; a dash if it is not ranked. */
function rankText(ranks: readonly Rank[], ranking: Rank["ranking"], window: Window | null): string {
  const rank = ranks.find(
    (one) => one.ranking === ranking && one.window === window && one.scope === "overall",
  );
  return rank === undefined ? "–" : `#${formatCount(rank.position)}`;
}

/**
 * The newest count of a line in the time that a chart shows, and its growth from the first count to the last: `gained`, and `growth` as a
 * part of the first count, unless that is 0. Null if no two counts can be compared.
 */
function shownGain({ points }: Pick<History, "points">) {
  const gain = gainOfLine(points);
  return {
    latest: points.at(-1)?.value ?? null,
    gained: gain?.gained ?? null,
    growth: gain !== undefined && gain.first.value > 0 ? gain.gained / gain.first.value : null,
    from: gain?.first.at ?? null,
    to: gain?.last.at ?? null,
  };
}

/** A line that begins or ends within this time of the others covers the same days. */
const SAME_MS = 1.5 * DAY_MS;

/** The lines of a chart with their counts and their growth over the time it shows: its legend, and the numbers that people quote. */
const ShownGains: FC<{ histories: readonly History[]; metric: Metric }> = ({ histories, metric }) => {
  const rows = histories.map((history) => ({ ...history, ...shownGain(history) }));
  const begin = Math.min(...rows.flatMap(({ from }) => from ?? []));
  const end = Math.max(...rows.flatMap(({ to }) => to ?? []));
  const hasGains = Number.isFinite(begin);
  return (
    <Table
      label="Growth in this chart"
      class="shown-gains"
      columns={[
        {
          head: "Repository",
          cell: ({ repository, isStale }, i) => (
            <>
              <LineSample class="line-mark" index={i} />{" "}
              <a href={repositoryPage(repository)}>
                {repository.owner}/<wbr />
                {repository.name}
              </a>{" "}
              <small class="soft">{noteOn(repository, isStale)}</small>
            </>
          ),
        },
        {
          head: METRIC_WORDS[metric].title,
          isNumber: true,
          class: "strong",
          cell: ({ latest }) => formatCount(latest),
        },
        {
          head: hasGains ? `Gained since ${formatDate(begin)}` : "Gained",
          isNumber: true,
          cell: ({ gained, from, to }) => (
            <>
              <Delta value={gained} />
              <small class="counted">{spanWords({ from, to, begin, end })}</small>
            </>
          ),
        },
        { head: <abbr title="Percent">%</abbr>, isNumber: true, cell: ({ growth }) => formatGrowth(growth) },
      ]}
      rows={rows}
    />
  );
};

/** The days a gain covers, if they are not those of the chart. */
function spanWords(
  span: Pick<ReturnType<typeof shownGain>, "from" | "to"> & { begin: number; end: number },
): string {
  const { from, to, begin, end } = span;
  if (from === null || to === null) return "";
  const isLate = from - begin > SAME_MS;
  const isEarly = end - to > SAME_MS;
  if (isEarly) return `${formatDate(from)} to ${formatDate(to)}`;
  return isLate ? `since ${formatDate(from)}` : "";
}
