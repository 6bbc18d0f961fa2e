import { forgeName } from "../config/config.js";
import { WINDOW_LABELS, type Window } from "../growth/growth.js";
import type { Repository } from "../repositories/repositories.js";
import { drawArea, drawGaps, drawLine, toLine } from "./lines.js";
import { element, type Markup } from "./markup.js";
import { agedDate, exactNumber, shortNumber, signedNumber, signedShort } from "./numbers.js";
import { CARD_SIZE, type Card, type CardText } from "./png.js";
import type { ChartPoint, ChartSeries } from "./series.js";
import { PALETTES } from "./themes.js";

/** The content of cards, and its place: their texts are fitted by the rendering thread. */

const { text: INK, muted: MUTED, lines, border } = PALETTES.dark;
const ACCENT = lines[0] ?? INK;
const CAUTION = "#f0b860";
/** The left and right edges of a card's content. */
const LEFT = 64;
const RIGHT = CARD_SIZE.width - LEFT;
/** Texts as wide as the card. */
const WHOLE = { x: LEFT, width: RIGHT - LEFT };

/** The age of the data of a card, as of when it was drawn. */
interface CardAge {
  asOf: number | null;
  /** Days from `asOf` to the response; absent: not shown. */
  ageDays?: number | null;
  /** A short note for readers, shown instead of the date. */
  note?: string;
}

/** The foot of a card: the service, and the note or else the date of the data, in another colour once that is old. */
function footOf({ asOf, ageDays, note }: CardAge): CardText {
  const date = asOf === null ? [] : [`as of ${agedDate(asOf, ageDays)}`];
  const fill = note !== undefined || (ageDays ?? 0) > 1 ? CAUTION : MUTED;
  const text = ["Sidereal", ...(note === undefined ? date : [note])].join(" · ");
  return { text, x: RIGHT, y: 598, width: 560, size: 22, fill, anchor: "end" };
}

/** The content of a repository's card besides its own facts; null: unknown. */
export interface CardInput extends CardAge {
  /** `counted`: the part of the gain that counts, such as "none counted"; absent: all of it. */
  gained: readonly { window: Window; stars: number | null; counted?: string }[];
  /** Its best rank: "#3 trending in Rust · 7 days". */
  rank: string | null;
  /** Stars over a year, oldest first. */
  points: readonly ChartPoint[];
  gaps: ChartSeries["gaps"];
  /** What readers must know of these, as `notesOf` says. */
  shown?: string | undefined;
}

export function repositoryCard(
  repository: Pick<Repository, "provider" | "fullName" | "description" | "language" | "stars">,
  { gained, points, gaps, rank, shown, ...age }: CardInput,
): Card {
  const { fullName, description, language, stars } = repository;
  const forge = forgeName(repository.provider);
  const slash = fullName.lastIndexOf("/");
  const owner = fullName.slice(0, Math.max(0, slash));
  const where = [forge, owner, ...(language === null ? [] : [language])].join("  ·  ");
  const noted = { text: shown ?? "", ...WHOLE, y: 420, size: 18, fill: MUTED };
  const ranked = { x: LEFT, y: 598, width: 500, size: 24, fill: INK, isBold: true };
  const numbers = [
    { value: stars === null ? "–" : countText(stars), name: "stars" },
    ...gained.map(({ window, stars: gain, counted }) => ({
      value: gain === null ? "–" : gainText(gain),
      name: `in ${WINDOW_LABELS[window]}${counted === undefined ? "" : `, ${counted}`}`,
    })),
  ];
  const column = WHOLE.width / numbers.length;
  return {
    shapes: drawYear(points, gaps),
    texts: [
      { text: where, ...WHOLE, y: 92, size: 28, fill: MUTED },
      {
        ...{ text: fullName.slice(slash + 1), instead: `${forge} · ${owner}` },
        ...{ ...WHOLE, y: 172, size: 76, leastSize: 40, fill: INK, isBold: true },
      },
      { text: description ?? "", ...WHOLE, y: 226, size: 28, fill: INK, lines: 2 },
      ...numbers.flatMap(({ value, name }, i): CardText[] => {
        const place = { x: LEFT + i * column, width: column - 16 };
        return [
          { text: value, ...place, y: 356, size: 46, fill: i === 0 ? INK : ACCENT, isBold: true },
          { text: name, ...place, y: 390, size: 22, fill: MUTED },
        ];
      }),
      ...(shown === undefined ? [] : [noted]),
      ...(rank === null ? [] : [{ text: rank, ...ranked }]),
      footOf(age),
    ],
  };
}

const countText = (count: number): string => (count < 1e6 ? exactNumber(count) : shortNumber(count));
const gainText = (gain: number): string => (Math.abs(gain) < 1e6 ? signedNumber(gain) : signedShort(gain));

/** The stars over a year, above the foot of the card. */
function drawYear(points: readonly ChartPoint[], gaps: ChartSeries["gaps"]): string {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || last.at <= first.at) return "";
  const [top, bottom] = [424, 552];
  const values = points.map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const line = toLine(
    { name: "", points, gaps },
    {
      x: (at) => LEFT + ((at - first.at) / (last.at - first.at)) * WHOLE.width,
      y: (value) =>
        high === low ? (top + bottom) / 2 : bottom - ((value - low) / (high - low)) * (bottom - top),
    },
  );
  const end = line
    .slice(-1)
    .map(({ x, y }) => element("circle", { class: "chart-mark-1", cx: x, cy: y, r: 7 }));
  const foot = bottom + 4;
  return xmlOf([...drawGaps(line, foot), ...drawArea(line, foot, 1), ...drawLine(line, 1), ...end]);
}

const xmlOf = (parts: readonly Markup[]): string => parts.map(({ xml }) => xml).join("");

/** Entries of a list that a card shows. */
export const MAX_CARD_ROWS = 3;

/** The content of the card of a page: its title, a description, and the beginning of its list. */
export interface PageCardInput extends CardAge {
  title: string;
  /** A sentence or two about the page. */
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

export function pageCard({ title, lead, rows, ...age }: PageCardInput): Card {
  const shown = rows.slice(0, MAX_CARD_ROWS);
  const [titleY, leadY, leadLines] = shown.length > 0 ? [128, 184, 1] : [250, 320, 4];
  const rule = (i: number) => ({ x: LEFT, y: rowY(i) - 46, width: WHOLE.width, height: 1.5, fill: border });
  return {
    shapes: xmlOf(shown.map((_, i) => element("rect", rule(i)))),
    texts: [
      { text: title, ...WHOLE, y: titleY, size: 64, leastSize: 40, fill: INK, isBold: true },
      { text: lead, ...WHOLE, y: leadY, size: 28, fill: INK, lines: leadLines },
      ...shown.flatMap(rowTexts),
      footOf(age),
    ],
  };
}

const rowY = (i: number): number => 262 + i * 98;

function rowTexts({ name, detail, value, unit }: PageCardRow, i: number): CardText[] {
  const y = rowY(i);
  const left = { x: LEFT + 56, width: WHOLE.width - 56 - 300 - 24 };
  const right = { x: RIGHT, width: 300, anchor: "end" } as const;
  return [
    { text: String(i + 1), x: LEFT, y, width: 50, size: 34, fill: MUTED, isBold: true },
    { text: name, ...left, y, size: 34, leastSize: 28, fill: INK, isBold: true, isName: true },
    { text: detail, ...left, y: y + 34, size: 22, fill: MUTED },
    { text: value, ...right, y, size: 36, fill: ACCENT, isBold: true },
    { text: unit, ...right, y: y + 34, size: 20, fill: MUTED },
  ];
}
