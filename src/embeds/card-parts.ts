import { FONT_FAMILY, type Fonts, type Weight } from "./fonts.js";
import { element, type Markup, plainText, svgOf } from "./markup.js";
import { agedDate } from "./numbers.js";
import { fit, type Measure, wrap } from "./text.js";
import { PALETTES } from "./themes.js";

/** What all cards have in common. */

/** The size recommended for Open Graph images. */
export const CARD_SIZE = { width: 1200, height: 630 };

export const PAD = 64;
export const RIGHT = CARD_SIZE.width - PAD;
export const COLOURS = PALETTES.dark;
export const ACCENT = COLOURS.lines[0] ?? COLOURS.text;
const CAUTION = "#f0b860";

/** When the data of a card was observed, and how old it was when the card was drawn. */
export interface CardAge {
  asOf: number | null;
  /** Days from `asOf` to the response; absent: not shown. */
  ageDays?: number | null;
}

interface Position {
  x: number;
  y: number;
  maxWidth: number;
}

interface Style {
  size: number;
  colour: string;
  isBold?: boolean;
  anchor?: "end";
}

/** Writes on a card, with the fonts that the rendering thread has. */
export class CardWriter {
  readonly #fonts: Fonts;

  constructor(fonts: Fonts) {
    this.#fonts = fonts;
  }

  measure(weight: Weight): Measure {
    return (text, size) => this.#fonts.measure(text, size, weight);
  }

  /** The part of a text that can be drawn, with an ellipsis if much is missing: a name is never left out entirely. */
  readable(text: string): string {
    const plain = plainText(text);
    const whole = this.#fonts.drawable(plain);
    if (whole !== undefined) return whole;
    const part = this.#fonts.partOf(plain).trim();
    return /[\p{L}\p{N}]/u.test(part) ? `${part}…` : "…";
  }

  /** A line of text, cut at `maxWidth`. */
  line(text: string, { x, y, maxWidth }: Position, { size, colour, isBold = false, anchor }: Style): Markup {
    const measure = this.measure(isBold ? "bold" : "plain");
    return element(
      "text",
      {
        x,
        y,
        "font-size": size,
        fill: colour,
        ...(isBold ? { "font-weight": 700 } : {}),
        ...(anchor === undefined ? {} : { "text-anchor": anchor }),
      },
      fit(this.readable(text), { size, width: maxWidth, measure }),
    );
  }

  /** A text of at most `most` lines; nothing where it is unknown or hardly any of it can be drawn. */
  lines(
    text: string | null,
    { x, y, maxWidth }: Position,
    { size, most }: { size: number; most: number },
  ): Markup[] {
    const shown = text === null ? undefined : this.#fonts.drawable(plainText(text));
    if (shown === undefined) return [];
    const wrapped = wrap(shown, { size, width: maxWidth, measure: this.measure("plain") }, most);
    return wrapped.map((line, i) =>
      this.line(line, { x, y: y + i * Math.round(size * 1.43), maxWidth }, { size, colour: COLOURS.text }),
    );
  }

  /** What a card ends with: the service, and the note, or when its data was observed, in another colour once that is old. */
  source({ asOf, ageDays }: CardAge, note?: string): Markup {
    const date = asOf === null ? [] : [`as of ${agedDate(asOf, ageDays)}`];
    const isOld = note !== undefined || (ageDays ?? 0) > 1;
    return this.line(
      ["Sidereal", ...(note === undefined ? date : [note])].join(" · "),
      { x: RIGHT, y: 598, maxWidth: 560 },
      { size: 22, colour: isOld ? CAUTION : COLOURS.muted, anchor: "end" },
    );
  }
}

/** The frame of a card around its content. */
export function cardOf(...content: readonly Markup[]): string {
  const { width, height } = CARD_SIZE;
  return element(
    "svg",
    { ...svgOf(width, height), "font-family": FONT_FAMILY },
    element("rect", { x: 0, y: 0, width, height, fill: COLOURS.background }),
    ...content,
  ).xml;
}
