import type { FunctionComponent as FC } from "preact";
import { dayText } from "../../charts/charts.js";
import type { Facet } from "../../discovery/discovery.js";
import { DAY_MS } from "../../lib/clock.js";
import type { RenderContext } from "../page-request.js";
import { Language } from "./elements.js";
import { Delta, formatCount, formatDate, formatDelta, formatRate, isOld } from "./numbers.js";

/** Small charts without axes next to names and numbers: sparklines, and bars of gains. */

/** The room between two bars, and the least height of one, in pixels. */
const GAP = 1;
const LEAST_BAR = 1;

interface BarsProps {
  /** Gains, oldest first; null: unknown, which is no bar. */
  values: readonly (number | null)[];
  width?: number;
  height?: number;
}

/**
 * Gains as bars from 0, the last one in the colour of now: a loss is as low as no gain. Hidden from screen readers, which get the
 * numbers next to it.
 */
export const Bars: FC<BarsProps> = ({ values, width = 96, height = 32 }) => {
  const most = Math.max(1, ...values.map((value) => value ?? 0));
  const step = (width + GAP) / Math.max(1, values.length);
  const wide = (step - GAP).toFixed(2);
  // From the end of the bar before, in whole pixels: V8 caches texts of numbers, and what many of them replace is garbage.
  const barOf = (value: number | null) => {
    const tall = value === null ? 0 : Math.max(LEAST_BAR, Math.round((value * height) / most));
    return `v-${tall}h${wide}v${tall}m${GAP} 0`;
  };
  return (
    <svg class="days" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <path class="past" d={`M0 ${height}${values.slice(0, -1).map(barOf).join("")}`} />
      <path class="now" d={`M${fixed(width + GAP - step)} ${height}${barOf(values.at(-1) ?? null)}`} />
      <path class="base" d={`M0 ${height}H${width}`} />
    </svg>
  );
};

/** The gains between totals; null next to an unknown one. */
export function gainsBetween(totals: readonly (number | null)[]): (number | null)[] {
  return totals.slice(1).map((total, i) => {
    const before = totals[i] ?? null;
    return total === null || before === null ? null : total - before;
  });
}

/** With one decimal, and without it for whole numbers. */
export const fixed = (value: number): string => String(Math.round(value * 10) / 10);

interface Size {
  width: number;
  height: number;
}

interface DayBarsProps extends Pick<BarsProps, "values"> {
  /** The end of the last day. */
  end: number;
  /** The stars of a usual day, which are named if they are known. */
  usual?: number | null;
  wide: Size;
  /** Its size on a phone. */
  narrow?: Size;
}

/** The bars of days as a picture of its own: the first and the last day, the best one, and the usual one are named. */
export const DayBars: FC<DayBarsProps> = ({ wide, narrow, ...days }) => (
  <>
    <DayPicture {...days} {...wide} name={narrow === undefined ? "" : "plot-wide"} />
    {narrow === undefined ? null : <DayPicture {...days} {...narrow} name="plot-narrow" />}
  </>
);

/** Room for a line of text, and the distance of its baseline from the bars. */
const TEXT = { room: 24, gap: 7 };
/** Of "a usual day: 1,234". */
const USUAL_ROOM = 124;

