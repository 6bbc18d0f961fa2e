import type { Domain } from "./axes.js";
import { drawMilestones, drawSpans, type EventFrame } from "./events.js";
import { BAR_LOOKS, drawBars } from "./gains.js";
import {
  drawArea,
  drawLabels,
  drawLine,
  drawMark,
  drawMarksAlong,
  type EndLabel,
  STROKES,
  toLine,
} from "./lines.js";
import { background, element, type Markup, picture } from "./markup.js";
import { endValue, ORIGIN_SAMPLE, ORIGINS, originWidth, type Plan, planOf } from "./plan.js";
import type { ChartInput, ChartSeries } from "./series.js";
import { estimateWidth, fit, fitFullName } from "./text.js";
import { MAX_SERIES, styleOf } from "./themes.js";
import { describe } from "./words.js";

/** Where a drawing has its lines, in pixels, and which values are at the edges. */
export interface Geometry {
  width: number;
  height: number;
  left: number;
  right: number;
  top: number;
  bottom: number;
  x: Domain;
  y: Domain;
}

/** A chart as SVG, with its data as title and description. */
export function drawChart(input: ChartInput): string {
  return drawPlot(input).svg;
}

/** A chart, and what a page needs to find its points again. */
export function drawPlot(input: ChartInput): { svg: string; geometry: Geometry } {
  const series = input.series.slice(0, MAX_SERIES).map(cleanSeries);
  const { width, height, theme, idPrefix = "chart", isBare = false } = input;
  const plan = planOf(input, series);
  const words = describe(input, series);
  const parts = [
    ...drawFrame(plan),
    ...drawContent(plan),
    ...(isBare ? [] : drawHeading(plan)),
    ...drawFoot(plan),
  ];
  const svg = picture(
    { width, height, idPrefix, ...words, ...(theme === "page" ? {} : { style: styleOf(theme) }) },
    theme === "page" ? undefined : background(width, height),
    ...parts,
  );
  return { svg, geometry: { width, height, ...plan.plot, x: plan.x.domain, y: plan.y.domain } };
}

/** Longest name and note of a series, in average characters. */
const NAME_ROOM = { size: 1, width: 200 };

function cleanSeries(series: ChartSeries): ChartSeries {
  const points = series.points.filter(
    ({ at, value }) => Number.isFinite(at) && Number.isFinite(value) && value >= 0,
  );
  const { name, note } = series;
  // Cut once here, since names are measured repeatedly.
  return {
    ...series,
    points,
    name: fit(name, NAME_ROOM),
    ...(note === undefined ? {} : { note: fit(note, NAME_ROOM) }),
  };
}

/** Grid, axes and their labels. */
function drawFrame({ x, y, plot, labels, pad, input, sizes: { tick } }: Plan): Markup[] {
  const yOf = (value: number) => plot.bottom - y.scale(value) * (plot.bottom - plot.top);
  let last = Number.POSITIVE_INFINITY;
  const rows = y.ticks.flatMap(({ value, label }) => {
    const line = yOf(value);
    // On a logarithmic axis, round steps get close to each other at the top.
    if (last - line < tick * 1.4) return [];
    last = line;
    const text = {
      class: "chart-muted",
      "font-size": tick,
      x: plot.left - 8,
      y: line + 4,
      "text-anchor": "end",
    };
    return [
      element("path", {
        class: "chart-grid",
        d: `M${plot.left} ${line.toFixed(1)}H${plot.right}`,
        "stroke-width": 1,
      }),
      element("text", text, label),
    ];
  });
  const columns: Markup[] = [];
  let end = Number.NEGATIVE_INFINITY;
  const edge = labels === undefined ? input.width - pad : plot.right + labels.width;
  for (const { value, label } of x.ticks) {
    const centre = plot.left + x.scale(value) * (plot.right - plot.left);
    const half = estimateWidth(label, tick) / 2;
    const middle = Math.min(Math.max(centre, pad + half), edge - half);
    if (middle - half < end + 8) continue;
    end = middle + half;
    const mark = `M${centre.toFixed(1)} ${plot.bottom}v4`;
    const text = {
      class: "chart-muted",
      "font-size": tick,
      x: middle,
      y: plot.bottom + tick + 5,
      "text-anchor": "middle",
    };
    columns.push(
      element("path", { class: "chart-grid", d: mark, "stroke-width": 1 }),
      element("text", text, label),
    );
  }
  return [...rows, ...columns];
}

/** The lines or bars, with what happened along them, and marks and labels at the ends of lines. */
function drawContent(plan: Plan): Markup[] {
  const { plot, input, spans, bars, sizes } = plan;
  const frame = {
    ...plot,
    x: (at: number) => plot.left + plan.x.scale(at) * (plot.right - plot.left),
    y: (value: number) => plot.bottom - plan.y.scale(value) * (plot.bottom - plot.top),
    size: sizes.tick,
  };
  // A bar begins where the point before it was.
  const shaded = bars === undefined ? spans : spans.map((one) => ({ ...one, from: one.since ?? one.from }));
  const behind = drawSpans(shaded, frame, input.isBare === true);
  const zero = plan.y.domain.from < 0 ? [drawZero(frame)] : [];
  if (bars !== undefined) return [...behind, ...drawBars(bars, frame), ...zero];
  return [...behind, ...zero, ...drawLines(plan, frame), ...drawMilestones(plan.milestones, frame)];
}

