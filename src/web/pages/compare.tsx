import type { FunctionComponent as FC } from "preact";
import { z } from "zod";
import {
  alignedAt,
  type History,
  isByDate,
  missingReason,
  newestOf,
  readHistory,
  seriesOf,
  spansOf,
  subjectOf,
  THEMES,
  viewOf,
} from "../../charts/charts.js";
import { WINDOWS, type Window } from "../../growth/growth.js";
import { queryOf, repositoryKey } from "../../lib/page-addresses.js";
import type { Modules } from "../../modules.js";
import { isStale, type Repository } from "../../repositories/repositories.js";
import {
  alignedParameters,
  ChartControls,
  ChartDates,
  readChartQuery,
} from "../components/chart-controls.js";
import { ComparedNumbers } from "../components/chart-tables.js";
import { AddForm, Chosen, Examples, RefusedNames } from "../components/chosen-repositories.js";
import { type Compared, ComparisonTable, ShownGains } from "../components/comparison.js";
import { withQuery } from "../components/links.js";
import { PLOT_SCRIPTS, Plot } from "../components/plot.js";
import { READING_SECONDS, Reading } from "../components/reading.js";
import { isUnknown, readComparedNames } from "../naming.js";
import { Problems } from "../page-query.js";
import type { Page, PageRequest } from "../page-request.js";
import { FIELD_SCRIPTS, mayRequest, offerTracking, readingOf, TrackButton } from "../tracking.js";

/** The parameters of the page besides `repo`. */
export const compareQuery = alignedParameters.extend({
  theme: z.enum(THEMES).default("auto"),
});
type State = z.output<typeof compareQuery>;

/** Repositories on one chart, and their numbers side by side. */
export async function showComparison(request: PageRequest): Promise<Page> {
  const { modules, url } = request;
  const parsed = readChartQuery(compareQuery, url);
  const state = parsed.query;
  const { problems } = parsed;
  const given = await readComparedNames(modules, url.searchParams.getAll("repo"));
  const { repositories, refused } = given;
  const wrong = refused.filter(isUnknown);
  const unknown = wrong.map(({ text }) => text);
  const keys = repositories.map(repositoryKey);
  const here = new URL(withQuery(parsed.url, { repo: keys }), "http://localhost");
  const [histories, compared, examples, { offers, reading }, read] = await Promise.all([
    Promise.all(
      repositories.map((one) => readHistory(modules.catalog, one, { ...state, window: state.range })),
    ),
    readCompared(modules, repositories),
    repositories.length < 2 ? readExamples(modules, repositories) : [],
    offerTracking(request, unknown),
    Promise.all(repositories.map((one) => readingOf(request, one))),
  ]);
  const requests = [...reading.map((one) => one.request), ...read.filter((one) => one !== undefined)];
  const texts = new Set(reading.map(({ text }) => text));
  const unread = { ...given, refused: refused.filter(({ text }) => !texts.has(text)) };
  const names = repositories.map(({ fullName }) => fullName);
  const chosen = Object.fromEntries([...here.searchParams].filter(([name]) => name !== "repo"));
  return {
    title: names.length === 0 ? "Compare repositories" : `Compare ${names.join(", ")}`,
    status: problems.length === 0 && unread.refused.length === 0 && !given.isCut ? 200 : 400,
    ...(requests.length > 0 && { isFresh: true, isLive: true, refreshSeconds: READING_SECONDS }),
    description:
      "Up to six repositories on one chart, by date, by age or as an index, and their numbers side by side.",
    canonical:
      keys.length === 0 ? "/compare" : `/compare?${queryOf(keys.map((key) => ["repo", key] as const))}`,
    scripts: [...PLOT_SCRIPTS, "share.js", "copy.js", "compare.js", ...FIELD_SCRIPTS],
    body: (
      <div id="comparison" data-whole="" data-live={requests.length > 0 ? "comparison" : undefined}>
        <h1>Compare repositories</h1>
        <Problems problems={problems} isLeftOut />
        <RefusedNames
          names={unread}
          here={here}
          askedIn={mayRequest(request) ? `${url.pathname}${url.search}` : undefined}
        />
        {requests.map((one) => (
          <section class="note">
            <h2>{one.fullName}</h2>
            <Reading request={one} />
          </section>
        ))}
        <TrackButton offers={offers} next={`${url.pathname}${url.search}`} />
        <div class="compare-head">
          <Chosen repositories={repositories} here={here} />
          <AddForm keys={keys} state={chosen} refused={unknown[0] ?? ""} />
        </div>
        {repositories.length < 2 ? <Examples examples={examples} keys={keys} here={here} /> : null}
        {repositories.length === 0 ? null : (
          <Comparison {...{ here, state, histories, compared, baseUrl: request.baseUrl }} />
        )}
      </div>
    ),
  };
}

