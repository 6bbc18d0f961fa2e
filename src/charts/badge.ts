import { RANKING_DEFINITIONS, type Ranking, WINDOW_LABELS, type Window } from "../growth/growth.js";
import { element, Markup, picture, plainText } from "./markup.js";
import { agedDate, dateText, exactNumber, signedNumber } from "./numbers.js";
import { estimateWidth, fit, type Measure } from "./text.js";
import type { Theme } from "./themes.js";

/** The meaning of the colour of a badge. */
export type Tone = "plain" | "rise" | "fall" | "quiet" | "caution";

/** The content of a badge: a label, a message about it, and both as a sentence. */
export interface BadgeInput {
  label: string;
  message: string;
  tone: Tone;
  title: string;
  theme: Theme;
}

const BADGE_HEIGHT = 20;
const SIZE = 11;
const BASELINE = 14;
const PAD = 7;
const ICON = 15;
const MAX_LABEL = 240;
const MAX_MESSAGE = 420;
/** The label of badges that would not say whose ranking they mean. */
export const BADGE_BRAND = "Sidereal";
/** Fonts of about the same widths, so that a badge looks the same on all systems. */
const FONTS = "Verdana, Geneva, 'DejaVu Sans', sans-serif";

interface Colours {
  label: string;
  onLabel: string;
  /** Of text on the tones. */
  ink: string;
  tones: Readonly<Record<Tone, string>>;
}

/** Text has a contrast of at least 4.5:1 with its background (WCAG 2.2, 1.4.3). */
export const BADGE_COLOURS: Readonly<Record<"light" | "dark", Colours>> = {
  light: {
    label: "#3a4657",
    onLabel: "#ffffff",
    ink: "#ffffff",
    tones: { plain: "#0a5bb8", rise: "#1b6b3a", fall: "#a8321f", quiet: "#5b6775", caution: "#8a5a00" },
  },
  dark: {
    label: "#3b4859",
    onLabel: "#eef2f7",
    ink: "#0e131d",
    tones: { plain: "#7db8fb", rise: "#6fcf97", fall: "#f59383", quiet: "#a9b4c1", caution: "#f0b860" },
  },
};

function styleOf(theme: Theme, tone: Tone): string {
  const rules = ({ label, onLabel, ink, tones }: Colours) =>
    `.badge-label{fill:${label}}.badge-on-label{fill:${onLabel}}.badge-tone{fill:${tones[tone]}}.badge-ink{fill:${ink}}`;
  if (theme !== "auto") return rules(BADGE_COLOURS[theme]);
  return `${rules(BADGE_COLOURS.light)}@media (prefers-color-scheme: dark){${rules(BADGE_COLOURS.dark)}}`;
}

/** A flat badge as high as those of other services: a label after our star, and a message. */
export function drawBadge({ label, message, tone, title, theme }: BadgeInput): string {
  const left = fit(label, { size: SIZE, width: MAX_LABEL, measure: widthOf });
  const right = fit(message, { size: SIZE, width: MAX_MESSAGE, measure: widthOf });
  const middle = Math.ceil(PAD + ICON + widthOf(left, SIZE) + PAD);
  const width = Math.ceil(middle + PAD + widthOf(right, SIZE) + PAD);
  const corner = 3;
  const [inner, end] = [BADGE_HEIGHT - corner, width - corner];
  return picture(
    { width, height: BADGE_HEIGHT, idPrefix: "badge", title, fonts: FONTS },
    element("style", {}, new Markup(styleOf(theme, tone))),
    element("path", {
      class: "badge-label",
      d: `M${corner} 0H${middle}V${BADGE_HEIGHT}H${corner}a3 3 0 0 1-3-3V${corner}a3 3 0 0 1 3-3Z`,
    }),
    element("path", {
      class: "badge-tone",
      d: `M${middle} 0H${end}a3 3 0 0 1 3 3V${inner}a3 3 0 0 1-3 3H${middle}Z`,
    }),
    // The star of the header of pages.
    element("path", {
      class: "badge-on-label",
      d: "M12 4.2L13.5 8.5L17.8 10L13.5 11.5L12 15.8L10.5 11.5L6.2 10L10.5 8.5Z",
    }),
    textIn(left, { from: PAD + ICON, until: middle - PAD, look: "badge-on-label" }),
    textIn(right, { from: middle + PAD, until: width - PAD, look: "badge-ink" }),
  );
}

