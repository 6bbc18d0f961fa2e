import type { FC } from "hono/jsx";
import type { PreviousName, SnapshotRange } from "../../catalog/catalog.js";
import { type Trend, WINDOW_LABELS, WINDOWS, type Window, windowMs } from "../../rankings/rankings.js";
import { Facts } from "./facts.js";
import { formatCount, formatDay } from "./numbers.js";

interface DataQualityProps {
  stored: SnapshotRange;
  names: readonly PreviousName[];
  trends: Readonly<Record<Window, Trend | null>>;
  /** Gaps in the time range of the chart. */
  gaps: number;
}

/** The part of a window between the two snapshots compared. */
function coverage(trend: Trend | null): string {
  if (trend === null) return "none";
  return `${Math.min(100, Math.round((100 * (trend.to - trend.from)) / windowMs(trend.window)))}%`;
}

/** The snapshots behind the numbers of a repository, and its previous names. */
export const DataQuality: FC<DataQualityProps> = ({ stored, names, trends, gaps }) => (
  <section>
    <h2>Data quality</h2>
    <Facts
      facts={[
        { name: "Snapshots", value: formatCount(stored.snapshots) },
        { name: "First", value: formatDay(stored.firstSnapshotAt) },
        { name: "Last", value: formatDay(stored.lastSnapshotAt) },
        { name: "Gaps in this time range", value: formatCount(gaps) },
        {
          name: "Window coverage",
          value: WINDOWS.map((window) => `${WINDOW_LABELS[window]}: ${coverage(trends[window])}`).join(", "),
          isText: true,
        },
      ]}
    />
    {names.length === 0 ? null : (
      <p>
        Previous names:{" "}
        {names.map(({ fullName, until }, i) => (
          <>
            {i === 0 ? "" : ", "}
            {fullName} (until {formatDay(until)})
          </>
        ))}
      </p>
    )}
  </section>
);
