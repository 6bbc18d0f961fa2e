import type { Axis, Frame } from "./axes.js";
import { type Box, type Crossing, hasDay, isIn, placeOf } from "./crossings.js";
import {
  drawMark,
  FINE_STEPS,
  type Gain,
  gainsOf,
  type LinePoint,
  partsOf,
  pathOf,
  spanOf,
  stepOf,
} from "./lines.js";
import { coordinate, element, estimateWidth, type Markup } from "./markup.js";
import { dateText, shortNumber, signedNumber } from "./numbers.js";
import { boldWidth, drawStar, hatchFill, type Layers, penFill, softFill, written } from "./picture-parts.js";
import type { ChartPoint, ChartSeries, Milestone } from "./series.js";

/** The plot of a picture: grid, soft areas, lines with stars, flags, bars, rings and hatches. */

/** Where the plot is, and its sizes, in pixels. */
export interface Plot extends Frame {
  /** Prefix of ids. */
  id: string;
  isSketch: boolean;
  /** Where areas end: the edge of the picture if they bleed, else as `bottom`. */
  floor: number;
  /** Left edge of the labels of values. */
  labels: number;
  /** Flags stay below. */
  roof: number;
  lineWidth: number;
  star: number;
  /** Rings and flags. */
  marks: { ring: number; size: number; pole: number; most: number; isUndated?: boolean };
  bleeds: boolean;
  /** Places of texts that others draw. */
  taken: readonly Box[];
}

type Line = readonly LinePoint[];

const lie = (line: Line, { left, right, top, bottom }: Box): boolean =>
  line.some((to, i) => {
    const from = to.isAfterGap ? to : (line[i - 1] ?? to);
    return from.x < right && to.x > left && Math.min(from.y, to.y) < bottom && Math.max(from.y, to.y) > top;
  });

/** Grid lines, each labelled above its left end where no line or area is; in a sketch two axes with ticks. */
export function drawRows(
  { ticks, domain }: Axis,
  plot: Plot,
  lines: readonly Line[],
  isFilled: boolean,
): Layers {
  const { left, right, top, bottom, labels, size, isSketch, bleeds, roof } = plot;
  const shown = ticks.filter(({ value }) => value !== domain.from);
  const axes = `M${coordinate(left)} ${coordinate(top - size)}V${coordinate(bottom)}H${coordinate(right)}`;
  const floor = `M${coordinate(left)} ${coordinate(bottom)}H${coordinate(right)}`;
  const pen = { class: "chart-ink", "stroke-width": 2, "stroke-linecap": "round" };
  let last = Number.POSITIVE_INFINITY;
  const rows = shown.flatMap(({ value, label }) => {
    const y = plot.y(value);
    if (last - y < size * 1.6) return [];
    last = y;
    const width = estimateWidth(label, size);
    const box = { left: labels - 3, right: labels + width + 3, top: y - size - 6, bottom: y - 2 };
    const isBelow = (line: Line) => line.some((point) => point.x < box.right && point.y < box.top);
    // The name of a line that ends there is in the way.
    const isEnd = (line: Line) => (line.at(-1)?.x ?? right) < box.right;
    const isHidden = lines.some((line) => isEnd(line) || lie(line, box) || (isFilled && isBelow(line)));
    const begin = `M${coordinate(left)} ${coordinate(y)}`;
    const shape = isSketch
      ? element("path", { ...pen, d: `${begin}h${coordinate(size * 0.7)}` })
      : element("path", { class: "chart-grid", d: `${begin}H${coordinate(right)}` });
    const place = isSketch
      ? ({ x: left - 8, y: y + size * 0.36, anchor: "end" } as const)
      : { x: labels, y: y - 5 };
    // Higher ones would be in the headline.
    const isShown = (isSketch || !isHidden) && box.top >= roof - 2;
    return [
      { shape, ...(isShown && { text: written({ ...place, size, look: "chart-muted chart-halo" }, label) }) },
    ];
  });
  return {
    shapes: [
      ...rows.map(({ shape }) => shape),
      ...(isSketch ? [element("path", { ...pen, d: axes, fill: "none" })] : []),
      ...(isSketch || bleeds ? [] : [element("path", { class: "chart-edge", d: floor })]),
    ],
    texts: rows.flatMap(({ text }) => text ?? []),
  };
}

