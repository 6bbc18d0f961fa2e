import { plainText } from "./markup.js";

const ELLIPSIS = "…";
const SEGMENTER = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Widths of the printable ASCII characters in DejaVu Sans, in thousandths of the font size: about those of Verdana, and more than those of other fonts of systems. */
const ASCII_WIDTHS = [
  ...[318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636],
  ...[636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775],
  ...[752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390],
  ...[337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612],
  ...[635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838],
];
const OTHER_WIDTHS: Readonly<Record<string, number>> = { "·": 318, "…": 1_000, "−": 838, "±": 838, "–": 500 };

/** Widths of other characters, relative to the font size; slightly more than in common fonts. */
const WIDTHS: readonly (readonly [RegExp, number])[] = [
  // Marks above and below letters, and characters that join or vary emoji.
  [/^(?:[\p{Mn}\p{Me}]|[\u200B-\u200D])/u, 0],
  // Emoji are as wide as 1.4 in the fonts of Windows.
  [/^\p{Emoji_Presentation}|^\p{Regional_Indicator}/u, 1.4],
  [
    /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\u3000-\u303F\uFF00-\uFF60]/u,
    1.02,
  ],
  [/^\p{Script=Hangul}/u, 1],
  [
    /^[\p{Script=Tamil}\p{Script=Malayalam}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Oriya}\p{Script=Sinhala}\p{Script=Myanmar}\p{Script=Khmer}]/u,
    1.05,
  ],
  [/^[ŒœÆæЖМФШЩЪЫЮжмфшщъыюѠ-ѿ]/, 1.08],
  [/^[\u0391-\u03AB\u0400-\u042F\u0531-\u058F]/, 0.85],
  [/^[\u0080-\u10FF\u1E00-\u1FFF]/, 0.7],
];
const WIDE = 1.3;
const JOINER = "\u200D";

const knownWidth = (character: string): number | undefined =>
  ASCII_WIDTHS[character.charCodeAt(0) - 32] ?? OTHER_WIDTHS[character];

/** Whether the width of a text in DejaVu Sans is known, and not an estimate. */
export const isMeasured = (text: string): boolean => [...text].every((one) => knownWidth(one) !== undefined);

/** The width of a text at a font size. */
export type Measure = (text: string, size: number) => number;

/** An upper estimate of the width of a text in common fonts. */
export const estimateWidth: Measure = (text, size) => {
  let width = 0;
  let before = "";
  for (const one of text) {
    const known = knownWidth(one);
    // Emoji that a joiner connects are one picture.
    if (known !== undefined) width += known / 1_000;
    else if (before !== JOINER) width += WIDTHS.find(([characters]) => characters.test(one))?.[1] ?? WIDE;
    before = one;
  }
  return width * size;
};

/** The characters of a text as readers count them: letters with their marks, and sequences of emoji. */
export function graphemes(text: string): string[] {
  return Array.from(SEGMENTER.segment(text), ({ segment }) => segment);
}

/** The room for a line of text: its font size and the most that it may be wide. */
export interface Room {
  size: number;
  width: number;
  /** Default: estimateWidth. */
  measure?: Measure;
}

/** The text, cut with an ellipsis if it does not fit. */
export function fit(text: string, { size, width, measure = estimateWidth }: Room): string {
  const plain = plainText(text);
  if (measure(plain, size) <= width) return plain;
  const room = width - measure(ELLIPSIS, size);
  let shown = "";
  let used = 0;
  // Keep emoji sequences intact.
  for (const segment of graphemes(plain)) {
    used += measure(segment, size);
    if (used > room) break;
    shown += segment;
  }
  return `${shown.trimEnd()}${ELLIPSIS}`;
}

/** A full name; without its owner if it is too long. */
export function fitFullName(fullName: string, room: Room): string {
  const { size, width, measure = estimateWidth } = room;
  const plain = plainText(fullName);
  if (measure(plain, size) <= width) return plain;
  const name = plain.slice(plain.lastIndexOf("/") + 1);
  return fit(name === "" ? plain : name, room);
}

/** Where lines of Chinese and Japanese break: after any character, apart from punctuation that follows one. */
const BREAKABLE =
  /(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u3001-\u303F\uFF01-\uFF60])(?![\p{P}\u30FC\s])/u;

/** Wraps a text into at most `maxLines` lines; the rest is cut with an ellipsis. */
export function wrap(text: string, room: Room, maxLines: number): string[] {
  const { size, width, measure = estimateWidth } = room;
  const words = text
    .split(/\s+/)
    .flatMap((word) => word.split(BREAKABLE).map((part, i) => (i === 0 ? ` ${part}` : part)));
  const lines: string[] = [];
  let line = "";
  for (const [i, word] of words.entries()) {
    const longer = `${line}${word}`.trimStart();
    if (measure(longer, size) <= width) {
      line = longer;
      continue;
    }
    if (lines.length === maxLines - 1) {
      const rest = words.slice(i, i + 50).join("");
      return [...lines, fit(`${line}${rest}`, room)];
    }
    if (line !== "") lines.push(line);
    const alone = word.trimStart();
    line = measure(alone, size) <= width ? alone : fit(alone, room);
  }
  return line === "" ? lines : [...lines, line];
}
