import { plainText } from "./markup.js";

const ELLIPSIS = "…";
const SEGMENTER = new Intl.Segmenter("en", { granularity: "grapheme" });

/** Widths relative to the font size; slightly more than in common system fonts. */
const WIDTHS: readonly (readonly [RegExp, number])[] = [
  [/^[iljI|.,:;'!`·]/, 0.31],
  [/^[ftr()[\]{}/\\"\- ]/, 0.39],
  [/^[mwMW@%…]/, 0.92],
  [/^[A-Z&]/, 0.7],
  [/^[a-z]/, 0.58],
  [/^[0-9+\-−_$?*#]/, 0.6],
  [/^[\u0080-\u10FF\u1E00-\u1FFF]/, 0.7],
];
const WIDE = 1.3;

const widthOf = (character: string): number =>
  WIDTHS.find(([characters]) => characters.test(character))?.[1] ?? WIDE;
const ASCII = Array.from({ length: 128 }, (_, code) => widthOf(String.fromCharCode(code)));
/** Combining marks, and characters that join or vary emoji. */
const WITHOUT_WIDTH = /^(?:\p{M}|[\u200B-\u200D])/u;

/** The width of a text at a font size. */
export type Measure = (text: string, size: number) => number;

/** An upper estimate of the width of a text in common fonts. */
export const estimateWidth: Measure = (text, size) => {
  let width = 0;
  for (const character of text) {
    const ascii = ASCII[character.charCodeAt(0)];
    width += ascii ?? (WITHOUT_WIDTH.test(character) ? 0 : widthOf(character));
  }
  return width * size;
};

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
  for (const { segment } of SEGMENTER.segment(plain)) {
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

/** Wraps a text into at most `maxLines` lines; the rest is cut with an ellipsis. */
export function wrap(text: string, room: Room, maxLines: number): string[] {
  const { size, width, measure = estimateWidth } = room;
  const words = text.split(/\s+/).filter((word) => word !== "");
  const lines: string[] = [];
  let line = "";
  for (const [i, word] of words.entries()) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (measure(longer, size) <= width) {
      line = longer;
      continue;
    }
    if (lines.length === maxLines - 1) {
      const rest = words.slice(i, i + 50).join(" ");
      return [...lines, fit(line === "" ? rest : `${line} ${rest}`, room)];
    }
    if (line !== "") lines.push(line);
    line = measure(word, size) <= width ? word : fit(word, room);
  }
  return line === "" ? lines : [...lines, line];
}
