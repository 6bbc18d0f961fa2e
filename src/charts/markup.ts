import { escapeXml } from "../lib/xml.js";

/** The only way for text to get into pictures, and for pictures into other sites: everything is escaped here. */

/** The elements of pictures. None of them can run, load or link to anything. */
type ElementName =
  | ("svg" | "title" | "desc" | "style" | "g" | "path" | "rect" | "circle" | "text" | "tspan" | "defs")
  | ("linearGradient" | "stop" | "pattern" | "filter" | "feTurbulence" | "feDisplacementMap");

/** Longer text is cut; no picture shows this much. */
const MAX_TEXT = 2_000;
/** Maximum input length, larger than MAX_TEXT because white space is collapsed. */
const MAX_READ = 100_000;

/** Characters invalid in XML 1.0, control characters, and characters that change the text direction. */
const UNFIT = /[\p{Cc}\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFFFE\uFFFF]/gu;

/** Text made safe for a picture: well-formed, on one line, and unable to reorder the text around it. */
export function plainText(text: string): string {
  return (
    text
      .slice(0, MAX_READ)
      .toWellFormed()
      .replaceAll(UNFIT, " ")
      // Limit stacked combining marks, which would extend beyond the picture.
      .replaceAll(/(\p{M}{3})\p{M}+/gu, "$1")
      .replaceAll(/\s+/gu, " ")
      .trim()
      .slice(0, MAX_TEXT)
      // Drop a surrogate whose other half was cut off.
      .replace(/[\uD800-\uDBFF]$/, "")
  );
}

/** Escapes text for the content or a quoted attribute of XML and HTML. All text in pictures goes through here. */
export function escapeMarkup(text: string): string {
  return escapeXml(plainText(text));
}

/** A finished part of a picture. Plain strings are treated as text and escaped. */
export class Markup {
  readonly xml: string;

  constructor(xml: string) {
    this.xml = xml;
  }
}

/** Absent ones are skipped. */
type Attributes = Readonly<Record<string, string | number | undefined>>;
type Child = Markup | string | undefined;

/** An element; absent children are skipped. Throws RangeError for a number that is not finite. */
export function element(name: ElementName, attributes: Attributes, ...children: readonly Child[]): Markup {
  let written = "";
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    const text =
      typeof value === "number" ? coordinate(value) : escapeXml(value.toWellFormed().replaceAll(UNFIT, " "));
    written += ` ${key}="${text}"`;
  }
  const inner = children
    .map((one) => (typeof one === "string" ? escapeMarkup(one) : (one?.xml ?? "")))
    .join("");
  return new Markup(inner === "" ? `<${name}${written}/>` : `<${name}${written}>${inner}</${name}>`);
}

/** A number rounded to one decimal. */
export function coordinate(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError("a coordinate must be finite");
  const rounded = Math.round(value * 10) / 10;
  return String(rounded === 0 ? 0 : rounded);
}

/** The fonts of pictures: system fonts, since nothing may be loaded. */
const FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

/** Size and text alternative of a picture. */
interface PictureFrame {
  width: number;
  height: number;
  /** Prefix of all ids, so that one document can contain several pictures. */
  idPrefix: string;
  title: string;
  /** Details beyond the title. */
  description?: string;
  /** Default: the reader's system fonts. */
  fonts?: string;
  /** Its style sheet; absent in a page, which has the rules. */
  style?: string;
}

/** The attributes of an `svg` element of a size. */
export const svgOf = (width: number, height: number) => ({
  xmlns: "http://www.w3.org/2000/svg",
  width,
  height,
  viewBox: `0 0 ${width} ${height}`,
});

/** An SVG picture: title and description, then the given children. */
export function picture(
  { width, height, idPrefix, title, description, fonts = FONTS, style }: PictureFrame,
  ...drawn: readonly Child[]
): string {
  const [titleId, descId] = [`${idPrefix}-title`, `${idPrefix}-desc`];
  return element(
    "svg",
    {
      ...svgOf(width, height),
      role: "img",
      "aria-labelledby": description === undefined ? titleId : `${titleId} ${descId}`,
      class: "chart",
      "font-family": fonts,
    },
    element("title", { id: titleId }, title),
    description === undefined ? undefined : element("desc", { id: descId }, description),
    style === undefined ? undefined : element("style", {}, new Markup(style)),
    ...drawn,
  ).xml;
}

/** Characters with a meaning in Markdown. */
const MARKDOWN = /[\\`*_{}[\]<>()#+!|~&"$^=@]/g;
/** Those that end the address of a link there, or may not be in an address. */
const NO_ADDRESS = /[\s\p{Cc}()<>\\"`]|[^\0-\x7f]/gu;
const BRACKETS: Readonly<Record<string, string>> = { "(": "%28", ")": "%29" };

interface Shown {
  image: string;
  page: string;
  alt: string;
  /** Absent: as wide as it is. */
  width?: number;
  height: number;
}

/** An address in a link of Markdown. Encoded characters stay as they are. */
function linked(address: string): string {
  return address.toWellFormed().replaceAll(NO_ADDRESS, (one) => BRACKETS[one] ?? encodeURIComponent(one));
}

/** Plain text as a part of a line of Markdown. */
export const markdownText = (text: string): string => plainText(text).replaceAll(MARKDOWN, "\\$&");

