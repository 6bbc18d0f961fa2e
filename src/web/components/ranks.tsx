import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import type { ListRow, PastRank, Rank } from "../../discovery/discovery.js";
import { RANKING_DEFINITIONS, WINDOW_LABELS, type Window } from "../../growth/growth.js";
import { DAY_MS } from "../../lib/clock.js";
import { explorePage, languagePage, repositoryPage, topicPage } from "../../lib/page-addresses.js";
import { Link } from "./elements.js";
import { formatCount, formatDate, formatDelta, formatRate } from "./numbers.js";
import { Spark } from "./small-charts.js";
import { Table } from "./table.js";

/** Ranks shown above the fold. */
const SHOWN = 5;

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

/** "#2 in Trending", "#1 in Rust" of the same, "#1 in Rust by stars gained". */
export function rankWords({ position, ranking, scope, name }: Rank): string {
  const { label } = RANKING_DEFINITIONS[ranking];
  const place = `#${formatCount(position)} in`;
  if (name === null) return ranking === "stars" ? `#${formatCount(position)} by stars` : `${place} ${label}`;
  const among = scope === "provider" ? forgeName(name) : name;
  return ranking === "trending" ? `${place} ${among}` : `${place} ${among} by ${label.toLowerCase()}`;
}

/** The current ranks of a repository, those that say most first. */
export const Ranks: FC<{ ranks: readonly Rank[] }> = ({ ranks }) => {
  if (ranks.length === 0)
    return (
      <p class="soft read">
        Not ranked. Rankings cover the top 1,000 overall and on each forge, the top 200 in a language and the
        top 50 in a topic.
      </p>
    );
  const best = weightiest(ranks).slice(0, SHOWN);
  const rest = ranks.filter((rank) => !best.includes(rank)).sort((a, b) => weightOf(a) - weightOf(b));
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
  <Table
    label={caption}
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
    rows={ranks}
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

/** Days of the sparkline. */
const DAYS = 30;

/** The rank in Trending overall, day by day; nothing if it had none. */
export const RankHistory: FC<{ history: readonly PastRank[]; window: Window }> = ({ history, window }) => {
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
      <p class="row">
        {days.length < 2 ? null : <Spark values={line} />}
        <span>
          Best in Trending ({WINDOW_LABELS[window]}): #{formatCount(best.position)} on {formatDate(best.day)}
          {days.length < 2 ? null : `; ranked on ${days.length} days`}
        </span>
      </p>
      {days.length < 2 ? null : (
        <details>
          <summary>Ranks by day</summary>
          <Table
            label="Rank in Trending by day"
            class="ranks"
            columns={[
              { head: "Day", cell: ({ day }) => formatDate(day) },
              { head: "Rank", isNumber: true, cell: ({ position }) => `#${formatCount(position)}` },
            ]}
            rows={days.toReversed()}
          />
        </details>
      )}
    </>
  );
};

interface NeighboursProps {
  /** The repository and those before and after it in Trending, with their growth in the window. */
  rows: readonly ListRow[];
  id: number;
  position: number;
  window: Window;
}

/** The numbers that decide the place of a repository in Trending, next to those of its neighbours. */
export const Neighbours: FC<NeighboursProps> = ({ rows, id, position, window }) => {
  const own = rows.findIndex(({ repository }) => repository.id === id);
  return (
    <Table
      label={`Neighbours in Trending, ${WINDOW_LABELS[window]}`}
      class="ranks"
      columns={[
        { head: "#", cell: (_, i) => formatCount(position + i - own) },
        {
          head: "Repository",
          isName: true,
          cell: ({ repository }, i) =>
            i === own ? repository.name : <a href={repositoryPage(repository)}>{repository.name}</a>,
        },
        { head: "Gained", isNumber: true, cell: ({ trend }) => formatDelta(trend?.starsCounted ?? null) },
        { head: "Usual day", isNumber: true, cell: ({ trend }) => formatRate(trend?.usualPerDay ?? null) },
        { head: "Score", isNumber: true, cell: ({ trend }) => trend?.scores.trending?.toFixed(1) ?? "–" },
      ]}
      rows={rows}
      rowClass={(_, i) => (i === own ? "marked" : undefined)}
    />
  );
};
