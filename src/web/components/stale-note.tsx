import type { FC } from "hono/jsx";
import { isStale, type Recency, type Repository } from "../../catalog/catalog.js";
import { DAY_MS, HOUR_MS } from "../../clock.js";
import { formatCount, formatDate, formatDay, Time } from "./numbers.js";

/** Why a repository has no growth, on its page; nothing for one whose counts are recent. */
export const StaleNote: FC<{ repository: Repository; recency: Recency }> = ({ repository, recency }) =>
  isStale(repository, recency) ? (
    <div class="note" role="note">
      <p>
        <strong>
          Not seen since {formatDate(repository.countedAt)} (<Time at={repository.countedAt} />
          ).
        </strong>{" "}
        {reasonOf(repository, recency)} Its counts are kept, but it is in no ranking by growth until it is
        seen again.
      </p>
    </div>
  ) : null;

function reasonOf({ refreshInterval, importSource }: Repository, { newestFiles }: Recency): string {
  if (refreshInterval !== null && refreshInterval > 0)
    return `It is refreshed every ${durationText(refreshInterval)}, and has missed that twice.`;
  const newest = importSource === null ? undefined : newestFiles.get(importSource);
  if (newest !== undefined)
    return `The newest file of ${importSource}, of ${formatDay(newest)}, does not have it.`;
  if (refreshInterval === 0) return "Its forge is no longer tracked.";
  return "No source has reported it for more than 15 days.";
}

function durationText(ms: number): string {
  const [count, unit] = ms < 2 * DAY_MS ? [ms / HOUR_MS, "hour"] : [ms / DAY_MS, "day"];
  const rounded = Math.max(1, Math.round(count));
  return rounded === 1 ? unit : `${formatCount(rounded)} ${unit}s`;
}
