import type { FC } from "hono/jsx";
import type { PreviousName, Repository, SnapshotRange } from "../../catalog/catalog.js";
import { type Trend, WINDOW_LABELS, WINDOWS, type Window, windowMs } from "../../rankings/rankings.js";
import { Facts } from "./facts.js";
import { formatCount, formatDate, formatDay, Time } from "./numbers.js";

interface DataQualityProps {
  repository: Repository;
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

/** The snapshots behind the numbers of a repository, when it was read and will be, and its previous names. */
export const DataQuality: FC<DataQualityProps> = ({ repository, stored, names, trends, gaps }) => (
  <details class="part">
    <summary>
      <h2>Data quality</h2>
    </summary>
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
    <ul class="row facts-line soft small">
      <li>First seen {formatDate(repository.discoveredAt)}</li>
      <li>
        Refreshed <Time at={repository.refreshedAt} />
      </li>
      {repository.nextRefreshAt === null ? null : (
        <li>
          Next refresh <Time at={repository.nextRefreshAt} />
        </li>
      )}
    </ul>
    {names.length === 0 ? null : (
      <p>
        Previous names:{" "}
        {names.map(({ fullName, until }, i) => (
          <>
            {i === 0 ? "" : ", "}
            <bdi>{fullName}</bdi> (until {formatDay(until)})
          </>
        ))}
      </p>
    )}
  </details>
);
