import type { FunctionComponent as FC } from "preact";
import { z } from "zod";
import { SHAPES, STYLES, subjectOf, THEMES, type Theme, VIEW_FACTS, viewOf } from "../charts/charts.js";
import { rankingParameter } from "../discovery/discovery.js";
import { RANKING_DEFINITIONS, WINDOW_LABELS, WINDOWS } from "../growth/growth.js";
import { isoDay } from "../lib/clock.js";
import { queryOf, type RepositoryName, repositoryKey } from "../lib/page-addresses.js";
import { alignedParameters } from "./components/chart-controls.js";
import type { RenderContext } from "./page-request.js";

/** Pictures for other sites as pages offer them: their parameters, their addresses, and the button that opens the panel with them. */

export const KINDS = {
  post: "Post",
  square: "Square",
  readme: "README",
  badge: "Badge",
  card: "Card",
} as const;
export type Kind = keyof typeof KINDS;

export const BADGES = {
  stars: "Stars",
  gain: "Stars gained",
  trending: "Trending or not",
  rank: "Rank",
} as const;
type Badge = keyof typeof BADGES;

/** Sizes of a picture for a README; the first one is that of its shape. */
export const SIZES = {
  default: SHAPES.readme,
  small: { width: 400, height: 260 },
  medium: { width: 600, height: 380 },
  large: { width: 800, height: 480 },
  wide: { width: 1_000, height: 360 },
} as const;

const SCOPES = ["overall", "language"] as const;
const MAX_TITLE = 80;

/** The names of a record, for a parameter with one of them. */
const oneOf = <Name extends string>(words: Readonly<Record<Name, unknown>>) =>
  z.enum(Object.keys(words) as [Name, ...Name[]]);

/** The parameters of the panel. `kind` may also be that of a badge, or `chart`, as in earlier addresses. */
export const shareQuery = alignedParameters.extend({
  kind: oneOf({ ...KINDS, ...BADGES, chart: "" }).default("readme"),
  badge: oneOf(BADGES).default("stars"),
  size: oneOf(SIZES).default("default"),
  theme: z.enum(THEMES).default("auto"),
  style: z.enum(STYLES).default("plain"),
  background: z.enum(["paper", "clear"]).default("paper"),
  title: z.string().trim().max(MAX_TITLE).optional(),
  ranking: rankingParameter,
  window: z.enum(WINDOWS).default("7d"),
  scope: z.enum(SCOPES).default("overall"),
  label: z.string().trim().max(40).optional(),
  /** The address of a list, whose card is shown. */
  list: z.string().max(2_000).optional(),
});
type Given = z.output<typeof shareQuery>;
const chartState = alignedParameters.extend({ theme: z.enum(THEMES).default("auto") });
type ChartState = Partial<z.output<typeof chartState>>;
export type ShareQuery = Omit<Given, "kind"> & { kind: Kind };

/** The parameters with the names of today. */
export function currentQuery({ kind, ...query }: Given): ShareQuery {
  if (kind in BADGES) return { ...query, kind: "badge", badge: kind as Badge };
  return { ...query, kind: kind === "chart" ? "readme" : (kind as Kind) };
}

/** Whether a picture cannot follow the reader's system: it is posted, and `auto` is light. */
export const isPosted = (kind: Kind): boolean => kind === "post" || kind === "square";

export const themeOf = ({ kind, theme }: ShareQuery): Theme =>
  isPosted(kind) && theme === "auto" ? "light" : theme;

/** A picture for another place. */
export interface SharedPicture {
  /** Path and query of the one that pages embed, an SVG if there is one. */
  path: string;
  /** The path of the PNG, which may be the same; absent: only an SVG exists. */
  png?: string;
  alt: string;
  /** Absent: as wide as it is. */
  width?: number;
  height: number;
  /** The repositories it shows, for the page that it links to. */
  repositories: readonly RepositoryName[];
}

type Parameters = readonly (readonly [string, string])[];

