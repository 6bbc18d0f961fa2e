import type { FunctionComponent as FC, JSX } from "preact";
import { z } from "zod";
import { chartPoints, milestonesOf, readHistory, spansOf } from "../../charts/charts.js";
import { defaultUrl, forgeName, repositoryUrl } from "../../config/config.js";
import type { ListRow, Standing } from "../../discovery/discovery.js";
import {
  endOfGrowth,
  gainWords,
  MEASURES,
  readSeries,
  type Trend,
  WINDOW_LABELS,
  WINDOWS,
  type Window,
} from "../../growth/growth.js";
import { DAY_MS } from "../../lib/clock.js";
import { AppError } from "../../lib/errors.js";
import {
  queryOf,
  type RepositoryName,
  repositoryKey,
  repositoryPage,
  withoutTrailingSlashes,
} from "../../lib/page-addresses.js";
import {
  type Described,
  hidesTexts,
  isStale,
  providerName,
  type Readings,
  type Repository,
  splitFullName,
} from "../../repositories/repositories.js";
import type { TrackRequest } from "../../tracking/tracking.js";
import { badgesOf } from "../components/badges.js";
import { ChartSection, chartParameters, readChartQuery } from "../components/chart-controls.js";
import { Link, MeantRepository } from "../components/elements.js";
import { dayGains, Headline, Proof, ScoreExplanation, Tiles } from "../components/growth.js";
import { Delta, formatCompact, formatCount, formatDelta, withEmoji } from "../components/numbers.js";
import { PLOT_SCRIPTS } from "../components/plot.js";
import { Neighbours, RankHistory, Ranks } from "../components/ranks.js";
import {
  AbsentNote,
  DataQuality,
  Events,
  HistoryNote,
  RepositoryHead,
  StaleNote,
} from "../components/repository.js";
import { SnapshotSection } from "../components/table.js";
import { isReading, READING_SECONDS, Reading } from "../components/tracking-state.js";
import { SHARE_SCRIPTS, ShareChart } from "../embed-pictures.js";
import { readTokenOffer } from "../forge-tokens.js";
import { similarTo } from "../naming.js";
import { Problems } from "../page.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";
import { savedAmong } from "../saving.js";
import {
  AskForm,
  FIELD_SCRIPTS,
  NotIt,
  offerTracking,
  readAsking,
  readingOf,
  TrackButton,
} from "../tracking.js";

/** Days of rank history shown. */
const RANK_DAYS = 30;
/** All stored ranks of these days: each measure in two scopes. */
const MAX_RANKS = RANK_DAYS * 2 * MEASURES.length;

/** The page of a repository. Previous names and clone URLs redirect to it. */
export async function showRepository(request: PageRequest): Promise<Page | Redirect> {
  const { modules, url, http } = request;
  const written = http.params.fullName ?? "";
  const fullName = withoutTrailingSlashes(written);
  const provider = providerName(http.params.provider ?? "");
  if (provider === undefined || splitFullName(fullName) === undefined)
    throw new AppError("NOT_FOUND", "This address does not name a repository.");
  const found = await modules.catalog.describe(provider, fullName);
  if (found === undefined) return showUnknownRepository(request, { provider, fullName });
  const path = repositoryPage(found.repository);
  if (found.isPreviousName || written !== fullName) return { location: path + url.search, status: 301 };
  return known(request, found);
}

/** The parameters of the page. */
export const repositoryQuery = chartParameters.extend({
  /** Default: the week, or the shortest with growth if the week has none. */
  window: z.enum(WINDOWS).optional(),
  /** The name without an owner that the repository was taken for. */
  asked: z.string().max(100).optional(),
});
type State = z.output<typeof repositoryQuery>;

/** A repository found by its current name. */
type Current = Extract<Described, { isPreviousName: false }>;

/** Snapshots are read from this long before the growth of all windows, to show some before it. */
const BEFORE_MS = 8 * DAY_MS;
/** The same where there is no growth, before the last snapshot. */
const LATEST_MS = 30 * DAY_MS;

/** The snapshots around those that the trends compare, or the latest ones. */
function readingsAround(all: Readings, trends: Standing["trends"]): Readings {
  const begins = WINDOWS.flatMap((window) => trends[window]?.from ?? []);
  const last = all.length === 0 ? 0 : all.at(all.length - 1);
  const from = begins.length === 0 ? last - LATEST_MS : Math.min(...begins) - BEFORE_MS;
  return all.slice(all.countBefore(from));
}

