import { DAY_MS } from "../lib/clock.js";
import { type Axis, type Domain, type Frame, timeAxis } from "./axes.js";
import { drawCrossings } from "./crossings.js";
import { contentOf, drawReached, drawSpans, endsOf, spansUnder } from "./events.js";
import {
  DRAWINGS,
  drawArea,
  drawBars,
  drawGaps,
  drawLabels,
  drawLine,
  drawMark,
  type EndLabel,
  type Gain,
  gainsOf,
  type LabelLook,
  type LinePoint,
  labelWidth,
  type Step,
  shortNames,
  spanOf,
  stepOf,
  toLine,
} from "./lines.js";
import { element, estimateWidth, type Markup, picture } from "./markup.js";
import { ageUnitOf, dayText, signedNumber } from "./numbers.js";
import { drawPicture } from "./picture.js";
import type { ChartInput, ChartPoint, ChartSeries } from "./series.js";
import { descriptionOf, titleOf } from "./words.js";

/** Where a drawing has its lines, in pixels, and which values are at the edges. */
export interface Geometry extends Pick<Frame, "left" | "right" | "top" | "bottom"> {
  width: number;
  height: number;
  /** Below the bars; otherwise as `bottom`. */
  foot: number;
  x: Domain;
  y: Domain;
}

/**
 * A chart as SVG, with its data as title and description: an instrument on a page, with what the page needs to find its points again,
 * or a picture for other sites.
 */
export function drawChart(input: ChartInput & { theme: "page" }): { svg: string; geometry: Geometry };
export function drawChart(input: ChartInput): { svg: string };
export function drawChart(input: ChartInput): { svg: string } {
  const { theme } = input;
  return theme === "page" ? drawInstrument(input) : { svg: drawPicture({ ...input, theme }) };
}

function drawInstrument(input: ChartInput): { svg: string; geometry: Geometry } {
  const { width, height, align, idPrefix = "chart" } = input;
  const { series, only, points, spans, lines, bars, milestones, crossings } = contentOf(input);
  const below = input.hasBars === true && bars === undefined ? only : undefined;
  const labels = only === undefined ? labelsOf(lines, input) : [];
  const look = lookOf(input);
  const { pad, tick } = look;
  const box = boxOf(input, {
    look,
    lines,
    labels,
    hasBars: below !== undefined,
    hasSpans: spans.length > 0,
  });
  const { left, right, top, bottom, foot, yAxis } = box;
  const [start, last] = endsOf(points, spans);
  const first = Math.min(start, input.bornAt ?? start);
  const unit = ageUnitOf(last - first);
  const xAxis = timeAxis(align, [first, last], (right - left) / (tick * 6.2));
  const frame = {
    ...{ left, right, top, bottom, foot, size: tick, label: look.label, days: (last - first) / DAY_MS },
    x: (at: number) => left + xAxis.scale(at) * (right - left),
    y: (value: number) => bottom - yAxis.scale(value) * (bottom - top),
  };

  const drawn = lines.map((line) => toLine(line, frame));
  const isFilled = only !== undefined && yAxis.domain.kind === "linear" && yAxis.domain.from === 0;
  const svg = picture(
    {
      ...{ width, height, idPrefix, title: titleOf(input, series) },
      description: descriptionOf(input, series, { unit, milestones, crossings }),
    },
    ...drawRows(yAxis, frame),
    ...drawColumns(xAxis, { ...frame, bottom: foot }, [pad, width - pad]),
    ...drawUnread(start, frame),
    ...drawSpans(spansUnder(bars, spans), { ...frame, bottom: foot }, true),
    yAxis.domain.from < 0 ? drawZero(frame) : undefined,
    ...(only === undefined || bars !== undefined ? [] : drawn.flatMap((line) => drawGaps(line, bottom))),
    ...(bars === undefined ? drawLines(drawn, isFilled ? bottom : undefined) : drawBars(bars, frame)),
    ...(below === undefined ? [] : drawGainsBelow(below.points, frame)),
    ...drawCrossings(crossings, drawn, {
      ...frame,
      names: series.map(({ name }) => name),
      label: look.label,
    }),
    ...drawLabels(labels, drawn, { right: width - pad, top, bottom, ...look.ends }),
    // The numbers of spans are above the lines.
    ...drawReached(
      milestones,
      input.passed ?? [],
      spans.length === 0 ? frame : { ...frame, top: top + look.label },
    ),
  );
  const geometry = { width, height, left, right, top, bottom, foot, x: xAxis.domain, y: yAxis.domain };
  return { svg, geometry };
}

