import type { FC } from "hono/jsx";
import { type RepositoryName, repositoryPage } from "../../page-addresses.js";
import { type CountedMeasure, type Trend, whyWords } from "../../rankings/rankings.js";
import { type BadgeFacts, badgesOf } from "./badges.js";

export interface WhyProps {
  repository: RepositoryName;
  trend: Trend | undefined;
  badges: BadgeFacts;
  measure: CountedMeasure;
  /** Whether to leave out the time, which the page names, and the confidence, which the badge `unsure` gives where it is low. */
  isShort: boolean;
}

/**
 * Why a repository is in a list: the two counts compared, with a link to the two snapshots, how unusual the gain is, how far it
 * can be trusted, and the reasons of the badges. Nothing for a row without anything to say.
 */
export const Why: FC<WhyProps> = ({ repository, trend, badges, measure, isShort }) => {
  const reasons = badgesOf(badges).flatMap(({ reason }) => reason ?? []);
  if (trend === undefined) return reasons.length === 0 ? null : <p class="why">{reasons.join(" · ")}</p>;
  const { counts, compared, usual, confidence } = whyWords(trend, measure);
  const rest = [...(usual === undefined ? [] : [usual]), ...(isShort ? [] : [confidence]), ...reasons];
  return (
    <p class="why">
      <a href={`${repositoryPage(repository)}?window=${trend.window}#snapshots`}>
        <span class="hidden">Snapshots of {repository.fullName}: </span>
        {isShort ? counts : compared}
      </a>
      {rest.map((words) => (
        <> · {words}</>
      ))}
    </p>
  );
};
