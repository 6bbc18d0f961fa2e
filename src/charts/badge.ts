import { RANKING_DEFINITIONS, type Ranking, WINDOW_LABELS, type Window } from "../growth/growth.js";
import { element, estimateWidth, fit, isMeasured, picture, plainText } from "./markup.js";
import { agedDate, dateText, exactNumber, plural, signedNumber } from "./numbers.js";
import { boldWidth } from "./picture-parts.js";
import { type Theme, themed } from "./themes.js";

/** The meaning of the colour of a badge. */
type Tone = "plain" | "rise" | "fall" | "rank" | "quiet";

/** The content of a badge: a label, a message about it, and both as a sentence. */
interface BadgeInput {
  label: string;
  message: string;
  tone: Tone;
  title: string;
  theme: Theme;
}

const SIZE = 11;
const PAD = 8;
const ICON = 16;
const MAX_LABEL = 240;
const MAX_MESSAGE = 420;
/** The label of badges that would not say whose ranking they mean. */
export const BADGE_BRAND = "Sidereal";
/** Fonts of about the same widths, so that a badge looks the same on all systems. */
const FONTS = "Verdana, Geneva, 'DejaVu Sans', sans-serif";

/** Of the mark of the product, on labels of both schemes. */
const STAR = "#f0b860";

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
    ...{ label: "#3a4657", onLabel: "#ffffff", ink: "#ffffff" },
    tones: { plain: "#0a5bb8", rise: "#1b6b3a", fall: "#a8321f", rank: "#8a5a00", quiet: "#5b6775" },
  },
  dark: {
    ...{ label: "#26344a", onLabel: "#eef2f7", ink: "#0e131d" },
    tones: { plain: "#7db8fb", rise: "#6fcf97", fall: "#f59383", rank: "#f0b860", quiet: "#a9b4c1" },
  },
};

/** A flat badge as high as those of other services: a label after our star, and a message. */
export function drawBadge({ label, message, tone, title, theme }: BadgeInput): string {
  const left = fit(label, { size: SIZE, width: MAX_LABEL });
  const right = fit(message, { size: SIZE, width: MAX_MESSAGE, measure: boldWidth });
  const middle = Math.ceil(PAD + ICON + estimateWidth(left, SIZE) + PAD);
  const width = Math.ceil(middle + PAD + estimateWidth(right, SIZE, "bold") + PAD);
  const style = themed(theme, (scheme) => {
    const { label, onLabel, ink, tones } = BADGE_COLOURS[scheme];
    return `.badge-label{fill:${label}}.badge-on-label{fill:${onLabel}}.badge-tone{fill:${tones[tone]}}.badge-ink{fill:${ink}}`;
  });
  const shape = (look: string, d: string) => element("path", { class: look, d });
  return picture(
    { width, height: 20, idPrefix: "badge", title, fonts: FONTS, style },
    shape("badge-label", `M4 0H${middle}V20H4a4 4 0 0 1-4-4V4a4 4 0 0 1 4-4Z`),
    shape("badge-tone", `M${middle} 0H${width - 4}a4 4 0 0 1 4 4V16a4 4 0 0 1-4 4H${middle}Z`),
    element("path", {
      fill: STAR,
      d: "M12.5 4L14.1 8.4L18.5 10L14.1 11.6L12.5 16L10.9 11.6L6.5 10L10.9 8.4Z",
    }),
    textIn(left, "badge-on-label", { from: PAD + ICON, until: middle - PAD }),
    textIn(right, "badge-ink", { from: middle + PAD, until: width - PAD, face: "bold" }),
  );
}

/**
 * Text between two edges. If its width is known, its length is fixed, so that no font makes it leave its place; other scripts
 * are in the middle of the room that they may need.
 */
function textIn(text: string, look: string, room: { from: number; until: number; face?: "bold" }) {
  if (text === "") return undefined;
  const { from, until, face } = room;
  const place = isMeasured(text)
    ? { x: from, textLength: estimateWidth(text, SIZE, face) }
    : { x: (from + until) / 2, "text-anchor": "middle" };
  const weight = face === undefined ? undefined : 700;
  return element("text", { class: look, "font-size": SIZE, "font-weight": weight, y: 14, ...place }, text);
}

