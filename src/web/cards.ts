import {
  drawHistories,
  MAX_CARD_ROWS,
  type PageCardInput,
  type PageCardRow,
  type PngRenderer,
  pageCard,
  readHistory,
  SHAPES,
} from "../charts/charts.js";
import { forgeName } from "../config/config.js";
import {
  type FacetKind,
  isGrowthSort,
  type ListRow,
  listPage,
  listQuery,
  watchlistPage,
  watchlistQuery,
} from "../discovery/discovery.js";
import { gainWords, WINDOW_LABELS, type Window } from "../growth/growth.js";
import { type HttpRequest, pngReply, type Route, UNKNOWN_TOKEN_COST } from "../http/http.js";
import { ageInDays, type Clock } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { publicHost } from "../lib/host-names.js";
import type { Modules } from "../modules.js";
import { fileRoute } from "./assets.js";
import { readChartQuery } from "./components/chart-controls.js";
import { KINDS } from "./components/facet-cards.js";
import { activeFilters } from "./components/filters.js";
import { formatCount, formatDelta, repositoriesText } from "./components/numbers.js";
import { PER_REPOSITORY, readComparedNames } from "./naming.js";
import { readQuery, resultOrProblems } from "./page.js";
import type { PageCard } from "./page-request.js";
import { compareQuery } from "./pages/compare.js";
import { titleOf } from "./pages/explore.js";
import { facetWords, usualList } from "./pages/facet.js";
import { titleOf as homeTitle } from "./pages/home.js";

/** Cards: pictures for previews of pages on other sites. They show only facts that everybody sees who has the address of the page. */

export interface CardOptions {
  modules: Modules;
  pictures: PngRenderer;
  clock: Clock;
  /** Public address of the service. */
  baseUrl: string;
  /** Those that pages declare. */
  cards: readonly PageCard[];
}

/** As much as a card of the API: rendering one takes tens of milliseconds of the rendering thread. */
const COST = 8;
/** The window of lists. */
const WINDOW: Window = "7d";

/** A drawing, or the content of a card. */
type Card = (request: HttpRequest, options: CardOptions) => Promise<string | Omit<PageCardInput, "site">>;

/** The routes of all cards. */
export function cardRoutes(options: CardOptions): Route[] {
  const card = (path: string, read: Card, facts: Partial<Route> = {}): Route => ({
    ...fileRoute(path, "public, max-age=300, stale-while-revalidate=3600", async (request) => {
      const card = await read(request, options);
      const svg = typeof card === "string" ? card : pageCard({ ...card, site: publicHost(options.baseUrl) });
      return pngReply(await options.pictures.render(svg));
    }),
    limit: { bucket: "embed", cost: COST },
    ...facts,
  });
  return [
    card("/cards/pages/{page}", staticCard),
    card("/cards/lists", listCard, { query: Object.keys(listQuery.shape) }),
    card("/cards/languages/{name}", facetCard("language")),
    card("/cards/topics/{name}", facetCard("topic")),
    card("/cards/charts", chartCard, {
      limit: { bucket: "embed", cost: COST, surcharges: [PER_REPOSITORY] },
      query: ["repo", ...Object.keys(compareQuery.shape)],
      foldedQuery: ["repo"],
    }),
    card("/cards/watchlists/{token}", watchlistCard, {
      access: "token",
      limit: { bucket: "embed", cost: COST, unknownCost: UNKNOWN_TOKEN_COST },
      cache: { kind: "private" },
    }),
  ];
}

/** The card of a page without parameters. */
const staticCard: Card = async ({ params: { page = "" } }, options) => {
  if (page === "home") return homeCard(options);
  if (page === "languages") return facetsCard("language", options);
  if (page === "topics") return facetsCard("topic", options);
  const { title, lead = "" } = options.cards.find(({ name }) => name === page) ?? {};
  if (title === undefined) throw new AppError("NOT_FOUND", "This page has no card.");
  return { title, lead, rows: [], asOf: null };
};

async function homeCard({ modules, clock }: CardOptions) {
  const [summary, { trending }] = await Promise.all([modules.rankings.counters(), modules.rankings.home()]);
  const [rows = []] = await modules.lists.rowsOfEach([trending]);
  const age = ageOf(summary.asOf, clock);
  const { window } = trending;
  const isEmpty = summary.repositories === 0;
  return {
    title: isEmpty
      ? "What is growing"
      : homeTitle({ window, language: undefined, isPast: (age.ageDays ?? 0) > 1, summary }),
    lead: `${repositoriesText(summary.freshRepositories)} measured.`,
    rows: rows.slice(0, MAX_CARD_ROWS).map((row) => rowOf(row, "trending", window)),
    ...age,
  };
}

async function facetsCard(kind: FacetKind, { modules: { rankings }, clock }: CardOptions) {
  const { title, many } = KINDS[kind];
  const [{ asOf, languages, topics }, { facets }] = await Promise.all([
    rankings.summary(),
    rankings.facets({ kind, window: WINDOW, sort: "stars-gained", limit: MAX_CARD_ROWS, offset: 0 }),
  ]);
  return {
    title,
    lead: `${formatCount(kind === "language" ? languages : topics)} ${many}.`,
    rows: facets.map(({ name, repositories, starsGained }) => ({
      name,
      detail: repositoriesText(repositories),
      value: formatDelta(starsGained),
      unit: `stars in ${WINDOW_LABELS[WINDOW]}`,
    })),
    ...ageOf(asOf, clock),
  };
}

