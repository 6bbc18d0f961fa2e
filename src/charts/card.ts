import { forgeName } from "../config/config.js";
import { WINDOW_LABELS, type Window } from "../growth/growth.js";
import { basisOf, type Repository } from "../repositories/repositories.js";
import { drawArea, drawLine, toLine } from "./lines.js";
import { element } from "./markup.js";
import { exactNumber, shortNumber, signedNumber, signedShort } from "./numbers.js";
import { type CardAge, PAD, type RepositoryCard, RIGHT } from "./png.js";
import type { ChartPoint } from "./series.js";

/** What the card of a repository shows besides its own facts; null: unknown. */
export interface CardInput extends CardAge {
  /** `counted`: what of the gain counts, such as "none counted"; absent: all of it. */
  gained: readonly { window: Window; stars: number | null; counted?: string }[];
  /** Its best rank: "#3 trending in Rust · 7 days". */
  rank: string | null;
  /** Stars over a year, oldest first. */
  points: readonly ChartPoint[];
}

/** The content of the card of a repository, as words and lines for the rendering thread. */
export function repositoryCard(
  repository: Pick<Repository, "provider" | "fullName" | "description" | "language" | "stars">,
  { gained, points, ...others }: CardInput,
): RepositoryCard {
  const { provider, fullName, description, language, stars } = repository;
  const slash = fullName.lastIndexOf("/");
  return {
    ...others,
    forge: forgeName(provider),
    owner: fullName.slice(0, Math.max(0, slash)),
    name: fullName.slice(slash + 1),
    ...{ description, language },
    numbers: [
      { value: stars === null ? "–" : countText(stars), name: "stars" },
      ...gained.map(({ window, stars: gain, counted }) => ({
        value: gain === null ? "–" : gainText(gain),
        name: `in ${WINDOW_LABELS[window]}${counted === undefined ? "" : `, ${counted}`}`,
      })),
    ],
    year: drawYear(points),
  };
}

const countText = (count: number): string => (count < 1e6 ? exactNumber(count) : shortNumber(count));
const gainText = (gain: number): string => (Math.abs(gain) < 1e6 ? signedNumber(gain) : signedShort(gain));

/** The stars over a year, above the foot of the card. */
function drawYear(points: readonly ChartPoint[]): RepositoryCard["year"] {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || last.at <= first.at)
    return { svg: "", hasRetained: false };
  const [top, bottom] = [424, 552];
  const values = points.map(({ value }) => value);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const line = toLine(
    { name: "", points, gaps: [] },
    {
      x: (at) => PAD + ((at - first.at) / (last.at - first.at)) * (RIGHT - PAD),
      y: (value) =>
        high === low ? (top + bottom) / 2 : bottom - ((value - low) / (high - low)) * (bottom - top),
    },
  );
  const dots = line
    .slice(-1)
    .map(({ x, y }) => element("circle", { class: "chart-mark-1", cx: x, cy: y, r: 7 }));
  return {
    svg: [...drawArea(line, bottom + 4, 1), ...drawLine(line, 1), ...dots].map(({ xml }) => xml).join(""),
    hasRetained: points.some(({ source }) => basisOf(source) === "RETAINED"),
  };
}
