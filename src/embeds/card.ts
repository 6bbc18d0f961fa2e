import { basisOf, isSeam } from "../catalog/catalog.js";
import { forgeName } from "../forges.js";
import { WINDOW_LABELS, type Window } from "../rankings/rankings.js";
import { drawable, FONT_FAMILY, loadFont } from "./font.js";
import { MAX_POINTS, type Point, pathOf } from "./lines.js";
import { element, type Markup, plainText, svgOf } from "./markup.js";
import { agedDate, exactNumber, shortNumber, signedNumber } from "./numbers.js";
import { type ChartPoint, RETAINED_WORDS, reducePoints } from "./series.js";
import { fit, wrap } from "./text.js";
import { PALETTES } from "./themes.js";

/** The content of a card; null: unknown. */
export interface CardInput {
  provider: string;
  fullName: string;
  description: string | null;
  language: string | null;
  stars: number | null;
  /** `counted`: what of the gain counts, such as "none counted"; absent: all of it. */
  gained: readonly { window: Window; stars: number | null; counted?: string }[];
  /** Its best rank: "#3 trending in Rust · 7 days". */
  rank: string | null;
  /** Stars over a year, oldest first. */
  points: readonly ChartPoint[];
  asOf: number | null;
  /** Days from `asOf` to the response; absent: not shown. */
  ageDays?: number | null;
  /** A short note for readers, shown instead of the date. */
  note?: string;
}

/** The size recommended for Open Graph images. */
export const CARD_SIZE = { width: 1200, height: 630 };

const PAD = 64;
const RIGHT = CARD_SIZE.width - PAD;
const COLOURS = PALETTES.dark;
const LINE = COLOURS.lines[0] ?? COLOURS.text;

/** The card as SVG for PngRenderer, laid out with the bundled fonts. */
export function drawCard(input: CardInput): string {
  const { width, height } = CARD_SIZE;
  return element(
    "svg",
    { ...svgOf(width, height), "font-family": FONT_FAMILY },
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

/** Text, cut at `maxWidth` and without the characters missing from the font. */
function write(
  text: string,
  { x, y, maxWidth }: { x: number; y: number; maxWidth: number },
  style: Style,
): Markup {
  const { size, colour, isBold = false, anchor } = style;
  const font = loadFont(isBold ? "bold" : "plain");
  const shown = fit(drawable(plainText(text), font) ?? "…", { size, width: maxWidth, measure: font.measure });
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
  const shown = description === null ? undefined : drawable(plainText(description), loadFont("plain"));
  const lines =
    shown === undefined
      ? []
      : wrap(shown, { size: 28, width: RIGHT - PAD, measure: loadFont("plain").measure }, 2);
  return [
    write(where.join("  ·  "), { x: PAD, y: 92, maxWidth: RIGHT - PAD }, { size: 28, colour: COLOURS.muted }),
    write(name, { x: PAD, y: 172, maxWidth: RIGHT - PAD }, { size, colour: COLOURS.text, isBold: true }),
    ...lines.map((line, i) =>
      write(line, { x: PAD, y: 226 + i * 40, maxWidth: RIGHT - PAD }, { size: 28, colour: COLOURS.text }),
    ),
  ];
}

/** Stars and gains, side by side. */
function drawNumbers({ stars, gained }: CardInput): Markup[] {
  const cells = [
    { value: stars === null ? "–" : stars < 1e6 ? exactNumber(stars) : shortNumber(stars), name: "stars" },
    ...gained.map(({ window, stars: gain, counted }) => ({
      value:
        gain === null
          ? "–"
          : Math.abs(gain) < 1e6
            ? signedNumber(gain)
            : `${gain < 0 ? "−" : "+"}${shortNumber(Math.abs(gain))}`,
      name: `in ${WINDOW_LABELS[window]}${counted === undefined ? "" : `, ${counted}`}`,
    })),
  ];
  const width = (RIGHT - PAD) / cells.length;
  return cells.flatMap(({ value, name }, i) => {
    const x = PAD + i * width;
    return [
      write(
        value,
        { x, y: 356, maxWidth: width - 16 },
        { size: 46, colour: i === 0 ? COLOURS.text : LINE, isBold: true },
      ),
      write(name, { x, y: 390, maxWidth: width - 16 }, { size: 22, colour: COLOURS.muted }),
    ];
  });
}

/** The stars over a year, above the footer. */
function drawYear(points: CardInput["points"]): Markup[] {
  const known = points.filter(({ at, value }) => Number.isFinite(at) && Number.isFinite(value));
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined || last.at <= first.at) return [];
  const [top, bottom] = [424, 552];
  const low = known.reduce((least, { value }) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = known.reduce((most, { value }) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const pointOf = ({ at, value }: ChartPoint): Point => ({
    x: PAD + ((at - first.at) / (last.at - first.at)) * (RIGHT - PAD),
    y: high === low ? (top + bottom) / 2 : bottom - ((value - low) / (high - low)) * (bottom - top),
  });
  const end = pointOf(last);
  const runs = runsOf(reducePoints(known, [], MAX_POINTS));
  const isRetained = (run: readonly ChartPoint[]) => run.some(({ source }) => basisOf(source) === "RETAINED");
  return [
    ...runs.flatMap((run) => drawRun(run.map(pointOf), bottom + 4, isRetained(run))),
    element("circle", { cx: end.x, cy: end.y, r: 7, fill: LINE }),
    ...(runs.some(isRetained)
      ? [
          write(
            `dotted: ${RETAINED_WORDS}`,
            { x: PAD, y: 420, maxWidth: RIGHT - PAD },
            { size: 18, colour: COLOURS.muted },
          ),
        ]
      : []),
  ];
}

/** The parts of a line between its seams. */
function runsOf(points: readonly ChartPoint[]): ChartPoint[][] {
  const runs: ChartPoint[][] = [];
  for (const [i, point] of points.entries()) {
    const run = runs.at(-1);
    if (run === undefined || isSeam(points[i - 1], point)) runs.push([point]);
    else run.push(point);
  }
  return runs;
}

function drawRun(points: readonly Point[], bottom: number, isRetained: boolean): Markup[] {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2) return [];
  const outline = [...points, { x: last.x, y: bottom }, { x: first.x, y: bottom }];
  return [
    element("path", { d: `${pathOf(outline)}Z`, fill: LINE, "fill-opacity": 0.14 }),
    element("path", {
      d: pathOf(points),
      fill: "none",
      stroke: LINE,
      "stroke-width": 4,
      "stroke-linejoin": "round",
      ...(isRetained ? { "stroke-linecap": "round", "stroke-dasharray": "0.1 8" } : {}),
    }),
  ];
}

function drawFoot({ rank, asOf, ageDays, note }: CardInput): Markup[] {
  const date = asOf === null ? [] : [`as of ${agedDate(asOf, ageDays)}`];
  const source = ["Sidereal", ...(note === undefined ? date : [note])].join(" · ");
  return [
    ...(rank === null
      ? []
      : [write(rank, { x: PAD, y: 598, maxWidth: 620 }, { size: 24, colour: COLOURS.text, isBold: true })]),
    write(source, { x: RIGHT, y: 598, maxWidth: 420 }, { size: 22, colour: COLOURS.muted, anchor: "end" }),
  ];
}