async function listCard(request: HttpRequest, { modules, clock }: CardOptions) {
  const url = new URL(`/explore?${request.query}`, "http://localhost");
  for (const name of ["page", "cursor"]) url.searchParams.delete(name);
  url.searchParams.set("limit", String(MAX_CARD_ROWS));
  const { query, problems } = readQuery(listQuery, url);
  const result = await resultOrProblems(async () => query && listPage(modules, query));
  const list = result.found;
  if (list === undefined || query === undefined)
    throw new AppError("VALIDATION_FAILED", "Some parameters are not valid.", {
      details: [...problems, ...result.problems],
    });
  const { total, rows, sort, asOf } = list;
  const grown = isGrowthSort(sort) ? ` with growth in ${WINDOW_LABELS[query.window]}` : "";
  return {
    title: titleOf(sort, activeFilters(url)),
    lead: `${repositoriesText(total)}${grown}.`,
    rows: rows.map((row) => rowOf(row, sort, query.window)),
    ...ageOf(asOf, clock),
  };
}

const facetCard =
  (kind: FacetKind): Card =>
  async ({ params: { name = "" } }, { modules, clock }) => {
    const found = await modules.rankings.findFacet(kind, name);
    if (found === undefined) throw new AppError("NOT_FOUND", `No repository has this ${kind}.`);
    const { sort, window } = usualList(found);
    const one = { [kind]: [found.name.toLowerCase()] };
    const query = { ...listQuery.parse({}), sort, window, limit: MAX_CARD_ROWS, ...one };
    const { rows, asOf } = await listPage(modules, query);
    const { gain, words, maker } = facetWords(found, window, rows[0]);
    return {
      title: found.name,
      lead: `${gain === null ? "" : `${formatDelta(gain)} stars `}${words}${maker}.`,
      rows: rows.map((row) => rowOf(row, sort, window)),
      ...ageOf(asOf, clock),
    };
  };

/** The chart of a comparison. Names that are not tracked are left out, as on its page. */
async function chartCard(request: HttpRequest, { modules, clock, baseUrl }: CardOptions): Promise<string> {
  const { query } = readChartQuery(compareQuery, new URL(`/compare?${request.query}`, "http://localhost"));
  const { repositories } = await readComparedNames(modules, request.query.getAll("repo"), {
    withSimilar: false,
  });
  if (repositories.length === 0)
    throw new AppError("NOT_FOUND", "None of these repositories is tracked here.");
  const histories = await Promise.all(
    repositories.map(async (one) => {
      const trends = Object.values(await modules.rankings.trendsOf(one.id));
      return readHistory(modules, one, { ...query, window: query.range, trends });
    }),
  );
  // A PNG cannot follow the theme of its reader.
  const theme = query.theme === "auto" ? "light" : query.theme;
  const look = { theme, shape: "card", ...SHAPES.card, site: publicHost(baseUrl) } as const;
  return drawHistories(histories, { ...query, ...look, now: clock.now() });
}

/** The card of a watchlist: its name and the beginning of its list. */
async function watchlistCard({ params: { token = "" } }: HttpRequest, { modules, clock }: CardOptions) {
  const { id, name, items } = await modules.watchlists.get({ token });
  const query = {
    ...watchlistQuery.parse({ window: WINDOW, sort: "stars-gained" }),
    limit: MAX_CARD_ROWS,
  };
  const { rows, asOf } = await watchlistPage(modules, { kind: "watchlist", id }, query);
  return {
    title: name,
    lead: `A watchlist of ${repositoriesText(items.length)}.`,
    rows: rows.map((row) => rowOf(row, "stars-gained", WINDOW)),
    ...ageOf(asOf, clock),
  };
}

/** A repository with the count that its list is about: forks, stars gained, or stars if no growth is known. */
function rowOf({ repository, trend }: ListRow, sort: string, window: Window): PageCardRow {
  const { provider, fullName, language, description, stars } = repository;
  const detail = [forgeName(provider), ...(language === null ? [] : [language])].join(" · ");
  const shared = { name: fullName, detail, description };
  const metric = sort.startsWith("fork") ? "forks" : "stars";
  const gained = metric === "forks" ? trend?.forksDelta : trend?.starsDelta;
  if (sort === "stars" || trend === undefined || gained === undefined || gained === null)
    return { ...shared, value: formatCount(stars), unit: stars === null ? "stars not known" : "stars" };
  const words = metric === "stars" ? gainWords(trend) : undefined;
  const unit = `${metric} in ${WINDOW_LABELS[window]}${words === undefined ? "" : `, ${words.short}`}`;
  return { ...shared, value: formatDelta(gained), unit };
}

const ageOf = (asOf: number | null, clock: Clock) => ({ asOf, ageDays: ageInDays(asOf, clock.now()) });