const DayPicture: FC<Omit<DayBarsProps, "wide" | "narrow"> & Size & { name: string }> = (
  { values, end, usual = null, width, height, name },
  { now }: RenderContext,
) => {
  const timeOf = (i: number) => end - (values.length - 1 - i) * DAY_MS;
  const most = Math.max(1, ...values.map((value) => value ?? 0));
  const best = values.lastIndexOf(most);
  const base = height - TEXT.room;
  const tallOf = (value: number) => Math.max(LEAST_BAR, Math.round((value * (base - TEXT.room)) / most));
  const step = width / Math.max(1, values.length);
  const wide = fixed(step * 0.75);
  const barOf = (value: number | null, i: number) =>
    value === null ? "" : `M${fixed(i * step)} ${base}v-${tallOf(value)}h${wide}v${tallOf(value)}z`;
  const last = values.length - 1;
  /** The highest under the words for the usual day. */
  const below = Math.max(usual ?? 0, ...values.slice(0, Math.ceil(USUAL_ROOM / step)).map((one) => one ?? 0));
  const isRecord = (i: number) => i === last || i === best;
  const anchor = best > values.length / 2 ? "end" : "start";
  const today = now !== undefined && !isOld(end, now) ? "today" : formatDate(end);
  const words = [
    ...(usual === null ? [] : [`${formatRate(usual)} on a usual day`]),
    ...(best < 0 ? [] : [`${formatCount(most)} on ${formatDate(timeOf(best))}, the most`]),
    `${formatCount(values[last] ?? null)} on ${formatDate(end)}`,
  ];
  return (
    <svg
      class={`day-bars ${name}`}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`Stars gained a day, ${formatDate(timeOf(0))} to ${formatDate(end)}: ${words.join(", ")}`}
    >
      <path class="past" d={values.map((value, i) => (isRecord(i) ? "" : barOf(value, i))).join("")} />
      <path class="now" d={values.map((value, i) => (isRecord(i) ? barOf(value, i) : "")).join("")} />
      <path class="base" d={`M0 ${base}H${width}`} />
      {best < 0 ? null : (
        <text
          class="record"
          x={fixed((best + (anchor === "end" ? 0.75 : 0)) * step)}
          y={base - tallOf(most) - TEXT.gap}
          text-anchor={anchor}
        >
          {formatDelta(most)}
          {best === last ? "" : ` on ${dayText(timeOf(best))}`}
        </text>
      )}
      {usual === null || below * 2 > most ? null : (
        <text x="0" y={base - tallOf(below) - 2 * TEXT.gap}>
          a usual day: {formatRate(usual)}
        </text>
      )}
      <text x="0" y={height - TEXT.gap}>
        {dayText(timeOf(0))}
      </text>
      <text class="record" x={width} y={height - TEXT.gap} text-anchor="end">
        {today}
      </text>
    </svg>
  );
};

export interface LifeProps extends Partial<Size> {
  /** Totals, oldest first. */
  points: readonly { at: number; value: number }[];
  /** The day that gained most, marked with its gain. */
  best?: { at: number; change: number } | undefined;
  /** The totals of another one to one scale with them, drawn quietly. */
  against?: LifeProps["points"];
}

/** A whole life as an area from 0, its best day marked, with the years below. Hidden from screen readers, which get the numbers next to it. */
export const Life: FC<LifeProps> = ({ points, best, against = [], width = 338, height = 142 }) => {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || first === last) return null;
  const isCompared = against.length > 1;
  const base = height - (isCompared ? LIFE_EDGE / 2 : TEXT.room);
  const from = Math.min(first.at, against[0]?.at ?? first.at);
  const most = Math.max(1, ...points.map(({ value }) => value), ...against.map(({ value }) => value));
  const x = (at: number) => ((at - from) * (width - LIFE_EDGE)) / (last.at - from || 1);
  const y = (value: number) => base - (value * (base - LIFE_EDGE)) / most;
  const lineOf = (some: LifeProps["points"]) =>
    thinned(some, width / 2)
      .map(({ at, value }, i) => `${i === 0 ? "M" : "L"}${fixed(x(at))} ${fixed(y(value))}`)
      .join("");
  const line = lineOf(points);
  const years = yearsOf(from, last.at);
  const peak = best && points.find(({ at }) => at >= best.at);
  return (
    <svg class="life" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {isCompared ? (
        <path class="other" d={lineOf(against)} />
      ) : (
        <path class="area" d={`${line}V${base}H${fixed(x(first.at))}z`} />
      )}
      <path class="base" d={`M0 ${base}H${width}`} />
      <path class="line" d={line} />
      {best === undefined || peak === undefined ? null : (
        <>
          <path class="flag" d={`M${fixed(x(peak.at))} ${base}V${fixed(y(peak.value))}`} />
          <circle class="peak" cx={fixed(x(peak.at))} cy={fixed(y(peak.value))} r="4" />
          <text
            class="record"
            x={fixed(x(peak.at) + (x(peak.at) > width / 2 ? -TEXT.gap : TEXT.gap))}
            y={base - TEXT.gap}
            text-anchor={x(peak.at) > width / 2 ? "end" : "start"}
          >
            {formatDelta(best.change)}
          </text>
        </>
      )}
      <circle class="end" cx={fixed(x(last.at))} cy={fixed(y(last.value))} r="4.5" />
      {isCompared || (years[0] !== undefined && x(years[0]) < MONTH_ROOM) ? null : (
        <text x="0" y={height - TEXT.gap}>
          {formatDate(from).replace(/^\d+ /, "")}
        </text>
      )}
      {(isCompared ? [] : years).map((at) => (
        <text x={fixed(x(at))} y={height - TEXT.gap}>
          {new Date(at).getUTCFullYear()}
        </text>
      ))}
    </svg>
  );
};

