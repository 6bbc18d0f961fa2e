import type { FC } from "hono/jsx";
import { START_TRACKING_PAGE } from "../../page-addresses.js";
import type { CurrentSummary } from "../../rankings/rankings.js";
import { formatCount, formatDay } from "./numbers.js";

export interface OriginNoticeProps {
  summary: Pick<CurrentSummary, "catalogue" | "asOf" | "ageDays" | "repositories">;
}

/** Labels sample and demonstration data on every page, with its age; nothing for a real catalogue. */
export const OriginNotice: FC<OriginNoticeProps> = ({
  summary: { catalogue, asOf, ageDays, repositories },
}) => {
  if (catalogue === "real") return null;
  return (
    <div class="note" role="note">
      <p>
        {catalogue === "sample" ? (
          <>
            <strong>Sample data.</strong> Real history of {formatCount(repositories)} GitHub repositories up
            to {formatDay(asOf)} ({ageDays === 1 ? "1 day" : `${formatCount(ageDays)} days`} ago), from{" "}
            <a href="https://github.com/EvanLi/Github-Ranking" rel="noopener">
              Github-Ranking
            </a>
            . It is removed when you track a forge or import files.
          </>
        ) : (
          <>
            <strong>Made-up data.</strong> No repository here is real. Everything is held in memory and is
            lost when the service stops, saved repositories included.
          </>
        )}{" "}
        <a href={START_TRACKING_PAGE}>How to start tracking</a>
      </p>
    </div>
  );
};
