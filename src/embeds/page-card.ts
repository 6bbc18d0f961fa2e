import { ACCENT, type CardAge, CardWriter, COLOURS, cardOf, PAD, RIGHT } from "./card-parts.js";
import type { Fonts } from "./fonts.js";
import { element, type Markup } from "./markup.js";
import { fitFullName } from "./text.js";

/** The content of the card of a page: its title, what it is, and the beginning of its list. */
export interface PageCardInput extends CardAge {
  title: string;
  /** What the page shows, in a sentence or two. */
  lead: string;
  /** The first entries of its list; MAX_CARD_ROWS are shown. */
  rows: readonly PageCardRow[];
}

export interface PageCardRow {
  name: string;
  /** Below the name. */
  detail: string;
  /** At the right, such as "+1,234". */
  value: string;
  /** Below the value: "stars in 7 days". */
  unit: string;
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