/** Code that shows the picture at `image` on another site, linked to `page`. All text is escaped. */
export function snippetsOf({ image, page, alt, width, height }: Shown) {
  const wide = width === undefined ? "" : `width="${Math.round(width)}" `;
  const size = `${wide}height="${Math.round(height)}"`;
  return {
    markdown: `[![${markdownText(alt)}](${linked(image)})](${linked(page)})`,
    html: `<a href="${escapeXml(page)}"><img src="${escapeXml(image)}" alt="${escapeMarkup(alt)}" ${size}></a>`,
  };
}

const ELLIPSIS = "…";
const SEGMENTER = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The fonts of texts: names and sentences are in a serif, numbers and the rest in a sans. */
export type FaceName = "sans" | "bold" | "serif" | "serif-bold";

/** Widths of the printable ASCII characters in DejaVu, in thousandths of the font size: about those of Verdana, and more than those of other fonts of systems. */
const ASCII_WIDTHS: Readonly<Record<FaceName, readonly number[]>> = {
  sans: [
    ...[318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636],
    ...[636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775],
    ...[752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390],
    ...[337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612],
    ...[635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838],
  ],
  bold: [
    ...[348, 456, 521, 838, 696, 1002, 872, 306, 457, 457, 523, 838, 380, 415, 380, 365, 696, 696, 696, 696],
    ...[696, 696, 696, 696, 696, 696, 400, 400, 838, 838, 838, 580, 1000, 774, 762, 734, 830, 683, 683, 821],
    ...[837, 372, 372, 775, 637, 995, 837, 850, 733, 850, 770, 720, 682, 812, 774, 1103, 771, 724, 725, 457],
    ...[365, 457, 838, 500, 500, 675, 716, 593, 716, 678, 435, 716, 712, 343, 343, 665, 343, 1042, 712, 687],
    ...[716, 716, 493, 595, 478, 712, 652, 924, 645, 652, 582, 712, 365, 712, 838],
  ],
  serif: [
    ...[318, 402, 460, 838, 636, 950, 890, 275, 390, 390, 500, 838, 318, 338, 318, 337, 636, 636, 636, 636],
    ...[636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 536, 1000, 722, 735, 765, 802, 730, 694, 799],
    ...[872, 395, 401, 747, 664, 1024, 875, 820, 673, 820, 753, 685, 667, 843, 722, 1028, 712, 660, 695, 390],
    ...[337, 390, 838, 500, 500, 596, 640, 560, 640, 592, 370, 640, 644, 320, 310, 606, 320, 948, 644, 602],
    ...[640, 640, 478, 513, 402, 644, 565, 856, 564, 565, 527, 636, 337, 636, 838],
  ],
  "serif-bold": [
    ...[348, 439, 521, 838, 696, 950, 903, 306, 473, 473, 523, 838, 348, 415, 348, 365, 696, 696, 696, 696],
    ...[696, 696, 696, 696, 696, 696, 369, 369, 838, 838, 838, 586, 1000, 776, 845, 796, 867, 762, 710, 854],
    ...[945, 468, 473, 869, 703, 1107, 914, 871, 752, 871, 831, 722, 744, 872, 776, 1123, 776, 714, 730, 473],
    ...[365, 473, 838, 500, 500, 648, 699, 609, 699, 636, 430, 699, 727, 380, 362, 693, 380, 1058, 727, 667],
    ...[699, 699, 527, 563, 462, 727, 581, 861, 596, 581, 568, 643, 364, 643, 838],
  ],
};
const OTHER_WIDTHS: Readonly<Record<string, number>> = { "·": 380, "…": 1_000, "−": 838, "±": 838, "–": 500 };
/** How much wider a bold character of another script is than a plain one. */
const BOLD = 1.15;

/** Widths of other characters, relative to the font size; slightly more than in common fonts. */
const WIDTHS: readonly (readonly [RegExp, number])[] = [
  // Marks above and below letters, and characters that join or vary emoji.
  [/^(?:[\p{Mn}\p{Me}]|[\u200B-\u200D\u2060\u{E0000}-\u{E007F}])/u, 0],
  // Two of them are a flag; emoji are as wide as 1.4 in the fonts of Windows.
  [/^\p{Regional_Indicator}/u, 0.75],
  [/^\p{Emoji_Presentation}/u, 1.4],
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

const knownWidth = (character: string, face: FaceName): number | undefined =>
  ASCII_WIDTHS[face][character.charCodeAt(0) - 32] ?? OTHER_WIDTHS[character];

/** Whether the width of a text in DejaVu is known, and not an estimate. */
export const isMeasured = (text: string): boolean => /^[ -~]*$/.test(text);

/** An upper estimate of the width of a text in common fonts. */
export function estimateWidth(text: string, size: number, face: FaceName = "sans"): number {
  const broad = /bold/.test(face) ? BOLD : 1;
  let width = 0;
  let before = "";
  for (const one of text) {
    const known = knownWidth(one, face);
    // Emoji that a joiner connects are one picture.
    if (known !== undefined) width += known / 1_000;
    else if (before !== JOINER)
      width += broad * (WIDTHS.find(([characters]) => characters.test(one))?.[1] ?? WIDE);
    before = one;
  }
  return width * size;
}

/** The characters of a text as readers count them: letters with their marks, and sequences of emoji. */
export function graphemes(text: string): string[] {
  return Array.from(SEGMENTER.segment(text), ({ segment }) => segment);
}

/** The width of a text at a font size. */
export type Measure = (text: string, size: number) => number;

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
  const rest = width - measure(ELLIPSIS, size);
  let shown = "";
  let used = 0;
  // Keep emoji sequences intact.
  for (const segment of graphemes(plain)) {
    used += measure(segment, size);
    if (used > rest) break;
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
