import { raw } from "hono/html";
import type { Child, FC } from "hono/jsx";
import { SNAPSHOT_SOURCES } from "../../catalog/catalog.js";
import {
  type ChartInput,
  type ChartSeries,
  drawChart,
  drawMark,
  isBroken,
  type Metric,
  reducePoints,
  widestGaps,
} from "../../embeds/embeds.js";
import { formatCount, formatDelta, SOURCE_WORDS, Time } from "./numbers.js";

/** Names of the metrics. */
export const METRIC_WORDS: Readonly<Record<Metric, { title: string; unit: string }>> = {
  stars: { title: "Stars", unit: "stars" },
  forks: { title: "Forks", unit: "forks" },
  openIssues: { title: "Open issues", unit: "open issues" },
};

/** Browser modules of a page with a chart. */
export const PLOT_SCRIPTS = ["uplot.js", "chart.js"] as const;

export interface PlotProps {
  metric: Metric;
  series: readonly ChartSeries[];
  scale: ChartInput["scale"];
  align: ChartInput["align"];
  /** Time of the newest count. */
  asOf: number | null;
  /** Accessible name of the chart. */
  label: string;
  /** Shape of the box: beside something else, or as wide as the page. */
  shape: "half" | "whole";
  /** Whether points are sums. A repository that joins would look like growth, so sums are shown without differences. */
  isSum?: boolean;
}

const SIZES = {
  half: { width: 760, height: 360 },
  whole: { width: 1_160, height: 440 },
  narrow: { width: 358, height: 280 },
} as const;

/** Points sent to the script, per line and in total. */
const MAX_POINTS = 400;
const MAX_TOTAL_POINTS = 1_200;

/** A chart drawn on the server, in a box of fixed shape. The script chart.js redraws it in place and adds a crosshair. */
export const Plot: FC<PlotProps> = ({ metric, series, scale, align, asOf, label, shape, isSum = false }) => {
  const draw = (size: keyof typeof SIZES) =>
    drawChart({
      metric,
      series,
      scale,
      align,
      asOf,
      ...SIZES[size],
      theme: "page",
      idPrefix: size,
      isBare: true,
    });
  return (
    <div class={`plot ${shape}`} data-plot="">
      <div class="plot-box">
        {/* Safe: numbers, and names that the drawing escapes. */}
        <div class="plot-wide">{raw(draw(shape))}</div>
        <div class="plot-narrow">{raw(draw("narrow"))}</div>
      </div>
      {series.length > 1 ? <Legend series={series} /> : null}
      <p class="plot-reading soft small">{readingOf({ metric, series, align, isSum })}</p>
      <PlotData {...{ metric, series, scale, align, label, isSum }} />
    </div>
  );
};

/** The newest point in words; the script replaces it with the selected one. */
function readingOf({
  metric,
  series,
  align,
  isSum,
}: Pick<PlotProps, "metric" | "series" | "align" | "isSum">): Child {
  const [only] = series;
  const [before, last] = only?.points.slice(-2) ?? [];
  if (series.length !== 1 || align === "age" || before === undefined || last === undefined) return null;
  return (
    <>
      <Time at={last.at} />: {formatCount(last.value)} {METRIC_WORDS[metric].unit}
      {isSum
        ? null
        : `${isBroken(before, last) ? "" : `, ${formatDelta(last.value - before.value)} since the previous snapshot`}; ${SOURCE_WORDS[last.source]}`}
    </>
  );
}

/** The name, mark and last value of each line. */
const Legend: FC<{ series: readonly ChartSeries[] }> = ({ series }) => (
  <ul class="plot-legend">
    {series.map(({ name, points, note }, i) => (
      <li>
        <svg viewBox="0 0 26 12" aria-hidden="true">
          <path class={`chart-line-${i + 1}`} d="M1 6H20" stroke-width="2.3" />
          {raw(drawMark({ x: 20, y: 6 }, i + 1, { size: 4.2 }).xml)}
        </svg>
        <span class="plot-name">{name}</span>{" "}
        <span class="plot-value">{formatCount(points.at(-1)?.value ?? null)}</span>
        {note === undefined ? null : <span class="soft small"> {note}</span>}
      </li>
    ))}
  </ul>
);

/** The data of the chart for the script: only numbers and fixed words. */
const PlotData: FC<Pick<PlotProps, "metric" | "series" | "scale" | "align" | "label" | "isSum">> = ({
  metric,
  series,
  scale,
  align,
  label,
  isSum = false,
}) => {
  const most = Math.min(MAX_POINTS, Math.floor(MAX_TOTAL_POINTS / Math.max(1, series.length)));
  const lines = series.map(({ points, gaps }) => {
    const kept = reducePoints(points, gaps, most);
    const ends = new Set(widestGaps(gaps).map(({ to }) => to));
    return {
      at: kept.map(({ at }) => Math.round(at / 1_000)),
      value: kept.map(({ value }) => value),
      source: kept.map(({ source }) => SNAPSHOT_SOURCES.indexOf(source)),
      afterGap: kept.flatMap((point, i) => (ends.has(point.at) || isBroken(kept[i - 1], point) ? [i] : [])),
    };
  });
  const data = { unit: METRIC_WORDS[metric].unit, scale, align, isSum, lines };
  return (
    <script type="application/json" data-label={label}>
      {raw(JSON.stringify(data).replaceAll("<", "\\u003c"))}
    </script>
  );
};
