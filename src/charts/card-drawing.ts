import { FONT_FAMILY, type Fonts, type Weight } from "./fonts.js";
import { element, Markup, plainText, svgOf } from "./markup.js";
import { agedDate } from "./numbers.js";
import {
  CARD_SIZE,
  type CardAge,
  MAX_CARD_ROWS,
  PAD,
  type PageCardInput,
  type PageCardRow,
  type RepositoryCard,
  RIGHT,
} from "./png.js";
import { fit, fitFullName, type Measure, wrap } from "./text.js";
import { PALETTES, styleOf } from "./themes.js";

/** Draws cards, in the rendering thread: only there are the fonts known that measure and draw their texts. */

const COLOURS = PALETTES.dark;
const ACCENT = COLOURS.lines[0] ?? COLOURS.text;
/** Of the line of a year. */
const STYLE = `${styleOf("dark")}.chart-line-1{stroke-width:4}.chart-line-1[stroke-dasharray]{stroke-dasharray:0.1 8}`;
const CAUTION = "#f0b860";

const maxWidth = RIGHT - PAD;
/** Texts at the left edge, as wide as the card. */
const WHOLE = { x: PAD, maxWidth };

/** The card as SVG for PngRenderer. */
export function drawRepositoryCard(card: RepositoryCard, fonts: Fonts): string {
  const writer = new CardWriter(fonts);
  const { year, rank } = card;
  return cardOf(
    new Markup(year.svg),
    ...(year.hasRetained
      ? [writer.line("dotted: stars still held, as reported later", { ...WHOLE, y: 420, size: 18 })]
      : []),
    ...drawNames(card, writer),
    ...drawNumbers(card, writer),
    ...(rank === null
      ? []
      : [writer.line(rank, { x: PAD, y: 598, maxWidth: 500, size: 24, colour: COLOURS.text, isBold: true })]),
    writer.source(card),
  );
}

function drawNames({ forge, owner, name, description, language }: RepositoryCard, writer: CardWriter) {
  const where = [forge, owner, ...(language === null ? [] : [language])];
  const shown = writer.readable(name);
  // A name of which nothing can be drawn is no title.
  const title = shown === "…" ? `${forge} · ${writer.readable(owner)}` : shown;
  return [
    writer.line(where.join("  ·  "), { ...WHOLE, y: 92, size: 28 }),
    writer.title(title, 172, 76),
    ...writer.lines(description, { ...WHOLE, y: 226, size: 28, most: 2 }),
  ];
}

function drawNumbers({ numbers }: RepositoryCard, writer: CardWriter): Markup[] {
  const width = maxWidth / numbers.length;
  return numbers.flatMap(({ value, name }, i) => {
    const place = { x: PAD + i * width, maxWidth: width - 16 };
    const colour = i === 0 ? COLOURS.text : ACCENT;
    return [
      writer.line(value, { ...place, y: 356, size: 46, colour, isBold: true }),
      writer.line(name, { ...place, y: 390, size: 22 }),
    ];
  });
}

const ROW_TOP = 262;
const ROW_HEIGHT = 98;

/** The card of a page as SVG for PngRenderer. */
export function drawPageCard({ title, lead, rows, ...age }: PageCardInput, fonts: Fonts): string {
  const writer = new CardWriter(fonts);
  const hasRows = rows.length > 0;
  return cardOf(
    writer.title(writer.readable(title), hasRows ? 128 : 250, 64),
    ...writer.lines(lead, { ...WHOLE, y: hasRows ? 184 : 320, size: 28, most: hasRows ? 1 : 4 }),
    ...rows.slice(0, MAX_CARD_ROWS).flatMap((row, i) => drawRow(writer, row, i)),
    writer.source(age),
  );
}

function drawRow(writer: CardWriter, { name, detail, value, unit }: PageCardRow, i: number): Markup[] {
  const y = ROW_TOP + i * ROW_HEIGHT;
  const right = { x: RIGHT, maxWidth: 300, anchor: "end" } as const;
  const left = { x: PAD + 56, maxWidth: RIGHT - PAD - 56 - 300 - 24 };
  const measure = writer.measure("bold");
  const shown = writer.readable(name);
  const size = [34, 28].find((one) => measure(shown, one) <= left.maxWidth) ?? 28;
  // A name that is too long even so loses its owner before its end.
  const title = fitFullName(shown, { size, width: left.maxWidth, measure });
  return [
    element("rect", { x: PAD, y: y - 46, width: maxWidth, height: 1.5, fill: COLOURS.border }),
    writer.line(String(i + 1), { x: PAD, y, maxWidth: 50, size: 34, isBold: true }),
    writer.line(title, { ...left, y, size, colour: COLOURS.text, isBold: true }),
    writer.line(detail, { ...left, y: y + 34, size: 22 }),
    writer.line(value, { ...right, y, size: 36, colour: ACCENT, isBold: true }),
    writer.line(unit, { ...right, y: y + 34, size: 20 }),
  ];
}

/** Where a text is and how it looks. */
interface Style {
  x: number;
  y: number;
  maxWidth: number;
  size: number;
  /** Default: that of less important texts. */
  colour?: string;
  isBold?: boolean;
  anchor?: "end";
}

/** Writes on a card, with the fonts that the rendering thread has. */
class CardWriter {
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
  line(
    text: string,
    { x, y, maxWidth, size, colour = COLOURS.muted, isBold = false, anchor }: Style,
  ): Markup {
    const measure = this.measure(isBold ? "bold" : "plain");
    const look = { fill: colour, "font-weight": isBold ? 700 : undefined, "text-anchor": anchor };
    const shown = fit(this.readable(text), { size, width: maxWidth, measure });
    return element("text", { x, y, "font-size": size, ...look }, shown);
  }

  /** The title of a card, as large as fits: up to `most`. */
  title(text: string, y: number, most: number): Markup {
    const width = this.measure("bold")(text.slice(0, 200), 1);
    const size = Math.max(40, Math.min(most, Math.floor(maxWidth / Math.max(1, width))));
    return this.line(text, { ...WHOLE, y, size, colour: COLOURS.text, isBold: true });
  }

  /** A text of at most `most` lines; nothing if it is unknown or hardly any of it can be drawn. */
  lines(text: string | null, { most, ...style }: Style & { most: number }): Markup[] {
    const shown = text === null ? undefined : this.#fonts.drawable(plainText(text));
    if (shown === undefined) return [];
    const { size, y, maxWidth: width } = style;
    return wrap(shown, { size, width, measure: this.measure("plain") }, most).map((line, i) =>
      this.line(line, { ...style, y: y + i * Math.round(size * 1.43), colour: COLOURS.text }),
    );
  }

  /** The foot of a card: the service, and the note or else the date of the data, in another colour once that is old. */
  source({ asOf, ageDays, note }: CardAge): Markup {
    const date = asOf === null ? [] : [`as of ${agedDate(asOf, ageDays)}`];
    const colour = note !== undefined || (ageDays ?? 0) > 1 ? CAUTION : COLOURS.muted;
    const words = ["Sidereal", ...(note === undefined ? date : [note])].join(" · ");
    return this.line(words, { x: RIGHT, y: 598, maxWidth: 560, size: 22, colour, anchor: "end" });
  }
}

/** The frame of a card around its content. */
function cardOf(...content: readonly Markup[]): string {
  const { width, height } = CARD_SIZE;
  return element(
    "svg",
    { ...svgOf(width, height), "font-family": FONT_FAMILY },
    element("style", {}, new Markup(STYLE)),
    element("rect", { x: 0, y: 0, width, height, fill: COLOURS.background }),
    ...content,
  ).xml;
}
