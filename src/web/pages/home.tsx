import type { FC } from "hono/jsx";
import type { StarCount } from "../../catalog/catalog.js";
import { explorePage, LANGUAGES_PAGE, languagePage, TOPICS_PAGE, topicPage } from "../../page-addresses.js";
import {
  type CurrentSummary,
  type Facet,
  type Home,
  RANKING_DEFINITIONS,
  type RankedList,
  type Ranking,
  type RankingDefinition,
  WINDOW_LABELS,
  WINDOWS,
  type Window,
} from "../../rankings/rankings.js";
import { Bars } from "../components/bars.js";
import { Nothing } from "../components/nothing.js";
import { AsOf, formatCount } from "../components/numbers.js";
import { type ListedRow, RepositoryList } from "../components/repository-list.js";
import { StillHeldNote } from "../components/still-held.js";
import type { Page, PageRequest } from "../page-request.js";
import { type ListStars, starScripts, starsOf } from "../saving.js";

const NO_GROWTH = "Nothing yet. Growth needs two snapshots of a repository, at least half a day apart.";

interface HomeList extends RankingDefinition {
  key: "trending" | "rising" | "newHot" | "forkGrowth";
  sort: Ranking;
  /** Shown while the list is empty; absent: NO_GROWTH. */
  none?: string;
}

/** The rankings on the home page, in order. */
const LISTS: readonly HomeList[] = [
  { key: "trending", sort: "trending", ...RANKING_DEFINITIONS.trending },
  { key: "rising", sort: "rising", ...RANKING_DEFINITIONS.rising },
  {
    key: "newHot",
    sort: "new-hot",
    ...RANKING_DEFINITIONS["new-hot"],
    none: "Nothing yet. This list has repositories younger than 90 days, or first seen with few stars where creation dates are not known.",
  },
  { key: "forkGrowth", sort: "fork-growth", ...RANKING_DEFINITIONS["fork-growth"] },
];

export async function showHome(request: PageRequest): Promise<Page> {
  const { modules, summary, tracked } = request;
  const prepared = await modules.rankings.home();
  const description = "Repositories across forges, ranked by measured growth.";
  if (summary.repositories === 0)
    return { title: "Growing repositories", description, body: <Nothing tracked={tracked} /> };
  const ids = [...new Set(LISTS.flatMap(({ key }) => prepared[key].ids))];
  const [sparks, rows] = await Promise.all([
    modules.catalog.sparks(ids, summary.asOf ?? prepared.generatedAt),
    modules.lists.rowsOfEach(LISTS.map(({ key }) => prepared[key])),
  ]);
  const lists = LISTS.map((list, i) => ({ ...list, ...prepared[list.key], rows: rows[i] ?? [] }));
  const stars = await starsOf(
    request,
    lists.flatMap(({ rows }) => rows),
    "/",
  );
  return {
    title: "Growing repositories",
    description,
    scripts: starScripts(request),
    alternates: LISTS.map(({ label, sort }) => ({
      type: "application/atom+xml",
      href: `/api/feeds/${sort}.atom?window=7d`,
      title: `${label}, ${WINDOW_LABELS["7d"]}`,
    })),
    body: <HomeBody {...{ summary, prepared, lists, sparks, stars }} />,
  };
}

interface HomeBodyProps {
  summary: CurrentSummary;
  prepared: Home;
  lists: (HomeList & RankedList & { rows: ListedRow[] })[];
  sparks: ReadonlyMap<number, readonly (StarCount | null)[]>;
  stars: ListStars;
}

const HomeBody: FC<HomeBodyProps> = ({ summary, prepared, lists, sparks, stars }) => (
  <>
    <h1>Growing repositories</h1>
    <p class="lead">
      {formatCount(summary.repositories)} repositories · {formatCount(summary.snapshots)} snapshots ·{" "}
      <AsOf at={summary.asOf} ageDays={summary.ageDays} />
    </p>
    <div class="grid">
      {lists
        .filter(({ rows }) => rows.length > 0)
        .map((list) => (
          <ListSection {...{ list, sparks, stars }} />
        ))}
      <Facets title="Languages" path={LANGUAGES_PAGE} facets={prepared.languages} page={languagePage} />
      <Facets title="Topics" path={TOPICS_PAGE} facets={prepared.topics} page={topicPage} />
      {/* Last, so that they leave no hole between the others. */}
      {lists
        .filter(({ rows }) => rows.length === 0)
        .map((list) => (
          <ListSection {...{ list, sparks, stars }} />
        ))}
    </div>
    <StillHeldNote trends={lists.flatMap(({ rows }) => rows.map(({ trend }) => trend))} />
  </>
);

const ListSection: FC<Pick<HomeBodyProps, "sparks" | "stars"> & { list: HomeBodyProps["lists"][number] }> = ({
  list: { sort, label, description: about, window, isFallback, rows, none = NO_GROWTH },
  sparks,
  stars,
}) => (
  <section>
    <div class="apart">
      <h2>
        <a href={listPath(sort, window)}>{label}</a>
      </h2>
      <span class="soft small">
        {about} · {WINDOW_LABELS[window]}
        {isFallback ? " (fewer than ten in 24 hours)" : ""}
      </span>
    </div>
    {rows.length === 0 ? (
      <p class="soft">{none}</p>
    ) : (
      <RepositoryList
        rows={rows}
        caption={label}
        from={1}
        sparks={sparks}
        metric={sort === "fork-growth" ? "forks" : "stars"}
        marksFirstSeen={sort === "new-hot"}
        isShort
        {...stars}
      />
    )}
    <p class="soft small ways">
      Full list:{" "}
      {WINDOWS.map((one, i) => (
        <>
          {i === 0 ? "" : " · "}
          <a href={listPath(sort, one)} aria-label={`${label}, ${one}`}>
            {one}
          </a>
        </>
      ))}{" "}
      ·{" "}
      <a href={`/api/feeds/${sort}.atom?window=7d`} aria-label={`Atom feed of ${label}, 7d`}>
        Atom feed
      </a>
    </p>
  </section>
);

function listPath(sort: string, window: Window): string {
  return explorePage(new URLSearchParams({ sort, window }));
}

interface FacetsProps {
  title: string;
  path: string;
  facets: readonly Facet[];
  page: (name: string) => string;
}

/** The most common languages or topics; nothing if none are known, since not every forge reports them. */
const Facets: FC<FacetsProps> = ({ title, path, facets, page }) =>
  facets.length === 0 ? null : (
    <section>
      <h2>
        <a href={path}>{title}</a>
      </h2>
      <Bars facets={facets} page={page} />
    </section>
  );