/** The times below the plot. */
export function drawTimes(
  { ticks }: Axis,
  { x, size }: Plot,
  [from, to]: readonly [number, number],
  y: number,
): Layers {
  let end = Number.NEGATIVE_INFINITY;
  const texts = ticks.flatMap(({ value, label }) => {
    const half = estimateWidth(label, size) / 2;
    const middle = Math.min(Math.max(x(value), from + half), to - half);
    if (middle - half < end + size || Math.abs(middle - x(value)) > half + 1) return [];
    end = middle + half;
    return [written({ x: middle, y, size, look: "chart-muted chart-halo", anchor: "middle" }, label)];
  });
  return { texts };
}

interface LineLook {
  /** From 1. */
  color: number;
  /** The most of its area's colour; 0: it has no area. */
  soft: number;
  /** Whether a rim of paper separates it from others. */
  hasRim: boolean;
}

/** A line of straight pieces, with the area below it; broken where nobody counted. */
export function drawGrowth(
  line: Line,
  plot: Pick<Plot, "id" | "isSketch" | "top" | "floor" | "bottom" | "lineWidth" | "bleeds">,
  { color, soft, hasRim }: LineLook,
): Layers {
  const { id, isSketch, top, floor, bottom, lineWidth, bleeds } = plot;
  const fill = `${id}-area-${color}`;
  const strokes = { fill: "none", "stroke-linejoin": "round", "stroke-linecap": "round" };
  const shapes = partsOf(line).flatMap((part, i) => {
    const [first] = part;
    if (first === undefined) return [];
    const path = part.length === 1 ? `${pathOf(part)}h0` : pathOf(part);
    const begin = coordinate(first.x);
    const around =
      bleeds && i === 0
        ? `V${coordinate(floor)}H0V${coordinate(bottom)}H${begin}`
        : `V${coordinate(floor)}H${begin}`;
    const area = { fill: `url(#${fill})`, d: `${path}${around}Z` };
    const rim = { class: "chart-mark", ...strokes, d: path, "stroke-width": lineWidth + 3 };
    const own = { class: `chart-line-${color}`, ...strokes, d: path, "stroke-width": lineWidth };
    return [
      ...(soft > 0 && part.length > 1 ? [element("path", area)] : []),
      ...(hasRim ? [element("path", rim)] : []),
      element("path", own),
    ];
  });
  if (soft === 0) return { shapes };
  const def = isSketch ? penFill(fill, color, soft) : softFill(fill, color, { top, floor, part: soft });
  return { defs: [def], shapes };
}

/** Hatches a time that nobody counted, with words if they fit. */
export function drawHatch(plot: Plot, [from, to]: readonly [number, number], words: string): Layers {
  const { id, bottom, size } = plot;
  const top = Math.max(plot.top, plot.roof + 10);
  const box = { x: from, y: top - 10, width: to - from, height: bottom - top + 10 };
  const place = { x: (from + to) / 2, y: top + (bottom - top) * 0.42, size, anchor: "middle" } as const;
  const width = estimateWidth(words, size);
  const around = {
    left: place.x - width / 2,
    right: place.x + width / 2,
    top: place.y - size,
    bottom: place.y,
  };
  // The labels of values are at the left.
  const isOver = around.left < plot.labels + size * 7 || plot.taken.some((one) => isIn(one, around));
  const fits = words !== "" && width + 16 < to - from && !isOver;
  return {
    under: [element("rect", { ...box, fill: `url(#${id}-hatch)` })],
    texts: fits ? [written({ ...place, look: "chart-muted chart-halo" }, words)] : [],
  };
}

/** The fill of hatches, if there are any. */
export const hatchOf = (hatches: readonly Layers[], id: string): Layers =>
  hatches.length === 0 ? {} : { defs: [hatchFill(`${id}-hatch`)] };

/** The month of a time: "Nov 2025". */
const monthText = (at: number): string => dateText(at).replace(/^\d+ /, "");

/** Milestones so near to the end of the line would hide its star. */
const NEAR_END = 0.985;