/** The pictures of these repositories: one chart, or a badge or card of each. */
export function picturesOf(query: ShareQuery, repositories: readonly RepositoryName[]): SharedPicture[] {
  const { kind } = query;
  if (kind === "badge") return repositories.map((one) => badgeOf(query, one));
  if (kind !== "card") return repositories.length === 0 ? [] : [chartOf(query, kind, repositories)];
  return repositories.map((one) => ({
    ...cardAt(
      `/api/embed/card.png?${queryOf([["repo", repositoryKey(one)], ...(query.theme === "dark" ? [["theme", "dark"] as const] : [])])}`,
    ),
    alt: `${one.fullName}: stars, growth and rank`,
    repositories: [one],
  }));
}

const cardAt = (path: string) => ({ path, png: path, width: 600, height: 315 });

/** The card of a list and the address of its page, by an address that may be any text; undefined: it is not that of a list. */
export function cardOfList(list: string): { picture: SharedPicture; page: string } | undefined {
  const address = URL.canParse(list, "http://localhost") ? new URL(list, "http://localhost") : undefined;
  const { pathname = "", search = "" } = address ?? {};
  const [, kind, name] = /^\/(?:(explore|languages|topics)(?:\/([^/]+))?)?$/.exec(pathname) ?? [];
  if (address?.host !== "localhost" || (kind === undefined && pathname !== "/")) return undefined;
  const path =
    kind === "explore"
      ? `lists${search}`
      : name === undefined
        ? `pages/${kind ?? "home"}`
        : pathname.slice(1);
  const page = pathname + search;
  const alt = `The first repositories of ${page}`;
  return { page, picture: { ...cardAt(`/cards/${path}`), alt, repositories: [] } };
}

/** Defaults of the picture: such parameters are left out of its address. */
const DEFAULTS: Readonly<Record<string, string>> = {
  ...{ metric: "stars", view: "total", align: "date", scale: "linear", theme: "auto" },
  ...{ shape: "readme", style: "plain", background: "paper" },
};

const day = (at: number | undefined) => (at === undefined ? "" : isoDay(at));

function chartOf(
  query: ShareQuery,
  shape: "readme" | "post" | "square",
  repositories: readonly RepositoryName[],
): SharedPicture {
  const { metric, range, align, scale, style, background, title = "" } = query;
  const view = viewOf(query);
  const size = shape === "readme" ? SIZES[query.size] : SHAPES[shape];
  const { width, height } = size === SIZES.default || shape !== "readme" ? {} : size;
  const [from, to, base] = [day(query.from), day(query.to), day(query.base)];
  const given: Parameters = [
    ["metric", metric],
    // A span of days takes the place of the window.
    ["window", from === "" ? range : ""],
    ...[["from", from] as const, ["to", to] as const],
    ...[["view", view] as const, ["align", align] as const],
    ["first", align === "first-count" ? String(query.first ?? "") : ""],
    ["base", align === "index" ? base : ""],
    ["scale", VIEW_FACTS[view].takesScale ? scale : ""],
    ...[["theme", themeOf(query)] as const, ["shape", shape] as const],
    ...[["width", String(width ?? "")] as const, ["height", String(height ?? "")] as const],
    ...[["style", style] as const, ["background", background] as const, ["title", title] as const],
  ];
  const others = given.filter(([name, value]) => value !== "" && DEFAULTS[name] !== value);
  const repos = repositories.map((one) => ["repo", repositoryKey(one)] as const);
  const parameters = queryOf([...repos, ...others]);
  const names = repositories.map(({ fullName }) => fullName).join(", ");
  const alignedAt = align === "index" ? query.base : query.first;
  return {
    path: `/api/embed/chart.svg?${parameters}`,
    png: `/api/embed/chart.png?${parameters}`,
    alt: title === "" ? `${subjectOf({ metric, view, align, alignedAt })}: ${names}` : title,
    ...{ width: size.width, height: size.height, repositories },
  };
}

