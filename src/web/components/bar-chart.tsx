import type { FunctionComponent as FC } from "preact";
import { linearAxis } from "../../charts/charts.js";
import { formatCount } from "./numbers.js";

/** A category of stacked bars. */
export interface BarKind {
  name: string;
  /** Its pattern, so that categories differ without colour. */
  look: "plain" | "striped" | "crossed";
}

export interface Bar {
  /** Label of the time step. */
  label: string;
  /** One count per kind, in order. */
  counts: readonly number[];
}

export interface BarChartProps {
  /** Accessible name of the chart. */
  title: string;
  kinds: readonly BarKind[];
  bars: readonly Bar[];
  /** Column header of the time steps. */
  stepName: string;
}

/** Drawn for wide windows and for phones, since text must not shrink with the picture. */
const SIZES = {
  wide: { width: 1_160, height: 230 },
  narrow: { width: 358, height: 200 },
} as const;
const TICK = 11;
/** Room above and below the bars. */
const TOP = 8;
const BOTTOM = 22;

/** Counts over time as stacked bars, with a table of the same data. */
export const BarChart: FC<BarChartProps> = ({ title, kinds, bars, stepName }) => (
  <figure class="bar-chart">
    <figcaption class="legend">
      {kinds.map(({ name, look }) => (
        <span>
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <Patterns prefix="legend-" />
            <rect class={look} width="10" height="10" fill={fillOf(look, "legend-")} />
          </svg>
          {name}
        </span>
      ))}
    </figcaption>
    <Drawing {...{ title, kinds, bars }} size="wide" />
    <Drawing {...{ title, kinds, bars }} size="narrow" />
    <details>
      <summary>Chart data</summary>
      <BarTable {...{ title, kinds, bars, stepName }} />
    </details>
  </figure>
);

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

const Drawing: FC<Pick<BarChartProps, "title" | "kinds" | "bars"> & { size: keyof typeof SIZES }> = ({
  title,
  kinds,
  bars,
  size,
}) => {
  const { width, height } = SIZES[size];
  const most = Math.max(1, ...bars.map(({ counts }) => sum(counts)));
  const axis = linearAxis(0, most, 4);
  const left = Math.max(...axis.ticks.map(({ label }) => label.length)) * TICK * 0.62 + 8;
  const y = (count: number) => height - BOTTOM - axis.scale(count) * (height - BOTTOM - TOP);
  const step = (width - left) / Math.max(1, bars.length);
  return (
    <svg
      class={`bars-${size}`}
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`${title}. Maximum: ${formatCount(most)}.`}
    >
      <Patterns prefix={`${size}-`} />
      {axis.ticks.map(({ value, label }) => (
        <>
          <path class="grid-line" d={`M${left.toFixed(1)} ${y(value).toFixed(1)}H${width}`} />
          <text x={(left - 6).toFixed(1)} y={(y(value) + 4).toFixed(1)} text-anchor="end" font-size={TICK}>
            {label}
          </text>
        </>
      ))}
      {bars.map(({ label, counts }, i) => (
        <g>
          <title>{`${label}: ${kinds.map(({ name }, k) => `${formatCount(counts[k] ?? 0)} ${name}`).join(", ")}`}</title>
          <Stack
            {...{ counts, kinds, y }}
            prefix={`${size}-`}
            x={left + step * (i + 0.1)}
            width={step * 0.8}
          />
        </g>
      ))}
      <text x={left.toFixed(1)} y={height - 6} font-size={TICK}>
        {bars[0]?.label ?? ""}
      </text>
      <text x={width} y={height - 6} text-anchor="end" font-size={TICK}>
        {bars.at(-1)?.label ?? ""}
      </text>
    </svg>
  );
};

interface StackProps {
  counts: readonly number[];
  kinds: readonly BarKind[];
  /** The height of a count in the drawing. */
  y(count: number): number;
  prefix: string;
  x: number;
  width: number;
}

const Stack: FC<StackProps> = ({ counts, kinds, y, prefix, x, width }) => (
  <>
    {kinds.map(({ look }, k) => {
      const below = sum(counts.slice(0, k));
      const count = counts[k] ?? 0;
      if (count === 0) return null;
      return (
        <rect
          class={look}
          x={x.toFixed(2)}
          y={y(below + count).toFixed(2)}
          width={width.toFixed(2)}
          height={(y(below) - y(below + count)).toFixed(2)}
          fill={fillOf(look, prefix)}
        />
      );
    })}
  </>
);

function fillOf(look: BarKind["look"], prefix: string): string | undefined {
  return look === "plain" ? undefined : `url(#${prefix}${look})`;
}

/** Patterns that distinguish kinds without colour. */
const Patterns: FC<{ prefix: string }> = ({ prefix }) => (
  <defs>
    <pattern id={`${prefix}striped`} width="4" height="4" patternUnits="userSpaceOnUse">
      <rect class="ground" width="4" height="4" />
      <path class="lines" d="M0 0h4M0 2h4" />
    </pattern>
    <pattern id={`${prefix}crossed`} width="4" height="4" patternUnits="userSpaceOnUse">
      <rect class="ground" width="4" height="4" />
      <path class="lines" d="M0 0L4 4M4 0L0 4" />
    </pattern>
  </defs>
);

const BarTable: FC<BarChartProps> = ({ title, kinds, bars, stepName }) => (
  <table>
    <caption class="hidden">{title}</caption>
    <thead>
      <tr>
        <th scope="col">{stepName}</th>
        {kinds.map(({ name }) => (
          <th scope="col" class="number">
            {name}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {bars.map(({ label, counts }) => (
        <tr>
          <th scope="row">{label}</th>
          {counts.map((count) => (
            <td class="number">{formatCount(count)}</td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);
