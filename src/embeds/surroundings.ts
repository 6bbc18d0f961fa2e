import { STROKES } from "./lines.js";
import { element, type Markup } from "./markup.js";
import { isSmall, ORIGIN_SAMPLE, ORIGINS, originWidth, type Plan, TICK_SIZE } from "./plan.js";
import { estimateWidth, fit, fitFullName } from "./text.js";

/** Heading, legend and the line at the foot. */
export function drawSurroundings({
  input,
  heading,
  subheading,
  current,
  origins,
  originsAbove,
  footer,
  pad,
}: Plan): Markup[] {
  const { width, height } = input;
  const size = isSmall(input) ? 14 : 16;
  const right = { x: width - pad, "text-anchor": "end" };
  const valueSize = size + 4;
  const taken = current === undefined ? 0 : estimateWidth(current.value, valueSize) + 12;
  const gainedWidth = current === undefined ? 0 : estimateWidth(current.gained, 12) + 12;
  const parts = [
    element(
      "text",
      { class: "chart-text", "font-size": size, "font-weight": 600, x: pad, y: pad + size },
      fitFullName(heading, size * 1.06, width - 2 * pad - taken),
    ),
    element(
      "text",
      { class: "chart-muted", "font-size": 12, x: pad, y: pad + size + 19 },
      fit(subheading, 12, width - 2 * pad - gainedWidth),
    ),
  ];
  if (current !== undefined)
    parts.push(
      element(
        "text",
        { class: "chart-text", "font-size": valueSize, "font-weight": 600, ...right, y: pad + size },
        current.value,
      ),
      element(
        "text",
        { class: "chart-muted", "font-size": 12, ...right, y: pad + size + 19 },
        current.gained,
      ),
    );
  const line = height - 12;
  const legendWidth = origins.reduce((sum, source) => sum + originWidth(source), 0);
  const footerRoom = width - 2 * pad - (originsAbove ? 0 : legendWidth);
  parts.push(
    element(
      "text",
      { class: "chart-muted", "font-size": TICK_SIZE, x: pad, y: line },
      fit(footer, TICK_SIZE, footerRoom),
    ),
  );
  let x = originsAbove ? pad : width - pad + 14 - legendWidth;
  for (const source of origins) {
    const y = line - (originsAbove ? 16 : 0);
    const text = { class: "chart-muted", "font-size": TICK_SIZE, x: x + ORIGIN_SAMPLE + 6, y };
    const sample = {
      class: "chart-hint",
      d: `M${x.toFixed(1)} ${y - 4}h${ORIGIN_SAMPLE}`,
      "stroke-linecap": "round",
    };
    parts.push(element("path", { ...sample, ...STROKES[source] }), element("text", text, ORIGINS[source]));
    x += originWidth(source);
  }
  return parts;
}