/** Milestones as flags, the highest first: the pole is on the line, the cloth flies to the left, else to the right, where it is free. */
export function drawFlags(
  milestones: readonly Milestone[],
  line: Line,
  plot: Plot,
  taken: readonly Box[],
): Layers {
  const { marks, bottom } = plot;
  const last = line.at(-1)?.y ?? bottom;
  const used = [...taken, ...plot.taken];
  const flags = milestones.toReversed().flatMap(({ value, point, before }) => {
    const part = (value - before.value) / (point.value - before.value);
    const at = before.at + part * (point.at - before.at);
    const [x, y] = [plot.x(at), plot.y(value)];
    if (bottom - y > (bottom - last) * NEAR_END) return [];
    const words = { label: shortNumber(value), when: marks.isUndated ? "" : monthText(at) };
    const place = [-1, 1]
      .map((side) => clothOf({ x, y, side, ...words }, line, plot))
      .find((one) => one !== undefined && isFree(one.box, plot, used) && y - one.top <= marks.pole * 4);
    if (place === undefined) return [];
    used.push(place.box);
    return [drawFlag({ x, y, ...words }, place, plot)];
  });
  const shown = flags.slice(0, marks.most);
  return {
    shapes: shown.flatMap(({ shapes }) => shapes ?? []),
    texts: shown.flatMap(({ texts }) => texts ?? []),
  };
}

interface Flag {
  x: number;
  y: number;
  label: string;
  when: string;
}

interface Cloth {
  box: Box;
  top: number;
  side: number;
  /** Of the cloth without the date below it. */
  width: number;
  height: number;
}

/** Where the cloth of a flag would be, 9 px clear of the line. */
function clothOf(
  { x, y, label, when, side }: Flag & { side: number },
  line: Line,
  { marks, bottom }: Plot,
): Cloth {
  const { size, pole } = marks;
  const [width, height] = [boldWidth(label, size) + size * 1.3, size + 7];
  const whole = Math.max(width, estimateWidth(when, size - 1) + 8);
  const [left, right] = side < 0 ? [x - whole, x] : [x, x + whole];
  const near = line.filter((point, i) => point.x >= left - 3 && (line[i - 1]?.x ?? point.x) <= right + 3);
  const above = Math.min(bottom, ...near.map((point) => point.y));
  const foot = Math.min(y - pole + height, above - 9);
  const top = foot - height - (when === "" ? 0 : size + 3);
  return {
    box: { left: left - 4, right: right + 4, top: top - 3, bottom: foot + 3 },
    top,
    side,
    width,
    height,
  };
}

function isFree(box: Box, { left, right, roof }: Plot, taken: readonly Box[]): boolean {
  return (
    box.left >= left - 6 &&
    box.right <= right + 6 &&
    box.top >= roof - 3 &&
    !taken.some((one) => isIn(one, box))
  );
}

function drawFlag(
  { x, y, label, when }: Flag,
  { top, side, width, height }: Cloth,
  { marks, isSketch }: Plot,
): Layers {
  const { size } = marks;
  const end = x + side * width;
  const corners = [x, top, end, top, end - side * 6, top + height / 2, end, top + height, x, top + height];
  const cloth = `M${corners
    .map((one, i) => `${coordinate(one)}${i % 2 === 0 ? " " : "L"}`)
    .join("")
    .slice(0, -1)}Z`;
  const pole = { class: "chart-line-1", d: `M${coordinate(x)} ${coordinate(y)}V${coordinate(top)}` };
  const knob = { class: "chart-mark chart-mark-1", cx: x, cy: y, r: size * 0.35, "stroke-width": 2 };
  const named = { x: x + side * (width / 2 - 2), y: top + height / 2 + size * 0.35, size };
  const dated = { x: x + side * 6, y: top + height + size - 1 + (isSketch ? 4 : 0), size: size - 1 };
  return {
    shapes: [
      element("path", { ...pole, "stroke-width": 2 }),
      element("path", { class: "chart-mark-1", d: cloth }),
      element("circle", knob),
    ],
    texts: [
      written({ ...named, look: "chart-paper", isBold: true, anchor: "middle" }, label),
      ...(when === ""
        ? []
        : [written({ ...dated, look: "chart-muted", anchor: side < 0 ? "end" : undefined }, when)]),
    ],
  };
}

/** A bar is at least so wide, in pixels. */
const LEAST_BAR = 3;
/** A best bar that is so much above the third is cut. */
const DWARFS = 2.5;
/** Fewer bars have no best one. */
const LEAST_BARS = 5;

