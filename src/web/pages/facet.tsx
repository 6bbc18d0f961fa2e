import type { FunctionComponent as FC } from "preact";
import { z } from "zod";
import { dayText } from "../../charts/charts.js";
import {
  cursorParameter,
  type FacetKind,
  isCovered,
  isGrowthSort,
  type ListRow,
  listQuery,
  MAIN_SORTS,
  pageParameter,
  type Rankings,
  SORT_DEFINITIONS,
  windowsOf,
} from "../../discovery/discovery.js";
import { WINDOW_LABELS, WINDOWS, type Window } from "../../growth/growth.js";
import { DAY_MS } from "../../lib/clock.js";
import { AppError } from "../../lib/errors.js";
import { explorePage, topicPage } from "../../lib/page-addresses.js";
import { oneOf } from "../../lib/schema.js";
import { SumTable } from "../components/chart-controls.js";
import { addressOf, BeyondEnd, Link, Ways, WindowTabs, withQuery } from "../components/elements.js";
import { KINDS, MAKERS, Makers, madePart } from "../components/facet-cards.js";
import { alternatesOf, feedPath, ListingView, readListing } from "../components/listing.js";
import { AsOf, Delta, Dot, formatCount, isolated, repositoriesText } from "../components/numbers.js";
import { PLOT_SCRIPTS, Plot } from "../components/plot.js";
import { Problems, readQuery, resultOrProblems } from "../page.js";
import type { Page, PageRequest } from "../page-request.js";
import { starScripts, starsOf } from "../saving.js";
import { wayToCard } from "../share.js";

export const facetQuery = z.object({
  sort: oneOf(MAIN_SORTS).optional(),
  window: z.enum(WINDOWS).optional(),
  page: pageParameter,
  cursor: cursorParameter,
});

type NamedFacet = NonNullable<Awaited<ReturnType<Rankings["findFacet"]>>>;

/** The parameters of a list by default. */
const UNFILTERED = listQuery.parse({});

/** The page of one language or topic. */
export const showFacet =
  (kind: FacetKind) =>
  async (request: PageRequest): Promise<Page> => {
    const facet = await request.modules.rankings.findFacet(kind, request.http.params.name ?? "");
    if (facet === undefined) throw new AppError("NOT_FOUND", `No repository has this ${kind}.`);
    const shown = await readFacet(request, kind, facet);
    const { url, found } = shown;
    const { name, repositories } = facet;
    const feed = found && feedPath(found.list.sort);
    return {
      title: kind === "language" ? `${name} repositories` : `Repositories about ${name}`,
      description: `${formatCount(repositories)} repositories: trending, rising, new and largest.`,
      status: found ? 200 : 400,
      ...(found && { showsAge: true, canonical: KINDS[kind].pageOf(name) + url.search }),
      scripts: [...starScripts(request), ...(found?.grown.known ? PLOT_SCRIPTS : [])],
      ...(feed && {
        alternates: [
          {
            type: "application/atom+xml",
            href: withQuery(new URL(feed, url), { [kind]: name.toLowerCase(), window: found.query.window }),
            title: `${name}, ${found.list.sort}`,
          },
        ],
      }),
      body: <FacetBody {...shown} />,
    };
  };

/** What gained most in a month, or else in the longest time that is known. */
export function usualList({ gained }: NamedFacet) {
  const known = WINDOWS.findLast((window) => gained[window].measured > 0);
  return { known, window: known ?? "30d", sort: known === undefined ? "stars" : "stars-gained" } as const;
}

type ShownFacet = Awaited<ReturnType<typeof readFacet>>;
type FoundProps = ShownFacet & { found: NonNullable<ShownFacet["found"]> };

async function readFacet(request: PageRequest, kind: FacetKind, facet: NamedFacet) {
  const { summary } = request;
  const { name } = facet;
  const { url, query: given, ...read } = readQuery(facetQuery, request.url);
  const { known, ...usual } = usualList(facet);
  const sort = given?.sort ?? usual.sort;
  const windows = windowsOf(sort);
  const longest = windows.findLast((window) => window === known) ?? windows.at(-1) ?? "30d";
  const query = given && { ...given, sort, window: given.window ?? longest };
  const { found, problems } = await resultOrProblems(
    async () =>
      query && {
        query,
        ...(await readListing(request, { ...UNFILTERED, ...query, [kind]: [name.toLowerCase()] })),
        grown: await readGrown(request, { kind, name, window: query.window }),
      },
  );
  return {
    ...{ kind, facet, summary, url, windows },
    problems: [...read.problems, ...problems],
    found: found && { ...found, stars: await starsOf(request, found.list.rows, addressOf(url)) },
  };
}

/** How it has grown: the sum of all repositories that are known over 30 days, and those that gained most. */
async function readGrown(
  { modules: { rankings, lists }, summary }: PageRequest,
  { kind, name, window }: { kind: FacetKind; name: string; window: (typeof WINDOWS)[number] },
) {
  const leaders = await rankings.leaders({ scope: kind, name, limit: MAKERS });
  const makers = await lists.rows(leaders("stars-gained", window), window);
  const { gains = [], known = 0 } = (await rankings.facetDays(kind, [name])).get(name) ?? {};
  const points = [{ at: (summary.asOf ?? 0) - gains.length * DAY_MS, stars: 0 }];
  for (const gain of gains) {
    const { at, stars } = points.at(-1) ?? { at: 0, stars: 0 };
    points.push({ at: at + DAY_MS, stars: stars + gain });
  }
  return { makers, known, points };
}

