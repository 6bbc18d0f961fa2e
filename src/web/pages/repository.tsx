import type { FunctionComponent as FC } from "preact";
import { z } from "zod";
import {
  bestDay,
  type ChartPoint,
  chartPoints,
  crossingsOf,
  dayGains,
  fewDays,
  historyWords,
  LEAST_RANKED,
  lifeWords,
  milestonesOf,
  placeWords,
  readHistory,
  spansOf,
  strongest,
} from "../../charts/charts.js";
import type { ListRow, Standing } from "../../discovery/discovery.js";
import {
  endOfGrowth,
  gainWords,
  MEASURES,
  readSeries,
  readSeveralSeries,
  type Series,
  type Trend,
  WINDOW_LABELS,
  WINDOWS,
} from "../../growth/growth.js";
import { DAY_MS } from "../../lib/clock.js";
import { AppError } from "../../lib/errors.js";
import {
  chartPage,
  queryOf,
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
import { badgesOf, OwnerImage } from "../components/badges.js";
import {
  ChartFoot,
  ChartFrame,
  chartParameters,
  HistoryNote,
  readChartQuery,
} from "../components/chart-controls.js";
import { Link } from "../components/elements.js";
import { Headline, Proof, Tiles } from "../components/growth.js";
import {
  AsOf,
  Delta,
  formatCount,
  formatDate,
  formatDelta,
  isOld,
  withEmoji,
} from "../components/numbers.js";
import { BestRank, Ranks } from "../components/ranks.js";
import {
  AbsentNote,
  type Crossing,
  DataQuality,
  Events,
  FullName,
  happeningsOf,
  RepositoryFacts,
  RepositoryHead,
  StaleNote,
} from "../components/repository.js";
import { Life } from "../components/small-charts.js";
import { SnapshotSection } from "../components/table.js";
import { READING_SECONDS, Reading } from "../components/tracking-state.js";
import { PlaceBars, whyText } from "../components/why.js";
import { offersToken } from "../forge-tokens.js";
import { similarTo } from "../naming.js";
import { Problems } from "../page.js";
import type { Page, PageRequest, Redirect, RenderContext } from "../page-request.js";
import { savedAmong } from "../saving.js";
import { ShareChart } from "../share.js";
import { NotIt, readAsking, readingOf } from "../tracking.js";
import { REPOSITORY_SCRIPTS, showUnknownRepository } from "./unknown-repository.js";

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
  /** Default: the window with the strongest story. */
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
const SIMILAR = 3;

/** Reads the data of the page: its standing, then all else concurrently. `isFirst`: its whole life is its story. */
async function readFacts(request: PageRequest, { repository, names, isFirst }: Opened, state: State) {
  const { catalog, rankings, lists, database } = request.modules;
  const { id } = repository;
  const { ranks, ...standing } = await rankings.standing(id);
  const { trends } = standing;
  const measured = readSeries(database, id);
  const growth = { trends: Object.values(trends), measured };
  const asOf = endOfGrowth(growth.trends, repository.countedAt);
  const { metric, range, from, to } = state;
  const year = readHistory(request.modules, repository, { metric: "stars", window: "1y", ...growth });
  const isYear = metric === "stars" && range === "1y" && from === undefined && to === undefined;
  const hasRanks = request.summary.repositories >= LEAST_RANKED;
  const window = state.window ?? strongest(trends, hasRanks ? ranks : []);
  const rowsOf = async (ids: readonly number[]) => lists.rows(ids, window);
  const [history, stars, { readings }, rankHistory, saved, recency, around, similar] = await Promise.all([
    isYear ? year : readHistory(request.modules, repository, { metric, window: range, from, to, ...growth }),
    year,
    measured,
    asOf === null || !hasRanks ? [] : rankings.rankHistory(id, asOf - RANK_DAYS * DAY_MS, MAX_RANKS),
    savedAmong(request, [id]),
    catalog.recency(),
    hasRanks ? rankings.neighbours(id, "trending", window).then(rowsOf) : [],
    // Of a hidden one they would give away its topics.
    hidesTexts(repository) ? [] : rankings.similar(repository, SIMILAR).then(rowsOf),
  ]);
  return {
    history,
    stars,
    ...standing,
    ranks: hasRanks ? ranks : [],
    readings: readingsAround(readings, trends),
    window,
    trend: trends[window],
    rankHistory,
    names,
    repository,
    asOf,
    isFirst,
    isSaved: saved.has(id),
    isStale: isStale(repository, recency),
    recency,
    chosen: chosenOf(readings, state),
    around,
    similar,
    ...(await readStory(request, { repository, names, similar, series: stars.series })),
  };
}

interface StoryOf extends Pick<Opened, "repository" | "names"> {
  similar: readonly ListRow[];
  series: Series;
}

/** The life of a repository, those of similar ones, and what happened in it. Costs reading the snapshots of the similar ones. */
async function readStory({ modules }: PageRequest, { repository, names, similar, series }: StoryOf) {
  const lives = new Map<number, ChartPoint[]>();
  const ids = similar.map((row) => row.repository.id);
  for await (const [id, one] of readSeveralSeries(modules.database, ids))
    lives.set(id, chartPoints(one.series, "stars"));
  const life = chartPoints(series, "stars");
  const days = dayGains(life);
  const milestones = milestonesOf({ metric: "stars", align: "date", series: [{ points: life }] });
  const crossings = similar.flatMap(({ repository: other }): Crossing[] => {
    const crossing = crossingsOf([life, lives.get(other.id) ?? []]).at(-1);
    if (crossing === undefined) return [];
    return [{ at: crossing.at, value: Math.round(crossing.value), isAbove: crossing.passer === 0, other }];
  });
  const happenings = happeningsOf({ repository, best: bestDay(days), milestones, crossings, names });
  return { lives, life, days, crossings, happenings, passed: milestones.at(-1) };
}

/** A repository whose page is shown. */
interface Opened {
  repository: Repository;
  names: Current["previousNames"];
  /** Whether its whole life comes first: it was added in the last day, or the catalogue has only a few. */
  isFirst: boolean;
}

async function known(request: PageRequest, { repository, previousNames: names }: Current): Promise<Page> {
  const { id, fullName } = repository;
  const { url, query, problems } = readChartQuery(repositoryQuery, request.url);
  const reading = await readingOf(request, repository);
  const isFirst =
    request.summary.repositories < LEAST_RANKED || repository.discoveredAt > request.now - DAY_MS;
  const state = isFirst && !url.searchParams.has("range") ? { ...query, range: "all" as const } : query;
  const [facts, hasOffer, notIt] = await Promise.all([
    readFacts(request, { repository, names, isFirst }, state),
    reading !== undefined && offersToken(request, repository.provider),
    readNotIt(request, repository, state.asked),
  ]);
  const api = `/api/repos/${repository.provider.toLowerCase()}/by-full-name?${new URLSearchParams({ fullName })}`;
  return {
    title: fullName,
    showsAge: true,
    isHidden: hidesTexts(repository),
    status: problems.length === 0 ? 200 : 400,
    description: descriptionOf(repository, facts.trends["7d"]),
    canonical: repositoryPage(repository),
    image: `/api/embed/card.png?${queryOf([["repo", repositoryKey(repository)]])}`,
    scripts: REPOSITORY_SCRIPTS,
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
      <div class="repository" data-live="repository">
        <Problems problems={problems} isLeftOut />
        {notIt}
        <Top facts={facts} />
        <Frame {...{ facts, url, state, reading, hasOffer }} />
        <Tiles {...facts} series={facts.stars.series} url={url} />
        {reading === undefined ? <Story facts={facts} /> : null}
        <Similar {...facts} />
        <RepositoryFacts repository={repository} />
        {reading === undefined ? <Evidence facts={facts} /> : null}
      </div>
    ),
  };
}