interface Around {
  look: ReturnType<typeof lookOf>;
  lines: readonly ChartSeries[];
  labels: readonly EndLabel[];
  /** Bars below the lines. */
  hasBars: boolean;
  hasSpans: boolean;
}

/** The box of the lines, as large as the texts around it allow, and its axis of values. `foot`: the end of the bars below it. */
function boxOf(
  { width, height, scale, view = "total", bornAt }: ChartInput,
  { look, lines, labels, hasBars, hasSpans }: Around,
) {
  const { pad, tick } = look;
  const top = hasSpans || hasBars ? 2 * tick + 2 : 10;
  const foot = height - tick - 9;
  const bottom = hasBars ? Math.round(top + (foot - top) * LINE_PART) : foot;
  const yCount = Math.min(7, Math.max(2, Math.floor((bottom - top) / (tick * 3.8))));
  const values = lines.flatMap((line) => line.points.map(({ value }) => value));
  if (bornAt !== undefined && view === "total") values.push(0);
  const yAxis = DRAWINGS[view].axis(values, scale, yCount);
  const left = pad + Math.max(...yAxis.ticks.map(({ label }) => estimateWidth(label, tick))) + 8;
  const labelsWidth = labelWidth(labels, look.ends, width * (width < 420 ? 0.32 : 0.28));
  const right = width - pad - (labelsWidth > 0 ? labelsWidth : 6);
  return { left, right, top, bottom, foot, yAxis };
}

/** The time before the first point that is not read yet. */
function drawUnread(start: number, { left, top, bottom, x }: Frame): Markup[] {
  const end = x(start);
  const area = { x: left, y: top, width: end - left, height: bottom - top };
  return end - left < 1 ? [] : [element("rect", { class: "unread", ...area })];
}

/** The part of the height that the line has where bars are below it. */
const LINE_PART = 0.72;
/** Room between the two, in font sizes. */
const ABOVE_BARS = 2.1;
/** Narrower bars look alike. */
const MIN_BAR = 2.2;
/** From about a year on, bars are weeks. */
const DAYS_AS_BARS = 360;
/** The highest of fewer bars is no record. */
const LEAST_BARS = 7;

/** The gains of a line as bars below it, the highest with its number. */
function drawGainsBelow(
  points: readonly ChartPoint[],
  { x, left, right, bottom, foot, size, label }: Frame & { foot: number; label: number },
): (Markup | undefined)[] {
  const span = spanOf([points]);
  const step = stepOf(points, span, { most: Math.min(DAYS_AS_BARS, (right - left) / MIN_BAR) });
  const gains = gainsOf(points, step);
  const values = gains.flatMap(({ perDay }) => perDay ?? []);
  if (values.length === 0) return [];
  const top = bottom + ABOVE_BARS * size;
  const [low, high] = [Math.min(0, ...values), Math.max(1, ...values)];
  const y = (value: number) => foot - ((value - low) * (foot - top)) / (high - low);
  const record = gains.length < LEAST_BARS ? undefined : gains.find(({ perDay }) => perDay === high);
  const others = gains.filter((gain) => gain !== record);
  const name = `Gained per ${step.name}`;
  const text = { class: "chart-muted", "font-size": size };
  return [
    ...drawBars(others, { x, y }, "past"),
    ...drawBars(record === undefined ? [] : [record], { x, y }, "now"),
    element("path", {
      class: "chart-hint",
      d: `M${left.toFixed(1)} ${y(0).toFixed(1)}H${right}`,
      "stroke-width": 0.8,
    }),
    element("text", { ...text, x: left, y: top - 6 }, name),
    record &&
      drawRecord(record, step.name, {
        bar: [x(record.since), x(record.at)],
        begin: left + estimateWidth(name, size) + 8,
        y: top - 6,
        size: label,
      }),
  ];
}

