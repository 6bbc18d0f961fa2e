import { RANKING_DEFINITIONS, type Ranking, WINDOW_LABELS, type Window } from "../rankings/rankings.js";
import { element, Markup, picture } from "./markup.js";
import { agedDate, exactNumber, signedNumber } from "./numbers.js";
import { estimateWidth, fit } from "./text.js";
import { styleOf, type Theme } from "./themes.js";

/** The content of a badge: main text, additional text, and both as a sentence. */
export interface BadgeInput {
  main: string;
  more: string;
  title: string;
  theme: Theme;
}

const HEIGHT = 28;
const SIZE = 12;
const PAD = 9;
const BRAND = "Sidereal";
const MAX_MAIN = 360;
const MAX_MORE = 330;

/** A badge: brand, main text, additional text. */
export function drawBadge({ main, more, title, theme }: BadgeInput): string {
  const brand = { text: BRAND, width: estimateWidth(BRAND, SIZE) };
  const first = fitted(main, MAX_MAIN);
  const second = fitted(more, MAX_MORE);
  const brandWidth = PAD + 16 + brand.width + PAD;
  const width = Math.ceil(brandWidth + PAD + first.width + (second.width === 0 ? 0 : 8 + second.width) + PAD);
  const star = "M0-5.6L1.5-1.7L5.6-1.5L2.4 1.1L3.5 5.1L0 2.8L-3.5 5.1L-2.4 1.1L-5.6-1.5L-1.5-1.7Z";
  const line = { "font-size": SIZE, y: 18.3 };
  const at = (x: number, part: { text: string; width: number }, look: { class: string; weight: number }) =>
    part.text === ""
      ? undefined
      : element(
          "text",
          // A fixed length keeps the text inside the badge with any font.
          { ...line, class: look.class, x, "font-weight": look.weight, textLength: part.width },
          part.text,
        );
  return picture(
    { width, height: HEIGHT, idPrefix: "badge", title },
    element("style", {}, new Markup(styleOf(theme))),
    element("rect", { class: "chart-bg", x: 0.5, y: 0.5, width: width - 1, height: HEIGHT - 1, rx: 6 }),
    element("path", {
      class: "chart-brand",
      d: `M6.5 0.5H${brandWidth}V27.5H6.5a6 6 0 0 1-6-6V6.5a6 6 0 0 1 6-6Z`,
    }),
    element("path", { class: "chart-on-brand", d: shifted(star, PAD + 5.6, 14) }),
    at(PAD + 16, brand, { class: "chart-on-brand", weight: 600 }),
    at(brandWidth + PAD, first, { class: "chart-text", weight: 600 }),
    at(brandWidth + PAD + first.width + 8, second, { class: "chart-muted", weight: 400 }),
  );
}

function fitted(text: string, maxWidth: number): { text: string; width: number } {
  const shown = fit(text, { size: SIZE, width: maxWidth });
  return { text: shown, width: Math.round(estimateWidth(shown, SIZE) * 10) / 10 };
}

/** Translates a path that consists of absolute moves and lines. */
function shifted(path: string, dx: number, dy: number): string {
  return path.replaceAll(/(?<=[ML])(-?[\d.]+)\s*(-?[\d.]+)/g, (_, x: string, y: string) => {
    return `${(Number(x) + dx).toFixed(1)} ${(Number(y) + dy).toFixed(1)}`;
  });
}

/** The rank of a repository in one ranking. */
export interface RankFacts {
  fullName: string;
  ranking: Ranking;
  /** null for a ranking without a window. */
  window: Window | null;
  /** null: overall. */
  language: string | null;
  /** null: not ranked. */
  rank: number | null;
  /** Number of ranks stored in this ranking. */
  depth: number;
  asOf: number | null;
  /** Days from `asOf` to the response; absent: not shown. */
  ageDays?: number | null;
  /** A short note for readers. */
  note?: string;
}

const rankText = (rank: number | null): string => (rank === null ? "not ranked" : `#${exactNumber(rank)}`);

/** A rank in a few words: "#3 trending in Rust · 7 days". */
export function rankWords({
  ranking,
  window,
  language,
  rank,
}: Pick<RankFacts, "ranking" | "window" | "language" | "rank">): string {
  const where = language === null ? "" : ` in ${language}`;
  return `${rankText(rank)} ${RANKING_DEFINITIONS[ranking].phrase}${where}${window === null ? "" : ` · ${WINDOW_LABELS[window]}`}`;
}

/** A rank badge. */
export function drawRankBadge(facts: RankFacts, theme: Theme): string {
  const { fullName, ranking, window, language, rank, depth, asOf, ageDays, note = "" } = facts;
  const words = RANKING_DEFINITIONS[ranking].phrase;
  const where = language === null ? "" : ` in ${language}`;
  const over = window === null ? "" : WINDOW_LABELS[window];
  const date = asOf === null ? "" : agedDate(asOf, ageDays);
  const among = rank === null ? `among the first ${exactNumber(depth)}` : "";
  const main = `${rankText(rank)} ${words}${where}`;
  const more = [note, among, over, date].filter((part) => part !== "").join(" · ");
  const said = rank === null ? `${rankText(rank)} ${among}` : rankText(rank);
  const title = `${fullName}: ${said} ${words}${where}${over === "" ? "" : ` over ${over}`}${date === "" ? "" : `, as of ${date}`}, by Sidereal`;
  return drawBadge({ main, more, title, theme });
}

/** A star count and its growth; null: unknown. */
export interface StarFacts {
  fullName: string;
  stars: number | null;
  gained: number | null;
  /** What of the gain counts, such as "none counted"; absent: all of it. */
  counted?: string;
  window: Window;
  asOf: number | null;
  /** Days from `asOf` to the response; absent: not shown. */
  ageDays?: number | null;
  note?: string;
}

/** A badge with the star count and its growth. */
export function drawStarsBadge(facts: StarFacts, theme: Theme): string {
  const { fullName, stars, gained, counted, window, asOf, ageDays, note = "" } = facts;
  const over = WINDOW_LABELS[window];
  const main = stars === null ? "stars not known" : `${exactNumber(stars)} ${stars === 1 ? "star" : "stars"}`;
  const part = counted === undefined ? "" : `, ${counted}`;
  const growth = gained === null ? "growth not known yet" : `${signedNumber(gained)} in ${over}${part}`;
  const date = asOf === null ? "" : agedDate(asOf, ageDays);
  const more = [note, growth, date].filter((part) => part !== "").join(" · ");
  const title = `${fullName}: ${main}, ${growth}${date === "" ? "" : `, as of ${date}`}, by Sidereal`;
  return drawBadge({ main, more, title, theme });
}