/** The most of a time chosen for the chart whose snapshots are read for the table. */
const CHOSEN_MS = 62 * DAY_MS;

/** The snapshots of the days chosen for the chart; undefined if none are. */
function chosenOf(all: Readings, { from, to }: State): Readings | undefined {
  if (from === undefined && to === undefined) return undefined;
  const end = to === undefined ? all.length : all.countBefore(to + DAY_MS);
  const begin = Math.max(from ?? 0, (end === 0 ? 0 : all.at(end - 1)) - CHOSEN_MS);
  return all.slice(Math.min(all.countBefore(begin), end), end);
}

/** Repositories shown as similar. */
const SIMILAR = 5;

/** Reads the data of the page: its standing, then all else concurrently. */
async function readFacts(request: PageRequest, current: Current, state: State) {
  const { catalog, rankings, lists } = request.modules;
  const { repository, previousNames } = current;
  const { id } = repository;
  const standing = await rankings.standing(id);
  const { trends } = standing;
  const measured = readSeries(request.modules.database, id);
  const growth = { trends: Object.values(trends), measured };
  const asOf = endOfGrowth(growth.trends, repository.countedAt);
  const { metric, range, from, to } = state;
  const year = readHistory(request.modules, repository, { metric: "stars", window: "1y", ...growth });
  const isYear = metric === "stars" && range === "1y" && from === undefined && to === undefined;
  const window =
    state.window ?? (trends["7d"] === null ? WINDOWS.find((one) => trends[one] !== null) : "7d") ?? "7d";
  const rowsOf = async (ids: readonly number[]) => lists.rows(ids, window);
  const [history, stars, { readings }, explanations, rankHistory, saved, recency, around, similar] =
    await Promise.all([
      isYear
        ? year
        : readHistory(request.modules, repository, { metric, window: range, from, to, ...growth }),
      year,
      measured,
      rankings.explain(id),
      asOf === null ? [] : rankings.rankHistory(id, asOf - RANK_DAYS * DAY_MS, MAX_RANKS),
      savedAmong(request, [id]),
      catalog.recency(),
      rankings.neighbours(id, "trending", window).then(rowsOf),
      // Of a hidden one they would give away its topics.
      hidesTexts(repository) ? [] : rankings.similar(repository, SIMILAR).then(rowsOf),
    ]);
  return {
    history,
    stars,
    ...standing,
    readings: readingsAround(readings, trends),
    window,
    trend: trends[window],
    explanation: explanations[window],
    rankHistory,
    names: previousNames,
    repository,
    asOf,
    isSaved: saved.has(id),
    isStale: isStale(repository, recency),
    recency,
    chosen: chosenOf(readings, state),
    around,
    similar,
  };
}

async function known(request: PageRequest, current: Current): Promise<Page> {
  const { repository } = current;
  const { id, fullName } = repository;
  const { url, query: state, problems } = readChartQuery(repositoryQuery, request.url);
  const [facts, reading] = await Promise.all([
    readFacts(request, current, state),
    readingOf(request, repository),
  ]);
  const others = state.asked === undefined ? [] : await similarTo(request.modules, state.asked);
  const mayAsk = state.asked !== undefined && (await readAsking(request)).isOpen;
  const tokenOffer = reading && (await readTokenOffer(request, repository.provider));
  const api = `/api/repos/${repository.provider.toLowerCase()}/by-full-name?${new URLSearchParams({ fullName })}`;
  return {
    title: fullName,
    showsAge: true,
    isHidden: hidesTexts(repository),
    status: problems.length === 0 ? 200 : 400,
    description: descriptionOf(repository, facts.trends["7d"]),
    canonical: repositoryPage(repository),
    image: `/api/embed/card.png?${queryOf([["repo", repositoryKey(repository)]])}`,
    scripts: [...PLOT_SCRIPTS, ...SHARE_SCRIPTS, "save.js"],
    ...(reading !== undefined && { isFresh: true, isLive: true, refreshSeconds: READING_SECONDS }),
    alternates: [
      { type: "application/json", href: api, title: `${fullName} as JSON` },
      {
        type: "text/csv",
        href: `/api/repos/${id}/metrics?window=all&format=csv`,
        title: `Snapshots of ${fullName}`,
      },
    ],
    body: (
      <div class="repository" data-live={reading === undefined ? undefined : "repository"}>
        <Problems problems={problems} isLeftOut />
        {state.asked === undefined ? null : (
          <NotIt text={state.asked} others={others.filter((one) => one.id !== id)} mayAsk={mayAsk} />
        )}
        <Top facts={facts} />
        {reading === undefined ? (
          <HistoryNote repository={repository} history={facts.stars.historyState} now={request.now} />
        ) : (
          <Reading request={reading} />
        )}
        {tokenOffer}
        <Course {...{ facts, url, state }} baseUrl={request.site.baseUrl} />
        <Similar rows={facts.similar} repository={repository} window={facts.window} />
        <SnapshotSection {...facts} stored={facts.stored.snapshots} />
        <DataQuality {...facts} gaps={facts.history.gaps.length} />
      </div>
    ),
  };
}

