import { drawLabels, type EndLabel } from "./labels.js";
import { drawArea, drawLine, drawMark, drawMarksAlong, type PlacedPoint, placePoints } from "./lines.js";
import { MAX_SERIES, styleOf } from "./looks.js";
import { element, Markup } from "./markup.js";
import { picture } from "./picture.js";
import { type ChartInput, type Plan, planOf } from "./plan.js";
import type { ChartSeries } from "./series.js";
import { drawFoot, drawHeading } from "./surroundings.js";
import { estimateWidth, fit } from "./text.js";
import { describe } from "./words.js";

/** A chart as SVG, with its content in words as title and description. */
export function drawChart(input: ChartInput): string {
  const series = input.series.slice(0, MAX_SERIES).map(cleanSeries);
  const { width, height, look, idPrefix = "chart", isBare = false } = input;
  const plan = planOf(input, series);
  const words = describe(input, series);
  const parts = [
    ...drawFrame(plan),
    ...drawContent(plan, series),
    ...(isBare ? [] : drawHeading(plan)),
    ...drawFoot(plan),
  ];
  return picture(
    { width, height, idPrefix, title: words.title, description: words.description },
    look === "page" ? undefined : element("style", {}, new Markup(styleOf(look))),
    look === "page" ? undefined : drawGround(width, height),
    ...parts,
  );
}

/** The background of a standalone picture. */
export function drawGround(width: number, height: number, corner = 10): Markup {
  const size = { width: width - 1, height: height - 1 };
  return element("rect", { class: "chart-bg", x: 0.5, y: 0.5, ...size, rx: corner });
}

function cleanSeries(series: ChartSeries): ChartSeries {
  const points = series.points.filter(
    ({ at, value }) => Number.isFinite(at) && Number.isFinite(value) && value >= 0,
  );
  const { name, note } = series;
  // Cut once here, since names are measured repeatedly; none is shown at this length.
  return {
    ...series,
    points,
    name: fit(name, 1, 200),
    ...(note === undefined ? {} : { note: fit(note, 1, 200) }),
  };
}

/** Grid, axes and their labels. */
function drawFrame({ x, y, plot, labels, pad, input, sizes: { tick } }: Plan): Markup[] {
  const at = (place: number) => plot.bottom - place * (plot.bottom - plot.top);
  let last = Number.POSITIVE_INFINITY;
  const rows = y.ticks.flatMap(({ value, label }) => {
    const line = at(y.place(value));
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
    const centre = plot.left + x.place(value) * (plot.right - plot.left);
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

/** The lines and the marks at their ends. */
function drawContent(plan: Plan, series: readonly ChartSeries[]): Markup[] {
  const { x, y, plot, labels, input, pad } = plan;
  const placed = series.map((one) =>
    placePoints(one, ({ at, value }) => ({
      x: plot.left + x.place(at) * (plot.right - plot.left),
      y: plot.bottom - y.place(value) * (plot.bottom - plot.top),
    })),
  );
  const only = placed.length === 1 && input.scale === "linear" && y.place(0) === 0 ? placed[0] : undefined;
  const areas = only === undefined ? [] : drawArea(only, plot.bottom, 1);
  const isOne = placed.length === 1;
  const lines = placed
    .map((points, i) => [...drawLine(points, i + 1), ...(isOne ? [] : drawMarksAlong(points, i + 1))])
    .reverse();
  const ends = placed.map((points) => points.at(-1));
  const marks = ends.flatMap((end, i) => (end === undefined ? [] : [drawMark(end, i + 1, 4.2)])).reverse();
  if (labels === undefined) return [...areas, ...lines.flat(), ...marks];
  const told = series.flatMap((one, i): EndLabel[] => {
    const [end, value] = [ends[i] as PlacedPoint | undefined, one.points.at(-1)?.value];
    const name = labels.names[i] ?? one.name;
    return end === undefined || value === undefined ? [] : [{ name, value, end, color: i + 1 }];
  });
  const box = { left: plot.right + 8, right: input.width - pad, top: plot.top, bottom: plot.bottom };
  return [...lines.flat(), ...marks, ...(told.length === 0 ? [] : drawLabels(told, box, plan.sizes.label))];
}
