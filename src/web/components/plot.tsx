import type { FunctionComponent as FC } from "preact";
import {
  breaksOf,
  type ChartInput,
  type ChartPoint,
  type ChartSeries,
  type ChartSpan,
  crossingWords,
  drawChart,
  drawMark,
  type Geometry,
  gainsOf,
  isByDate,
  METRIC_WORDS,
  type Metric,
  milestonesOf,
  milestoneWords,
  noteOfSpan,
  type Passed,
  passingsOf,
  shortNames,
  spanOf,
  stepOf,
  VIEW_FACTS,
  type View,
} from "../../charts/charts.js";
import { DAY_MS } from "../../lib/clock.js";
import { SNAPSHOT_SOURCES } from "../../repositories/repositories.js";
import type { RenderContext } from "../page-request.js";
import { thinned } from "./small-charts.js";

/** Browser modules of a page with a chart. */
export const PLOT_SCRIPTS = ["chart.js"] as const;

export interface PlotProps {
  metric: Metric;
  series: readonly ChartSeries[];
  scale: ChartInput["scale"];
  align: ChartInput["align"];
  alignedAt?: number | undefined;
  view?: View;
  /** See `ChartInput`. */
  hasBars?: boolean;
  bornAt?: number | undefined;
  passed?: readonly Passed[];
  /** Times to shade, with a note below the chart each. */
  spans?: readonly ChartSpan[];
  /** Time of the newest count. */
  asOf: number | null;
  /** Of several charts of a page: what the ids of this one begin with. */
  id?: string;
  /** Accessible name of the chart. */
  label: string;
  /** Whether points are sums. A repository that joins would look like growth, so sums are shown without differences. */
  isSum?: boolean;
  /** Its size in a wide window; default: the whole width of a page. The style sheet has its shape. */
  size?: { width: number; height: number };
  /** Whether the page takes `from` and `to`, so that a part of the chart can be selected. Its section needs `data-chart`. */
  canZoom?: boolean;
}

const SIZES = {
  whole: { width: 1_152, height: 432 },
  narrow: { width: 342, height: 320 },
} as const;

/**
 * A chart drawn on the server, in a box of fixed shape: once for wide windows and once for phones. The script chart.js reads the
 * drawing's geometry and the points next to it; it draws nothing but a crosshair.
 */
export const Plot: FC<PlotProps> = (props, { isStatic = false }: RenderContext) => {
  const { series, align, spans = [], canZoom = false, id = "" } = props;
  const draw = (size: keyof typeof SIZES) => {
    const { svg, geometry } = drawChart({
      ...props,
      ...(size === "whole" ? (props.size ?? SIZES.whole) : SIZES.narrow),
      theme: "page",
      idPrefix: id + size,
    });
    // Safe: numbers, and names that the drawing escapes.
    return (
      <div
        class={size === "narrow" ? "plot-narrow" : "plot-wide"}
        {...(isStatic ? frameData(geometry) : { "data-geometry": JSON.stringify(geometry) })}
        dangerouslySetInnerHTML={{ __html: svg }}
      />
    );
  };
  return (
    <div
      class="plot"
      data-plot=""
      data-zoom={canZoom ? "" : undefined}
      {...(isStatic ? readingsData(series) : {})}
    >
      <div class="plot-box">
        {draw("whole")}
        {draw("narrow")}
      </div>
      {series.length > 1 ? <Legend series={series} /> : null}
      {series.map(
        ({ name, note }) =>
          series.length > 1 &&
          note !== undefined && (
            <p class="soft small">
              {name}: {note}
            </p>
          ),
      )}
      <SpanNotes spans={isByDate(align) ? spans : []} />
      <PlotData {...props} />
    </div>
  );
};

/** Readings of a line in a site of files. */
const READINGS = 60;

type Edges = Pick<Geometry, "left" | "right" | "top" | "bottom"> &
  Record<"x" | "y", { from: number; to: number }>;

/** Where a drawing has its lines, for the script of a site of files (client/site.ts): edges, days since 1970, and counts. */
export const frameData = ({ left, right, top, bottom, x, y }: Edges) => ({
  "data-frame": [left, right, top, bottom, x.from / DAY_MS, x.to / DAY_MS, y.from, y.to]
    .map((value) => Math.round(value * 10) / 10)
    .join(" "),
});