/** The line between gains and losses. */
function drawZero({ left, right, y }: EventFrame): Markup {
  return element("path", {
    class: "chart-hint",
    d: `M${left.toFixed(1)} ${y(0).toFixed(1)}H${right.toFixed(1)}`,
    "stroke-width": 1,
  });
}

function drawLines({ lines: series, y, plot, labels, input, pad, sizes }: Plan, frame: EventFrame): Markup[] {
  const within = (value: number) => Math.min(plot.bottom, Math.max(plot.top, frame.y(value)));
  const lines = series.map((one) => toLine(one, ({ at, value }) => ({ x: frame.x(at), y: within(value) })));
  const only = lines.length === 1 && input.scale === "linear" && y.scale(0) === 0 ? lines[0] : undefined;
  const areas = only === undefined ? [] : drawArea(only, plot.bottom, 1);
  const isOne = lines.length === 1;
  const drawn = lines
    .map((points, i) => [...drawLine(points, i + 1), ...(isOne ? [] : drawMarksAlong(points, i + 1))])
    .reverse();
  const ends = lines.map((points) => points.at(-1));
  const marks = ends
    .flatMap((end, i) => (end === undefined ? [] : [drawMark(end, i + 1, { size: 4.2 })]))
    .reverse();
  if (labels === undefined) return [...areas, ...drawn.flat(), ...marks];
  const endLabels = series.flatMap((one, i): EndLabel[] => {
    const end = ends[i];
    const name = labels.names[i] ?? one.name;
    return end === undefined ? [] : [{ name, value: endValue(one, input.view), end, color: i + 1 }];
  });
  const box = { left: plot.right + 8, right: input.width - pad, top: plot.top, bottom: plot.bottom };
  return [
    ...drawn.flat(),
    ...marks,
    ...(endLabels.length === 0 ? [] : drawLabels(endLabels, box, sizes.label)),
  ];
}

/** The heading, with the current value of a single line on the right. */
function drawHeading({ input, heading, subheading, current, pad, sizes }: Plan): Markup[] {
  const { width } = input;
  const y = { heading: pad + sizes.heading, sub: pad + sizes.heading + sizes.sub + 7 };
  const bold = { class: "chart-text", "font-weight": 600 };
  const muted = { class: "chart-muted", "font-size": sizes.sub, y: y.sub };
  const valueSize = sizes.heading + 4;
  const taken = current === undefined ? 0 : estimateWidth(current.value, valueSize) + 12;
  const takenBelow = current === undefined ? 0 : estimateWidth(current.gained, sizes.sub) + 12;
  // Bold letters are slightly wider.
  const name = fitFullName(heading, { size: sizes.heading * 1.06, width: width - 2 * pad - taken });
  const about = fit(subheading, { size: sizes.sub, width: width - 2 * pad - takenBelow });
  const parts = [
    element("text", { ...bold, "font-size": sizes.heading, x: pad, y: y.heading }, name),
    element("text", { ...muted, x: pad }, about),
  ];
  if (current === undefined) return parts;
  const right = { x: width - pad, "text-anchor": "end" };
  return [
    ...parts,
    element("text", { ...bold, ...right, "font-size": valueSize, y: y.heading }, current.value),
    element("text", { ...muted, ...right }, current.gained),
  ];
}

/** The footer (unless the chart is bare), and the legend of counts from other sources. */
function drawFoot({ input, bars, origins, originsAbove, footer, pad, sizes: { tick } }: Plan): Markup[] {
  const { width, height, isBare = false } = input;
  const line = height - (isBare ? 6 : 12);
  const legendWidth = origins.reduce((sum, source) => sum + originWidth(source, tick), 0);
  const room = width - 2 * pad - (originsAbove ? 0 : legendWidth);
  const letters = { class: "chart-muted", "font-size": tick };
  const parts = isBare
    ? []
    : [element("text", { ...letters, x: pad, y: line }, fit(footer, { size: tick, width: room }))];
  let x = originsAbove ? pad : width - pad + 14 - legendWidth;
  for (const source of origins) {
    const y = line - (originsAbove && !isBare ? tick + 5 : 0);
    const d = `M${x.toFixed(1)} ${(y - 4).toFixed(1)}h${ORIGIN_SAMPLE}`;
    const bar = `M${x.toFixed(1)} ${y.toFixed(1)}v-8h${ORIGIN_SAMPLE}v8Z`;
    parts.push(
      bars === undefined
        ? element("path", { class: "chart-hint", d, "stroke-linecap": "round", ...STROKES[source] })
        : element("path", { d: bar, ...BAR_LOOKS[source] }),
      element("text", { ...letters, x: x + ORIGIN_SAMPLE + 6, y }, ORIGINS[source]),
    );
    x += originWidth(source, tick);
  }
  return parts;
}
