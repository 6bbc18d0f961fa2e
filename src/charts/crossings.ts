import { DAY_MS } from "../lib/clock.js";
import type { Frame } from "./axes.js";
import { type LinePoint, shortNames } from "./lines.js";
import { element, estimateWidth, type Markup } from "./markup.js";
import { dateText } from "./numbers.js";
import type { ChartInput, ChartPoint } from "./series.js";

/** Who passed whom: the times at which one of several lines came to be above another one, and their rings in a chart. */

/** A line that came to be above another one and stayed there; lines are indexes. */
export interface Crossing {
  /** Evenly between the counts around it. */
  at: number;
  value: number;
  passer: number;
  passed: number;
  /** The place of the passer from then on, 1 for the highest line. */
  place: number;
}

/** A line that is below again sooner has not passed the other one; one that was the last to pass has. */
export const LASTS_MS = 3 * DAY_MS;

/** All crossings, oldest first. Two lines pass each other in turn. Costs the sum of the points of each two lines. */
export function crossingsOf(lines: readonly (readonly ChartPoint[])[]): Crossing[] {
  const found = lines.flatMap((line, i) =>
    lines.slice(i + 1).flatMap((other, j) =>
      crossingsOfTwo(line, other).map(({ isAbove, ...crossing }) => {
        const both = [i, i + 1 + j] as const;
        const [passer, passed] = isAbove ? both : ([both[1], both[0]] as const);
        return { ...crossing, passer, passed };
      }),
    ),
  );
  return found
    .map((one) => {
      const { at, value, passer, passed } = one;
      const isHigher = (points: readonly ChartPoint[], i: number) =>
        i !== passer && i !== passed && (countAt(points, at) ?? 0) > value;
      return { ...one, place: 1 + lines.filter(isHigher).length };
    })
    .sort((a, b) => a.at - b.at);
}

/** The crossings that a chart shows: those of totals by date. */
export function passingsOf({
  series,
  align,
  view = "total",
}: Pick<ChartInput, "series" | "align" | "view">): Crossing[] {
  return align === "date" && view === "total" ? crossingsOf(series.map(({ points }) => points)) : [];
}

interface Difference {
  at: number;
  value: number;
  difference: number;
}

function crossingsOfTwo(line: readonly ChartPoint[], other: readonly ChartPoint[]) {
  const crossings: { at: number; value: number; isAbove: boolean }[] = [];
  /** The difference before, the side that counts, and a change of it that may not last. */
  let before: Difference | undefined;
  let side = 0;
  let change: (typeof crossings)[number] | undefined;
  for (const now of differencesOf(line, other)) {
    const sign = Math.sign(now.difference);
    side ||= sign;
    if (sign === side) change = undefined;
    else if (sign !== 0 && before !== undefined) {
      const part = before.difference / (before.difference - now.difference);
      change ??= {
        at: before.at + part * (now.at - before.at),
        value: before.value + part * (now.value - before.value),
        isAbove: sign > 0,
      };
      if (now.at - change.at >= LASTS_MS) {
        crossings.push(change);
        [side, change] = [sign, undefined];
      }
    }
    before = now;
  }
  return change === undefined ? crossings : [...crossings, change];
}

/** How far a line is above another one, at the points of both in the time that both have. */
function* differencesOf(line: readonly ChartPoint[], other: readonly ChartPoint[]): Generator<Difference> {
  for (let i = 0, j = 0; ; ) {
    const [a, b] = [line[i], other[j]];
    if (a === undefined || b === undefined) return;
    const at = Math.min(a.at, b.at);
    const [value, against] = [between(line[i - 1], a, at), between(other[j - 1], b, at)];
    if (value !== undefined && against !== undefined) yield { at, value, difference: value - against };
    if (a.at === at) i++;
    if (b.at === at) j++;
  }
}

function between(before: ChartPoint | undefined, after: ChartPoint, at: number): number | undefined {
  if (after.at === at) return after.value;
  return before && before.value + ((after.value - before.value) * (at - before.at)) / (after.at - before.at);
}

/** The count of a line at a time, evenly between the points around it; undefined before the first and after the last. */
export function countAt(points: readonly ChartPoint[], at: number): number | undefined {
  const after = points.findIndex((point) => point.at >= at);
  const [last, next] = [points[after - 1], points[after]];
  return next && between(last, next, at);
}

/** The longest time between the counts around a crossing whose day is named. */
const DATED_MS = 2 * DAY_MS;

/** Whether the day of a crossing is known: counts of both lines are near to it. Otherwise only its month is. */
export const hasDay = (
  { at, passer, passed }: Pick<Crossing, "at" | "passer" | "passed">,
  lines: readonly (readonly ChartPoint[])[],
): boolean =>
  [passer, passed].every((i) => {
    const points = lines[i] ?? [];
    const after = points.findIndex((point) => point.at >= at);
    const [before, next] = [points[after - 1] ?? points[after], points[after]];
    return before !== undefined && next !== undefined && next.at - before.at <= DATED_MS;
  });

/** More would hide the lines. */
const MOST_RINGS = 24;
const RING = 6;
/** Crossings so near to each other share their words, in pixels. */
const TOGETHER = 48;
/** Narrower charts have no room for words, in pixels. */
const LEAST_WORDED = 600;

