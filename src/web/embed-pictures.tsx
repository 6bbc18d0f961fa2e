import type { FunctionComponent as FC } from "preact";
import { z } from "zod";
import { subjectOf, THEMES, VIEW_FACTS, viewOf } from "../charts/charts.js";
import { rankingParameter } from "../discovery/discovery.js";
import { RANKING_DEFINITIONS, WINDOW_LABELS, WINDOWS } from "../growth/growth.js";
import { isoDay } from "../lib/clock.js";
import { queryOf, type RepositoryName, repositoryKey } from "../lib/page-addresses.js";
import { alignedParameters } from "./components/chart-controls.js";
import type { RenderContext } from "./page-request.js";

/** Pictures for other sites as pages offer them: their parameters, their addresses, and the bar below a chart. */

export const KINDS = {
  chart: "Chart",
  trending: "Badge: trending or not",
  rank: "Badge: rank",
  stars: "Badge: stars",
  gain: "Badge: stars gained",
  card: "Card",
} as const;
type Kind = keyof typeof KINDS;

export const SIZES = {
  small: { width: 400, height: 260 },
  medium: { width: 600, height: 380 },
  large: { width: 800, height: 480 },
  wide: { width: 1_000, height: 360 },
} as const;
type Size = keyof typeof SIZES;

const SCOPES = ["overall", "language"] as const;

/** The parameters of the page for embeds. */
export const embedQuery = alignedParameters.extend({
  kind: z.enum(Object.keys(KINDS) as [Kind, ...Kind[]]).default("chart"),
  size: z.enum(Object.keys(SIZES) as [Size, ...Size[]]).default("medium"),
  theme: z.enum(THEMES).default("auto"),
  ranking: rankingParameter,
  window: z.enum(WINDOWS).default("7d"),
  scope: z.enum(SCOPES).default("overall"),
  label: z.string().max(40).optional(),
});
export type EmbedQuery = z.output<typeof embedQuery>;

/** A picture for another site. */
export interface EmbedPicture {
  /** Path and query. */
  path: string;
  alt: string;
  /** Absent: as wide as it is. */
  width?: number;
  height: number;
  /** The repositories it shows, for the page that it links to. */
  repositories: readonly RepositoryName[];
}

type Parameters = readonly (readonly [string, string])[];

/** The pictures of these repositories: one chart, or a badge or card of each. */
export function picturesOf(query: EmbedQuery, repositories: readonly RepositoryName[]): EmbedPicture[] {
  const { kind } = query;
  if (kind === "chart") return repositories.length === 0 ? [] : [chartOf(query, repositories)];
  return repositories.map((one) => {
    const repo = ["repo", repositoryKey(one)] as const;
    if (kind === "card")
      return {
        path: `/api/embed/card.png?${queryOf([repo])}`,
        alt: `${one.fullName}: stars, growth and rank`,
        ...{ width: 600, height: 315 },
        repositories: [one],
      };
    const { alt, parameters } = badgeOf(kind, query);
    const given: Parameters = [
      ...parameters,
      ["label", query.label ?? ""],
      ["theme", query.theme === "auto" ? "" : query.theme],
    ];
    const chosen = given.filter(([, value]) => value !== "");
    return {
      path: `/api/embed/badge.svg?${queryOf([repo, ["kind", kind], ...chosen])}`,
      alt: `${one.fullName}: ${alt}`,
      height: 20,
      repositories: [one],
    };
  });
}

/** Defaults of the picture: such parameters are left out of its address. */
const DEFAULTS: Readonly<Record<string, string>> = {
  ...{ metric: "stars", view: "total", align: "date", scale: "linear", theme: "auto" },
  ...{ width: String(SIZES.medium.width), height: String(SIZES.medium.height) },
};

const day = (at: number | undefined) => (at === undefined ? "" : isoDay(at));

function chartOf(query: EmbedQuery, repositories: readonly RepositoryName[]): EmbedPicture {
  const { metric, range, align, scale, theme, size } = query;
  const view = viewOf(query);
  const { width, height } = SIZES[size];
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
    ["theme", theme],
    ...[["width", String(width)] as const, ["height", String(height)] as const],
  ];
  const others = given.filter(([name, value]) => value !== "" && DEFAULTS[name] !== value);
  const repos = repositories.map((one) => ["repo", repositoryKey(one)] as const);
  const names = repositories.map(({ fullName }) => fullName).join(", ");
  const alignedAt = align === "index" ? query.base : query.first;
  const subject = subjectOf({ metric, view, align, alignedAt });
  return {
    path: `/api/embed/chart.svg?${queryOf([...repos, ...others])}`,
    alt: `${subject}: ${names}`,
    ...{ width, height, repositories },
  };
}

function badgeOf(
  kind: Exclude<Kind, "chart" | "card">,
  { window, ranking, scope }: EmbedQuery,
): { alt: string; parameters: Parameters } {
  const over = ["window", window] as const;
  const among = ["scope", scope === "overall" ? "" : scope] as const;
  const { label } = RANKING_DEFINITIONS[ranking];
  switch (kind) {
    case "stars":
      return { alt: "stars", parameters: [] };
    case "gain":
      return { alt: `stars in ${WINDOW_LABELS[window]}`, parameters: [over] };
    case "trending":
      return { alt: "trending", parameters: [over, among] };
    case "rank": {
      const byStars = ranking === "stars";
      return {
        alt: `rank in ${label}`,
        parameters: [["ranking", ranking], ...(byStars ? [] : [over]), among],
      };
    }
  }
}

interface ShareChartProps {
  /** The address of the page, with the parameters of its chart. */
  url: URL;
  state: Partial<z.output<typeof alignedParameters>>;
  repositories: readonly RepositoryName[];
  baseUrl: string;
}

/** Browser modules of a page with the bar. */
export const SHARE_SCRIPTS = ["share.js", "copy.js"] as const;

/**
 * Ways to pass the chart of a page on: its address, pictures to save, and the page for embeds. The browser makes the PNG out of the SVG
 * (client/share.ts), with the reader's fonts and at no cost to the server; without scripts there is the SVG.
 */
export const ShareChart: FC<ShareChartProps> = (
  { url, state, repositories, baseUrl },
  { isStatic }: RenderContext,
) => {
  const query = { ...embedQuery.parse({ size: "wide" }), ...state };
  const [picture] = picturesOf(query, repositories);
  if (picture === undefined) return null;
  const names = repositories.map(({ fullName }) => fullName.split("/").at(-1)).join("-vs-");
  const file = [names, day(query.from) || query.range, day(query.to)].filter((part) => part !== "").join("-");
  const chosen = [...url.searchParams].filter(([name]) => name !== "repo" && name in embedQuery.shape);
  const embed = [...repositories.map((one) => ["repo", repositoryKey(one)] as const), ...chosen];
  return (
    <div class="buttons share-chart">
      {isStatic ? null : (
        <>
          <span class="hidden" id="page-link">
            {baseUrl + url.pathname + url.search}
          </span>
          <button type="button" class="scripted" data-copy="page-link" data-command="Copy link">
            Copy link
          </button>
        </>
      )}
      <a class="button" href={picture.path} download={`${file}.svg`} data-command="Download SVG">
        SVG
      </a>
      {isStatic ? null : (
        <>
          <button
            type="button"
            class="scripted"
            data-png={picture.path}
            data-file={`${file}.png`}
            data-command="Download PNG"
          >
            PNG
          </button>
          <a class="button" href={`/embed?${queryOf(embed)}`}>
            Embed
          </a>
        </>
      )}
    </div>
  );
};
