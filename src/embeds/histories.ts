import { drawChart } from "./chart.js";
import { type History, newestOf, seriesOf } from "./history.js";
import type { Theme } from "./looks.js";
import { drawNotice } from "./notice.js";
import { dateText } from "./numbers.js";
import type { ChartInput } from "./plan.js";
import { METRIC_NAMES, type Metric } from "./series.js";
import { describe } from "./words.js";

/** How to draw histories. */
export type ChartRequest = Pick<ChartInput, "metric" | "scale" | "align" | "width" | "height"> & {
  theme: Theme;
};

/** The chart of the histories, or a notice when there is nothing to draw. */
export function drawHistories(histories: readonly History[], request: ChartRequest): string {
  const { theme, ...rest } = request;
  if (histories.some(({ points }) => points.length >= 2)) {
    const series = seriesOf(histories, request.align);
    return drawChart({ ...rest, series, asOf: newestOf(histories), look: theme });
  }
  const { title } = describe({ ...request, asOf: null }, seriesOf(histories, request.align));
  return drawNotice({ title, message: whyNot(histories, request.metric), ...request });
}

/** The title of the chart of the histories, in words. */
export function titleOf(
  histories: readonly History[],
  request: Pick<ChartRequest, "metric" | "align">,
): string {
  return describe({ ...request, asOf: null }, seriesOf(histories, request.align)).title;
}

function whyNot(histories: readonly History[], metric: Metric): string {
  const counts = METRIC_NAMES[metric].toLowerCase();
  const [only] = histories;
  if (only === undefined || histories.length > 1)
    return `A chart needs two snapshots of one of them with ${counts} in this time; there are none yet.`;
  const since = dateText(only.firstSnapshotAt ?? only.repository.discoveredAt);
  if (only.snapshots < 2) return `First seen on ${since}; a chart needs two snapshots.`;
  return `First seen on ${since}. There are not two snapshots with ${counts} in this time.`;
}