/** Others that the name may mean; nothing for a repository that was opened by its whole name. */
async function readNotIt(request: PageRequest, { id }: Repository, asked: string | undefined) {
  if (asked === undefined) return undefined;
  const [others, { isOpen }] = await Promise.all([similarTo(request.modules, asked), readAsking(request)]);
  return <NotIt text={asked} others={others.filter((one) => one.id !== id)} mayAsk={isOpen} />;
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

/** The repository itself, what is wrong with its counts, and what happened. */
const Top: FC<{ facts: Facts }> = ({ facts }) => {
  const { repository, names, isFirst, isStale, isSaved, stored, recency, passed } = facts;
  return (
    <>
      <RepositoryHead
        repository={repository}
        badges={badgesOf({ repository, trends: [], isStale: false, renamedFrom: names[0]?.fullName })}
        isSaved={isSaved}
        next={repositoryPage(repository)}
      />
      <AbsentNote repository={repository} lastSnapshotAt={stored.lastSnapshotAt} />
      {repository.availability === "AVAILABLE" && isStale ? (
        <StaleNote repository={repository} recency={recency} />
      ) : null}
      {isFirst ? null : <Headline {...facts} {...{ facts, passed }} />}
    </>
  );
};

interface FrameProps {
  facts: Facts;
  url: URL;
  state: State;
  /** Its open request. */
  reading: TrackRequest | undefined;
  /** Whether a token would help. */
  hasOffer: boolean;
}

/** The chart, and below it how far it is read, or its numbers and ways to pass it on. */
const Frame: FC<FrameProps> = ({ facts, url, state, reading, hasOffer }) => {
  const { repository, history, crossings, isFirst, life } = facts;
  const lived = isFirst ? lifeWords(life) : undefined;
  const share = <ShareChart state={state} repositories={[repository]} />;
  return (
    <ChartFrame
      {...{ url, state, history }}
      spans={spansOf([history], state.metric)}
      passed={crossings.filter(({ isAbove }) => isAbove).map((one) => ({ ...one, name: one.other.name }))}
      isReading={reading !== undefined}
      foot={
        reading === undefined ? (
          <ChartFoot {...{ url, state, history, share }} words={<FootWords facts={facts} />} />
        ) : (
          <Reading request={reading} left={leftOf(life, repository)} hasOffer={hasOffer} />
        )
      }
    >
      {lived === undefined ? null : <span class="rise">{lived}</span>}
    </ChartFrame>
  );
};

/** The part of the stars whose days are not read. */
const leftOf = ([first]: readonly ChartPoint[], { stars }: Repository): number =>
  first === undefined || stars === null ? 1 : Math.min(1, first.value / Math.max(1, stars));

/** Of a first chart that it is whole; why a history is not; otherwise how old the numbers are. */
const FootWords: FC<{ facts: Facts }> = (
  { facts: { repository, stars, asOf, isFirst, life } },
  { now }: RenderContext,
) => {
  const missing =
    repository.availability === "AVAILABLE"
      ? historyWords(stars.historyState, repository.provider, now)
      : undefined;
  if (missing !== undefined) return <>{missing}</>;
  if (isFirst && stars.historyState.state === "WHOLE" && life[0] !== undefined)
    return <>Its whole history, {formatDate(life[0].at)} to today</>;
  return <AsOf at={asOf} />;
};

/** Why it has its place, and what happened to it. */
const Story: FC<{ facts: Facts }> = ({ facts }) => (
  <div class="halves">
    <WhyHere {...facts} />
    <section class="card">
      <h2>What happened</h2>
      <Events {...facts} unusual={spansOf([facts.stars], "stars").filter(({ kind }) => kind === "unusual")} />
    </section>
  </div>
);

/** The place in Trending next to its neighbours, each against its usual days; nothing without a place among all. */
const WhyHere: FC<Facts> = ({ ranks, window, trend, around, repository, days }, { now }: RenderContext) => {
  const rank = ranks.find(
    (one) => one.ranking === "trending" && one.scope === "overall" && one.window === window,
  );
  if (rank === undefined || trend === null) return null;
  const own = around.findIndex((row) => row.repository.id === repository.id);
  const rows = around.flatMap(({ repository: one, trend: growth }, i) =>
    growth === undefined ? [] : [{ place: rank.position + i - own, repository: one, trend: growth }],
  );
  const few = fewDays(trend, days);
  return (
    <section class="card" id="trend">
      <h2>Why it is {placeWords(rank, now !== undefined && isOld(trend.to, now))}</h2>
      <p class="say">
        {whyText(rows, rank.position)}
        {few === undefined ? "" : ` ${formatCount(few.sum)} of its stars came ${few.when}.`}
      </p>
      <div class="places-head soft small" aria-hidden="true">
        <span>{WINDOW_LABELS[window]}</span>
        <span>usual</span>
      </div>
      <PlaceBars rows={rows} place={rank.position} />
    </section>
  );
};

/** Similar repositories, each with its last year against this one; nothing without any. */
const Similar: FC<Facts> = ({ repository, similar, stars, lives, window }) => {
  const all = [repository, ...similar.map((row) => row.repository)];
  const from = stars.points[0]?.at ?? 0;
  return similar.length === 0 ? null : (
    <section class="kind">
      <div class="apart">
        <h2>Others of its kind</h2>
        <Link href={chartPage(all)} isControl>
          Compare all {["", "", "two", "three", "four"][all.length]}
        </Link>
      </div>
      <ul class="kin">
        {similar.map(({ repository: one, trend }) => (
          <li>
            <a class="card" href={`${repositoryPage(one)}?window=${window}`}>
              <span class="row-name">
                <OwnerImage owner={one.owner} provider={one.provider} size={24} />
                <span>
                  <FullName of={one} />
                </span>
              </span>
              <span class="about" dir="auto">
                {withEmoji(one.description ?? "")}
              </span>
              <Life
                points={(lives.get(one.id) ?? []).filter(({ at }) => at >= from)}
                against={stars.points}
                width={166}
                height={56}
              />
              <span class="number">
                <b>
                  <Delta value={trend?.starsDelta} />
                </b>
                <small class="counted">{formatCount(one.stars)}</small>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
};

/** All that the page rests on, folded: ranks, scores, the counts compared and the quality of the data. */
const Evidence: FC<{ facts: Facts }> = ({ facts }) => (
  <details class="part" open={facts.chosen !== undefined}>
    <summary>
      {facts.ranks.length === 0 ? "All snapshots and readings" : "All ranks, snapshots and readings"}
    </summary>
    {facts.ranks.length === 0 ? null : (
      <section>
        <h3>Ranks</h3>
        <Ranks ranks={facts.ranks} />
        <BestRank history={facts.rankHistory} window={facts.window} />
      </section>
    )}
    <section>
      <h3>Growth</h3>
      <Proof {...facts} facts={facts} />
      <HistoryNote history={facts.history} />
    </section>
    <SnapshotSection {...facts} stored={facts.stored.snapshots} />
    <DataQuality {...facts} gaps={facts.history.gaps.length} />
  </details>
);
