import { forgeName } from "../forges.js";
import { WINDOW_LABELS, type Window } from "../rankings/rankings.js";
import { drawable, FONT_FAMILY, loadFont } from "./font.js";
import { pathOf } from "./lines.js";
import { PALETTES } from "./looks.js";
import { element, type Markup, plainText } from "./markup.js";
import { wrap } from "./notice.js";
import { dateText, exactNumber, shortNumber, signedNumber } from "./numbers.js";
import { fit } from "./text.js";
import { thin } from "./thin.js";

/** What the card of a repository says; null: not known. */
export interface CardInput {
  provider: string;
  fullName: string;
  description: string | null;
  language: string | null;
  stars: number | null;
  gained: readonly { window: Window; stars: number | null }[];
  /** Its best place, in words: "#3 trending in Rust · 7 days". */
  rank: string | null;
  /** Stars over a year, oldest first. */
  points: readonly { at: number; value: number }[];
  asOf: number | null;
  /** What else a reader must know, in a few words. */
  note?: string;
}

/** The size that pages which show links ask for (Open Graph). */
export const CARD_SIZE = { width: 1200, height: 630 };

const PAD = 64;
const RIGHT = CARD_SIZE.width - PAD;
const COLOURS = PALETTES.dark;
const LINE = COLOURS.lines[0] ?? COLOURS.text;

/** The card as SVG, for `renderPng`: with the fonts that come along and measured by them. */
export function drawCard(input: CardInput): string {
  const { width, height } = CARD_SIZE;
  return element(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "font-family": FONT_FAMILY,
    },
    element("rect", { x: 0, y: 0, width, height, fill: COLOURS.background }),
    ...drawYear(input.points),
    ...drawNames(input),
    ...drawNumbers(input),
    ...drawFoot(input),
  ).xml;
}

interface Style {
  size: number;
  colour: string;
  isBold?: boolean;
  anchor?: "end";
}

/** A text that is cut where it would pass `room`; characters the font lacks are left out. */
function write(text: string, x: number, y: number, room: number, style: Style): Markup {
  const { size, colour, isBold = false, anchor } = style;
  const font = loadFont(isBold ? "bold" : "plain");
  const shown = fit(drawable(plainText(text), font) ?? "…", size, room, font.measure);
  return element(
    "text",
    {
      x,
      y,
      "font-size": size,
      fill: colour,
      ...(isBold ? { "font-weight": 700 } : {}),
      ...(anchor === undefined ? {} : { "text-anchor": anchor }),
    },
    shown,
  );
}

function drawNames({ provider, fullName, description, language }: CardInput): Markup[] {
  const at = fullName.lastIndexOf("/");
  const [owner, name] = [fullName.slice(0, Math.max(0, at)), fullName.slice(at + 1)];
  const where = [forgeName(provider), owner, ...(language === null ? [] : [language])];
  const bold = loadFont("bold");
  const measured = bold.measure(name.slice(0, 200), 1);
  const size = Math.max(40, Math.min(76, Math.floor((RIGHT - PAD) / Math.max(1, measured))));
  const told = description === null ? undefined : drawable(plainText(description), loadFont("plain"));
  const lines = told === undefined ? [] : wrap(told, 28, RIGHT - PAD, 2, loadFont("plain").measure);
  return [
    write(where.join("  ·  "), PAD, 92, RIGHT - PAD, { size: 28, colour: COLOURS.muted }),
    write(name, PAD, 172, RIGHT - PAD, { size, colour: COLOURS.text, isBold: true }),
    ...lines.map((line, i) =>
      write(line, PAD, 226 + i * 40, RIGHT - PAD, { size: 28, colour: COLOURS.text }),
    ),
  ];
}

/** Stars and gains, side by side. */
function drawNumbers({ stars, gained }: CardInput): Markup[] {
  const cells = [
    { value: stars === null ? "–" : stars < 1e6 ? exactNumber(stars) : shortNumber(stars), name: "stars" },
    ...gained.map(({ window, stars: gain }) => ({
      value:
        gain === null
          ? "–"
          : Math.abs(gain) < 1e6
            ? signedNumber(gain)
            : `${gain < 0 ? "−" : "+"}${shortNumber(Math.abs(gain))}`,
      name: `in ${WINDOW_LABELS[window]}`,
    })),
  ];
  const width = (RIGHT - PAD) / cells.length;
  return cells.flatMap(({ value, name }, i) => {
    const x = PAD + i * width;
    return [
      write(value, x, 356, width - 16, { size: 46, colour: i === 0 ? COLOURS.text : LINE, isBold: true }),
      write(name, x, 390, width - 16, { size: 22, colour: COLOURS.muted }),
    ];
  });
}

/** The stars of a year behind the foot of the card. */
function drawYear(points: CardInput["points"]): Markup[] {
  const known = points.filter(({ at, value }) => Number.isFinite(at) && Number.isFinite(value));
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined || last.at <= first.at) return [];
  const [top, bottom] = [424, 552];
  const low = known.reduce((least, { value }) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = known.reduce((most, { value }) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const placed = thin(
    known.map(({ at, value }) => ({
      x: PAD + ((at - first.at) / (last.at - first.at)) * (RIGHT - PAD),
      y: high === low ? (top + bottom) / 2 : bottom - ((value - low) / (high - low)) * (bottom - top),
    })),
    () => false,
  );
  const ground = [...placed, { x: RIGHT, y: bottom + 4 }, { x: PAD, y: bottom + 4 }];
  const end = placed.at(-1) ?? { x: RIGHT, y: bottom };
  return [
    element("path", { d: `${pathOf(ground)}Z`, fill: LINE, "fill-opacity": 0.14 }),
    element("path", {
      d: pathOf(placed),
      fill: "none",
      stroke: LINE,
      "stroke-width": 4,
      "stroke-linejoin": "round",
    }),
    element("circle", { cx: end.x, cy: end.y, r: 7, fill: LINE }),
  ];
}

function drawFoot({ rank, asOf, note }: CardInput): Markup[] {
  const date = asOf === null ? [] : [`as of ${dateText(asOf)}`];
  const told = ["Sidereal", ...(note === undefined ? date : [note])].join(" · ");
  return [
    ...(rank === null ? [] : [write(rank, PAD, 598, 620, { size: 24, colour: COLOURS.text, isBold: true })]),
    write(told, RIGHT, 598, 420, { size: 22, colour: COLOURS.muted, anchor: "end" }),
  ];
}
