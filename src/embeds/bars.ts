import type { SnapshotSource } from "../catalog/catalog.js";
import type { Gain } from "./gains.js";
import { coordinate, element, type Markup } from "./markup.js";

/** Bars by the source of the counts, so that they differ as the lines do. */
export const BAR_LOOKS = {
  OBSERVED: { class: "chart-area-1", "fill-opacity": 0.85 },
  IMPORTED: { class: "chart-area-1", "fill-opacity": 0.55 },
  BACKFILLED: { class: "chart-line-1", "stroke-width": 1, "stroke-dasharray": "1 2" },
} as const satisfies Record<SnapshotSource, object>;

/** Positions in the picture. */
export interface BarFrame {
  x(at: number): number;
  y(value: number): number;
  top: number;
  bottom: number;
}

/**
 * Draws gains per day as bars: each is as wide as its time, so that its area is the gain. One that does not fit is cut with a
 * slanted gap. Nothing is drawn where the gain is unknown; a gain of 0 is a thin bar.
 */
export function drawBars(gains: readonly Gain[], frame: BarFrame): Markup[] {
  const paths = new Map<SnapshotSource, string>();
  const cuts: string[] = [];
  for (const gain of gains) {
    if (gain.perDay === null) continue;
    const { source } = gain.point;
    const [left, right] = sidesOf(gain, frame);
    const zero = frame.y(0);
    const wanted = frame.y(gain.perDay);
    const end = Math.min(frame.bottom, Math.max(frame.top, wanted));
    const tip = Math.abs(end - zero) < 1 ? zero + (gain.perDay < 0 ? 1 : -1) : end;
    const [x, to] = [coordinate(left), coordinate(right)];
    const bar = `M${x} ${coordinate(zero)}V${coordinate(tip)}H${to}V${coordinate(zero)}Z`;
    paths.set(source, (paths.get(source) ?? "") + bar);
    if (Math.abs(end - wanted) > 1) {
      const y = end + (end === frame.top ? 9 : -9);
      cuts.push(`M${x} ${coordinate(y + 2)}L${to} ${coordinate(y - 2)}`);
    }
  }
  const bars = [...paths].map(([source, d]) =>
    element("path", { d, ...BAR_LOOKS[source], ...fillOf(source) }),
  );
  const cut =
    cuts.length === 0 ? [] : [element("path", { class: "chart-mark", d: cuts.join(""), "stroke-width": 3 })];
  return [...bars, ...cut];
}

const fillOf = (source: SnapshotSource) => (source === "BACKFILLED" ? { fill: "none" } : {});

/** Neighbouring bars have a gap between them, as far as there is room. */
function sidesOf({ since, at }: Gain, { x }: BarFrame): [number, number] {
  const [left, right] = [x(since), x(at)];
  const gap = Math.min(1.5, (right - left) / 4) / 2;
  return [left + gap, right - gap];
}
