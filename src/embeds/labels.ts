import { drawMark, type Point } from "./lines.js";
import { element, type Markup } from "./markup.js";
import { estimateWidth, fit } from "./text.js";

/** Moves positions so that they are at least `distance` apart and between `top` and `bottom`; less apart if there is no room. */
export function spread(
  wanted: readonly number[],
  distance: number,
  { top, bottom }: { top: number; bottom: number },
): number[] {
  const apart = Math.min(distance, wanted.length > 1 ? (bottom - top) / (wanted.length - 1) : distance);
  const order = wanted.map((_, i) => i).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  const positions = wanted.map(() => top);
  let last = top - apart;
  for (const i of order) {
    last = Math.min(bottom, Math.max(wanted[i] ?? 0, last + apart));
    positions[i] = last;
  }
  let next = bottom + apart;
  for (const i of order.toReversed()) {
    next = Math.min(positions[i] ?? 0, next - apart);
    positions[i] = next;
  }
  return positions;
}

/** The label at the end of a line. */
export interface EndLabel {
  name: string;
  /** Its last value. */
  value: string;
  /** Where the line ends. */
  end: Point;
  color: number;
}

const MARK_ROOM = 16;
const VALUE_GAP = 8;

/** The width of the column of labels, at most `max`. */
export function labelWidth(labels: readonly EndLabel[], size: number, max: number): number {
  const widest = (texts: readonly string[]) => Math.max(...texts.map((text) => estimateWidth(text, size)));
  const names = widest(labels.map(({ name }) => name));
  const values = widest(labels.map(({ value }) => value));
  return Math.min(max, MARK_ROOM + names + VALUE_GAP + values);
}

/** Draws names and last values in the column `box`, near the ends of their lines and without overlap. */
export function drawLabels(
  labels: readonly EndLabel[],
  box: { left: number; right: number; top: number; bottom: number },
  size: number,
): Markup[] {
  const positions = spread(
    labels.map(({ end }) => end.y),
    size + 4,
    box,
  );
  const values = labels.map(({ value }) => value);
  const valueRoom = Math.max(...values.map((value) => estimateWidth(value, size))) + VALUE_GAP;
  const nameRoom = box.right - box.left - MARK_ROOM - valueRoom;
  // Names take precedence: values can be read off the axis.
  const longest = Math.max(...labels.map(({ name }) => estimateWidth(name, size)));
  const withValues = nameRoom >= Math.min(longest - 0.1, size * 4.5);
  return labels.flatMap(({ name, color }, i) => {
    const y = positions[i] ?? box.top;
    const room = withValues ? nameRoom : box.right - box.left - MARK_ROOM;
    const text = { "font-size": size, y: y + size * 0.35 };
    return [
      drawMark({ x: box.left + 6, y }, color, { size: 3.8 }),
      element(
        "text",
        { ...text, class: "chart-text", x: box.left + MARK_ROOM },
        fit(name, { size, width: room }),
      ),
      ...(withValues
        ? [element("text", { ...text, class: "chart-muted", x: box.right, "text-anchor": "end" }, values[i])]
        : []),
    ];
  });
}

/** Names without their owners, where that keeps them distinct. */
export function shortNames(names: readonly string[]): string[] {
  const short = names.map((name) => name.slice(name.lastIndexOf("/") + 1) || name);
  const byName = Map.groupBy(short, (name) => name.toLowerCase());
  return short.map((name, i) =>
    (byName.get(name.toLowerCase())?.length ?? 0) > 1 ? (names[i] ?? name) : name,
  );
}