/** The latest crossings as rings in the colours of the passers, with words where these hide no line. */
export function drawCrossings(
  crossings: readonly Crossing[],
  lines: readonly (readonly LinePoint[])[],
  { label, ...frame }: Frame & { names: readonly string[]; label: number },
): Markup[] {
  const names = shortNames(frame.names);
  const shown = crossings.slice(-MOST_RINGS);
  const rings = shown.flatMap(({ at, value, passer }) => {
    const place = { cx: frame.x(at), cy: frame.y(value) };
    return [
      element("circle", { class: `chart-mark-${passer + 1}`, ...place, r: RING + 1 }),
      element("circle", { class: "chart-paper", ...place, r: RING - 1.5 }),
    ];
  });
  if (frame.right - frame.left < LEAST_WORDED) return rings;
  const groups: Crossing[][] = [];
  for (const one of shown) {
    const last = groups.at(-1);
    if (last?.[0] !== undefined && frame.x(one.at) - frame.x(last[0].at) < TOGETHER) last.push(one);
    else groups.push([one]);
  }
  const taken: Box[] = [];
  // The label of a line begins at its end.
  const right = Math.min(frame.right, ...lines.flatMap((line) => line.at(-1)?.x ?? []));
  const words = groups.flatMap((group): Markup[] => {
    // The days alone need little room.
    for (const texts of [textsOf(group, names), [daysOf(group)]]) {
      const place =
        texts.length > 2
          ? undefined
          : placeOf(group, { texts, lines, taken, label, frame: { ...frame, right } });
      if (place === undefined) continue;
      taken.push(place);
      return texts.map((text, i) => {
        const look =
          i === 0
            ? { class: "chart-halo chart-text", "font-weight": 600, "font-size": label }
            : { class: "chart-halo chart-muted", "font-size": frame.size };
        return element("text", { ...look, x: place.left, y: place.top + label + i * (frame.size + 5) }, text);
      });
    }
    return [];
  });
  return [...words, ...rings];
}

/** "31 Jan", "8–14 Jan", "28 Jan – 3 Feb". */
function daysOf(group: readonly Crossing[]): string {
  const [first = "", last = ""] = [group[0], group.at(-1)].map((one) => dateText(one?.at ?? 0).slice(0, -5));
  const [day, month] = first.split(" ");
  return first === last ? last : last.endsWith(` ${month}`) ? `${day}–${last}` : `${first} – ${last}`;
}

/** "31 Jan: opencode leads"; "2 Apr: claude-code", "passes gemini-cli"; several at one time in a line each. */
function textsOf(group: readonly Crossing[], names: readonly string[]): string[] {
  const days = daysOf(group);
  const passers = [...Map.groupBy(group, ({ passer }) => passer)].map(([passer, some]) => ({
    name: names[passer],
    passes: `passes ${some.map(({ passed }) => names[passed]).join(" and ")}`,
  }));
  const [only, ...others] = passers;
  if (only === undefined) return [];
  if (group.length === 1 && group[0]?.place === 1) return [`${days}: ${only.name} leads`];
  if (others.length === 0) return [`${days}: ${only.name}`, only.passes];
  return passers.map(({ name, passes }, i) => `${i === 0 ? `${days}: ` : ""}${name} ${passes}`);
}

/** A place in a drawing, in pixels. */
export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface Placing {
  texts: readonly string[];
  lines: readonly (readonly LinePoint[])[];
  taken: readonly Box[];
  label: number;
  frame: Frame;
}

/** Below the rings and to their right, where a rising line leaves room, or above and to their left; undefined if neither is free. */
export function placeOf(
  group: readonly Crossing[],
  { texts, lines, taken, label, frame }: Placing,
): Box | undefined {
  const xs = group.map(({ at }) => frame.x(at));
  const ys = group.map(({ value }) => frame.y(value));
  const width = Math.max(...texts.map((text, i) => estimateWidth(text, i === 0 ? label * 1.12 : frame.size)));
  const height = label + (texts.length - 1) * (frame.size + 5) + 5;
  const [right, left] = [Math.max(...xs) + RING + 8, Math.min(...xs) - RING - 8 - width];
  const [below, above] = [Math.max(...ys) + 6, Math.min(...ys) - 8 - height];
  const boxes = [
    [left, above],
    [right, below],
    [right, below + 14],
    [left, above - 14],
    [right, above - 14],
    [left, below + 14],
  ].map(([x = 0, y = 0]): Box => ({ left: x, right: x + width, top: y, bottom: y + height }));
  return boxes.find(
    (box) =>
      box.left >= frame.left &&
      box.right <= frame.right &&
      box.top >= frame.top &&
      box.bottom <= frame.bottom &&
      !taken.some((one) => isIn(one, box)) &&
      !lines.some((line) => line.some(({ x, y }) => isIn({ left: x, right: x, top: y, bottom: y }, box))),
  );
}

/** Whether two places have a part in common. */
export const isIn = (one: Box, other: Box): boolean =>
  one.left <= other.right && one.right >= other.left && one.top <= other.bottom && one.bottom >= other.top;
