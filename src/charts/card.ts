import { forgeName } from "../config/config.js";
import { WINDOW_LABELS, type Window } from "../growth/growth.js";
import { basisOf } from "../repositories/repositories.js";
import { ACCENT, PAD, RIGHT } from "./card-drawing.js";
import { MAX_POINTS, type Point, pathOf } from "./lines.js";
import { element, type Markup } from "./markup.js";
import { exactNumber, shortNumber, signedNumber } from "./numbers.js";
import type { CardAge, RepositoryCard } from "./png.js";
import { type ChartPoint, isBroken, reducePoints } from "./series.js";

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
  const low = known.reduce((least, { value }) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = known.reduce((most, { value }) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  const pointOf = ({ at, value }: ChartPoint): Point => ({
    x: PAD + ((at - first.at) / (last.at - first.at)) * (RIGHT - PAD),
    y: high === low ? (top + bottom) / 2 : bottom - ((value - low) / (high - low)) * (bottom - top),
  });
  const end = pointOf(last);
  const runs = runsOf(reducePoints(known, [], MAX_POINTS));
  const isRetained = (run: readonly ChartPoint[]) => run.some(({ source }) => basisOf(source) === "RETAINED");
  const drawn = runs.flatMap((run) => drawRun(run.map(pointOf), bottom + 4, isRetained(run)));
  const dot = element("circle", { cx: end.x, cy: end.y, r: 7, fill: ACCENT });
  return { svg: [...drawn, dot].map(({ xml }) => xml).join(""), hasRetained: runs.some(isRetained) };
}

/** The parts of a line between its seams. */
function runsOf(points: readonly ChartPoint[]): ChartPoint[][] {
  const runs: ChartPoint[][] = [];
  for (const [i, point] of points.entries()) {
    const run = runs.at(-1);
    if (run === undefined || isBroken(points[i - 1], point)) runs.push([point]);
    else run.push(point);
  }
  return runs;
}

function drawRun(points: readonly Point[], bottom: number, isRetained: boolean): Markup[] {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || points.length < 2) return [];
  const outline = [...points, { x: last.x, y: bottom }, { x: first.x, y: bottom }];
  return [
    element("path", { d: `${pathOf(outline)}Z`, fill: ACCENT, "fill-opacity": 0.14 }),
    element("path", {
      d: pathOf(points),
      fill: "none",
      stroke: ACCENT,
      "stroke-width": 4,
      "stroke-linejoin": "round",
      ...(isRetained ? { "stroke-linecap": "round", "stroke-dasharray": "0.1 8" } : {}),
    }),
  ];
}
