import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import type { PastRank, Rank } from "../../discovery/discovery.js";
import { RANKING_DEFINITIONS, WINDOW_LABELS, type Window } from "../../growth/growth.js";
import { explorePage, languagePage, topicPage } from "../../lib/page-addresses.js";
import { Link } from "./elements.js";
import { formatCount, formatDate } from "./numbers.js";
import { Table } from "./table.js";

/** In a smaller catalogue pages show no ranks: each repository would be first of something. */
export const LEAST_RANKED = 20;

/** How much less a rank in this scope or ranking says; a step of 1 is a position ten times as good. */
const SCOPE_WEIGHTS: Readonly<Record<Rank["scope"], number>> = {
  overall: 0,
  provider: 0.4,
  language: 1,
  topic: 2,
};
const RANKING_WEIGHTS: Readonly<Partial<Record<Rank["ranking"], number>>> = {
  trending: 0,
  "stars-gained": 0.2,
  stars: 0.2,
  "new-hot": 0.6,
};
const OTHER_RANKINGS = 1.5;

const weightOf = ({ position, scope, ranking }: Rank): number =>
  Math.log10(position) + SCOPE_WEIGHTS[scope] + (RANKING_WEIGHTS[ranking] ?? OTHER_RANKINGS);

/**
 * The ranks that say most first: by position, the width of their scope, and their ranking. Each ranking and scope has its best
 * window. A rank on a forge that repeats the one among all is left out.
 */
export function weightiest(ranks: readonly Rank[]): Rank[] {
  const placeOf = ({ ranking, window, position }: Rank) => `${ranking} ${window} ${position}`;
  const overall = new Set(ranks.filter(({ scope }) => scope === "overall").map(placeOf));
  const sorted = ranks
    .filter((rank) => rank.scope !== "provider" || !overall.has(placeOf(rank)))
    .sort((a, b) => weightOf(a) - weightOf(b));
  const seen = Map.groupBy(sorted, ({ ranking, scope, name }) => `${ranking} ${scope} ${name}`);
  return [...seen.values()].flatMap((same) => same[0] ?? []);
}

/** The current ranks of a repository, those that say most first. */
export const Ranks: FC<{ ranks: readonly Rank[] }> = ({ ranks }) => (
  <Table
    label="Ranks"
    class="ranks"
    columns={[
      { head: "Rank", isNumber: true, class: "strong", cell: ({ position }) => `#${formatCount(position)}` },
      {
        head: "Ranking",
        isName: true,
        cell: (rank) => (
          <>
            <Link href={listPath(rank)}>{RANKING_DEFINITIONS[rank.ranking].label}</Link>
            {rank.window === null ? null : <span class="soft">, {WINDOW_LABELS[rank.window]}</span>}
          </>
        ),
      },
      { head: "Scope", cell: (rank) => <Scope rank={rank} /> },
    ]}
    rows={ranks.toSorted((a, b) => weightOf(a) - weightOf(b))}
  />
);

const Scope: FC<{ rank: Rank }> = ({ rank: { scope, name } }) => {
  if (name === null) return <>all repositories</>;
  if (scope === "provider") return <>{forgeName(name)}</>;
  return <Link href={scope === "language" ? languagePage(name) : topicPage(name)}>{name}</Link>;
};

/** The list of a rank. */
function listPath({ ranking, window, scope, name }: Rank): string {
  const query = new URLSearchParams({ sort: ranking });
  if (window !== null) query.set("window", window);
  if (scope !== "overall" && name !== null)
    query.set(scope, scope === "provider" ? name.toLowerCase() : name);
  return explorePage(query);
}

/** The best rank in Trending overall of the last days; nothing if it had none. */
export const BestRank: FC<{ history: readonly PastRank[]; window: Window }> = ({ history, window }) => {
  const [best] = history
    .filter((one) => one.ranking === "trending" && one.scope === "overall" && one.window === window)
    .sort((a, b) => a.position - b.position || b.day - a.day);
  return best === undefined ? null : (
    <p>
      Best place in Trending over {WINDOW_LABELS[window]}: #{formatCount(best.position)}, on{" "}
      {formatDate(best.day)}.
    </p>
  );
};
