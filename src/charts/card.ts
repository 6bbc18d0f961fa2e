import { forgeName } from "../config/config.js";
import { WINDOW_LABELS, type Window } from "../growth/growth.js";
import { basisOf } from "../repositories/repositories.js";
import { drawArea, drawLine, toLine } from "./lines.js";
import { element } from "./markup.js";
import { exactNumber, shortNumber, signedNumber } from "./numbers.js";
import { type CardAge, PAD, type RepositoryCard, RIGHT } from "./png.js";
import type { ChartPoint } from "./series.js";

/** What the card of a repository shows; null: unknown. */
export interface CardInput extends CardAge {
  provider: string;
  fullName: string;
  description: string | null;
  language: string | null;
  stars: number | null;
  /** `counted`: what of the gain counts, such as "none counted"; absent: all of it. */
  gained: readonly { window: Window; stars: number | null; counted?: string }[];
  /** Its best rank: "#3 trending in Rust · 7 days". */
  rank: string | null;
  /** Stars over a year, oldest first. */
  points: readonly ChartPoint[];
  /** A short note for readers, shown instead of the date. */
  note?: string;
}

/** The content of the card of a repository, as words and lines for the rendering thread. */
export function repositoryCard(input: CardInput): RepositoryCard {
  const { provider, fullName, description, language, rank, asOf, ageDays, note } = input;
  const at = fullName.lastIndexOf("/");
  return {
    forge: forgeName(provider),
    owner: fullName.slice(0, Math.max(0, at)),
    name: fullName.slice(at + 1),
    ...{ description, language, rank, asOf },
    ...(ageDays === undefined ? {} : { ageDays }),
    ...(note === undefined ? {} : { note }),
    numbers: numbersOf(input),
    year: drawYear(input.points),
  };
}

/** Stars and gains, side by side. */
function numbersOf({ stars, gained }: CardInput): RepositoryCard["numbers"] {
  const short = (gain: number) => `${gain < 0 ? "−" : "+"}${shortNumber(Math.abs(gain))}`;
  return [
    { value: stars === null ? "–" : stars < 1e6 ? exactNumber(stars) : shortNumber(stars), name: "stars" },
    ...gained.map(({ window, stars: gain, counted }) => ({
      value: gain === null ? "–" : Math.abs(gain) < 1e6 ? signedNumber(gain) : short(gain),
      name: `in ${WINDOW_LABELS[window]}${counted === undefined ? "" : `, ${counted}`}`,
    })),
  ];
}

/** The stars over a year, above the foot of the card. */
function drawYear(points: CardInput["points"]): RepositoryCard["year"] {
  const known = points.filter(({ at, value }) => Number.isFinite(at) && Number.isFinite(value));
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined || last.at <= first.at)
    return { svg: "", hasRetained: false };
  const [top, bottom] = [424, 552];
  const values = known.map(({ value }) => value);
  const low = values.reduce((a, b) => Math.min(a, b));
  const high = values.reduce((a, b) => Math.max(a, b));
  const line = toLine(
    { name: "", points: known, gaps: [] },
    {
      x: (at) => PAD + ((at - first.at) / (last.at - first.at)) * (RIGHT - PAD),
      y: (value) =>
        high === low ? (top + bottom) / 2 : bottom - ((value - low) / (high - low)) * (bottom - top),
    },
  );
  const end = line.at(-1);
  const dot = end && element("circle", { class: "chart-mark-1", cx: end.x, cy: end.y, r: 7 });
  const drawn = [...drawArea(line, bottom + 4, 1), ...drawLine(line, 1), ...(dot ? [dot] : [])];
  return {
    svg: drawn.map(({ xml }) => xml).join(""),
    hasRetained: known.some(({ source }) => basisOf(source) === "RETAINED"),
  };
}