async function readCompared(
  { rankings, catalog }: Modules,
  repositories: readonly Repository[],
): Promise<Compared[]> {
  const ids = repositories.map(({ id }) => id);
  const [trends, ranks, recency] = await Promise.all([
    Promise.all(WINDOWS.map(async (window) => [window, await rankings.trends(ids, window)] as const)),
    Promise.all(ids.map((id) => rankings.ranks(id))),
    catalog.recency(),
  ]);
  return repositories.map((repository, i) => {
    const of = (window: Window) => trends.find(([name]) => name === window)?.[1].get(repository.id);
    return {
      repository,
      trends: { "24h": of("24h"), "7d": of("7d"), "30d": of("30d") },
      ranks: ranks[i] ?? [],
      isStale: isStale(repository, recency),
    };
  });
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

/** The path of the chart of this page as a picture to save. */
function picturePath({ searchParams }: URL): string {
  const parameters = [...searchParams]
    .filter(([name]) => name !== "theme")
    .map(([name, value]) => [name === "range" ? "window" : name, value] as const);
  return `/api/embed/chart.svg?${queryOf([...parameters, ["width", "1000"], ["height", "500"]])}`;
}

interface ComparisonProps {
  here: URL;
  state: State;
  histories: readonly History[];
  compared: readonly Compared[];
  baseUrl: string;
}

const Comparison: FC<ComparisonProps> = ({ here, state, histories, compared, baseUrl }) => {
  const { metric, align, scale } = state;
  const view = viewOf(state);
  const aligned = alignedAt(histories, state);
  const series = seriesOf(histories, aligned);
  const subject = subjectOf({ metric, view, ...aligned });
  const names = series.map(({ name }) => name).join(", ");
  const times = histories.flatMap(({ points }) => points.map(({ at }) => at));
  const trends = compared.map((one) => Object.values(one.trends));
  const hasChart = series.some(({ points }) => points.length > 1);
  return (
    <>
      <section class="after" id="chart" data-chart="">
        <h2>
          {subject}
          {align === "date" && view === "total" ? " over time" : ""}
        </h2>
        <ChartControls url={here} state={state} aligned={aligned} section="chart" />
        {hasChart ? (
          <Plot
            {...{ metric, series, view, scale, ...aligned, asOf: newestOf(histories) }}
            spans={spansOf(histories, trends, metric)}
            label={`${subject}: ${names}`}
            hasLegend={align !== "date"}
            canZoom={isByDate(align)}
          />
        ) : (
          <p class="plot-empty">{missingReason(histories, { metric, ...aligned })}</p>
        )}
        <ChartDates
          {...{ url: here, state }}
          section="chart"
          shown={
            times.length === 0
              ? undefined
              : { from: times.reduce((a, b) => Math.min(a, b)), to: times.reduce((a, b) => Math.max(a, b)) }
          }
        />
        {hasChart ? (
          <>
            <ShownGains histories={histories} metric={metric} />
            <ShareChart
              link={`${baseUrl}${here.pathname}${here.search}`}
              picture={picturePath(here)}
              file={compared.map(({ repository }) => repository.name).join("-vs-")}
            />
            <ComparedNumbers {...{ metric, align, series }} />
          </>
        ) : null}
      </section>
      <section>
        <h2>Side by side</h2>
        <ComparisonTable compared={compared} />
      </section>
      <p id="embed">
        <a href={`/embed?${here.searchParams}`}>Embed this chart on another page</a>
      </p>
    </>
  );
};

interface ShareChartProps {
  /** The address of this page. */
  link: string;
  /** Path of the chart as a picture, without its theme. */
  picture: string;
  /** Name of a saved file, without its ending. */
  file: string;
}

/**
 * Ways to pass a chart on: its address, and pictures to save. The browser makes the PNG out of the SVG (client/share.ts), with the
 * reader's fonts and at no cost to the server; without scripts there is the SVG.
 */
const ShareChart: FC<ShareChartProps> = ({ link, picture, file }) => (
  <div class="buttons share-chart">
    <span class="hidden" id="page-link">
      {link}
    </span>
    <button type="button" data-copy="page-link" data-command="Copy link" hidden>
      Copy link
    </button>
    <a class="button" href={picture} download={`${file}.svg`} data-command="Download SVG">
      SVG
    </a>
    <button type="button" data-png={picture} data-file={`${file}.png`} data-command="Download PNG" hidden>
      PNG
    </button>
  </div>
);
