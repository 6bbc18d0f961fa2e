import { ageInDays } from "../clock.js";
import { drawChart } from "./chart.js";
import { type History, newestOf, seriesOf } from "./history.js";
import type { ChartInput } from "./input.js";
import { drawNotice } from "./notice.js";
import { dateText } from "./numbers.js";
import { METRIC_NAMES } from "./series.js";
import type { Theme } from "./themes.js";
import { describe } from "./words.js";

/**
 * The newest time of the histories, except that a repository that is no longer seen counts with its own last counts: it is not
 * measured as of today.
 */
function lastSeenOf(histories: readonly History[]): number | null {
  return newestOf(
    histories.map((history) => {
      const { repository, asOf, isStale: isOld } = history;
      const isSeen = repository.availability === "AVAILABLE" && !isOld;
      return isSeen ? history : { ...history, asOf: repository.countedAt ?? asOf };
    }),
  );
}

/** Parameters of a chart of histories. */
export type ChartRequest = Pick<
  ChartInput,
  "metric" | "view" | "scale" | "align" | "width" | "height" | "spans"
> & {
  theme: Theme;
  /** Time of the response. */
  now: number;
};

/** Draws a chart of the histories, or a notice if there is nothing to draw. */
export function drawHistories(histories: readonly History[], request: ChartRequest): string {
  const { theme, now, ...rest } = request;
  const series = seriesOf(histories, request.align);
  if (series.some(({ points }) => points.length >= 2)) {
    const asOf = lastSeenOf(histories);
    return drawChart({ ...rest, series, asOf, ageDays: ageInDays(asOf, now), theme });
  }
  const { title } = describe({ ...request, asOf: null, ageDays: null }, series);
  return drawNotice({ title, message: missingReason(histories, request), ...request });
}

/** The title of the chart of the histories. */
export function titleOf(
  histories: readonly History[],
  request: Pick<ChartRequest, "metric" | "view" | "align">,
): string {
  return describe({ ...request, asOf: null, ageDays: null }, seriesOf(histories, request.align)).title;
}

function missingReason(
  histories: readonly History[],
  { metric, align }: Pick<ChartRequest, "metric" | "align">,
): string {
  if (align === "age" && histories.every(({ bornAt }) => bornAt === null))
    return "No creation date is known, so there is no chart by age.";
  const counts = METRIC_NAMES[metric].toLowerCase();
  const [only] = histories;
  if (only === undefined || histories.length > 1)
    return `A chart needs two snapshots of one repository with ${counts} in this time; there are none yet.`;
  const since = dateText(only.firstSnapshotAt ?? only.repository.discoveredAt);
  if (only.snapshots < 2) return `First seen on ${since}; a chart needs two snapshots.`;
  return `First seen on ${since}. There are not two snapshots with ${counts} in this time.`;
}
