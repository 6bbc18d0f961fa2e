import { ageInDays } from "../lib/clock.js";
import { drawChart } from "./chart.js";
import { type History, newestOf, seriesOf } from "./history.js";
import { background, element, picture } from "./markup.js";
import { dateText } from "./numbers.js";
import { type ChartInput, METRIC_NAMES } from "./series.js";
import { fit, wrap } from "./text.js";
import { styleOf, type Theme } from "./themes.js";
import { describe } from "./words.js";

/** The chart of histories as a picture for any site, or a notice that says why it is missing. */

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

/**
 * The newest time of the histories. A repository that is no longer seen adds the time of its own last counts, since it is not
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

const TEXT_SIZE = 13;
const PAD = 16;

/** A small picture that says why a chart or badge is missing: a title and a wrapped message. */
export function drawNotice({
  title,
  message,
  theme,
  width,
  height,
}: {
  title: string;
  message: string;
  theme: Theme;
  width: number;
  height: number;
}): string {
  const [size, room] = [TEXT_SIZE, width - 2 * PAD];
  const maxLines = Math.max(1, Math.floor((height - 2 * PAD - 22) / (size + 6)) + 1);
  const look = { class: "chart-muted", "font-size": size, x: PAD };
  return picture(
    { width, height, idPrefix: "notice", title, description: message, style: styleOf(theme) },
    background(width, height),
    element(
      "text",
      { class: "chart-text", "font-size": 15, "font-weight": 600, x: PAD, y: PAD + 14 },
      fit(title, { size: 15 * 1.06, width: room }),
    ),
    ...wrap(message, { size, width: room }, maxLines).map((line, i) =>
      element("text", { ...look, y: PAD + 14 + 22 + i * (size + 6) }, line),
    ),
  );
}

/** The size of a notice when the request has none. */
export const NOTICE_SIZE = { width: 480, height: 96 };
