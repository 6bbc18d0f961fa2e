import { coordinate, element, estimateWidth, fit, Markup, picture, plainText, wrap } from "./markup.js";
import type { Shape, Style } from "./series.js";
import { styleOf, type Theme } from "./themes.js";

/** Parts of pictures of all shapes: the star, the foot, names and titles, areas, and the page that they are drawn on. */

/** What a part draws, in this order. A sketch bends the shapes. */
export interface Layers {
  defs?: readonly Markup[];
  under?: readonly Markup[];
  shapes?: readonly Markup[];
  texts?: readonly Markup[];
}

/** The look of a picture, and its texts for those who do not see it. */
export interface Page {
  width: number;
  height: number;
  shape: Shape;
  theme: Theme;
  style: Style;
  isClear: boolean;
  idPrefix: string;
  title: string;
  description?: string;
}

/** A finished picture. */
export function drawPage(page: Page, parts: readonly Layers[]): string {
  const { width, height, shape, theme, style, isClear, idPrefix } = page;
  const layer = (name: keyof Layers) => parts.flatMap((part) => part[name] ?? []);
  const paper =
    shape === "readme"
      ? { class: "chart-bg", x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 12 }
      : { class: "chart-paper", width, height };
  const isSketch = style === "sketch";
  const bent = isSketch ? { filter: `url(#${idPrefix}-hand)` } : {};
  const defs = [...(isSketch ? [hand(page)] : []), ...layer("defs")];
  return picture(
    { ...page, style: styleOf(theme, isClear) },
    defs.length === 0 ? undefined : element("defs", {}, ...defs),
    isClear ? undefined : element("rect", paper),
    ...layer("under"),
    element("g", bent, ...layer("shapes")),
    ...layer("texts"),
  );
}

/** The filter that bends lines by up to 3 px, always alike. */
function hand({ idPrefix, width, height }: Page): Markup {
  const area = { filterUnits: "userSpaceOnUse", x: 0, y: 0, width, height };
  const noise = { type: "fractalNoise", baseFrequency: ".018", numOctaves: 2, seed: 7, result: "noise" };
  const by = { in: "SourceGraphic", in2: "noise", xChannelSelector: "R", yChannelSelector: "G" };
  return element(
    "filter",
    { id: `${idPrefix}-hand`, ...area, "color-interpolation-filters": "sRGB" },
    element("feTurbulence", noise),
    element("feDisplacementMap", { ...by, scale: Math.min(14, 5 + width / 160) }),
  );
}

/** How a text is written. `look`: classes. */
interface Written {
  x: number;
  y: number;
  size: number;
  look: string;
  isBold?: boolean;
  anchor?: "middle" | "end" | undefined;
}

export const written = (
  { x, y, size, look, isBold, anchor }: Written,
  ...content: readonly (Markup | string)[]
): Markup =>
  element(
    "text",
    { class: look, x, y, "font-size": size, "font-weight": isBold ? 700 : undefined, "text-anchor": anchor },
    ...content,
  );

/** The width of a bold text in either font. */
export const boldWidth = (text: string, size: number): number =>
  Math.max(estimateWidth(text, size, "bold"), estimateWidth(text, size, "serif-bold"));

/** The largest of two sizes and those between them at which a text is whole; cut at the least one. */
export function sized(
  text: string,
  [most, least]: readonly [most: number, least: number],
  width: number,
  measure = estimateWidth,
): { size: number; text: string } {
  const plain = plainText(text);
  const fitting = Math.floor((most * width) / Math.max(1, measure(plain, most)));
  const size = Math.max(least, Math.min(most, fitting));
  return { size, text: fit(plain, { size, width, measure }) };
}

/** A sentence in one line, if it fits at the least size, else in two lines of about the same length. */
export function sentenceLines(
  text: string,
  [most, least]: readonly [most: number, least: number],
  width: number,
): { size: number; lines: string[] } {
  const plain = plainText(text);
  const size = Math.min(most, Math.floor((most * width) / Math.max(1, estimateWidth(plain, most))));
  if (size >= least) return { size, lines: plain === "" ? [] : [plain] };
  const even = Array.from({ length: 10 }, (_, i) => (width * (i + 10)) / 20)
    .map((narrow) => wrap(plain, { size: most, width: narrow }, 9))
    .find((lines) => lines.length <= 2);
  return { size: most, lines: even ?? wrap(plain, { size: most, width }, 2) };
}

const STAR = [0, -1, 0.27, -0.27, 1, 0, 0.27, 0.27, 0, 1, -0.27, 0.27, -1, 0, -0.27, -0.27];

/** The path of the sign of the service: a star of four points, whose half height is `size`. Relative: of a star that moves, one point changes. */
export const starPath = (x: number, y: number, size: number): string => {
  const sides = STAR.map((offset, i) => coordinate((offset - (STAR[i - 2] ?? 0)) * size)).slice(2);
  const lines = sides.map((side, i) => (i % 2 === 0 ? `l${side}` : ` ${side}`)).join("");
  return `M${coordinate(x)} ${coordinate(y - size)}${lines}Z`;
};