/** The courses of several totals to one scale, in the colours of their places. Hidden from screen readers, which get who passed whom. */
export const Lines: FC<{ lines: readonly LifeProps["points"][] } & Partial<Size>> = ({
  lines,
  width = 336,
  height = 120,
}) => {
  const points = lines.flat();
  const [from, to] = [Math.min(...points.map(({ at }) => at)), Math.max(...points.map(({ at }) => at))];
  const most = Math.max(1, ...points.map(({ value }) => value));
  const x = (at: number) => 2 + ((at - from) * (width - LIFE_EDGE)) / (to - from || 1);
  const y = (value: number) => height - 2 - (value * (height - LIFE_EDGE)) / most;
  const pathOf = (some: LifeProps["points"]) =>
    thinned(some, MOST_POINTS)
      .map(({ at, value }) => `${fixed(x(at))} ${fixed(y(value))}`)
      .join("L");
  return (
    <svg class="lines" viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {lines.map((some, i) =>
        some.length < 2 ? null : <path class={`chart-line-${i + 1}`} d={`M${pathOf(some)}`} />,
      )}
    </svg>
  );
};

/** Of a small line. */
const MOST_POINTS = 70;

const LIFE_EDGE = 8;
/** Of "Oct 2025", before the first year. */
const MONTH_ROOM = 80;

/** At most about `most` points; always the first and the last. */
export function thinned<Point>(points: readonly Point[], most: number): readonly Point[] {
  const step = Math.ceil(points.length / most);
  return points.filter((_, i) => i === 0 || (points.length - 1 - i) % step === 0);
}

/** The beginnings of the years in a time, few enough to name them. */
function yearsOf(from: number, to: number): number[] {
  const [first, last] = [new Date(from).getUTCFullYear() + 1, new Date(to).getUTCFullYear()];
  const step = Math.ceil((last - first + 1) / 5);
  const years = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => Date.UTC(first + i));
  return years.filter((at, i) => (years.length - 1 - i) % step === 0 && at < to - (to - from) / 12);
}

/** Languages, each with a bar for the stars it gained. */
export const LanguageBars: FC<{ languages: readonly Facet[] }> = ({ languages }) => (
  <ol class="side">
    {languages.map(({ name, starsGained }) => (
      <li>
        <Language name={name} />
        <svg viewBox="0 0 160 8" preserveAspectRatio="none" aria-hidden="true">
          <rect
            class="past"
            width={fixed((160 * starsGained) / (languages[0]?.starsGained ?? 1))}
            height="8"
            rx="2"
          />
        </svg>
        <Delta value={starsGained} />
      </li>
    ))}
  </ol>
);
