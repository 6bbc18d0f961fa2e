import {
  drawHistories,
  MAX_CARD_ROWS,
  type PageCardInput,
  type PageCardRow,
  type Picture,
  type PngRenderer,
  pageCard,
  readHistory,
} from "../charts/charts.js";
import { forgeName } from "../config/config.js";
import {
  type FacetKind,
  isCovered,
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
import type { Modules } from "../modules.js";
import { fileRoute } from "./assets.js";
import { readChartQuery } from "./components/chart-controls.js";
import { activeFilters } from "./components/filters.js";
import { formatCount, formatDate, formatDelta, repositoriesText } from "./components/numbers.js";
import { PER_REPOSITORY, readComparedNames } from "./naming.js";
import { readQuery, resultOrProblems } from "./page.js";
import type { PageCard } from "./page-request.js";
import { compareQuery } from "./pages/compare.js";
import { titleOf } from "./pages/explore.js";

/** Cards: pictures for previews of pages on other sites. They show only facts that everybody sees who has the address of the page. */

export interface CardOptions {
  modules: Modules;
  pictures: PngRenderer;
  clock: Clock;
  /** Those that pages declare. */
  cards: readonly PageCard[];
}

/** As much as a card of the API: rendering one takes tens of milliseconds of the rendering thread. */
const COST = 8;
/** The window of lists. */
const WINDOW: Window = "7d";
/** Half of the size of a card: a chart is drawn smaller and rendered with twice as many pixels, so that its text is readable. */
const CHART_SIZE = { width: 600, height: 315 };

type Card = (request: HttpRequest, options: CardOptions) => Promise<Picture>;

/** The routes of all cards. */
export function cardRoutes(options: CardOptions): Route[] {
  const card = (path: string, read: Card, facts: Partial<Route> = {}): Route => ({
    ...fileRoute(path, "public, max-age=300, stale-while-revalidate=3600", async (request) =>
      pngReply(await options.pictures.render(await read(request, options))),
    ),
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
async function staticCard({ params: { page = "" } }: HttpRequest, options: CardOptions): Promise<Picture> {
  if (page === "home") return homeCard(options);
  if (page === "languages") return facetsCard("language", options);
  if (page === "topics") return facetsCard("topic", options);
  const { title, lead = "" } = options.cards.find(({ name }) => name === page) ?? {};
  if (title === undefined) throw new AppError("NOT_FOUND", "This page has no card.");
  return picture({ title, lead, rows: [], asOf: null });
}

async function homeCard({ modules, clock }: CardOptions): Promise<Picture> {
  const [counters, { trending }] = await Promise.all([modules.rankings.counters(), modules.rankings.home()]);
  const [rows = []] = await modules.lists.rowsOfEach([trending]);
  const age = ageOf(counters.asOf, clock);
  // Nothing is known about now.
  const isOld = (age.ageDays ?? 0) > 1;
  return picture({
    title: isOld ? `${WINDOW_LABELS[trending.window]} to ${formatDate(counters.asOf)}` : "Today on GitHub",
    lead: repositoriesText(counters.repositories),
    rows: rows.slice(0, MAX_CARD_ROWS).map((row) => rowOf(row, "trending", trending.window)),
    ...age,
  });
}

async function facetsCard(kind: FacetKind, { modules: { rankings }, clock }: CardOptions): Promise<Picture> {
  const title = kind === "language" ? "Languages" : "Topics";
  const [{ asOf }, { facets }] = await Promise.all([
    rankings.counters(),
    rankings.facets({ kind, window: WINDOW, sort: "stars-gained", limit: MAX_CARD_ROWS, offset: 0 }),
  ]);
  return picture({
    title,
    lead: `${title} by the stars that their repositories gained`,
    rows: facets.map(({ name, repositories, starsGained }) => ({
      name,
      detail: repositoriesText(repositories),
      value: formatDelta(starsGained),
      unit: `stars in ${WINDOW_LABELS[WINDOW]}`,
    })),
    ...ageOf(asOf, clock),
  });
}

async function listCard(request: HttpRequest, { modules, clock }: CardOptions): Promise<Picture> {
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
  return picture({
    title: titleOf(sort, activeFilters(url)),
    lead: repositoriesText(total),
    rows: rows.map((row) => rowOf(row, sort, query.window)),
    ...ageOf(asOf, clock),
  });
}

const facetCard =
  (kind: FacetKind): Card =>
  async ({ params: { name = "" } }, { modules, clock }) => {
    const found = await modules.rankings.findFacet(kind, name);
    if (found === undefined) throw new AppError("NOT_FOUND", `No repository has this ${kind}.`);
    const query = {
      ...listQuery.parse({}),
      window: WINDOW,
      limit: MAX_CARD_ROWS,
      [kind]: [found.name.toLowerCase()],
    };
    const { rows, asOf } = await listPage(modules, query);
    const { gained, repositories, recent } = found;
    const isShown = isCovered(gained[WINDOW], recent);
    const words = isShown
      ? `, ${formatDelta(gained[WINDOW].starsGained)} stars in ${WINDOW_LABELS[WINDOW]}`
      : "";
    return picture({
      title: found.name,
      lead: `${repositoriesText(repositories)}${words}`,
      rows: rows.map((row) => rowOf(row, "trending", WINDOW)),
      ...ageOf(asOf, clock),
    });
  };

/** The chart of a comparison. Names that are not tracked are left out, as on its page. */
async function chartCard(request: HttpRequest, { modules, clock }: CardOptions): Promise<Picture> {
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
  const look = { ...CHART_SIZE, theme: query.theme === "auto" ? "light" : query.theme } as const;
  const svg = drawHistories(histories, { ...query, ...look, now: clock.now() });
  return { kind: "svg", svg, zoom: 2 };
}

/** The card of a watchlist: its name and the beginning of its list. */
async function watchlistCard(
  { params: { token = "" } }: HttpRequest,
  { modules, clock }: CardOptions,
): Promise<Picture> {
  const { id, name, items } = await modules.watchlists.get({ token });
  const query = {
    ...watchlistQuery.parse({ window: WINDOW, sort: "stars-gained" }),
    limit: MAX_CARD_ROWS,
  };
  const { rows, asOf } = await watchlistPage(modules, { kind: "watchlist", id }, query);
  return picture({
    title: name,
    lead: `A watchlist of ${repositoriesText(items.length)}`,
    rows: rows.map((row) => rowOf(row, "stars-gained", WINDOW)),
    ...ageOf(asOf, clock),
  });
}

const picture = (card: PageCardInput): Picture => ({ kind: "card", card: pageCard(card) });

/** A repository with the count that its list is about: forks, stars gained, or stars if no growth is known. */
function rowOf({ repository, trend }: ListRow, sort: string, window: Window): PageCardRow {
  const { provider, fullName, language, description, stars } = repository;
  const detail = [forgeName(provider), language, description].filter((one) => one !== null && one !== "");
  const shared = { name: fullName, detail: detail.join(" · ") };
  const metric = sort.startsWith("fork") ? "forks" : "stars";
  const gained = metric === "forks" ? trend?.forksDelta : trend?.starsDelta;
  if (sort === "stars" || trend === undefined || gained === undefined || gained === null)
    return { ...shared, value: formatCount(stars), unit: stars === null ? "stars not known" : "stars" };
  const words = metric === "stars" ? gainWords(trend) : undefined;
  const unit = `${metric} in ${WINDOW_LABELS[window]}${words === undefined ? "" : `, ${words.short}`}`;
  return { ...shared, value: formatDelta(gained), unit };
}

const ageOf = (asOf: number | null, clock: Clock) => ({ asOf, ageDays: ageInDays(asOf, clock.now()) });
