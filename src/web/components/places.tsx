import type { FC } from "hono/jsx";
import { DAY_MS } from "../../clock.js";
import { forgeName } from "../../forges.js";
import { explorePage, languagePage, topicPage } from "../../page-addresses.js";
import { type PastRank, RANKING_DEFINITIONS, type Rank, WINDOW_LABELS } from "../../rankings/rankings.js";
import { formatCount, formatDay } from "./numbers.js";
import { Spark } from "./spark.js";

/** Places that are shown at once. */
const FIRST = 8;

const SCOPE_ORDER: readonly Rank["scope"][] = ["overall", "provider", "language", "topic"];

/** The places, those furthest up first; where they are equal, those among more repositories. */
function bestFirst(ranks: readonly Rank[]): Rank[] {
  return [...ranks].sort(
    (a, b) => a.position - b.position || SCOPE_ORDER.indexOf(a.scope) - SCOPE_ORDER.indexOf(b.scope),
  );
}

/** The present places of a repository. */
export const Places: FC<{ ranks: readonly Rank[] }> = ({ ranks }) => {
  if (ranks.length === 0)
    return (
      <p class="soft read">
        None now. Places are kept for the first 1,000 of all and of each forge, 200 of a language, 50 of a
        topic.
      </p>
    );
  const sorted = bestFirst(ranks);
  // The same ranking once, where it stands highest: the others say little more.
  const best = [...Map.groupBy(sorted, ({ ranking, window }) => `${ranking} ${window}`).values()]
    .flatMap((same) => same[0] ?? [])
    .slice(0, FIRST);
  const rest = sorted.filter((rank) => !best.includes(rank));
  return (
    <>
      <PlaceTable ranks={best} caption="Best places" />
      {rest.length === 0 ? null : (
        <details>
          <summary>{rest.length === 1 ? "One more place" : `${rest.length} more places`}</summary>
          <PlaceTable ranks={rest} caption="More places" />
        </details>
      )}
    </>
  );
};

const PlaceTable: FC<{ ranks: readonly Rank[]; caption: string }> = ({ ranks, caption }) => (
  <table class="places">
    <caption class="hidden">{caption}</caption>
    <thead>
      <tr>
        <th scope="col" class="number">
          Place
        </th>
        <th scope="col">By</th>
        <th scope="col">Among</th>
      </tr>
    </thead>
    <tbody>
      {ranks.map((rank) => (
        <tr>
          <td class="number strong">{formatCount(rank.position)}</td>
          <td>
            <a href={listPath(rank)}>{RANKING_DEFINITIONS[rank.ranking].label}</a>
            {rank.window === null ? null : <span class="soft">, {WINDOW_LABELS[rank.window]}</span>}
          </td>
          <td>
            <Among rank={rank} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const Among: FC<{ rank: Rank }> = ({ rank: { scope, name } }) => {
  if (name === null) return <>all repositories</>;
  if (scope === "provider") return <>{forgeName(name)}</>;
  return <a href={scope === "language" ? languagePage(name) : topicPage(name)}>{name}</a>;
};

/** The list in which the place is. */
function listPath({ ranking, window, scope, name }: Rank): string {
  const query = new URLSearchParams({ sort: ranking });
  if (window !== null) query.set("window", window);
  if (scope !== "overall" && name !== null)
    query.set(scope, scope === "provider" ? name.toLowerCase() : name);
  return explorePage(query);
}

/** Days that are told. */
const DAYS = 30;

/** Its place among the trending ones overall, day by day; nothing where it had none. */
export const PlaceHistory: FC<{ history: readonly PastRank[]; window: string }> = ({ history, window }) => {
  const places = history.filter(
    (one) => one.ranking === "trending" && one.scope === "overall" && one.window === window,
  );
  const last = places.at(-1);
  if (last === undefined) return null;
  const best = places.reduce((first, one) => (one.position < first.position ? one : first));
  const byDay = new Map(places.map(({ day, position }) => [day, position]));
  // Upwards is better, so the line is of what is missing to the first place.
  const line = Array.from({ length: DAYS }, (_, i) => {
    const position = byDay.get(last.day - (DAYS - 1 - i) * DAY_MS);
    return position === undefined ? null : -position;
  });
  return (
    <>
      <h3>Days in Trending</h3>
      <p class="row">
        <Spark values={line} />
        <span>
          Place {formatCount(last.position)} on {formatDay(last.day)}
          {places.length < 2
            ? null
            : `; best ${formatCount(best.position)} on ${formatDay(best.day)}, of ${places.length} days with a place`}
        </span>
      </p>
      {places.length < 2 ? null : (
        <details>
          <summary>Day by day</summary>
          <table class="places">
            <caption class="hidden">Place among all trending repositories, day by day</caption>
            <thead>
              <tr>
                <th scope="col">Day</th>
                <th scope="col" class="number">
                  Place
                </th>
              </tr>
            </thead>
            <tbody>
              {[...places].reverse().map(({ day, position }) => (
                <tr>
                  <th scope="row">{formatDay(day)}</th>
                  <td class="number">{formatCount(position)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </>
  );
};