/** Gains as bars between two heights; the best one is full and named, one that dwarfs the others is cut with a notch. */
export function drawGains(
  points: readonly ChartPoint[],
  plot: Plot,
  { top, foot }: { top: number; foot: number },
): Layers {
  const { left, right, x, size } = plot;
  const span = spanOf([points]);
  const step = stepOf(points, span, { most: (x(span) - x(0)) / LEAST_BAR, steps: FINE_STEPS });
  const gains = gainsOf(points, step).filter(({ perDay }) => perDay !== null);
  const values = gains.map(({ change }) => change ?? 0).sort((a, b) => b - a);
  const [best = 0, , third = 0] = values;
  const isCut = gains.length >= LEAST_BARS && best > DWARFS * Math.max(third, 1);
  const [low, high] = [Math.min(0, ...values), Math.max(1, isCut ? 2.2 * third : best)];
  const y = (value: number) => foot - ((Math.min(value, high) - low) * (foot - top)) / (high - low);
  const peak =
    gains.length < LEAST_BARS ? undefined : gains.find(({ change }) => change === best && best > 0);
  const bars = barsOf(
    gains.map((gain) => ({ ...gain, value: gain.change ?? 0, isPeak: gain === peak })),
    { ...plot, y },
  );
  const zero = `M${coordinate(left)} ${coordinate(y(0))}H${coordinate(right)}`;
  const shapes = [...bars, element("path", { class: "chart-edge", d: zero })];
  if (peak === undefined) return { shapes };
  const words = `${signedNumber(best)} ${step.name === "day" ? "on" : "in"} the best ${step.name}`;
  const width = estimateWidth(words, size);
  const name = { x: Math.min(x(peak.since), right - width), y: top - 5, size, look: "chart-muted" };
  const [begin, end] = [x(peak.since) - 1, x(peak.at) + 1];
  const notch = `M${coordinate(begin)} ${coordinate(top + 13)}L${coordinate(end)} ${coordinate(top + 8)}`;
  const cut = element("path", { class: "chart-mark", d: notch, "stroke-width": 3 });
  return {
    shapes: [...shapes, ...(isCut ? [cut] : [])],
    texts: width > right - left ? [] : [written(name, words)],
  };
}

interface Bar extends Pick<Gain, "since" | "at"> {
  value: number;
  isPeak: boolean;
}

/** The gains per day of a single line as bars, on the axis of the plot. */
export function drawRates(gains: readonly Gain[], plot: Plot): Layers {
  const best = Math.max(...gains.map(({ perDay }) => perDay ?? 0));
  const bars = gains.flatMap(({ perDay, ...gain }) =>
    perDay === null ? [] : [{ ...gain, value: perDay, isPeak: perDay === best }],
  );
  return { shapes: barsOf(bars, plot) };
}

/** The tips of such bars. */
export const tipsOf = (gains: readonly Gain[], { x, y }: Plot): LinePoint[] =>
  gains.map(({ since, at, perDay }) => ({ x: (x(since) + x(at)) / 2, y: y(perDay ?? 0), isAfterGap: false }));

/** Bars at half strength, those of losses in the colour of a fall, and the best one in full. */
function barsOf(bars: readonly Bar[], { x, y }: Pick<Plot, "x" | "y">): Markup[] {
  const pathOfBar = ({ since, at, value }: Bar) => {
    const zero = y(0);
    const tip = Math.abs(y(value) - zero) < 1 ? zero + (value < 0 ? 1 : -1) : y(value);
    return `M${coordinate((x(since) + x(at)) / 2)} ${coordinate(zero)}V${coordinate(tip)}`;
  };
  const widths = bars.map(({ since, at }) => x(at) - x(since)).sort((a, b) => a - b);
  const width = Math.max(1.5, (widths[widths.length >> 1] ?? 0) * 0.68);
  const some = (look: string, opacity: number, all: readonly Bar[]) => {
    const stroke = { "stroke-width": width, "stroke-opacity": opacity };
    return all.length === 0
      ? []
      : [element("path", { class: look, d: all.map(pathOfBar).join(""), ...stroke })];
  };
  const isLoss = ({ value }: Bar) => value < 0;
  return [
    ...some(
      "chart-line-1",
      0.5,
      bars.filter((one) => !one.isPeak && !isLoss(one)),
    ),
    ...some("chart-loss", 0.9, bars.filter(isLoss)),
    ...some(
      "chart-line-1",
      1,
      bars.filter((one) => one.isPeak && !isLoss(one)),
    ),
  ];
}

