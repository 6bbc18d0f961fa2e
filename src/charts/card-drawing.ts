import { FONT_FAMILY, type Fonts } from "./fonts.js";
import { element, fit, fitFullName, Markup, plainText, svgOf, wrap } from "./markup.js";
import { CARD_SIZE, type Card, type CardText } from "./png.js";
import { PALETTES, styleOf } from "./themes.js";

/** Draws cards, in the rendering thread: only there are the fonts known that measure and draw their texts. */

/** Of the line of a year. */
const STYLE = `${styleOf("dark")}.chart-line-1{stroke-width:4}`;

export function drawCard({ shapes, texts }: Card, fonts: Fonts): string {
  const { width, height } = CARD_SIZE;
  return element(
    "svg",
    { ...svgOf(width, height), "font-family": FONT_FAMILY },
    element("style", {}, new Markup(STYLE)),
    element("rect", { x: 0, y: 0, width, height, fill: PALETTES.dark.background }),
    new Markup(shapes),
    ...texts.flatMap((text) => drawText(text, fonts)),
  ).xml;
}

function drawText(card: CardText, fonts: Fonts): Markup[] {
  const { text, instead = "", x, y, width, fill, anchor, leastSize, isBold = false, lines } = card;
  const measure = (some: string, size: number) => fonts.measure(some, size, isBold ? "bold" : "sans");
  const look = { x, fill, "font-weight": isBold ? 700 : undefined, "text-anchor": anchor };
  if (lines !== undefined) {
    const prose = fonts.drawable(plainText(text)) ?? "";
    return wrap(prose, { size: card.size, width, measure }, lines).map((line, i) =>
      element("text", { ...look, y: y + i * Math.round(card.size * 1.43), "font-size": card.size }, line),
    );
  }
  const own = fonts.readable(text);
  const shown = own === "…" && instead !== "" ? fonts.readable(instead) : own;
  const largest = Math.floor(width / Math.max(1, measure(shown.slice(0, 200), 1)));
  const size = Math.max(leastSize ?? card.size, Math.min(card.size, largest));
  const fitted = (card.isName === true ? fitFullName : fit)(shown, { size, width, measure });
  return [element("text", { ...look, y, "font-size": size }, fitted)];
}