/** "acme/kite: 1,234 stars, +12 in 7 days. A kite". */
function descriptionOf({ fullName, stars, description }: Repository, week: Trend | null): string {
  const words = week === null ? undefined : gainWords(week);
  const gained =
    week === null
      ? ""
      : `, ${formatDelta(week.starsDelta)} in 7 days${words === undefined ? "" : ` (${words.short})`}`;
  return `${fullName}: ${formatCount(stars)} stars${gained}. ${withEmoji(description ?? "")}`
    .trim()
    .slice(0, 300)
    .toWellFormed();
}

type Facts = Awaited<ReturnType<typeof readFacts>>;

/** The repository itself, and what is wrong with its counts. */
const Top: FC<{ facts: Facts }> = ({
  facts: { repository, names, trend, isStale, isSaved, stored, recency },
}) => (
  <>
    <RepositoryHead
      repository={repository}
      badges={badgesOf({ repository, trends: [trend], isStale, renamedFrom: names[0]?.fullName })}
      isSaved={isSaved}
      next={repositoryPage(repository)}
    />
    <AbsentNote repository={repository} lastSnapshotAt={stored.lastSnapshotAt} />
    {repository.availability === "AVAILABLE" && isStale ? (
      <StaleNote repository={repository} recency={recency} />
    ) : null}
  </>
);

interface CourseProps {
  facts: Facts;
  url: URL;
  state: State;
  baseUrl: string;
}

/** How the repository grows: in words and numbers, as a chart, and among others. */
const Course: FC<CourseProps> = ({ facts, url, state, baseUrl }) => {
  const { repository, history, stars, window } = facts;
  const points = chartPoints(stars.series, "stars");
  const days = dayGains(points);
  const milestones = milestonesOf({ metric: "stars", align: "date", series: [{ points }] });
  const position = facts.ranks.find(
    (rank) => rank.ranking === "trending" && rank.scope === "overall" && rank.window === window,
  )?.position;
  return (
    <>
      <div class="repository-lead">
        <Headline {...facts} {...{ days, facts }} series={stars.series} />
        <Tiles {...facts} points={stars.points} series={stars.series} url={url} />
        <Proof {...facts} facts={facts} />
      </div>
      <ChartSection
        {...{ url, state, history }}
        spans={spansOf([history], state.metric)}
        share={<ShareChart {...{ url, state, baseUrl }} repositories={[repository]} />}
      />
      <div class="grid thirds">
        <section>
          <h2>Ranks</h2>
          <Ranks ranks={facts.ranks} />
          <RankHistory history={facts.rankHistory} window={window} />
        </section>
        <section id="trend">
          <h2>{position === undefined ? "Score" : `Why #${formatCount(position)} in Trending`}</h2>
          {position === undefined ? null : (
            <Neighbours rows={facts.around} id={repository.id} {...{ position, window }} />
          )}
          <details>
            <summary>How this score is made up</summary>
            <ScoreExplanation {...facts} />
          </details>
        </section>
        <section>
          <h2>Events</h2>
          <Events {...facts} {...{ days, milestones }} />
        </section>
      </div>
    </>
  );
};

interface SimilarProps {
  repository: Repository;
  rows: readonly ListRow[];
  window: Window;
}

