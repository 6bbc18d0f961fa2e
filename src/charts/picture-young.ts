import type { Frame } from "./axes.js";
import { coordinate, element, type Markup, wrap } from "./markup.js";
import { dateText, exactNumber, shortNumber } from "./numbers.js";
import {
  boldWidth,
  drawFoot,
  drawPage,
  drawStar,
  type Layers,
  sized,
  softFill,
  starPath,
  written,
} from "./picture-parts.js";
import { type ChartInput, type ChartPoint, type ChartSeries, isByDate, unitOf } from "./series.js";
import type { Theme } from "./themes.js";

/** Pictures of a repository with little or nothing to draw a line of: none, one or a few stars, or a single count. */

/** More are drawn as a line. */
const MOST_STARS = 12;
const NEXT = 10;

/** Whether a line is drawn as stars: at most twelve that only became more, or one count. */
export function isYoung(
  { metric, align, view = "total" }: Pick<ChartInput, "metric" | "align" | "view">,
  only: Pick<ChartSeries, "points"> | undefined,
): boolean {
  const points = only?.points ?? [];
  const values = points.map(({ value }) => value);
  if (metric !== "stars" || !isByDate(align) || align === "index" || view !== "total" || points.length === 0)
    return false;
  const isRising = values.every((value, i) => value >= (values[i - 1] ?? 0));
  return points.length === 1 || (isRising && (values.at(-1) ?? 0) <= MOST_STARS);
}

/** What is said of it if nothing else happened. */
export function youngSentence(points: readonly ChartPoint[], bornAt: number | undefined): string {
  const [first, last] = [points[0], points.at(-1)];
  const created = bornAt === undefined ? "" : `Created on ${dateText(bornAt)}. `;
  if (last === undefined || last.value === 0) return `${created}Its first star will appear here.`;
  if (first === last) return `First seen on ${dateText(last.at)}. The line begins with the next count.`;
  return `${created}${last.value === 1 ? "Its first star is here." : `Its first ${last.value} stars are here.`}`;
}

/** Where it is drawn, as a plot without values. */
export interface YoungPlot extends Pick<Frame, "left" | "right" | "top" | "bottom" | "x"> {
  id: string;
  /** Of sizes at 800 × 400. */
  k: number;
  /** Whether the count is next to it; default: yes. */
  isCounted?: boolean;
}

/** Each star at the time at which it came; none is one hollow star, a single count one star on a dotted level. */
export function drawYoung(points: readonly ChartPoint[], plot: YoungPlot): Layers {
  const { left, right, bottom, k, isCounted = true } = plot;
  const count = points.at(-1)?.value ?? 0;
  const line = (d: string, look: string, more = {}) =>
    element("path", { class: look, d, fill: "none", ...more });
  const across = (y: number) => `M${coordinate(left)} ${coordinate(y)}H${coordinate(right)}`;
  const rows = [62, 124].map((up) =>
    line(across(bottom - up * k), "chart-grid", { "stroke-dasharray": "2 6" }),
  );
  const { end, ...drawn } = count === 0 ? none(plot) : points.length === 1 ? single(plot) : few(points, plot);
  const number = { x: right + 22 * k, y: end + 8 * k, size: 30 * k, look: "chart-text", isBold: true };
  const unit = { x: number.x, y: number.y + 20 * k, size: 14 * k, look: "chart-muted" };
  return {
    ...drawn,
    under: [...rows, line(across(bottom), "chart-edge")],
    texts: [
      ...(drawn.texts ?? []),
      ...(isCounted
        ? [
            written(number, (count < 1e6 ? exactNumber : shortNumber)(count)),
            written(unit, unitOf("stars", count)),
          ]
        : []),
    ],
  };
}

type Drawn = Layers & { end: number };

/** What is not counted yet. */
const dotted = (from: number, to: number, { y, k }: { y: number; k: number }): Markup =>
  element("path", {
    class: "chart-line-1",
    d: `M${coordinate(from)} ${coordinate(y)}H${coordinate(Math.max(from, to))}`,
    ...{ "stroke-width": 3 * k, "stroke-linecap": "round" },
    ...{ "stroke-dasharray": `0 ${coordinate(9 * k)}`, "stroke-opacity": "0.45" },
  });

function none({ left, right, bottom, k }: YoungPlot): Drawn {
  const y = bottom - 62 * k;
  const star = { class: "chart-line-1", d: starPath(left + 60 * k, y, 26 * k), "stroke-width": 2.5 * k };
  return {
    end: y,
    shapes: [
      element("path", { ...star, "stroke-linejoin": "round" }),
      dotted(left + 98 * k, right, { y, k }),
    ],
  };
}

