import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import type { ListRow } from "../../discovery/discovery.js";
import { gainWords, WINDOW_SHORT_LABELS } from "../../growth/growth.js";
import { type ListStars, SaveStar } from "../saving.js";
import { Badges, badgesOf, OwnerImage } from "./badges.js";
import { Language, NameLink } from "./elements.js";
import { Delta, formatCount, withEmoji } from "./numbers.js";
import { Bars, gainsBetween } from "./small-charts.js";
import { type Column, type Sorting, Table } from "./table.js";
import { Why } from "./why.js";

/** The orders that the head of a column may have. */
export type SortableColumn =
  | "stars"
  | "forks"
  | "starsGained"
  | "forksGained"
  | "rising"
  | "pushed"
  | "created";

/** An additional column. */
export interface MoreColumn extends Column<ListRow> {
  /** For numbers and days: whether it takes the place of the gain on a phone; else it is hidden there. Absent: always shown. */
  onPhone?: "for-gain" | "nowhere";
  /** The order that its head sorts by. */
  sorts?: SortableColumn;
}

export interface RepositoryListProps extends ListStars {
  rows: readonly ListRow[];
  /** Caption for screen readers. */
  caption: string;
  /** Rank of the first row; absent: ranks are not shown. */
  from?: number;
  /** Stars at the ends of the last 30 days, by repository. */
  days: ReadonlyMap<number, readonly (number | null)[]>;
  /** The count shown; stars by default. */
  metric?: "stars" | "forks";
  /** The number that comes first, as the list is sorted by it: the gain by default. */
  first?: "gain" | "count";
  /** Columns after the others. */
  more?: readonly MoreColumn[];
  /** How the head of a column sorts the list; undefined for one that does not. */
  headOf?: (column: SortableColumn) => Sorting | undefined;
  /** Whether rows show their forge. */
  withForge?: boolean;
  /** Whether rows show that their age counts from when they were first seen. */
  marksFirstSeen?: boolean;
  /** false: rows do not show their language, since all have the same. */
  withLanguage?: boolean;
  /** How many ranks repositories have risen since the day before; negative: fallen. Absent: new among them. */
  moves?: ReadonlyMap<number, number>;
  /** Whether the list is in the order of Trending, which the panel of a row compares it with its neighbours for. */
  isTrending?: boolean;
}

/** Owners' images in the first rows load with the page, those below when they come near. */
const FIRST_ROWS = 5;