/** Similar repositories; nothing without any. */
const Similar: FC<SimilarProps> = ({ repository, rows, window }) => {
  const all = [repository, ...rows.map((row) => row.repository)];
  return rows.length === 0 ? null : (
    <section>
      <div class="apart">
        <h2>Similar repositories</h2>
        <Link href={`/compare?${queryOf(all.map((one) => ["repo", repositoryKey(one)] as const))}`} isControl>
          Compare all
        </Link>
      </div>
      <table class="list similar">
        <caption class="hidden">Similar repositories, with their gain in {WINDOW_LABELS[window]}</caption>
        <tbody>
          {rows.map(({ repository: one, trend: growth }) => (
            <tr>
              <th scope="row">
                <a href={repositoryPage(one)}>
                  <bdi>{one.fullName}</bdi>
                </a>
              </th>
              <td class="soft roomy">
                <bdi>{withEmoji(one.description ?? "")}</bdi>
              </td>
              <td class="number">{formatCompact(one.stars)}</td>
              <td class="number">
                <Delta value={growth?.starsDelta} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
};

/** The page of a repository that is not tracked: its progress once it is requested, before that one button, and similar names. The address of a clone redirects to its repository. */
export async function showUnknownRepository(
  request: PageRequest,
  named: RepositoryName,
): Promise<Page | Redirect> {
  const cloned = await asCloned(request, named);
  if (cloned !== undefined) return cloned;
  const { provider, fullName } = named;
  const asked = await request.modules.trackRequests.progress(named);
  if (asked !== undefined && isReading(asked))
    return progressPage(asked, await readTokenOffer(request, provider));
  const recordedId = asked?.repositoryId ?? null;
  const renamed = recordedId === null ? undefined : await request.modules.catalog.find(recordedId);
  if (renamed !== undefined) return { location: repositoryPage(renamed), status: 302 };
  const failure = asked?.failure?.message;
  const asking = await readAsking(request);
  const site = asking.policy.forges.find(({ name }) => name === provider)?.url;
  // No web address for an unknown forge.
  const url = site === undefined ? defaultUrl(provider, fullName) : repositoryUrl(site, fullName);
  const suggestions = await readSimilar(request, fullName);
  const { offers } = await offerTracking(request, asking, [repositoryKey(named)]);
  return {
    title: `${fullName} isn’t tracked here`,
    status: 404,
    scripts: FIELD_SCRIPTS,
    body: (
      <>
        <h1>
          <bdi>{fullName}</bdi> isn’t tracked here
        </h1>
        {failure === undefined ? null : (
          <p class="lead" role="status">
            {failure}
          </p>
        )}
        <TrackButton offers={offers} />
        {/^https?:/.test(url) ? (
          <p>
            <a href={url} rel="noopener nofollow">
              Look for it on {forgeName(provider)} <span aria-hidden="true">↗</span>
            </a>
          </p>
        ) : null}
        {suggestions.length === 0 ? null : (
          <>
            <h2>Similar names</h2>
            <ul class="plain">
              {suggestions.map((repository) => (
                <li>
                  <MeantRepository repository={repository} href={repositoryPage(repository)} />
                </li>
              ))}
            </ul>
          </>
        )}
        <h2>Another one</h2>
        <AskForm asking={asking} />
      </>
    ),
  };
}

/** Redirects a clone URL (`….git`) to its repository; undefined for any other address. */
async function asCloned(
  { modules, url }: PageRequest,
  { provider, fullName }: RepositoryName,
): Promise<Redirect | undefined> {
  const name = fullName.replace(/\.git$/i, "");
  if (name === fullName || splitFullName(name) === undefined) return undefined;
  const found = await modules.catalog.findByName(provider, name);
  return found && { location: repositoryPage(found.repository) + url.search, status: 301 };
}

/** Similar names shown. */
const SIMILAR_NAMES = 8;

/** Repositories with a similar name: those that begin with it, then those that a search with corrected typing errors finds. */
async function readSimilar({ modules }: PageRequest, fullName: string): Promise<Repository[]> {
  const name = (splitFullName(fullName)?.name ?? "").slice(0, 64);
  const repositories = await modules.search.suggestRepositories(name, SIMILAR_NAMES);
  if (repositories.length >= SIMILAR_NAMES) return repositories;
  const ids = await modules.search.find(name, SIMILAR_NAMES);
  const known = new Set(repositories.map(({ id }) => id));
  const found = await modules.catalog.findMany(ids.filter((id) => !known.has(id)));
  return [...repositories, ...found].slice(0, SIMILAR_NAMES);
}

/** The page of a repository that is being looked up. */
function progressPage(asked: TrackRequest, tokenOffer: JSX.Element | undefined): Page {
  return {
    title: `Reading ${asked.fullName}`,
    isFresh: true,
    isHidden: true,
    isLive: true,
    refreshSeconds: READING_SECONDS,
    body: (
      <div class="read">
        <div data-live="reading">
          <h1>
            <bdi>{asked.fullName}</bdi>
          </h1>
          <Reading request={asked} />
          <p class="soft small">This page updates itself. You can close it and come back to its address.</p>
        </div>
        {tokenOffer}
      </div>
    ),
  };
}
