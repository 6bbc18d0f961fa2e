import { FONT_FAMILY, type Fonts, type Weight } from "./fonts.js";
import { element, Markup, plainText, svgOf } from "./markup.js";
import { agedDate } from "./numbers.js";
import type { CardAge, PageCardInput, PageCardRow, RepositoryCard } from "./png.js";
import { fit, fitFullName, type Measure, wrap } from "./text.js";
import { PALETTES } from "./themes.js";

/** Draws cards, in the rendering thread: only there are the fonts known that measure and draw their texts. */

/** The size recommended for Open Graph images. */
export const CARD_SIZE = { width: 1200, height: 630 };

export const PAD = 64;
export const RIGHT = CARD_SIZE.width - PAD;
const COLOURS = PALETTES.dark;
export const ACCENT = COLOURS.lines[0] ?? COLOURS.text;
const CAUTION = "#f0b860";

/** The card as SVG for PngRenderer. */
export function drawRepositoryCard(card: RepositoryCard, fonts: Fonts): string {
  const writer = new CardWriter(fonts);
  const maxWidth = RIGHT - PAD;
  const { year, rank } = card;
  return cardOf(
    new Markup(year.svg),
    ...(year.hasRetained
      ? [
          writer.line(
            "dotted: stars still held, as reported later",
            { x: PAD, y: 420, maxWidth },
            { size: 18, colour: COLOURS.muted },
          ),
        ]
      : []),
    ...drawNames(card, writer),
    ...drawNumbers(card, writer),
    ...(rank === null
      ? []
      : [
          writer.line(
            rank,
            { x: PAD, y: 598, maxWidth: 500 },
            { size: 24, colour: COLOURS.text, isBold: true },
          ),
        ]),
    writer.source(card, card.note),
  );
}

function drawNames(
  { forge, owner, name, description, language }: RepositoryCard,
  writer: CardWriter,
): Markup[] {
  const where = [forge, owner, ...(language === null ? [] : [language])];
  const shown = writer.readable(name);
  // A name of which nothing can be drawn is no title.
  const title = shown === "…" ? `${forge} · ${writer.readable(owner)}` : shown;
  const measured = writer.measure("bold")(title.slice(0, 200), 1);
  const size = Math.max(40, Math.min(76, Math.floor((RIGHT - PAD) / Math.max(1, measured))));
  const maxWidth = RIGHT - PAD;
  return [
    writer.line(where.join("  ·  "), { x: PAD, y: 92, maxWidth }, { size: 28, colour: COLOURS.muted }),
    writer.line(title, { x: PAD, y: 172, maxWidth }, { size, colour: COLOURS.text, isBold: true }),
    ...writer.lines(description, { x: PAD, y: 226, maxWidth }, { size: 28, most: 2 }),
  ];
}

function drawNumbers({ numbers }: RepositoryCard, writer: CardWriter): Markup[] {
  const width = (RIGHT - PAD) / numbers.length;
  return numbers.flatMap(({ value, name }, i) => {
    const x = PAD + i * width;
    const colour = i === 0 ? COLOURS.text : ACCENT;
    return [
      writer.line(value, { x, y: 356, maxWidth: width - 16 }, { size: 46, colour, isBold: true }),
      writer.line(name, { x, y: 390, maxWidth: width - 16 }, { size: 22, colour: COLOURS.muted }),
    ];
  });
}

export const MAX_CARD_ROWS = 3;

const ROW_TOP = 262;
const ROW_HEIGHT = 98;

/** The card of a page as SVG for PngRenderer. */
export function drawPageCard({ title, lead, rows, ...age }: PageCardInput, fonts: Fonts): string {
  const writer = new CardWriter(fonts);
  const maxWidth = RIGHT - PAD;
  const shown = writer.readable(title);
  const width = writer.measure("bold")(shown.slice(0, 200), 1);
  const size = Math.max(40, Math.min(64, Math.floor(maxWidth / Math.max(1, width))));
  const hasRows = rows.length > 0;
  return cardOf(
    writer.line(
      title,
      { x: PAD, y: hasRows ? 128 : 250, maxWidth },
      { size, colour: COLOURS.text, isBold: true },
    ),
    ...writer.lines(lead, { x: PAD, y: hasRows ? 184 : 320, maxWidth }, { size: 28, most: hasRows ? 1 : 4 }),
    ...rows.slice(0, MAX_CARD_ROWS).flatMap((row, i) => drawRow(writer, row, i)),
    writer.source(age),
  );
}

function drawRow(writer: CardWriter, { name, detail, value, unit }: PageCardRow, i: number): Markup[] {
  const y = ROW_TOP + i * ROW_HEIGHT;
  const [left, right] = [PAD + 56, 300];
  const maxWidth = RIGHT - left - right - 24;
  const measure = writer.measure("bold");
  const shown = writer.readable(name);
  const titleSize = [34, 28].find((size) => measure(shown, size) <= maxWidth) ?? 28;
  // A name that is too long even so loses its owner before its end.
  const title = fitFullName(shown, { size: titleSize, width: maxWidth, measure });
  return [
    element("rect", { x: PAD, y: y - 46, width: RIGHT - PAD, height: 1.5, fill: COLOURS.border }),
    writer.line(
      String(i + 1),
      { x: PAD, y, maxWidth: 50 },
      { size: 34, colour: COLOURS.muted, isBold: true },
    ),
    writer.line(title, { x: left, y, maxWidth }, { size: titleSize, colour: COLOURS.text, isBold: true }),
    writer.line(detail, { x: left, y: y + 34, maxWidth }, { size: 22, colour: COLOURS.muted }),
    writer.line(
      value,
      { x: RIGHT, y, maxWidth: right },
      { size: 36, colour: ACCENT, isBold: true, anchor: "end" },
    ),
    writer.line(
      unit,
      { x: RIGHT, y: y + 34, maxWidth: right },
      { size: 20, colour: COLOURS.muted, anchor: "end" },
    ),
  ];
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

  /** The foot of a card: the service, and the note or else the date of the data, in another colour once that is old. */
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
function cardOf(...content: readonly Markup[]): string {
  const { width, height } = CARD_SIZE;
  return element(
    "svg",
    { ...svgOf(width, height), "font-family": FONT_FAMILY },
    element("rect", { x: 0, y: 0, width, height, fill: COLOURS.background }),
    ...content,
  ).xml;
}
