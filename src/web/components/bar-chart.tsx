import type { FC } from "hono/jsx";
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

const HEIGHT = 100;

/** Counts over time as stacked bars, with a table of the same data. */
export const BarChart: FC<BarChartProps> = ({ title, kinds, bars, stepName }) => {
  const most = Math.max(1, ...bars.map(({ counts }) => sum(counts)));
  return (
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
      <div class="axis">
        <span>{formatCount(most)}</span>
      </div>
      <svg
        class="plot"
        viewBox={`0 0 ${bars.length * 10} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}. Maximum: ${formatCount(most)}.`}
      >
        <Patterns prefix="" />
        {bars.map(({ label, counts }, i) => (
          <g>
            <title>{`${label}: ${kinds.map(({ name }, k) => `${formatCount(counts[k] ?? 0)} ${name}`).join(", ")}`}</title>
            <Stack {...{ counts, kinds, most }} x={i * 10 + 1} />
          </g>
        ))}
      </svg>
      <div class="axis ends">
        <span>{bars[0]?.label ?? ""}</span>
        <span>{bars.at(-1)?.label ?? ""}</span>
      </div>
      <details>
        <summary>Chart data</summary>
        <BarTable {...{ title, kinds, bars, stepName }} />
      </details>
    </figure>
  );
};

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

const Stack: FC<{ counts: readonly number[]; kinds: readonly BarKind[]; most: number; x: number }> = ({
  counts,
  kinds,
  most,
  x,
}) => (
  <>
    {kinds.map(({ look }, k) => {
      const count = counts[k] ?? 0;
      if (count === 0) return null;
      const height = (count * HEIGHT) / most;
      const below = (sum(counts.slice(0, k)) * HEIGHT) / most;
      return (
        <rect
          class={look}
          x={x}
          y={(HEIGHT - below - height).toFixed(2)}
          width="8"
          height={height.toFixed(2)}
          fill={fillOf(look, "")}
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
