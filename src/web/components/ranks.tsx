import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import type { PastRank, Rank } from "../../discovery/discovery.js";
import { RANKING_DEFINITIONS, WINDOW_LABELS } from "../../growth/growth.js";
import { DAY_MS } from "../../lib/clock.js";
import { explorePage, languagePage, topicPage } from "../../lib/page-addresses.js";
import { formatCount, formatDay } from "./numbers.js";
import { Spark } from "./small-charts.js";

/** Ranks shown above the fold. */
const SHOWN = 6;

const SCOPE_ORDER: readonly Rank["scope"][] = ["overall", "provider", "language", "topic"];

/** Best rank first; equal ranks by the width of their scope. */
function bestFirst(ranks: readonly Rank[]): Rank[] {
  return [...ranks].sort(
    (a, b) => a.position - b.position || SCOPE_ORDER.indexOf(a.scope) - SCOPE_ORDER.indexOf(b.scope),
  );
}

/** The current ranks of a repository. */
export const Ranks: FC<{ ranks: readonly Rank[] }> = ({ ranks }) => {
  if (ranks.length === 0)
    return (
      <p class="soft read">
        Not ranked. Rankings cover the top 1,000 overall and on each forge, the top 200 in a language and the
        top 50 in a topic.
      </p>
    );
  const sorted = bestFirst(ranks);
  // Each ranking once, in its best scope: the other scopes add little.
  const best = [...Map.groupBy(sorted, ({ ranking, window }) => `${ranking} ${window}`).values()]
    .flatMap((same) => same[0] ?? [])
    .slice(0, SHOWN);
  const rest = sorted.filter((rank) => !best.includes(rank));
  return (
    <>
      <RankTable ranks={best} caption="Best ranks" />
      {rest.length === 0 ? null : (
        <details>
          <summary>{rest.length === 1 ? "1 more" : `${rest.length} more`}</summary>
          <RankTable ranks={rest} caption="More ranks" />
        </details>
      )}
    </>
  );
};

const RankTable: FC<{ ranks: readonly Rank[]; caption: string }> = ({ ranks, caption }) => (
  <table class="ranks">
    <caption class="hidden">{caption}</caption>
    <thead>
      <tr>
        <th scope="col" class="number">
          Rank
        </th>
        <th scope="col">Ranking</th>
        <th scope="col">Scope</th>
      </tr>
    </thead>
    <tbody>
      {ranks.map((rank) => (
        <tr>
          <td class="number strong">#{formatCount(rank.position)}</td>
          <td>
            <a href={listPath(rank)}>{RANKING_DEFINITIONS[rank.ranking].label}</a>
            {rank.window === null ? null : <span class="soft">, {WINDOW_LABELS[rank.window]}</span>}
          </td>
          <td>
            <Scope rank={rank} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const Scope: FC<{ rank: Rank }> = ({ rank: { scope, name } }) => {
  if (name === null) return <>all repositories</>;
  if (scope === "provider") return <>{forgeName(name)}</>;
  return <a href={scope === "language" ? languagePage(name) : topicPage(name)}>{name}</a>;
};

/** The list of a rank. */
function listPath({ ranking, window, scope, name }: Rank): string {
  const query = new URLSearchParams({ sort: ranking });
  if (window !== null) query.set("window", window);
  if (scope !== "overall" && name !== null)
    query.set(scope, scope === "provider" ? name.toLowerCase() : name);
  return explorePage(query);
}

/** Days of the sparkline. */
const DAYS = 30;

/** The rank in Trending overall, day by day; nothing if it had none. */
export const RankHistory: FC<{ history: readonly PastRank[]; window: string }> = ({ history, window }) => {
  const days = history.filter(
    (one) => one.ranking === "trending" && one.scope === "overall" && one.window === window,
  );
  const last = days.at(-1);
  if (last === undefined) return null;
  const best = days.reduce((first, one) => (one.position < first.position ? one : first));
  const byDay = new Map(days.map(({ day, position }) => [day, position]));
  // Negative, since a smaller rank is better and the line should rise.
  const line = Array.from({ length: DAYS }, (_, i) => {
    const position = byDay.get(last.day - (DAYS - 1 - i) * DAY_MS);
    return position === undefined ? null : -position;
  });
  return (
    <>
      <h3>Days in Trending</h3>
      <p class="row">
        {days.length < 2 ? null : <Spark values={line} />}
        <span>
          #{formatCount(last.position)} on {formatDay(last.day)}
          {days.length < 2
            ? null
            : ` · best #${formatCount(best.position)} on ${formatDay(best.day)} · ${days.length} days ranked`}
        </span>
      </p>
      {days.length < 2 ? null : (
        <details>
          <summary>Ranks by day</summary>
          <table class="ranks">
            <caption class="hidden">Rank in Trending by day</caption>
            <thead>
              <tr>
                <th scope="col">Day</th>
                <th scope="col" class="number">
                  Rank
                </th>
              </tr>
            </thead>
            <tbody>
              {[...days].reverse().map(({ day, position }) => (
                <tr>
                  <th scope="row">{formatDay(day)}</th>
                  <td class="number">#{formatCount(position)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
    </>
  );
};
