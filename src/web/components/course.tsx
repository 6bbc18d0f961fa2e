import type { FunctionComponent as FC } from "preact";
import { type ChartPoint, MILESTONES, starPath } from "../../charts/charts.js";
import { formatCompact, monthText } from "./numbers.js";
import { frameData, readingsData } from "./plot.js";
import { fixed, thinned, yearsOf } from "./small-charts.js";

/** A whole life on the first page of a site: a line up to now, which ends in a star, over a soft area, with flags at round numbers. */

type Points = readonly Pick<ChartPoint, "at" | "value">[];

interface Look {
  width: number;
  height: number;
  /** Room at the right of the star, above it and below the floor. */
  right: number;
  top: number;
  below: number;
  star: number;
  /** Height of the letters of flags, and how many there are. */
  flag: number;
  flags: number;
  /** Whether flags have months, and the years are named. */
  isDated: boolean;
  /** Where the years begin. */
  left: number;
}

const LOOKS = {
  card: {
    width: 400,
    height: 132,
    right: 26,
    top: 40,
    below: 8,
    star: 10,
    flag: 12,
    flags: 1,
    isDated: false,
    left: 8,
  },
  wide: {
    width: 1440,
    height: 360,
    right: 144,
    top: 72,
    below: 34,
    star: 18,
    flag: 15,
    flags: 3,
    isDated: true,
    left: 120,
  },
  narrow: {
    width: 390,
    height: 210,
    right: 27,
    top: 42,
    below: 34,
    star: 13,
    flag: 12,
    flags: 3,
    isDated: true,
    left: 16,
  },
} as const satisfies Record<string, Look>;

interface CourseProps {
  /** What the ids of the drawing begin with. */
  id: string;
  look: keyof typeof LOOKS;
  /** Totals, oldest first. */
  points: Points;
}

/** Below it, each star is drawn. */
const FEW = 12;
/** Pixels between points of a line; closer ones cannot be distinguished. */
const STEP = 4;
const MOST_POINTS = 160;
/** Half the width of a year. */
const YEAR = 20;

/** The drawing, hidden from screen readers, which get the numbers next to it; nothing of a life without two points. */
export const Course: FC<CourseProps> = ({ id, look, points }) => {
  const { width, height, star, ...room } = LOOKS[look];
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || first.at >= last.at) return null;
  const [right, base] = [width - room.right, height - room.below];
  const most = Math.max(1, ...points.map(({ value }) => value));
  const x = (at: number) => ((at - first.at) * right) / (last.at - first.at);
  const y = (value: number) => base - (value * (base - room.top)) / most;
  const isYoung = most < FEW;
  const line = isYoung
    ? stepsOf(points, x, y)
    : lineOf(thinned(points, Math.min(MOST_POINTS, width / STEP)), x, y);
  const stars = isYoung ? points.filter(({ value }, i) => value > (points[i - 1]?.value ?? value)) : [];
  return (
    <svg
      class={`course course-${look}`}
      viewBox={`0 0 ${width} ${height}`}
      aria-hidden="true"
      {...frameData({
        left: 0,
        right,
        top: room.top,
        bottom: base,
        x: { from: first.at, to: last.at },
        y: { from: 0, to: most },
      })}
      {...readingsData([{ points }])}
    >
      {isYoung ? null : (
        <>
          <linearGradient id={`${id}-soft`} x2="0" y2="1">
            <stop stop-opacity=".28" />
            <stop offset="1" stop-opacity=".03" />
          </linearGradient>
          <path fill={`url(#${id}-soft)`} d={`${line}V${height}H0z`} />
        </>
      )}
      <path class="line" d={line} />
      {flagsOf(points, LOOKS[look], x).map((flag) => (
        <Flag {...flag} x={x(flag.at)} y={y(flag.value)} look={LOOKS[look]} />
      ))}
      {[...new Set([...stars, last])].map(({ at, value }) => (
        <path class="end" d={starPath(x(at), y(value), star)} />
      ))}
      {room.isDated
        ? yearsOf(first.at, last.at + (last.at - first.at) / 12)
            .filter((at) => x(at) >= room.left && x(at) < right - YEAR)
            .map((at) => (
              <text x={fixed(x(at))} y={height - 12} text-anchor="middle">
                {new Date(at).getUTCFullYear()}
              </text>
            ))
        : null}
    </svg>
  );
};

type Place = (value: number) => number;

const lineOf = (points: Points, x: Place, y: Place): string =>
  points.map(({ at, value }, i) => `${i === 0 ? "M" : "L"}${fixed(x(at))} ${fixed(y(value))}`).join("");

const stepsOf = (points: Points, x: Place, y: Place): string =>
  points
    .map(({ at, value }, i) => `${i === 0 ? `M${fixed(x(at))} ` : `H${fixed(x(at))}V`}${fixed(y(value))}`)
    .join("");

/** The highest round numbers that were passed, as far as their flags have room. */
function flagsOf(
  points: Points,
  { flag, flags, left, isDated }: Look,
  x: Place,
): { at: number; value: number; of: number }[] {
  const found: { at: number; value: number; of: number }[] = [];
  const room = flag * (isDated ? 6 : 4);
  for (const of of MILESTONES.toReversed()) {
    const at = points.findIndex(({ value }) => value >= of);
    const point = points[at];
    if (at < 1 || point === undefined || x(point.at) < left + room) continue;
    if (found.every((one) => x(one.at) - x(point.at) > room) && found.length < flags)
      found.push({ ...point, of });
  }
  return found;
}

/** A flag on a pole, its cloth at the left, with the month below it. */
const Flag: FC<{ x: number; y: number; at: number; of: number; look: Look }> = ({ x, y, at, of, look }) => {
  const { flag: size, isDated } = look;
  const [pole, wide, high] = [size * (isDated ? 3.2 : 2), size * 3.2, size * 1.5];
  const top = Math.max(2, y - pole);
  return (
    <>
      <path class="pole" d={`M${fixed(x)} ${fixed(y)}V${fixed(top)}`} />
      <path
        class="cloth"
        d={`M${fixed(x)} ${fixed(top)}h${-wide}l${fixed(size / 2.5)} ${fixed(high / 2)}l${fixed(-size / 2.5)} ${fixed(high / 2)}h${wide}z`}
      />
      <text
        class="number"
        x={fixed(x - wide / 2 + 2)}
        y={fixed(top + size * 1.12)}
        font-size={size}
        text-anchor="middle"
      >
        {formatCompact(of)}
      </text>
      {isDated ? (
        <text x={fixed(x - 6)} y={fixed(top + high + size)} font-size={size - 1} text-anchor="end">
          {monthText(at)}
        </text>
      ) : null}
      <circle class="peak" cx={fixed(x)} cy={fixed(y)} r={isDated ? 4.5 : 4} />
    </>
  );
};