/** Some points of its lines: the days since the first point of all, and the count. */
export function readingsData(series: readonly { points: readonly Pick<ChartPoint, "at" | "value">[] }[]) {
  const from = Math.min(...series.flatMap(({ points }) => points[0]?.at ?? []));
  const days = (at: number) => Math.round((at - from) / (DAY_MS / 10)) / 10;
  const lines = series.map(({ points }) =>
    thinned(points, READINGS)
      .map(({ at, value }) => `${days(at)},${value}`)
      .join(" "),
  );
  return { "data-readings": lines.filter((line) => line !== "").join("|") };
}

/** The notes that the numbers in the chart refer to. */
const SpanNotes: FC<{ spans: readonly ChartSpan[] }> = ({ spans }) =>
  spans.length === 0 ? null : (
    <ol class="plot-notes small" aria-label="Notes on the chart">
      {spans.map((span) => (
        <li>{noteOfSpan(span)}</li>
      ))}
    </ol>
  );

/** The names and marks of the lines for the script, which shows them at a point; readers see them at the ends of the lines. */
const Legend: FC<Pick<PlotProps, "series">> = ({ series }) => (
  <ul class="plot-legend" hidden>
    {series.map(({ name }, i) => (
      <li>
        <LineSample index={i} />
        <span class="plot-name">{name}</span>
      </li>
    ))}
  </ul>
);

/** A sample of the line with this index: its colour and its mark. */
export const LineSample: FC<{ index: number; class?: string }> = ({ index, class: className }) => (
  <svg class={className} viewBox="0 0 26 12" aria-hidden="true">
    <path class={`chart-line-${index + 1}`} d="M1 6H20" stroke-width="2.3" />
    <g dangerouslySetInnerHTML={{ __html: drawMark({ x: 20, y: 6 }, index + 1, { size: 4.2 }).xml }} />
  </svg>
);

/** The data of the chart for the script: only numbers and fixed words. Times are in seconds. */
const PlotData: FC<PlotProps> = (props, { isStatic }: RenderContext) => {
  if (isStatic) return null;
  const { metric, series, align, view = "total", spans = [], label, isSum = false } = props;
  const data = {
    unit: align === "index" ? "points" : METRIC_WORDS[metric].unit,
    align,
    view,
    isSum,
    suffix: VIEW_FACTS[view].suffix,
    lines: LINES[view](series),
    events: [
      ...milestonesOf(props).map((one) => ({
        from: seconds(one.point.at),
        to: seconds(one.point.at),
        words: `First ${milestoneWords(one)}`,
      })),
      ...passingsOf({ series, align, view }).map((one) => ({
        from: seconds(one.at) - HALF_DAY,
        to: seconds(one.at) + HALF_DAY,
        words: crossingWords(one, shortNames(series.map(({ name }) => name))),
      })),
      ...(isByDate(align) ? spans : []).map((span) => ({
        from: seconds(span.from),
        to: seconds(span.to),
        words: noteOfSpan(span),
      })),
    ],
  };
  return (
    <script
      type="application/json"
      data-label={label}
      dangerouslySetInnerHTML={{ __html: JSON.stringify(data).replaceAll("<", "\\u003c") }}
    />
  );
};

/** The crosshair stops at points, between which lines cross. */
const HALF_DAY = 12 * 3_600;

const seconds = (ms: number) => Math.round(ms / 1_000);

function totalLines(series: readonly ChartSeries[]) {
  return series.map(({ points, gaps }) => ({
    at: points.map(({ at }) => seconds(at)),
    value: points.map(({ value }) => value),
    source: points.map(({ source }) => SNAPSHOT_SOURCES.indexOf(source)),
    afterGap: breaksOf({ points, gaps }),
  }));
}

function gainLines(series: readonly ChartSeries[]) {
  const lines = series.map(({ points }) => points);
  const span = spanOf(lines);
  return lines.map((points) => {
    const gains = gainsOf(points, stepOf(points, span));
    return {
      at: gains.map(({ at }) => seconds(at)),
      since: gains.map(({ since }) => seconds(since)),
      value: gains.map(({ perDay }) => (perDay === null ? null : Math.round(perDay * 10) / 10)),
      change: gains.map(({ change }) => change),
      total: gains.map(({ point }) => point.value),
      source: gains.map(({ point }) => SNAPSHOT_SOURCES.indexOf(point.source)),
    };
  });
}

/** The points of a view for the script. */
const LINES: Readonly<Record<View, (series: readonly ChartSeries[]) => object[]>> = {
  total: totalLines,
  "per-day": gainLines,
};
