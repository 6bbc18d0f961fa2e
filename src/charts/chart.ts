import { DAY_MS } from "../lib/clock.js";
import {
  type Axis,
  ageAxis,
  type Domain,
  dateAxis,
  type Frame,
  gainAxis,
  linearAxis,
  logAxis,
} from "./axes.js";
import { drawCrossings, passingsOf } from "./crossings.js";
import { drawReached, drawSpans, milestonesOf } from "./events.js";
import {
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
  perDayLines,
  type Step,
  shortNames,
  spanOf,
  stepOf,
  toLine,
} from "./lines.js";
import {
  background,
  element,
  estimateWidth,
  fit,
  fitFullName,
  type Markup,
  picture,
  wrap,
} from "./markup.js";
import {
  ageUnitOf,
  dayText,
  exactNumber,
  shortNumber,
  signedNumber,
  signedRate,
  signedShort,
} from "./numbers.js";
import {
  type ChartInput,
  type ChartPoint,
  type ChartSeries,
  type ChartSpan,
  isByDate,
  type View,
} from "./series.js";
import { MAX_SERIES, styleOf, type Theme } from "./themes.js";
import { descriptionOf, footerOf, type Heading, headingOf, titleOf } from "./words.js";

/** Where a drawing has its lines, in pixels, and which values are at the edges. */
export interface Geometry extends Pick<Frame, "left" | "right" | "top" | "bottom"> {
  width: number;
  height: number;
  /** Below the bars; otherwise as `bottom`. */
  foot: number;
  x: Domain;
  y: Domain;
}

/** A chart as SVG, with its data as title and description, and what a page needs to find its points again. */
export function drawChart(input: ChartInput): { svg: string; geometry: Geometry } {
  const { width, height, theme, align, idPrefix = "chart", isBare = false } = input;
  const { series, only, points, spans, lines, bars, below, labels, milestones, crossings } = contentOf(input);
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
  const xCount = Math.max(2, Math.floor((right - left) / (tick * 6.2)));
  const xAxis = isByDate(align) ? dateAxis(first, last, xCount) : ageAxis([first, last], unit, xCount);
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
      ...(theme === "page" ? {} : { style: styleOf(theme) }),
    },
    theme === "page" ? undefined : background(width, height),
    ...drawRows(yAxis, frame),
    ...drawColumns(xAxis, { ...frame, bottom: foot }, [pad, width - pad]),
    ...drawUnread(start, frame),
    // A bar begins where the point before it was.
    ...drawSpans(
      bars === undefined ? spans : spans.map((one) => ({ ...one, from: one.since ?? one.from })),
      { ...frame, bottom: foot },
      isBare,
    ),
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
    ...drawReached(milestones, input.passed ?? [], frame),
    ...(isBare ? [] : drawHeading(headingOf(input, series, { first, last, unit }), look, width)),
    isBare ? undefined : drawFooter(footerOf(input, series), look, input),
  );
  const geometry = { width, height, left, right, top, bottom, foot, x: xAxis.domain, y: yAxis.domain };
  return { svg, geometry };
}

