import type { FunctionComponent as FC } from "preact";
import { rankWeight } from "../../charts/charts.js";
import { forgeName } from "../../config/config.js";
import type { PastRank, Rank } from "../../discovery/discovery.js";
import { RANKING_DEFINITIONS, WINDOW_LABELS, type Window } from "../../growth/growth.js";
import { explorePage, languagePage, topicPage } from "../../lib/page-addresses.js";
import { Link } from "./elements.js";
import { formatCount, formatDate } from "./numbers.js";
import { Table } from "./table.js";

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
    rows={ranks.toSorted((a, b) => rankWeight(a) - rankWeight(b))}
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