const FacetBody: FC<ShownFacet> = (shown) => {
  const { kind, facet, url, windows, problems, found } = shown;
  const { path, title } = KINDS[kind];
  return (
    <>
      <p class="small crumb">
        <Link href={path}>{title}</Link>
      </p>
      <div class="mast">
        <div>
          <h1>
            {kind === "language" ? <Dot name={facet.name} /> : null}
            {facet.name}
          </h1>
          <Headline {...shown} />
        </div>
        <div>
          <WindowTabs url={url} current={found?.query.window} windows={windows} />
        </div>
      </div>
      <Problems problems={problems} />
      {found === undefined ? null : (
        <>
          <Grown {...shown} found={found} />
          <FacetList {...shown} found={found} />
          <NearIt {...shown} found={found} />
        </>
      )}
    </>
  );
};

/** "+110,214 stars in 30 days across 101 repositories, 31 % of them for claude-code." In parts, as the gain and the name stand out. */
export function facetWords(facet: NamedFacet, window: Window, first: ListRow | undefined) {
  const { starsGained, measured } = facet.gained[window];
  const all = repositoriesText(facet.repositories);
  if (measured === 0 || !isCovered(facet.gained[window], facet.recent))
    return { gain: null, words: `${formatCount(facet.stars)} stars across ${all}`, maker: "" };
  const words = `in ${WINDOW_LABELS[window]} across ${all}`;
  const part = madePart(first, starsGained);
  if (first === undefined || part === 0 || part > 100) return { gain: starsGained, words, maker: "" };
  const maker = first.repository.name;
  return { gain: starsGained, words: `${words}, ${part} % of them for `, maker };
}

const Headline: FC<ShownFacet> = ({ facet, found }) => {
  const { gain, words, maker } = facetWords(facet, found?.query.window ?? "30d", found?.grown.makers[0]);
  return (
    <p class="say">
      {gain === null ? null : (
        <b>
          <Delta value={gain} /> stars
        </b>
      )}{" "}
      {words}
      {maker === "" ? null : <b>{maker}</b>}.
    </p>
  );
};

/** The course of the gains, next to those who made them. */
const Grown: FC<FoundProps> = ({ facet, summary, found: { grown, query } }) => {
  const { points, known, makers } = grown;
  const title = `Gained since ${dayText(points[0]?.at ?? 0)}`;
  return (
    <div class="grown">
      {known === 0 ? null : (
        <section class="card">
          <div class="apart">
            <h2>{title}</h2>
            <span class="soft small">
              {known === facet.repositories ? "" : `${formatCount(known)} of `}
              {repositoriesText(facet.repositories)}, known all this time
            </span>
          </div>
          <Plot
            metric="stars"
            series={[
              {
                name: "Stars gained",
                points: points.map(({ at, stars }) => ({ at, value: stars, source: "OBSERVED" })),
                gaps: [],
              },
            ]}
            scale="linear"
            align="date"
            hasBars
            asOf={summary.asOf}
            label={`${title}: ${facet.name}`}
            isSum
            size={{ width: 744, height: 348 }}
          />
          <SumTable points={points} />
        </section>
      )}
      {makers.length === 0 ? null : (
        <section class="card">
          <h2>Who made it</h2>
          <p class="soft small">{WINDOW_LABELS[query.window]}</p>
          <Makers rows={makers} hasBars />
        </section>
      )}
    </div>
  );
};

/** Its repositories. */
const FacetList: FC<FoundProps> = ({ kind, facet, summary, url, found: { list, days, query, stars } }) => {
  const { sort, window } = query;
  const { label } = SORT_DEFINITIONS[sort];
  const explore = withQuery(new URL("/explore", url), { [kind]: facet.name, sort, window });
  const others = alternatesOf(new URL(explore, url), sort);
  return (
    <section>
      <div class="apart">
        <h2>
          All, by {label.toLowerCase()}
          {isGrowthSort(sort) ? ` in ${WINDOW_LABELS[window]}` : ""}
        </h2>
        <span class="soft small">
          <AsOf at={list.asOf} measured={list.measured} />
        </span>
      </div>
      {list.rows.length > 0 ? (
        <ListingView
          {...{ list, days, url, ...stars }}
          withForge={summary.providers.length > 1}
          withLanguage={kind !== "language"}
          query={{ limit: UNFILTERED.limit, order: "desc" }}
          sorts={MAIN_SORTS.filter((one) => windowsOf(one).includes(window))}
          hasOrder={false}
          caption={`${isolated(facet.name)}: ${label}, ${window}`}
        />
      ) : list.page !== 1 ? (
        <BeyondEnd url={url} />
      ) : (
        <p>
          {isGrowthSort(sort)
            ? `No repositories with known growth in ${window}. `
            : "No repositories in this ranking. "}
          <a href={withQuery(url, { sort: "stars" })}>Sort by stars</a>
        </p>
      )}
      <Ways
        links={[
          ["Filter this list", explore],
          ...others.map(({ title, href }) => [title, href] as const),
          wayToCard(url),
        ]}
      />
    </section>
  );
};

/** Topics shown as near. */
const NEAR = 6;

/** The most common topics of the repositories on this page, which cost no query. */
const NearIt: FC<FoundProps> = ({ kind, facet: { name }, found: { list } }) => {
  const topics = list.rows.flatMap(({ repository }) => repository.topics);
  const near = [...Map.groupBy(topics, (topic) => topic)]
    .filter(([topic]) => kind === "language" || topic !== name)
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, NEAR);
  return near.length === 0 ? null : (
    <p class="near">
      <span class="soft">Near it</span>
      {near.map(([topic]) => (
        <Link
          class="button"
          href={
            kind === "topic" ? topicPage(topic) : explorePage(new URLSearchParams({ language: name, topic }))
          }
        >
          <bdi>{topic}</bdi>
        </Link>
      ))}
    </p>
  );
};