/** Crossings so near to each other are one ring, in pixels. */
const TOGETHER = 16;
/** Rings besides those that the sentence names, of lines that came to lead. */
const MORE_RINGS = 3;

interface Ringed {
  series: readonly ChartSeries[];
  lines: readonly Line[];
  plot: Plot;
  /** Places of texts. */
  labels: readonly Box[];
}

/** Crossings as rings over the lines, those that the sentence names and the newest others, dated where there is room. */
export function drawRings(
  crossings: readonly Crossing[],
  named: readonly Crossing[],
  { series, lines, plot, labels }: Ringed,
): Layers {
  const isTold = (one: Crossing) =>
    named.some(({ at, passer, passed }) => at === one.at && passer === one.passer && passed === one.passed);
  const others = crossings.filter((one) => !isTold(one) && one.place === 1).slice(-MORE_RINGS);
  const { ring, size } = plot.marks;
  const groups: { x: number; y: number; all: Crossing[] }[] = [];
  for (const one of crossings.filter((each) => isTold(each) || others.includes(each))) {
    const [x, y] = [plot.x(one.at), plot.y(one.value)];
    const near = groups.find((group) => Math.hypot(group.x - x, group.y - y) < TOGETHER * ring);
    if (near === undefined) groups.push({ x, y, all: [one] });
    else near.all.push(one);
  }
  const taken = [
    ...labels,
    ...groups.map(({ x, y }) => ({ left: x - 8, right: x + 8, top: y - 8, bottom: y + 8 })),
  ];
  const points = series.map((one) => one.points);
  // The name of a line begins at its end.
  const right = Math.min(plot.right, ...lines.flatMap((line) => line.at(-1)?.x ?? []));
  const texts = groups.flatMap(({ all }): Markup[] => {
    if (!all.some(isTold)) return [];
    const text = whenOf(all, points);
    const place = placeOf(all, { texts: [text], lines, taken, label: size, frame: { ...plot, right } });
    if (place === undefined) return [];
    taken.push(place);
    const at = { x: place.left, y: place.top + size, size };
    return [written({ ...at, look: "chart-text chart-halo", isBold: true }, text)];
  });
  const shapes = groups.map(({ x, y, all }) => {
    const r = (all.length > 1 ? 8 : 6) * ring;
    return element("circle", { class: "chart-ink", cx: x, cy: y, r, "stroke-width": 2.5 * ring });
  });
  return { shapes, texts };
}

/** "9 Jan 2026", "8–9 Jan 2026"; "Jan 2026" if a day is not known. */
function whenOf(crossings: readonly Crossing[], points: readonly (readonly ChartPoint[])[]): string {
  const days = [...new Set(crossings.map(({ at }) => dateText(at)))];
  const [first = "", last = first] = [days[0], days.at(-1)];
  const [month = "", until] = [first, last].map((day) => day.replace(/^\d+ /, ""));
  if (!crossings.every((one) => hasDay(one, points))) return month;
  return first === last || month !== until ? first : `${first.split(" ")[0]}–${last}`;
}

/** More lines cannot be told apart by their colours alone. */
const MOST_COLOURS = 4;

/** The marks of many lines, at a fifth of the plot from each other, each line's at places of its own. */
export function marksAlong(lines: readonly Line[], { left, right, lineWidth }: Plot): Layers {
  if (lines.length <= MOST_COLOURS) return {};
  const step = (right - left) / 5;
  const shapes = lines.flatMap((line, i) => {
    const places = Array.from({ length: 5 }, (_, n) => left + (n + (i + 1) / (lines.length + 1)) * step);
    const points = places.flatMap((x) => line.find((point) => point.x >= x) ?? []);
    return [...new Set(points)].map((point) => drawMark(point, i + 1, { size: lineWidth * 1.5 }));
  });
  return { shapes };
}

/** The stars at the ends of lines, the first line's on top. */
export const drawEnds = (
  lines: readonly Line[],
  { star, lineWidth, isSketch }: Pick<Plot, "star" | "lineWidth" | "isSketch">,
): Layers => ({
  shapes: lines
    .flatMap((line, i) => line.slice(-1).map((end) => ({ end, color: i + 1 })))
    .reverse()
    // One at the edge of a post stays whole.
    .map(({ end, color }) =>
      drawStar({ ...end, x: Math.max(star, end.x) }, { size: star, color, rim: isSketch ? 0 : lineWidth }),
    ),
});