/** Repositories, one per row: rank, name and description, how unusual the gain is, the gains of 30 days, the gain and the total. */
export const RepositoryList: FC<RepositoryListProps> = (props) => {
  const { rows, caption, from, saved, next = "/", marksFirstSeen = false } = props;
  const form = `save-${caption.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;
  return (
    <>
      <Table
        label={caption}
        class={`list repositories${from === undefined ? " unranked" : ""}`}
        columns={columnsOf(props, form)}
        rows={rows}
        rowClass={({ isStale }) => (isStale ? "stale" : undefined)}
      />
      {marksFirstSeen && rows.some(({ trend }) => (trend?.firstSeenAt ?? null) !== null) ? (
        <p class="soft small">
          First seen: the date of creation is not known, so the age counts from the first snapshot.
        </p>
      ) : null}
      {saved === undefined ? null : (
        <form method="post" action="/watchlist/items" id={form}>
          <input type="hidden" name="next" value={next} />
        </form>
      )}
    </>
  );
};

function columnsOf(props: RepositoryListProps, form: string): (Column<ListRow> | false)[] {
  const { from, days, headOf, saved, moves, more = [] } = props;
  return [
    from !== undefined && {
      head: <abbr title="Rank">#</abbr>,
      class: "place",
      cell: ({ repository }, i) => (
        <>
          {from + i}
          {moves === undefined || moves.size === 0 ? null : <Move ranks={moves.get(repository.id)} />}
        </>
      ),
    },
    {
      head: "Repository",
      isName: true,
      class: "name",
      cell: (row, i) => <Name {...props} row={row} isFirst={i < FIRST_ROWS} />,
    },
    {
      head: "× usual",
      class: "of-usual",
      sorting: headOf?.("rising"),
      cell: (_, i) => <Why {...props} index={i} />,
    },
    {
      head: "30 days",
      class: "of-days",
      cell: ({ repository }) => <Bars values={gainsBetween(days.get(repository.id) ?? [])} />,
    },
    numberColumn(props),
    ...more.map(({ onPhone, sorts, cell, ...column }) => ({
      ...column,
      isNumber: onPhone !== undefined,
      class: onPhone === undefined ? "action" : onPhone === "nowhere" ? "spare" : "of-gain",
      sorting: sorts && headOf?.(sorts),
      cell,
    })),
    saved !== undefined && {
      head: "Saved",
      isHeadHidden: true,
      class: "action",
      cell: ({ repository }) => <SaveStar {...{ repository, form }} isSaved={saved.has(repository.id)} />,
    },
  ];
}

/** The gain over the total, or the other way round: first the number that the list is sorted by. */
function numberColumn({
  rows,
  metric = "stars",
  first = "gain",
  more = [],
  headOf,
}: RepositoryListProps): Column<ListRow> {
  const window = rows.find(({ trend }) => trend !== undefined)?.trend?.window;
  const gained = window === undefined ? "Gained" : WINDOW_SHORT_LABELS[window];
  const isForks = metric === "forks";
  const heads = isForks
    ? ({ gain: "Forks gained", count: "Forks" } as const)
    : { gain: gained, count: "Stars" };
  const sorts = isForks
    ? ({ gain: "forksGained", count: "forks" } as const)
    : ({ gain: "starsGained", count: "stars" } as const);
  return {
    head: heads[first],
    isNumber: true,
    // On a phone another number takes its place, to leave room for names.
    class: more.some(({ onPhone }) => onPhone === "for-gain") ? "of-gain spare" : "of-gain",
    sorting: headOf?.(sorts[first]),
    cell: ({ repository, trend }) => {
      const gain = <Delta value={isForks ? trend?.forksDelta : trend?.starsDelta} />;
      const count = formatCount(repository[metric]);
      return (
        <>
          <b class={first}>{first === "gain" ? gain : count}</b>{" "}
          <small class={first === "gain" ? "count" : "gain"}>{first === "gain" ? count : gain}</small>
        </>
      );
    },
  };
}

type NameProps = Pick<
  RepositoryListProps,
  "withForge" | "withLanguage" | "metric" | "first" | "marksFirstSeen"
> & {
  row: ListRow;
  isFirst: boolean;
};

/** A repository in words: a reason for doubt takes the place of its description. */
const Name: FC<NameProps> = ({ row, isFirst, withForge = false, withLanguage = true, ...props }) => {
  const { repository, trend } = row;
  const { metric = "stars", first = "gain", marksFirstSeen = false } = props;
  const { owner, provider, language, description } = repository;
  const badges = badgesOf({ ...row, marksFirstSeen, trends: [trend] });
  const doubts = [
    ...badges.flatMap(({ reason }) => reason ?? []),
    ...(trend === undefined || metric === "forks" ? [] : [gainWords(trend)?.short ?? []].flat()),
  ];
  return (
    <div class="row-name">
      <OwnerImage owner={owner} provider={provider} size={32} isFirst={isFirst} />
      <div>
        <div class="named">
          <NameLink repository={repository} {...(trend && first === "gain" && { window: trend.window })} />{" "}
          <Badges badges={badges} />
          {withLanguage ? <Language name={language} /> : null}{" "}
          {withForge ? <span class="forge">{forgeName(provider)}</span> : null}
        </div>
        {doubts.length > 0 ? (
          <p class="about doubt">{doubts.join(" · ")}</p>
        ) : description === null ? null : (
          <p class="about">
            <bdi>{withEmoji(description)}</bdi>
          </p>
        )}
      </div>
    </div>
  );
};

/** How far a rank has moved since yesterday; undefined: it had none. */
export const Move: FC<{ ranks: number | undefined }> = ({ ranks }) => {
  if (ranks === undefined) return <small class="new">new</small>;
  if (ranks === 0)
    return (
      <small>
        <span class="hidden">unchanged</span>
        <span aria-hidden="true">–</span>
      </small>
    );
  return (
    <small class={ranks > 0 ? "rise" : "fall"}>
      <span class="hidden">{ranks > 0 ? "up" : "down"} </span>
      <span aria-hidden="true">{ranks > 0 ? "▲" : "▼"}</span>
      {Math.abs(ranks)}
    </small>
  );
};