/**
 * Text between two edges. Where its width is known, its length is fixed, so that no font makes it leave its place; other scripts
 * are in the middle of the room that they may need.
 */
function textIn(text: string, { from, until, look }: { from: number; until: number; look: string }) {
  if (text === "") return undefined;
  const line = { class: look, "font-size": SIZE, y: BASELINE };
  return isMeasured(text)
    ? element("text", { ...line, x: from, textLength: widthOf(text, SIZE) }, text)
    : element("text", { ...line, x: (from + until) / 2, "text-anchor": "middle" }, text);
}

/** Widths of the printable ASCII characters in DejaVu Sans, in thousandths of the font size; those of Verdana are about the same. */
const ASCII_WIDTHS = [
  ...[318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636],
  ...[636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775],
  ...[752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390],
  ...[337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612],
  ...[635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838],
];
const OTHER_WIDTHS: Readonly<Record<string, number>> = { "·": 318, "…": 1_000, "−": 838, "±": 838, "–": 500 };

const knownWidth = (character: string): number | undefined =>
  ASCII_WIDTHS[character.charCodeAt(0) - 32] ?? OTHER_WIDTHS[character];
const isMeasured = (text: string): boolean => [...text].every((one) => knownWidth(one) !== undefined);

/** The width of a text in the fonts of badges; an upper estimate where it is in other scripts. */
const widthOf: Measure = (text, size) => {
  const known = Array.from(text, (one) => knownWidth(one) ?? 0).reduce((sum, width) => sum + width, 0);
  const measured = (known / 1_000) * size;
  const others = [...text].filter((one) => knownWidth(one) === undefined).join("");
  const width =
    others === "" ? measured : Math.max(measured + estimateWidth(others, size), estimateWidth(text, size));
  return Math.round(width * 10) / 10;
};

/** When the data of a badge was observed, and what readers must know about its repository. */
export interface BadgeAge {
  asOf: number | null;
  /** Days in UTC from `asOf` to the response. */
  ageDays: number | null;
  /** A short note, such as "gone" or "not seen since 3 Apr 2026". */
  note?: string;
}

/**
 * Data is old from the day before yesterday on: the date is in the badge, in the colour of cautions. In days, since a cached
 * badge is kept until the day changes.
 */
const OLD_DAYS = 2;

const isOld = ({ ageDays }: BadgeAge): boolean => (ageDays ?? 0) >= OLD_DAYS;

/** How a badge looks apart from its facts. */
export interface BadgeLook {
  theme: Theme;
  /** Instead of the label of its kind. */
  label?: string | undefined;
}

interface Wording {
  label: string;
  message: string;
  tone: Tone;
  /** Message and subject in a sentence. */
  sentence: string;
}

/** Draws a badge with the date of its data, if that is old. `isSpan`: the message is about the time up to that date. */
function drawWording(
  fullName: string,
  { label, message, tone, sentence }: Wording,
  { age, look, isSpan = false }: { age: BadgeAge; look: BadgeLook; isSpan?: boolean },
): string {
  const { asOf, ageDays, note } = age;
  const date = asOf === null || !isOld(age) ? undefined : `${isSpan ? " to " : " · "}${dateText(asOf)}`;
  const known = asOf === null ? "" : `, as of ${agedDate(asOf, ageDays)}`;
  const noted = note === undefined ? "" : `, ${note}`;
  return drawBadge({
    label: look.label === undefined || plainText(look.label) === "" ? label : look.label,
    message: note === undefined ? `${message}${date ?? ""}` : `${message} · ${note}`,
    tone: note === undefined && date === undefined ? tone : "caution",
    title: `${fullName}: ${sentence}${known}${noted}, by Sidereal`,
    theme: look.theme,
  });
}

/** The rank of a repository in one ranking. */
export interface RankFacts extends BadgeAge {
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
}

type RankName = Pick<RankFacts, "ranking" | "window" | "language" | "rank">;

