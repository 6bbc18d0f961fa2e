import { pathOf } from "./lines.js";
import { element } from "./markup.js";
import type { Place } from "./thin.js";

/**
 * A small line without axes, for lists: inline SVG of classes only (`sparkline`, `sparkline-line`), hidden from screen
 * readers, as the numbers stand beside it. null: not known, and drawn as a gap. Empty for fewer than two values.
 */
export function drawSparkline(values: readonly (number | null)[], width = 96, height = 24): string {
  const known = values.flatMap((value, i) =>
    value !== null && Number.isFinite(value) ? [{ x: i, y: value, place: i }] : [],
  );
  if (known.length < 2) return "";
  const low = known.reduce((least, { y }) => Math.min(least, y), Number.POSITIVE_INFINITY);
  const high = known.reduce((most, { y }) => Math.max(most, y), Number.NEGATIVE_INFINITY);
  const pad = 2;
  const xOf = (place: number) => pad + (place / (values.length - 1)) * (width - 2 * pad);
  const yOf = (value: number) =>
    high === low ? height / 2 : height - pad - ((value - low) / (high - low)) * (height - 2 * pad);
  const parts: Place[][] = [];
  let last = Number.NaN;
  for (const { place, y } of known) {
    const point = { x: xOf(place), y: yOf(y) };
    if (place === last + 1) parts.at(-1)?.push(point);
    else parts.push([point]);
    last = place;
  }
  const d = parts.map((part) => (part.length === 1 ? `${pathOf(part)}h0.1` : pathOf(part))).join("");
  return element(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      class: "sparkline",
      "aria-hidden": "true",
    },
    element("path", {
      class: "sparkline-line",
      d,
      fill: "none",
      "stroke-width": 1.5,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
    }),
  ).xml;
}