/** The star at the end of a line, in its colour, with a rim of paper. */
export const drawStar = (
  { x, y }: { x: number; y: number },
  { size, color, rim }: { size: number; color: number; rim: number },
): Markup =>
  element("path", {
    class: `chart-mark chart-mark-${color}`,
    d: starPath(x, y, size),
    ...{ "stroke-width": rim, "stroke-linejoin": "round", "paint-order": "stroke" },
  });

/** A star in the colour of places in rankings. */
export const drawPlaceStar = (x: number, y: number, size: number): Markup =>
  element("path", { class: "chart-star", d: starPath(x, y, size) });

const SERVICE = "Sidereal";

/** Where the foot of a picture is: between two edges, on a base line. */
export interface FootPlace {
  x: number;
  right: number;
  y: number;
  size: number;
}

/** The foot of a picture: our sign and name, the host, and at the right the date of the data or a note. */
export function drawFoot({ x, right, y, size }: FootPlace, site: string | undefined, note: string): Layers {
  const name = { x: x + size * 1.6, y, size, look: "chart-text sf", isBold: true };
  const host = name.x + boldWidth(SERVICE, size) + size * 0.6;
  const wanted = fit(note, { size, width: right - host });
  const rest = right - host - estimateWidth(wanted, size) - size;
  const shown = site === undefined || rest < size * 5 ? "" : fit(site, { size, width: rest });
  const sign = { cx: x + size * 0.62, cy: y - size * 0.36 };
  return {
    texts: [
      element("circle", { class: "chart-circle", ...sign, r: size * 0.62, "stroke-width": size / 8 }),
      drawPlaceStar(sign.cx, sign.cy, size * 0.45),
      written(name, SERVICE),
      ...(shown === "" ? [] : [written({ x: host, y, size, look: "chart-muted" }, shown)]),
      ...(wanted === "" ? [] : [written({ x: right, y, size, look: "chart-muted", anchor: "end" }, wanted)]),
    ],
  };
}

/** The room of a name or title, from its largest to its least size. */
export interface NameRoom {
  x: number;
  y: number;
  sizes: readonly [most: number, least: number];
  width: number;
}

/** A full name in serif: its owner quiet, itself bold. If it is too long, the owner goes first, then the size, then letters. */
export function drawName(fullName: string, { x, y, sizes, width }: NameRoom): Markup {
  const plain = plainText(fullName);
  const slash = plain.lastIndexOf("/") + 1;
  const [owner, own] = slash === plain.length ? ["", plain] : [plain.slice(0, slash), plain.slice(slash)];
  const [most] = sizes;
  const isWhole = estimateWidth(owner, most) + boldWidth(own, most) <= width;
  const { size, text } = isWhole ? { size: most, text: own } : sized(own, sizes, width, boldWidth);
  return written(
    { x, y, size, look: "chart-text sf" },
    ...(isWhole && owner !== "" ? [element("tspan", { class: "chart-muted" }, owner)] : []),
    element("tspan", { "font-weight": 700 }, text),
  );
}

/** Names in the colours of their lines, the first one first: the title is the key. `color` counts from 1. */
export function drawTitle(
  names: readonly { name: string; color: number }[],
  { x, y, sizes, width }: NameRoom,
): Markup {
  const before = (i: number) => (i === 0 ? "" : i === names.length - 1 ? " and " : ", ");
  const whole = names.map(({ name }, i) => before(i) + name).join("");
  const { size } = sized(whole, sizes, width, boldWidth);
  const each = boldWidth(whole, size) <= width ? width : (width - size * 3) / names.length - size;
  return written(
    { x, y, size, look: "chart-muted sf" },
    ...names.flatMap(({ name, color }, i) => [
      ...(i === 0 ? [] : [element("tspan", {}, new Markup(before(i)))]),
      element(
        "tspan",
        { class: `chart-mark-${color}`, "font-weight": 700 },
        fit(name, { size, width: each, measure: boldWidth }),
      ),
    ]),
  );
}

/** The colour of the area below a line: soft at the top, a ninth of it at the floor. */
export function softFill(
  id: string,
  color: number,
  { top, floor, part }: { top: number; floor: number; part: number },
): Markup {
  const stop = { class: `chart-stop-${color}` };
  return element(
    "linearGradient",
    { id, gradientUnits: "userSpaceOnUse", x1: 0, x2: 0, y1: top, y2: floor },
    element("stop", { ...stop, "stop-opacity": String(part) }),
    element("stop", { ...stop, offset: 1, "stop-opacity": (part / 9).toFixed(3) }),
  );
}

/** The same of a sketch: strokes of a pen. */
export const penFill = (id: string, color: number, part: number): Markup =>
  element(
    "pattern",
    { id, width: 9, height: 9, patternUnits: "userSpaceOnUse", patternTransform: "rotate(-52)" },
    element("path", {
      class: `chart-line-${color}`,
      ...{ d: "M0 4H9", "stroke-width": 1.6, "stroke-opacity": (part * 2).toFixed(2) },
    }),
  );

/** The fill of times that nobody counted. */
export const hatchFill = (id: string): Markup =>
  element(
    "pattern",
    { id, width: 4, height: 4, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    element("path", { class: "chart-ink", d: "M0 2H4", "stroke-width": 1.6, "stroke-opacity": ".12" }),
  );
