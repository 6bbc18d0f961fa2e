import { RANKING_DEFINITIONS, type Ranking, WINDOW_LABELS, type Window } from "../growth/growth.js";
import { element, picture, plainText } from "./markup.js";
import { agedDate, dateText, exactNumber, signedNumber } from "./numbers.js";
import { estimateWidth, fit, type Measure } from "./text.js";
import { type Theme, themed } from "./themes.js";

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

/** A flat badge as high as those of other services: a label after our star, and a message. */
export function drawBadge({ label, message, tone, title, theme }: BadgeInput): string {
  const left = fit(label, { size: SIZE, width: MAX_LABEL, measure: widthOf });
  const right = fit(message, { size: SIZE, width: MAX_MESSAGE, measure: widthOf });
  const middle = Math.ceil(PAD + ICON + widthOf(left, SIZE) + PAD);
  const width = Math.ceil(middle + PAD + widthOf(right, SIZE) + PAD);
  const style = themed(theme, (scheme) => {
    const { label, onLabel, ink, tones } = BADGE_COLOURS[scheme];
    return `.badge-label{fill:${label}}.badge-on-label{fill:${onLabel}}.badge-tone{fill:${tones[tone]}}.badge-ink{fill:${ink}}`;
  });
  const shape = (look: string, d: string) => element("path", { class: look, d });
  return picture(
    { width, height: BADGE_HEIGHT, idPrefix: "badge", title, fonts: FONTS, style },
    shape("badge-label", `M3 0H${middle}V20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3Z`),
    shape("badge-tone", `M${middle} 0H${width - 3}a3 3 0 0 1 3 3V17a3 3 0 0 1-3 3H${middle}Z`),
    // The star of the header of pages.
    shape("badge-on-label", "M12 4.2L13.5 8.5L17.8 10L13.5 11.5L12 15.8L10.5 11.5L6.2 10L10.5 8.5Z"),
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

/** What a badge is about: a repository, when its data was observed, and how it looks. */
export interface BadgeSubject {
  fullName: string;
  asOf: number | null;
  /** Days in UTC from `asOf` to the response. */
  ageDays: number | null;
  /** A short note for readers, such as "gone" or "not seen since 3 Apr 2026". */
  note?: string;
  theme: Theme;
  /** Instead of the label of its kind. */
  label?: string | undefined;
}

/** The fact that a badge shows; null: unknown, or not ranked. */
export type BadgeFact =
  | { kind: "stars"; stars: number | null }
  /** `counted`: what of the gain counts, such as "none counted"; absent: all of it. */
  | { kind: "gain"; gained: number | null; counted?: string; window: Window }
  /** `depth`: number of ranks stored in this ranking. */
  | ({ kind: "rank"; depth: number } & RankName)
  | { kind: "trending"; rank: number | null; language: string | null; window: Window };

/** A rank in one ranking. */
interface RankName {
  ranking: Ranking;
  /** null for a ranking without a window. */
  window: Window | null;
  /** null: overall. */
  language: string | null;
  rank: number | null;
}

interface Wording {
  label: string;
  message: string;
  tone: Tone;
  /** Message and subject in a sentence. */
  sentence: string;
  /** Whether the message is about the time up to the date of the data. */
  isSpan?: boolean;
}

/**
 * Data is old from the day before yesterday on: the date is in the badge, in the colour of cautions. In days, since a cached
 * badge is kept until the day changes.
 */
const OLD_DAYS = 2;

/** Draws the badge of a fact, with the date of its data if that is old. */
export function drawFactBadge(subject: BadgeSubject, fact: BadgeFact): string {
  const { fullName, asOf, ageDays, note, theme, label: own = "" } = subject;
  const isOld = (ageDays ?? 0) >= OLD_DAYS;
  const { label, message, tone, sentence, isSpan = false } = wordingOf(fact, isOld);
  const date = asOf === null || !isOld ? undefined : `${isSpan ? " to " : " · "}${dateText(asOf)}`;
  const known = asOf === null ? "" : `, as of ${agedDate(asOf, ageDays)}`;
  const noted = note === undefined ? "" : `, ${note}`;
  return drawBadge({
    label: plainText(own) === "" ? label : own,
    message: note === undefined ? `${message}${date ?? ""}` : `${message} · ${note}`,
    tone: note === undefined && date === undefined ? tone : "caution",
    title: `${fullName}: ${sentence}${known}${noted}, by Sidereal`,
    theme,
  });
}

const inLanguage = (language: string | null): string => (language === null ? "" : ` in ${language}`);
const phraseOf = ({ ranking, language }: Pick<RankName, "ranking" | "language">): string =>
  `${RANKING_DEFINITIONS[ranking].phrase}${inLanguage(language)}`;
const over = (window: Window | null, join: string): string =>
  window === null ? "" : `${join}${WINDOW_LABELS[window]}`;

/** A rank in a few words: "#3 trending in Rust · 7 days". */
export function rankWords({ rank, window, ...name }: RankName): string {
  const position = rank === null ? "not ranked" : `#${exactNumber(rank)}`;
  return `${position} ${phraseOf(name)}${over(window, " · ")}`;
}

function wordingOf(fact: BadgeFact, isOld: boolean): Wording {
  switch (fact.kind) {
    case "stars": {
      const { stars } = fact;
      if (stars === null)
        return { label: "stars", message: "not known", tone: "quiet", sentence: "stars not known" };
      const message = exactNumber(stars);
      return {
        label: "stars",
        message,
        tone: "plain",
        sentence: `${message} ${stars === 1 ? "star" : "stars"}`,
      };
    }
    case "gain": {
      const { gained, counted, window } = fact;
      const label = `stars in ${WINDOW_LABELS[window]}`;
      if (gained === null)
        return { label, message: "not known yet", tone: "quiet", sentence: `${label} not known yet` };
      const part = counted === undefined ? "" : `, ${counted}`;
      const moved = gained > 0 ? "rise" : gained < 0 ? "fall" : "quiet";
      return {
        label,
        message: `${signedNumber(gained)}${part}`,
        tone: counted === undefined ? moved : "caution",
        sentence: `${signedNumber(gained)} ${label}${part}`,
        isSpan: true,
      };
    }
    case "trending": {
      const { rank, language, window } = fact;
      const where = inLanguage(language);
      const position = `trending #${exactNumber(rank ?? 0)}${where}`;
      // Nothing is known about now if the data is old.
      const message =
        rank === null ? `not trending${where}${isOld ? "" : " now"}` : position + over(window, " · ");
      const sentence = `${rank === null ? `not trending${where}` : position}${over(window, " over ")}`;
      return {
        label: BADGE_BRAND,
        message,
        tone: rank === null ? "quiet" : "rise",
        sentence,
        isSpan: rank !== null,
      };
    }
    case "rank": {
      const { rank, window, depth } = fact;
      const words = `not among the first ${exactNumber(depth)} ${phraseOf(fact)}`;
      return {
        label: BADGE_BRAND,
        message: rank === null ? `${words}${over(window, " · ")}` : rankWords(fact),
        tone: rank === null ? "quiet" : "plain",
        sentence: `${rank === null ? words : `#${exactNumber(rank)} ${phraseOf(fact)}`}${over(window, " over ")}`,
        isSpan: window !== null,
      };
    }
  }
}
