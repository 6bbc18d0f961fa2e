import type { FC } from "hono/jsx";
import { z } from "zod";
import { type Described, providerName, type Repository, splitFullName } from "../../catalog/catalog.js";
import { ageInDays, DAY_MS } from "../../clock.js";
import { CHART_WINDOWS, METRICS, readHistory, THEMES } from "../../embeds/embeds.js";
import { AppError } from "../../errors.js";
import { windowParameter } from "../../lists/lists.js";
import {
  repositoryPage as pageOf,
  queryOf,
  repositoryKey,
  withoutTrailingSlashes,
} from "../../page-addresses.js";
import { gainWords, MEASURES, WINDOWS } from "../../rankings/rankings.js";
import { withQuery } from "../components/addresses.js";
import { ChartSection } from "../components/chart-section.js";
import { DataQuality } from "../components/data-quality.js";
import { EmbedPanel } from "../components/embed-panel.js";
import { ScoreExplanation } from "../components/explanation.js";
import { ComparedTimes, GainNotes, GrowthTable } from "../components/growth-table.js";
import { AsOf, formatCount, formatDelta } from "../components/numbers.js";
import { PLOT_SCRIPTS } from "../components/plot.js";
import { Problems } from "../components/problems.js";
import { RankHistory, Ranks } from "../components/ranks.js";
import { RenameNotice } from "../components/rename-notice.js";
import { RepositoryHead } from "../components/repository-head.js";
import { Scroll } from "../components/scroll.js";
import { StaleNote } from "../components/stale-note.js";
import { Tabs } from "../components/tabs.js";
import { UnknownRepository } from "../components/unknown-repository.js";
import { readUsableQuery } from "../page-query.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";
import { offerTracking } from "../tracking-offer.js";

/** Days of rank history shown. */
const RANK_DAYS = 30;
/** All stored ranks of these days: each measure in two scopes. */
const MAX_RANKS = RANK_DAYS * 2 * MEASURES.length;

/** The page of a repository. Previous names and clone URLs redirect to it. */
export async function showRepository(request: PageRequest): Promise<Page | Redirect> {
  const { modules, params, url } = request;
  const written = params.fullName ?? "";
  const fullName = withoutTrailingSlashes(written);
  const provider = providerName(params.provider ?? "");
  if (provider === undefined || splitFullName(fullName) === undefined)
    throw new AppError("NOT_FOUND", "This address does not name a repository.");
  const named = { provider, fullName };
  const found = await modules.catalog.describe(provider, fullName);
  if (found === undefined) return (await asCloned(request, named)) ?? unknown(request, named);
  const path = pageOf(found.repository);
  if (found.isPreviousName || written !== fullName) return { location: path + url.search, status: 301 };
  return known(request, found);
}

/** Redirects a clone URL (`….git`) to its repository; undefined for any other address. */
async function asCloned(
  { modules, url }: PageRequest,
  { provider, fullName }: { provider: string; fullName: string },
): Promise<Redirect | undefined> {
  const name = fullName.replace(/\.git$/i, "");
  if (name === fullName || splitFullName(name) === undefined) return undefined;
  const found = await modules.catalog.findByName(provider, name);
  return found && { location: pageOf(found.repository) + url.search, status: 301 };
}

async function unknown(request: PageRequest, named: { provider: string; fullName: string }): Promise<Page> {
  const name = splitFullName(named.fullName)?.name ?? "";
  const { repositories } = await request.modules.search.suggest(name.slice(0, 64), 8);
  const offers = await offerTracking(request, [repositoryKey(named)]);
  return {
    title: "Not tracked here",
    status: 404,
    body: <UnknownRepository {...named} suggestions={repositories} offers={offers} />,
  };
}

/** The parameters of the page. */
export const repositoryQuery = z.object({
  metric: z.enum(METRICS).default("stars"),
  range: z.enum(CHART_WINDOWS).default("1y"),
  window: windowParameter,
  theme: z.enum(THEMES).default("auto"),
});
type State = z.output<typeof repositoryQuery>;

/** A repository found by its current name. */
type Current = Extract<Described, { isPreviousName: false }>;