function single({ left, right, bottom, k }: YoungPlot): Drawn {
  const y = bottom - 124 * k;
  const pole = {
    class: "chart-line-1",
    d: `M${coordinate(right)} ${coordinate(y + 18 * k)}V${coordinate(bottom)}`,
  };
  return {
    end: y,
    shapes: [
      dotted(left + 8 * k, right - 22 * k, { y, k }),
      element("path", { ...pole, "stroke-width": 1.5 * k, "stroke-opacity": "0.5" }),
      drawStar({ x: right, y }, { size: 16 * k, color: 1, rim: 4 * k }),
    ],
  };
}

function few(points: readonly ChartPoint[], { id, left, right, top, bottom, x, k }: YoungPlot): Drawn {
  const count = points.at(-1)?.value ?? 0;
  const rise = Math.min(40 * k, (bottom - 34 * k - top) / Math.max(1, count - 1));
  const times = points.flatMap(({ at, value }, i) =>
    Array.from({ length: value - (points[i - 1]?.value ?? 0) }, () => at),
  );
  const size = Math.min(15 * k, 4 * k + rise * 0.7);
  const stars = times.map((at, i) => ({
    x: Math.min(right - 60 * k, Math.max(left + size, x(at))),
    y: bottom - 34 * k - i * rise,
  }));
  const last = stars.at(-1) ?? { x: left, y: bottom };
  const steps = stars.map((star) => `H${coordinate(star.x)}V${coordinate(star.y)}`).join("");
  const until = last.x + 46 * k;
  const path = `M${coordinate(left)} ${coordinate(bottom)}${steps}H${coordinate(until)}`;
  const stroke = { "stroke-width": 3 * k, "stroke-linejoin": "round", "stroke-linecap": "round" };
  const next = count < NEXT && bottom - 168 * k > top ? nextFlag(right, bottom - 168 * k, k) : {};
  return {
    end: last.y,
    defs: [softFill(`${id}-area-1`, 1, { top: last.y, floor: bottom, part: 0.2 })],
    shapes: [
      element("path", { fill: `url(#${id}-area-1)`, d: `${path}V${coordinate(bottom)}Z` }),
      element("path", { class: "chart-line-1", fill: "none", d: path, ...stroke }),
      dotted(until + 8 * k, right, { y: last.y, k }),
      ...(next.shapes ?? []),
      ...stars.map((star) => drawStar(star, { size, color: 1, rim: 4 * k })),
    ],
    texts: next.texts ?? [],
  };
}

/** The first milestone that is still ahead, as a hollow flag. */
function nextFlag(right: number, top: number, k: number): Layers {
  const x = right - 8 * k;
  const [back, middle, foot] = [x - 46 * k, top + 10 * k, top + 20 * k].map(coordinate);
  const pole = `M${coordinate(x)} ${foot}V${coordinate(top)}`;
  const cloth = `H${back}L${coordinate(x - 40 * k)} ${middle}L${back} ${foot}H${coordinate(x)}V${coordinate(top + 26 * k)}`;
  const words = { y: top + 15 * k, size: 13 * k };
  return {
    shapes: [
      element("path", {
        class: "chart-line-1",
        fill: "none",
        d: pole + cloth,
        "stroke-width": 2 * k,
        "stroke-linejoin": "round",
      }),
    ],
    texts: [
      written(
        { ...words, x: x - 21 * k, look: "chart-mark-1", isBold: true, anchor: "middle" },
        String(NEXT),
      ),
      written({ ...words, x: x - 54 * k, look: "chart-muted", anchor: "end" }, "next"),
    ],
  };
}

/** Lower pictures have only texts, in pixels. */
const LEAST_HEIGHT = 200;

/** A picture that says why a chart is missing: a title, a sentence, and the star that is not there yet. */
export function drawNotice(
  title: string,
  message: string,
  {
    theme,
    width,
    height,
    shape = "readme",
    isClear = false,
    site,
  }: Pick<ChartInput, "width" | "height" | "shape" | "isClear" | "site"> & { theme: Theme },
): string {
  const k = Math.max(0.75, Math.min(2, width / 800, height / 400));
  const [left, right, bottom] = [28 * k, width - 28 * k, height - 64 * k];
  const said = 16 * k;
  const named = sized(title, [27 * k, 17 * k], right - left, boldWidth);
  const isLow = height < LEAST_HEIGHT;
  const lines = wrap(message, { size: said, width: right - left }, isLow ? 2 : 3);
  const texts = [
    written({ x: left, y: 48 * k, size: named.size, look: "chart-text sf", isBold: true }, named.text),
    ...lines.map((line, i) =>
      written({ x: left, y: (76 + i * 24) * k, size: said, look: "chart-muted" }, line),
    ),
  ];
  const look = { width, height, shape, theme, style: "plain", isClear, idPrefix: "notice" } as const;
  return drawPage({ ...look, title, description: message }, [
    { texts },
    ...(isLow
      ? []
      : [
          none({ id: "notice", left, right, top: 0, bottom, x: () => left, k }),
          drawFoot({ x: left, right, y: height - 16 * k, size: 14 * k }, site, ""),
        ]),
  ]);
}
