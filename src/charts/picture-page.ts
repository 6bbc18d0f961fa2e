import type { Geometry } from "./chart.js";
import { drawLabels, labelWidth, toLine } from "./lines.js";
import { element, svgOf } from "./markup.js";
import { drawPlot, endLabels, endLook, plotOf, sceneOf } from "./picture.js";
import type { Layers } from "./picture-parts.js";
import { drawTimes } from "./picture-plot.js";
import { drawYoung } from "./picture-young.js";
import type { ChartSeries } from "./series.js";

/** The plots of pictures without headline, paper and foot, for pages, which have the texts and the colours. */

/** A life bleeds to the left and below; a comparison has values and names. */
const LOOKS = {
  card: {
    ...{ width: 400, height: 132, room: { right: 26, top: 40, below: 8 }, isLife: true, times: 0 },
    ...{ lineWidth: 3, star: 10, marks: { ring: 1, size: 12, pole: 24, most: 1, isUndated: true } },
  },
  wide: {
    ...{ width: 1_440, height: 360, room: { right: 144, top: 72, below: 34 }, isLife: true, times: 120 },
    ...{ lineWidth: 4, star: 18, marks: { ring: 1.2, size: 15, pole: 48, most: 3 } },
  },
  narrow: {
    ...{ width: 390, height: 210, room: { right: 27, top: 42, below: 34 }, isLife: true, times: 16 },
    ...{ lineWidth: 3, star: 13, marks: { ring: 1, size: 12, pole: 32, most: 3 } },
  },
  several: {
    ...{ width: 1_080, height: 360, room: { right: 0, top: 20, below: 30 }, isLife: false, times: 0 },
    ...{ lineWidth: 3, star: 10, marks: { ring: 1, size: 14, pole: 0, most: 0 } },
  },
  "several-narrow": {
    ...{ width: 342, height: 260, room: { right: 0, top: 20, below: 30 }, isLife: false, times: 0 },
    ...{ lineWidth: 3, star: 9, marks: { ring: 1, size: 13, pole: 0, most: 0 } },
  },
} as const;
export type PageLook = keyof typeof LOOKS;

export type DrawnSeries = readonly Pick<ChartSeries, "name" | "points">[];

interface PageDrawing {
  series: DrawnSeries;
  look: PageLook;
  /** What its ids begin with. */
  id: string;
  /** Absent: hidden from screen readers, which get the numbers next to it. */
  label?: string;
}

/** Stars by date as SVG. `geometry`: of lines, whose points can be read. */
export function drawOnPage({ series, look, id, label }: PageDrawing): {
  svg: string;
  geometry?: Omit<Geometry, "foot">;
} {
  const { width, height, room, isLife, times, marks, ...sizes } = LOOKS[look];
  const lines = series.map(({ name, points }) => ({
    name,
    // A seam would be a crack.
    points: points.map(({ isApart: _, ...point }) => point),
    gaps: [],
  }));
  const bornAt = Math.min(...lines.flatMap(({ points }) => points[0]?.at ?? []));
  const scene = sceneOf({
    ...{ metric: "stars", align: "date", scale: "linear", series: lines, asOf: null, bornAt },
    ...{ width, height, theme: "light", shape: look.endsWith("narrow") ? "readme" : "post", idPrefix: id },
  });
  const [top, bottom, size] = [room.top, height - room.below, look === "wide" ? 14 : 13];
  const labels = isLife ? [] : endLabels(scene, 18, width * 0.18);
  const ends = endLook(scene, { size: 18, room: bottom - top + 14, gap: 20 });
  const axis = scene.axis(3);
  const yAxis = isLife ? { ...axis, ticks: [] } : axis;
  const right = width - room.right - labelWidth(labels, ends, width * 0.34);
  const plot = plotOf(scene, {
    ...{ id, left: 0, right, top, bottom, yAxis, roof: 0, labels: 0, size, taken: [], marks },
    ...{ floor: isLife ? height : bottom, bleeds: isLife, ...sizes },
  });
  const years = drawTimes(scene.xAxis, plot, [times, right], height - 12);
  const young = { ...plot, ...(look === "card" && { top: 14 }), k: look === "card" ? 0.8 : 1 };
  const drawn = lines.map((line) => toLine(line, plot));
  const layers: Layers[] = scene.isYoung
    ? [drawYoung(lines[0]?.points ?? [], { ...young, isCounted: false })]
    : [
        ...drawPlot(scene, plot),
        { texts: drawLabels(labels, drawn, { right: width, top: 0, bottom, ...ends }) },
      ];
  const all = isLife && times === 0 ? layers : [...layers, years];
  const layer = (name: keyof Layers) => all.flatMap((one) => one[name] ?? []);
  const hidden = label === undefined ? { "aria-hidden": "true" } : { role: "img", "aria-label": label };
  const svg = element(
    "svg",
    { ...svgOf(width, height), class: "chart", ...hidden },
    element("defs", {}, ...layer("defs")),
    ...[...layer("under"), ...layer("shapes"), ...layer("texts")],
  ).xml;
  const geometry = { width, height, left: 0, right, top, bottom, x: scene.xAxis.domain, y: yAxis.domain };
  return { svg, ...(!scene.isYoung && { geometry }) };
}