/** The number of the highest bar above it, clear of the name of the bars. */
function drawRecord(
  { at, change }: Gain,
  step: Step["name"],
  {
    bar,
    size,
    ...place
  }: { bar: readonly [left: number, right: number]; begin: number; y: number; size: number },
): Markup {
  const when = step === "day" ? `on ${dayText(at - 1)}` : `in a ${step}`;
  const words = `${signedNumber(change ?? 0)} ${when}`;
  const isLeft = bar[1] - estimateWidth(words, size) > place.begin;
  return element(
    "text",
    {
      ...{ class: "record", "font-size": size, "font-weight": 600, y: place.y },
      ...(isLeft ? { x: bar[1], "text-anchor": "end" } : { x: Math.max(bar[0], place.begin) }),
    },
    words,
  );
}

/** The edge of a chart and its font sizes. */
interface Look {
  pad: number;
  /** Axes. */
  tick: number;
  label: number;
  /** The labels at the ends of lines. */
  ends: LabelLook;
}

/** Labels have two lines each, where six fit. */
function lookOf({ width, height }: ChartInput): Look {
  const isStacked = width >= 900 && height >= 300;
  const ends = isStacked ? { size: 17, small: 13, isStacked } : { size: 15, small: 15, isStacked };
  return { pad: 2, tick: 13, label: isStacked ? 15 : 13, ends };
}

/** The names of lines without their owners and their last values; in a narrow chart only these. */
function labelsOf(lines: readonly ChartSeries[], { width, view = "total" }: ChartInput): EndLabel[] {
  const shown = shortNames(lines.map(({ name }) => name));
  const { short, exact } = DRAWINGS[view];
  return lines.map(({ name, points }, i) => {
    const last = points.at(-1)?.value;
    if (width < 900) return { name: last === undefined ? "" : short(last), value: "" };
    return { name: shown[i] ?? name, value: last === undefined ? "" : exact(last) };
  });
}

/** Grid lines with their values. On a logarithmic axis, those too close to each other are left out. */
function drawRows({ ticks }: Axis, { left, right, y, size }: Frame): Markup[] {
  const text = { class: "chart-muted", "font-size": size, x: left - 8, "text-anchor": "end" };
  let last = Number.POSITIVE_INFINITY;
  return ticks.flatMap(({ value, label }) => {
    const line = y(value);
    if (last - line < size * 1.4) return [];
    last = line;
    const d = `M${left} ${line.toFixed(1)}H${right}`;
    return [
      element("path", { class: "chart-grid", d, "stroke-width": 1 }),
      element("text", { ...text, y: line + 4 }, label),
    ];
  });
}

/** Marks of time with their labels, between two edges. */
function drawColumns({ ticks }: Axis, { bottom, x, size }: Frame, [begin, edge]: [number, number]): Markup[] {
  const text = { class: "chart-muted", "font-size": size, y: bottom + size + 5, "text-anchor": "middle" };
  let end = Number.NEGATIVE_INFINITY;
  return ticks.flatMap(({ value, label }) => {
    const half = estimateWidth(label, size) / 2;
    const middle = Math.min(Math.max(x(value), begin + half), edge - half);
    if (middle - half < end + 8) return [];
    end = middle + half;
    const d = `M${x(value).toFixed(1)} ${bottom}v4`;
    return [
      element("path", { class: "chart-grid", d, "stroke-width": 1 }),
      element(
        "text",
        /^\d{4}$/.test(label)
          ? { ...text, x: middle, class: "chart-text", "font-weight": 600 }
          : { ...text, x: middle },
        label,
      ),
    ];
  });
}

/** The line between gains and losses. */
function drawZero({ left, right, y }: Frame): Markup {
  const d = `M${left.toFixed(1)} ${y(0).toFixed(1)}H${right.toFixed(1)}`;
  return element("path", { class: "chart-hint", d, "stroke-width": 1 });
}

/** Lines with marks at their ends. `floor`: where the area below them ends. */
function drawLines(lines: readonly LinePoint[][], floor: number | undefined): Markup[] {
  const isOne = lines.length === 1;
  const drawn = lines.map((points, i) => [
    ...(floor === undefined ? [] : drawArea(points, floor, i + 1)),
    ...drawLine(points, i + 1, isOne ? 3 : undefined),
  ]);
  const ends = lines.map((points, i) =>
    points.slice(-1).map((end) => drawMark(end, i + 1, { size: isOne ? 5.5 : 4.2 })),
  );
  return [...drawn.reverse().flat(), ...ends.reverse().flat()];
}
