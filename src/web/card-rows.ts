import type { PageCardRow } from "../embeds/embeds.js";
import { forgeName } from "../forges.js";
import type { ListRow } from "../lists/lists.js";
import { gainWords, WINDOW_LABELS, type Window } from "../rankings/rankings.js";
import { formatCount, formatDelta } from "./components/numbers.js";

/** A repository with the count that its list is about: forks, stars gained, or stars where no growth is known. */
export function rowOf({ repository, trend }: ListRow, sort: string, window: Window): PageCardRow {
  const { provider, fullName, language, description, stars } = repository;
  const detail = [forgeName(provider), language, description].filter((one) => one !== null && one !== "");
  const shared = { name: fullName, detail: detail.join(" · ") };
  const metric = sort.startsWith("fork") ? "forks" : "stars";
  const gained = metric === "forks" ? trend?.forksDelta : trend?.starsDelta;
  if (sort === "stars" || trend === undefined || gained === undefined || gained === null)
    return { ...shared, value: formatCount(stars), unit: stars === null ? "stars not known" : "stars" };
  const words = gainWords(trend, metric);
  const unit = `${metric} in ${WINDOW_LABELS[window]}${words === undefined ? "" : `, ${words.short}`}`;
  return { ...shared, value: formatDelta(gained), unit };
}
