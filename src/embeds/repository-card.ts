import { ACCENT, type CardAge, CardWriter, COLOURS, cardOf, PAD, RIGHT } from "./card-parts.js";
import type { Fonts } from "./fonts.js";
import { Markup } from "./markup.js";

/** The content of the card of a repository. */
export interface RepositoryCard extends CardAge {
  forge: string;
  owner: string;
  name: string;
  description: string | null;
  language: string | null;
  /** Side by side; the first one is its stars. */
  numbers: readonly { value: string; name: string }[];
  rank: string | null;
  /** Its stars over a year as elements of SVG, and whether some of them are counts of stars still held. */
  year: { svg: string; hasRetained: boolean };
  /** A short note for readers, shown instead of the date. */
  note?: string;
}

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