/** Reads the data of the page, concurrently. */
async function readFacts({ modules, savedAmong, now }: PageRequest, current: Current, state: State) {
  const { catalog, rankings } = modules;
  const { repository, previousNames, stored, asOf } = current;
  const { id } = repository;
  const readStanding = async () => {
    const standing = await rankings.standing(id);
    const times = Object.values(standing.trends).flatMap((trend) =>
      trend === null ? [] : [trend.from, trend.to],
    );
    return {
      ...standing,
      compared: repository.watchers === null ? [] : await catalog.snapshotsAt(id, times),
    };
  };
  const { metric, range } = state;
  const [history, standing, explanations, rankHistory, saved, renames, recency] = await Promise.all([
    readHistory(catalog, repository, { metric, window: range, known: { asOf, stored } }),
    readStanding(),
    rankings.explain(id),
    asOf === null ? [] : rankings.rankHistory(id, asOf - RANK_DAYS * DAY_MS, MAX_RANKS),
    savedAmong([id]),
    catalog.renamesOf(id),
    catalog.recency(),
  ]);
  return {
    history,
    ...standing,
    explanation: explanations[state.window],
    rankHistory,
    names: previousNames,
    renames,
    stored,
    isSaved: saved.has(id),
    recency,
    ageDays: ageInDays(asOf, now),
  };
}

async function known(request: PageRequest, current: Current): Promise<Page> {
  const { baseUrl } = request;
  const { repository } = current;
  const { id, fullName } = repository;
  const { url, query: state, problems } = readUsableQuery(repositoryQuery, request.url);
  const facts = await readFacts(request, current, state);
  const path = pageOf(repository);
  const key = repositoryKey(repository);
  const week = facts.trends["7d"];
  const words = week === null ? undefined : gainWords(week, "stars");
  const gained =
    week === null
      ? ""
      : `, ${formatDelta(week.starsDelta)} in 7 days${words === undefined ? "" : ` (${words.short})`}`;
  const api = `/api/repos/${repository.provider.toLowerCase()}/by-full-name?${new URLSearchParams({ fullName })}`;
  return {
    title: fullName,
    status: problems.length === 0 ? 200 : 400,
    description:
      `${fullName}: ${formatCount(repository.stars)} stars${gained}. ${repository.description ?? ""}`
        .trim()
        .slice(0, 300)
        .toWellFormed(),
    canonical: path,
    image: `/api/embed/card.png?${queryOf([["repo", key]])}`,
    scripts: [...PLOT_SCRIPTS, "copy.js", "save.js"],
    alternates: [
      { type: "application/json", href: api, title: `${fullName} as JSON` },
      {
        type: "text/csv",
        href: `/api/repos/${id}/metrics?window=all&format=csv`,
        title: `Snapshots of ${fullName}`,
      },
    ],
    body: (
      <>
        <Problems problems={problems} isLeftOut />
        <RepositoryHead
          repository={repository}
          lastSnapshotAt={facts.stored.lastSnapshotAt}
          isSaved={facts.isSaved}
          next={path}
        />
        <RenameNotice repositoryId={id} renames={facts.renames} />
        {repository.availability === "AVAILABLE" ? (
          <StaleNote repository={repository} recency={facts.recency} />
        ) : null}
        <KnownFacts {...{ url, repository, state, facts }} />
        <EmbedPanel
          repositories={[repository]}
          baseUrl={baseUrl}
          path={path}
          metric={state.metric}
          range={state.range}
          theme={state.theme}
          kept={[["window", state.window]]}
        />
      </>
    ),
  };
}

interface KnownFactsProps {
  url: URL;
  repository: Repository;
  state: State;
  facts: Awaited<ReturnType<typeof readFacts>>;
}

const KnownFacts: FC<KnownFactsProps> = ({ url, repository, state, facts }) => (
  <>
    <div class="course">
      <ChartSection url={url} metric={state.metric} range={state.range} history={facts.history} />
      <section>
        <h2>Growth</h2>
        <Scroll label="Growth by window">
          <GrowthTable repository={repository} trends={facts.trends} compared={facts.compared} />
        </Scroll>
        <GainNotes trends={facts.trends} />
        {WINDOWS.every((window) => facts.trends[window] === null) ? null : (
          <p class="soft small">
            Growth <AsOf at={facts.history.asOf} ageDays={facts.ageDays} />
          </p>
        )}
        <ComparedTimes trends={facts.trends} />
      </section>
    </div>
    <div class="grid after">
      <section id="trend">
        <div class="apart">
          <h2>Score breakdown</h2>
          <Tabs
            label="Window"
            tabs={WINDOWS.map((window) => ({
              name: window,
              href: `${withQuery(url, { window })}#trend`,
              isCurrent: window === state.window,
            }))}
          />
        </div>
        <ScoreExplanation
          window={state.window}
          explanation={facts.explanation}
          trend={facts.trends[state.window]}
        />
      </section>
      <section>
        <h2>Rankings</h2>
        <Ranks ranks={facts.ranks} />
        <RankHistory history={facts.rankHistory} window={state.window} />
      </section>
    </div>
    <DataQuality
      stored={facts.stored}
      names={facts.names}
      trends={facts.trends}
      gaps={facts.history.gaps.length}
    />
  </>
);