/** What a chart shows, before its places are known. `bars`: instead of lines; `below`: the line with bars below it. */
function contentOf(input: ChartInput) {
  const { align, view = "total" } = input;
  const series = input.series.slice(0, MAX_SERIES).map(cleanSeries);
  const hasPoints = series.some(({ points }) => points.length > 0);
  const spans = isByDate(align) && hasPoints ? (input.spans ?? []) : [];
  const drawing = DRAWINGS[view];
  const [only] = series.length === 1 ? series : [];
  const points = series.flatMap((one) => one.points);
  const lines = drawing.lines(series);
  const bars = only && drawing.bars(only.points);
  const below = input.hasBars === true && bars === undefined ? only : undefined;
  const labels = only === undefined ? labelsOf(lines, input) : [];
  const [milestones, crossings] = [milestonesOf({ ...input, series }), passingsOf({ ...input, series })];
  return { series, only, points, spans, lines, bars, below, labels, milestones, crossings };
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
  { width, height, scale, view = "total", isBare = false, bornAt }: ChartInput,
  { look, lines, labels, hasBars, hasSpans }: Around,
) {
  const { pad, tick } = look;
  // A name above the line stays inside the picture.
  const top = isBare ? (hasSpans || hasBars ? 2 * tick + 2 : 10) : pad + look.heading + look.sub + 26;
  const foot = height - (isBare ? 4 : tick + 17) - tick - 5;
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

/** The first and the last time that a chart shows. */
function endsOf(points: readonly ChartPoint[], spans: readonly ChartSpan[]): [first: number, last: number] {
  const times = [...points.map(({ at }) => at), ...spans.map(({ to }) => to)];
  return times.length === 0 ? [0, 0] : [Math.min(...times), Math.max(...times)];
}

/** How a view is drawn. */
interface Drawing {
  lines(series: readonly ChartSeries[]): readonly ChartSeries[];
  /** The bars that replace a single line. */
  bars(points: readonly ChartPoint[]): Gain[] | undefined;
  axis(values: readonly number[], scale: ChartInput["scale"], count: number): Axis;
  short(value: number): string;
  exact(value: number): string;
}

const DRAWINGS: Readonly<Record<View, Drawing>> = {
  total: {
    lines: (series) => series,
    bars: () => undefined,
    axis: countAxis,
    short: shortNumber,
    exact: exactNumber,
  },
  "per-day": {
    lines: perDayLines,
    bars: (points) => gainsOf(points),
    axis: (values, _, count) => gainAxis(values, count),
    short: signedShort,
    exact: signedRate,
  },
};

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
  const step = stepOf(points, span, Math.min(DAYS_AS_BARS, (right - left) / MIN_BAR));
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

/** Longest name and note of a series, in average characters. */
const NAME_ROOM = { size: 1, width: 200 };

/** Only points that are counts; names are cut once here, since they are measured repeatedly. */
function cleanSeries(series: ChartSeries): ChartSeries {
  const { name, note, points } = series;
  return {
    ...series,
    points: points.filter(({ at, value }) => Number.isFinite(at) && Number.isFinite(value) && value >= 0),
    name: fit(name, NAME_ROOM),
    ...(note === undefined ? {} : { note: fit(note, NAME_ROOM) }),
  };
}

/** The edge of a chart and its font sizes. */
interface Look {
  pad: number;
  /** Axes, legend and footer. */
  tick: number;
  label: number;
  heading: number;
  /** The line below the heading. */
  sub: number;
  /** The labels at the ends of lines. */
  ends: LabelLook;
}

/** Fonts grow with the picture, since large pictures are seen from further away or scaled down. */
function lookOf({ width, height, isBare = false }: ChartInput): Look {
  const pad = isBare ? 2 : width < 420 ? 12 : 16;
  const beside = (size: number) => ({ size, small: size, isStacked: false });
  // Two lines each, where six fit.
  const isStacked = width >= 900 && height >= 300;
  if (isBare && isStacked)
    return { pad, tick: 13, label: 15, heading: 0, sub: 0, ends: { size: 17, small: 13, isStacked } };
  if (isBare) return { pad, tick: 13, label: 13, heading: 0, sub: 0, ends: beside(15) };
  if (width < 420) return { pad, tick: 11, label: 11, heading: 14, sub: 12, ends: beside(11) };
  if (width < 900) return { pad, tick: 11, label: 12, heading: 16, sub: 12, ends: beside(12) };
  return { pad, tick: 13.5, label: 15, heading: 21, sub: 15, ends: beside(15) };
}

function countAxis(values: readonly number[], scale: ChartInput["scale"], count: number): Axis {
  const [low, high] = values.length === 0 ? [0, 1] : [Math.min(...values), Math.max(...values)];
  return (scale === "log" ? logAxis : linearAxis)(low, high, count);
}

/** The names of lines, without their owners if there is little room, and their last values; in a narrow chart of a page only these. */
function labelsOf(lines: readonly ChartSeries[], { width, view = "total", isBare = false }: ChartInput) {
  const names = lines.map(({ name }) => name);
  const shown = isBare || width < 900 ? shortNames(names) : names;
  return lines.map(({ name, points }, i): EndLabel => {
    const last = points.at(-1)?.value;
    const { short, exact } = DRAWINGS[view];
    if (isBare && width < 900) return { name: last === undefined ? "" : short(last), value: "" };
    return { name: shown[i] ?? name, value: last === undefined ? "" : (isBare ? exact : short)(last) };
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

/** The heading, with the current value of a single line on the right. */
function drawHeading({ heading, subheading, current }: Heading, look: Look, width: number): Markup[] {
  const { pad, heading: size, sub } = look;
  const bold = { class: "chart-text", "font-weight": 600, y: pad + size };
  const muted = { class: "chart-muted", "font-size": sub, y: pad + size + sub + 7 };
  const end = { x: width - pad, "text-anchor": "end" };
  const roomBeside = (text: string | undefined, textSize: number) =>
    width - 2 * pad - (text === undefined ? 0 : estimateWidth(text, textSize) + 12);
  // Bold letters are slightly wider.
  const name = fitFullName(heading, { size: size * 1.06, width: roomBeside(current?.value, size + 4) });
  const about = fit(subheading, { size: sub, width: roomBeside(current?.gained, sub) });
  return [
    element("text", { ...bold, "font-size": size, x: pad }, name),
    element("text", { ...muted, x: pad }, about),
    ...(current === undefined
      ? []
      : [
          element("text", { ...bold, ...end, "font-size": size + 4 }, current.value),
          element("text", { ...muted, ...end }, current.gained),
        ]),
  ];
}

function drawFooter(text: string, { pad, tick }: Look, { width, height }: ChartInput): Markup {
  const look = { class: "chart-muted", "font-size": tick, x: pad, y: height - 12 };
  return element("text", look, fit(text, { size: tick, width: width - 2 * pad }));
}

/** A small picture that says why a chart or badge is missing: a title and a wrapped message. */
export function drawNotice(
  title: string,
  message: string,
  { theme, width, height }: { theme: Theme; width: number; height: number },
): string {
  const [pad, size, room] = [16, 13, width - 32];
  const maxLines = Math.max(1, Math.floor((height - 2 * pad - 22) / (size + 6)) + 1);
  const heading = { class: "chart-text", "font-size": 15, "font-weight": 600, x: pad, y: pad + 14 };
  const look = { class: "chart-muted", "font-size": size, x: pad };
  return picture(
    { width, height, idPrefix: "notice", title, description: message, style: styleOf(theme) },
    background(width, height),
    element("text", heading, fit(title, { size: 15 * 1.06, width: room })),
    ...wrap(message, { size, width: room }, maxLines).map((line, i) =>
      element("text", { ...look, y: pad + 36 + i * (size + 6) }, line),
    ),
  );
}

/** The size of a notice when the request has none. */
export const NOTICE_SIZE = { width: 480, height: 96 };
