import { STROKES } from "./lines.js";
import { element, type Markup } from "./markup.js";
import { ORIGIN_SAMPLE, ORIGINS, originWidth, type Plan } from "./plan.js";
import { estimateWidth, fit, fitFullName } from "./text.js";

/** The heading, and at the right the current value of a single line. */
export function drawHeading({ input, heading, subheading, current, pad, sizes }: Plan): Markup[] {
  const { width } = input;
  const y = { heading: pad + sizes.heading, sub: pad + sizes.heading + sizes.sub + 7 };
  const bold = { class: "chart-text", "font-weight": 600 };
  const muted = { class: "chart-muted", "font-size": sizes.sub, y: y.sub };
  const valueSize = sizes.heading + 4;
  const taken = current === undefined ? 0 : estimateWidth(current.value, valueSize) + 12;
  const takenBelow = current === undefined ? 0 : estimateWidth(current.gained, sizes.sub) + 12;
  // Bold letters are a little wider.
  const name = fitFullName(heading, sizes.heading * 1.06, width - 2 * pad - taken);
  const about = fit(subheading, sizes.sub, width - 2 * pad - takenBelow);
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

/** The footer with brand and date, unless the chart is bare, and the legend of counts that were not observed here. */
export function drawFoot({ input, origins, originsAbove, footer, pad, sizes: { tick } }: Plan): Markup[] {
  const { width, height, isBare = false } = input;
  const line = height - (isBare ? 6 : 12);
  const legendWidth = origins.reduce((sum, source) => sum + originWidth(source, tick), 0);
  const room = width - 2 * pad - (originsAbove ? 0 : legendWidth);
  const letters = { class: "chart-muted", "font-size": tick };
  const parts = isBare ? [] : [element("text", { ...letters, x: pad, y: line }, fit(footer, tick, room))];
  let x = originsAbove ? pad : width - pad + 14 - legendWidth;
  for (const source of origins) {
    const y = line - (originsAbove && !isBare ? tick + 5 : 0);
    const d = `M${x.toFixed(1)} ${(y - 4).toFixed(1)}h${ORIGIN_SAMPLE}`;
    parts.push(
      element("path", { class: "chart-hint", d, "stroke-linecap": "round", ...STROKES[source] }),
      element("text", { ...letters, x: x + ORIGIN_SAMPLE + 6, y }, ORIGINS[source]),
    );
    x += originWidth(source, tick);
  }
  return parts;
}
