import type { View } from "./gains.js";
import type { ChartSeries, Metric } from "./series.js";
import type { ChartSpan } from "./spans.js";
import type { Theme } from "./themes.js";

export const SCALES = ["linear", "log"] as const;
export const ALIGNMENTS = ["date", "age"] as const;

/** The input of a chart. */
export interface ChartInput {
  metric: Metric;
  /** One to six. */
  series: readonly ChartSeries[];
  /** Default: totals. */
  view?: View;
  /** Of totals; gains per day are always linear. */
  scale: (typeof SCALES)[number];
  /** Whether the times of the points are dates or ages. */
  align: (typeof ALIGNMENTS)[number];
  /** Times to shade, in a chart by date. A bare chart numbers them from 1. */
  spans?: readonly ChartSpan[];
  /** When the newest count was captured; null: not shown. */
  asOf: number | null;
  /** Days from `asOf` to the response; absent: not shown. */
  ageDays?: number | null;
  width: number;
  height: number;
  /** `page`: without embedded styles; the style sheet of the page must contain CHART_PAGE_STYLES. */
  theme: Theme | "page";
  /** Prefix of all ids, for several charts in one document. */
  idPrefix?: string;
  /** Whether points are sums of several repositories: these reach round numbers when one is added, so they are not marked. */
  isSum?: boolean;
  /** Replaces the names of the series. */
  title?: string;
  /** Without heading and footer, when the surrounding page shows the same. */
  isBare?: boolean;
}

/** Round numbers of stars and forks are reached once; open issues come and go. */
export const hasMilestones = ({
  metric,
  align,
  isSum = false,
}: Pick<ChartInput, "metric" | "align" | "isSum">): boolean =>
  metric !== "openIssues" && align === "date" && !isSum;
