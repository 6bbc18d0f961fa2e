import type { Child, FC } from "hono/jsx";
import { forgeName } from "../../forges.js";
import { START_TRACKING_PAGE } from "../../page-addresses.js";
import type { CurrentSummary } from "../../rankings/rankings.js";
import { agoText, formatCount, formatDate, formatDay } from "./numbers.js";

export interface OriginNoticeProps {
  summary: Pick<CurrentSummary, "catalogue" | "asOf" | "ageDays" | "repositories" | "providers">;
  /** Whether the page itself shows the age; then a note says it only where forges differ. */
  isAgeShown: boolean;
}

/** From this age in days, pages say how old growth is. A forge that is read every day is a day old for some hours. */
const OLD_DAYS = 2;

/** Labels sample and demonstration data on every page, and old data with its age; nothing for recent real data. */
export const OriginNotice: FC<OriginNoticeProps> = ({ summary, isAgeShown }) => {
  const { catalogue, repositories } = summary;
  const age = ageOf(summary, isAgeShown);
  if (catalogue === "real") return age === undefined ? null : <Note>{age}</Note>;
  return (
    <Note>
      {catalogue === "sample" ? (
        <>
          <strong>Sample data.</strong> Real history of {formatCount(repositories)} GitHub repositories up to{" "}
          {formatDay(summary.asOf)}
          {agoPart(summary.ageDays)}, from{" "}
          <a href="https://github.com/EvanLi/Github-Ranking" rel="noopener">
            Github-Ranking
          </a>
          . It is removed when you track a forge or import files.
        </>
      ) : (
        <>
          <strong>Made-up data.</strong> No repository here is real. Everything is held in memory and is lost
          when the service stops, saved repositories included. {age}
        </>
      )}{" "}
      <a href={START_TRACKING_PAGE}>How to start tracking</a>
    </Note>
  );
};

const Note: FC<{ children: Child }> = ({ children }) => (
  <div class="note" role="note">
    <p>{children}</p>
  </div>
);

/** "Measured 24 Aug 2026, 90 days ago.", or the same of the forges that are old; undefined if all are recent. */
function ageOf(
  { asOf, ageDays, providers }: OriginNoticeProps["summary"],
  isAgeShown: boolean,
): string | undefined {
  const old = providers.filter((one) => (one.ageDays ?? 0) >= OLD_DAYS);
  if (old.length === 0) return undefined;
  const isAll = old.length === providers.length && new Set(old.map((one) => formatDay(one.asOf))).size === 1;
  if (isAll && isAgeShown) return undefined;
  if (isAll) return `Measured ${formatDate(asOf)}${agoPart(ageDays)}.`;
  const parts = old.map((one) => `${forgeName(one.provider)} ${formatDate(one.asOf)}${agoPart(one.ageDays)}`);
  return `Measured: ${parts.join("; ")}.`;
}

function agoPart(ageDays: number | null): string {
  const ago = agoText(ageDays);
  return ago === undefined ? "" : `, ${ago}`;
}