/** The subject of a badge: a repository, when its data was observed, and how it looks. */
interface BadgeSubject {
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
  /** `counted`: the part of the gain that counts, such as "none counted"; absent: all of it. */
  | { kind: "gain"; gained: number | null; counted?: string; window: Window }
  /** `depth`: number of ranks stored in this ranking. */
  | ({ kind: "rank"; rank: number | null; depth: number } & RankName)
  | { kind: "trending"; rank: number | null; language: string | null; window: Window };

/** The repositories that a rank is among. */
interface RankName {
  ranking: Ranking;
  /** null for a ranking without a window. */
  window: Window | null;
  /** null: overall. */
  language: string | null;
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

/** From the day before yesterday on, data is old: the badge shows its date. In days, as badges are cached for one. */
const OLD_DAYS = 2;

/** Draws the badge of a fact, with the date of its data if that is old. */
export function drawFactBadge(subject: BadgeSubject, fact: BadgeFact): string {
  const { fullName, asOf, ageDays, note, theme, label: own = "" } = subject;
  const isOld = (ageDays ?? 0) >= OLD_DAYS;
  const { label, message, tone, sentence, isSpan = false } = wordingOf(fact, isOld);
  const date = asOf === null || !isOld ? "" : `${isSpan ? " to " : " · "}${dateText(asOf)}`;
  const known = asOf === null ? [] : [`as of ${agedDate(asOf, ageDays)}`];
  const noted = note === undefined ? [] : [note];
  return drawBadge({
    label: plainText(own) === "" ? label : own,
    message: `${message}${note === undefined ? date : ` · ${note}`}`,
    tone: note === undefined && date === "" ? tone : "quiet",
    title: [`${fullName}: ${sentence}`, ...known, ...noted, "by Sidereal"].join(", "),
    theme,
  });
}

const inLanguage = (language: string | null): string => (language === null ? "" : ` in ${language}`);
const over = (window: Window | null, join: string): string =>
  window === null ? "" : `${join}${WINDOW_LABELS[window]}`;

/** A position in a ranking, without its window: "#3 trending in Rust". */
const rankedAs = (position: string, { ranking, language }: Pick<RankName, "ranking" | "language">): string =>
  `${position} ${RANKING_DEFINITIONS[ranking].phrase}${inLanguage(language)}`;

/** A rank in a few words: "#3 trending in Rust · 7 days". */
export const rankWords = (rank: number, name: RankName): string =>
  `${rankedAs(`#${exactNumber(rank)}`, name)}${over(name.window, " · ")}`;

const unknown = (label: string, message: string): Wording => ({
  ...{ label, message, tone: "quiet", sentence: `${label} ${message}` },
});

function wordingOf(fact: BadgeFact, isOld: boolean): Wording {
  switch (fact.kind) {
    case "stars": {
      const { stars } = fact;
      if (stars === null) return unknown("stars", "not known");
      return { label: "stars", message: exactNumber(stars), tone: "plain", sentence: plural(stars, "star") };
    }
    case "gain": {
      const { gained, counted, window } = fact;
      const label = `stars in ${WINDOW_LABELS[window]}`;
      if (gained === null) return unknown(label, "not known yet");
      const [amount, part] = [signedNumber(gained), counted === undefined ? "" : `, ${counted}`];
      const moved = gained > 0 ? "rise" : gained < 0 ? "fall" : "quiet";
      const tone = counted === undefined ? moved : "quiet";
      return { label, message: amount + part, tone, sentence: `${amount} ${label}${part}`, isSpan: true };
    }
    case "trending": {
      const { rank, language, window } = fact;
      const position = rank === null ? "not trending" : `trending #${exactNumber(rank)}`;
      const words = `${position}${inLanguage(language)}`;
      const sentence = `${words}${over(window, " over ")}`;
      if (rank !== null)
        return {
          ...{ label: BADGE_BRAND, message: `${words}${over(window, " · ")}`, tone: "rank", sentence },
          isSpan: true,
        };
      // Nothing is known about now if the data is old.
      return { label: BADGE_BRAND, message: `${words}${isOld ? "" : " now"}`, tone: "quiet", sentence };
    }
    case "rank": {
      const { rank, window, depth } = fact;
      const position = rank === null ? `not among the first ${exactNumber(depth)}` : `#${exactNumber(rank)}`;
      const words = rankedAs(position, fact);
      return {
        label: BADGE_BRAND,
        message: `${words}${over(window, " · ")}`,
        tone: rank === null ? "quiet" : "rank",
        sentence: `${words}${over(window, " over ")}`,
        isSpan: window !== null,
      };
    }
  }
}