function badgeOf(query: ShareQuery, one: RepositoryName): SharedPicture {
  const { badge, theme, label = "" } = query;
  const { alt, parameters } = badgeFacts(query);
  const given: Parameters = [
    ...parameters,
    ["label", label],
    ["theme", theme === DEFAULTS.theme ? "" : theme],
  ];
  const chosen = given.filter(([, value]) => value !== "");
  const repo = ["repo", repositoryKey(one)] as const;
  return {
    path: `/api/embed/badge.svg?${queryOf([repo, ["kind", badge], ...chosen])}`,
    alt: `${one.fullName}: ${alt}`,
    height: 20,
    repositories: [one],
  };
}

function badgeFacts({ badge, window, ranking, scope }: ShareQuery): { alt: string; parameters: Parameters } {
  const over = ["window", window] as const;
  const among = ["scope", scope === "overall" ? "" : scope] as const;
  switch (badge) {
    case "stars":
      return { alt: "stars", parameters: [] };
    case "gain":
      return { alt: `stars in ${WINDOW_LABELS[window]}`, parameters: [over] };
    case "trending":
      return { alt: "trending", parameters: [over, among] };
    case "rank": {
      const byStars = ranking === "stars";
      return {
        alt: `rank in ${RANKING_DEFINITIONS[ranking].label}`,
        parameters: [["ranking", ranking], ...(byStars ? [] : [over]), among],
      };
    }
  }
}

/** The name of a file with a picture, without its ending: what it shows, and of which time. */
export function fileNameOf({ kind, range, from, to }: ShareQuery, repositories: readonly RepositoryName[]) {
  const names = repositories.map(({ fullName }) => fullName.split("/").at(-1)).join("-vs-");
  const time = kind === "badge" || kind === "card" ? [kind] : [day(from) || range, day(to)];
  return [names, ...time].filter((part) => part !== "").join("-");
}

/** The choices of a chart that are not its defaults, as the parameters of its page. */
export function chartChoices(state: ChartState): Parameters {
  const given = { ...state, from: day(state.from), to: day(state.to), base: day(state.base) };
  const defaults: Readonly<Record<string, unknown>> = chartState.parse({});
  return Object.entries(given).flatMap(([name, value]): Parameters => {
    const isChosen = name in chartState.shape && value !== undefined && value !== "";
    return isChosen && value !== defaults[name] ? [[name, String(value)]] : [];
  });
}

/** The address of the panel. */
export const sharePage = (
  repositories: readonly RepositoryName[],
  kind: Kind,
  state: ChartState = {},
): string =>
  `/embed?${queryOf([
    ...repositories.map((one) => ["repo", repositoryKey(one)] as const),
    ["kind", kind] as const,
    ...chartChoices(state),
  ])}`;

/** Browser modules of a page with the button, and of the panel itself. */
export const SHARE_SCRIPTS = ["share.js", "copy.js"] as const;

interface ShareChartProps {
  state: ChartState;
  repositories: readonly RepositoryName[];
}

/** The button that opens the panel with the pictures of a chart: as a dialog, or without scripts as a page. A site of files has the picture. */
export const ShareChart: FC<ShareChartProps> = ({ state, repositories }, { isStatic }: RenderContext) => {
  if (isStatic !== true)
    return (
      <a
        class="button press pass-on"
        href={sharePage(repositories, "post", state)}
        data-share=""
        data-command="Share"
      >
        Share
      </a>
    );
  const query = currentQuery({ ...shareQuery.parse({}), ...state });
  const [picture] = picturesOf(query, repositories);
  return picture === undefined ? null : (
    <a class="button pass-on" href={picture.path} download={`${fileNameOf(query, repositories)}.svg`}>
      SVG
    </a>
  );
};

/** A way to the card of a list, for the links below it. */
export const wayToCard = ({ pathname, search }: URL): readonly [name: string, href: string] => [
  "Share this list",
  `/embed?${queryOf([["list", pathname + search]])}`,
];
