import { element, type Markup } from "./markup.js";
import type { Milestone } from "./milestones.js";
import { shortNumber } from "./numbers.js";
import type { ChartSpan } from "./spans.js";
import { estimateWidth } from "./text.js";

/** Draws what happened along a line: shaded times, and milestones. */

/** The bounds of a chart's lines, and its scales in pixels. */
export interface EventFrame {
  left: number;
  right: number;
  top: number;
  bottom: number;
  x(at: number): number;
  y(value: number): number;
  /** Font size of the labels. */
  size: number;
}

/** A span is at least this wide, as most last for one snapshot. */
const MIN_WIDTH = 6;

/** Shades spans; `isNumbered`: with their numbers above the lines. Unusual times have solid edges, unseen ones dashed ones. */
export function drawSpans(spans: readonly ChartSpan[], frame: EventFrame, isNumbered: boolean): Markup[] {
  const { left, right, top, bottom, size } = frame;
  const edges = spans.map(({ from, to }) => {
    const [begin, end] = [frame.x(from), frame.x(to)];
    const spare = Math.max(0, MIN_WIDTH - (end - begin)) / 2;
    return { begin: Math.max(left, begin - spare), end: Math.min(right, end + spare) };
  });
  const shades = edges.map(({ begin, end }, i) => {
    const isUnusual = spans[i]?.kind === "unusual";
    const [x, to, y, foot] = [begin, end, top, bottom].map((one) => one.toFixed(1));
    return [
      element("path", {
        class: "chart-muted",
        d: `M${x} ${y}H${to}V${foot}H${x}Z`,
        "fill-opacity": isUnusual ? 0.16 : 0.08,
      }),
      element("path", {
        class: "chart-hint",
        d: `M${x} ${y}V${foot}M${to} ${y}V${foot}`,
        "stroke-width": 0.8,
        ...(isUnusual ? {} : { "stroke-dasharray": "3 3" }),
      }),
    ];
  });
  if (!isNumbered) return shades.flat();
  let next = Number.NEGATIVE_INFINITY;
  const numbers = edges.map(({ begin, end }, i) => {
    const label = String(i + 1);
    const half = estimateWidth(label, size) / 2;
    const x = Math.max((begin + end) / 2, next + half);
    next = x + half + 3;
    return { label, x, half };
  });
  // Pushed back from the right edge, where spans at the end of the line crowd.
  let edge = right + 6;
  for (const number of numbers.toReversed()) {
    number.x = Math.min(number.x, edge - number.half);
    edge = number.x - number.half - 3;
  }
  return [
    ...shades.flat(),
    ...numbers.map(({ label, x }) =>
      element(
        "text",
        {
          class: "chart-text",
          "font-size": size,
          "font-weight": 600,
          x,
          y: top - 3,
          "text-anchor": "middle",
        },
        label,
      ),
    ),
  ];
}

/** Rings on the line where it reaches round numbers, with the number where there is room. */
export function drawMilestones(milestones: readonly Milestone[], frame: EventFrame): Markup[] {
  const { left, right, top, bottom, size } = frame;
  let taken = left;
  return milestones.flatMap(({ value, point }) => {
    const [x, y] = [frame.x(point.at), frame.y(point.value)];
    const ring = element("circle", { class: "chart-ring", cx: x, cy: y, r: 3.6, "stroke-width": 1.6 });
    const label = shortNumber(value);
    const width = estimateWidth(label, size);
    const text = { class: "chart-muted", "font-size": size };
    if (x - 5 - width >= taken && y - 6 - size >= top) {
      taken = x - 1;
      return [ring, element("text", { ...text, x: x - 5, y: y - 6, "text-anchor": "end" }, label)];
    }
    // Below a rising line there is room to its right.
    if (x + 6 + width > right || y + size + 5 > bottom || x + 6 < taken) return [ring];
    taken = x + 10 + width;
    return [ring, element("text", { ...text, x: x + 6, y: y + size + 2 }, label)];
  });
}