const phraseOf = ({ ranking, language }: Pick<RankName, "ranking" | "language">): string =>
  `${RANKING_DEFINITIONS[ranking].phrase}${language === null ? "" : ` in ${language}`}`;
const overOf = ({ window }: Pick<RankName, "window">): string =>
  window === null ? "" : ` · ${WINDOW_LABELS[window]}`;

/** A rank in a few words: "#3 trending in Rust · 7 days". */
export function rankWords({ rank, ...name }: RankName): string {
  const position = rank === null ? "not ranked" : `#${exactNumber(rank)}`;
  return `${position} ${phraseOf(name)}${overOf(name)}`;
}

/** A badge with a rank. */
export function drawRankBadge(facts: RankFacts, look: BadgeLook): string {
  const { fullName, window, rank, depth } = facts;
  const words = `not among the first ${exactNumber(depth)} ${phraseOf(facts)}`;
  const over = window === null ? "" : ` over ${WINDOW_LABELS[window]}`;
  const ranked = rank === null ? words : `#${exactNumber(rank)} ${phraseOf(facts)}`;
  return drawWording(
    fullName,
    {
      label: BADGE_BRAND,
      message: rank === null ? `${words}${overOf(facts)}` : rankWords(facts),
      tone: rank === null ? "quiet" : "plain",
      sentence: `${ranked}${over}`,
    },
    { age: facts, look, isSpan: window !== null },
  );
}

/** A badge that says whether a repository is trending, and on which rank. */
export function drawTrendingBadge(facts: RankFacts & { window: Window }, look: BadgeLook): string {
  const { fullName, window, language, rank } = facts;
  const where = language === null ? "" : ` in ${language}`;
  const over = `over ${WINDOW_LABELS[window]}`;
  if (rank !== null) {
    const message = `trending #${exactNumber(rank)}${where}${overOf(facts)}`;
    const sentence = `trending #${exactNumber(rank)}${where} ${over}`;
    const wording = { label: BADGE_BRAND, message, tone: "rise", sentence } as const;
    return drawWording(fullName, wording, { age: facts, look, isSpan: true });
  }
  // Nothing is known about now where the data is old.
  const message = `not trending${where}${isOld(facts) ? "" : " now"}`;
  const sentence = `not trending${where} ${over}`;
  const wording = { label: BADGE_BRAND, message, tone: "quiet", sentence } as const;
  return drawWording(fullName, wording, { age: facts, look });
}

/** A badge with the star count; null: unknown. */
export function drawStarsBadge(
  { fullName, stars, ...age }: BadgeAge & { fullName: string; stars: number | null },
  look: BadgeLook,
): string {
  const message = stars === null ? "not known" : exactNumber(stars);
  const sentence = stars === null ? "stars not known" : `${message} ${stars === 1 ? "star" : "stars"}`;
  const tone = stars === null ? "quiet" : "plain";
  return drawWording(fullName, { label: "stars", message, tone, sentence }, { age, look });
}

/** The stars gained in a window; null: unknown. */
export interface GainFacts extends BadgeAge {
  fullName: string;
  gained: number | null;
  /** What of the gain counts, such as "none counted"; absent: all of it. */
  counted?: string;
  window: Window;
}

/** A badge with the stars gained in a window. */
export function drawGainBadge(
  { fullName, gained, counted, window, ...age }: GainFacts,
  look: BadgeLook,
): string {
  const label = `stars in ${WINDOW_LABELS[window]}`;
  if (gained === null) {
    const wording = {
      label,
      message: "not known yet",
      tone: "quiet",
      sentence: `${label} not known yet`,
    } as const;
    return drawWording(fullName, wording, { age, look });
  }
  const message = `${signedNumber(gained)}${counted === undefined ? "" : `, ${counted}`}`;
  const moved = gained > 0 ? "rise" : gained < 0 ? "fall" : "quiet";
  return drawWording(
    fullName,
    {
      label,
      message,
      tone: counted === undefined ? moved : "caution",
      sentence: `${signedNumber(gained)} ${label}${counted === undefined ? "" : `, ${counted}`}`,
    },
    { age, look, isSpan: true },
  );
}
