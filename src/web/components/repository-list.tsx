import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import type { ListRow, MainSort } from "../../discovery/discovery.js";
import { isUnsure, type ScoreName } from "../../growth/growth.js";
import { repositoryPage } from "../../lib/page-addresses.js";
import { type ListStars, SaveStar } from "../saving.js";
import { Badges, badgesOf, OwnerImage, type RowScores, Why } from "./badges.js";
import { Language } from "./elements.js";
import { formatCount, Gain, withEmoji } from "./numbers.js";
import { Spark } from "./small-charts.js";
import { type Column, type Sorting, Table } from "./table.js";

/** The columns that a list may be sorted by at their heads. */
export type SortableColumn =
  | "stars"
  | "forks"
  | "starsGained"
  | "forksGained"
  | "pushed"
  | "created"
  | "score";

/** An additional column. */
export interface MoreColumn extends Column<ListRow> {
  /** For numbers and days: the column that it replaces on a phone, or `nowhere` to hide it there. */
  onPhone?: "for-count" | "for-gain" | "nowhere";
  /** The order that its head sorts by. */
  sorts?: SortableColumn;
}

export interface RepositoryListProps extends ListStars {
  rows: readonly ListRow[];
  /** Caption for screen readers. */
  caption: string;
  /** Rank of the first row; absent: ranks are not shown. */
  from?: number;
  /** Stars over the last 30 days, by repository. */
  sparks: ReadonlyMap<number, readonly (number | null)[]>;
  /** The count shown; stars by default. */
  metric?: "stars" | "forks";
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
  /** How many ranks repositories have risen since the day before; negative: fallen. */
  moves?: ReadonlyMap<number, number>;
  /** The ranking that the list is in, or rising; absent for other orders. */
  ranking?: MainSort | undefined;
}

/** Owners' images in the first rows load with the page, those below when they come near. */
const FIRST_ROWS = 5;

/** The score of each order by one. */
const SCORES: Readonly<Partial<Record<MainSort, ScoreName>>> = {
  trending: "trending",
  rising: "rising",
  "new-hot": "newHot",
};

/** A row with its index among all, and its badges. */
interface Indexed {
  row: ListRow;
  index: number;
  badges: ReturnType<typeof badgesOf>;
}

/**
 * Repositories, one per row: rank, name, why it is here, sparkline, stars, and the gain in the window. In a ranking, those of low
 * confidence are in a group of their own below the others, with their ranks.
 */
export const RepositoryList: FC<RepositoryListProps> = (props) => {
  const { rows, caption, from, saved, next = "/", marksFirstSeen = false, ranking } = props;
  const form = `save-${caption.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;
  const indexed = rows.map((row, index) => ({
    row,
    index,
    badges: badgesOf({ ...row, marksFirstSeen, trends: [row.trend] }),
  }));
  const waits = ({ row: { trend } }: Indexed) => ranking !== undefined && trend != null && isUnsure(trend);
  const waiting = indexed.filter(waits);
  return (
    <>
      <Table
        label={caption}
        class={`list repositories${from === undefined ? " unranked" : ""}`}
        columns={columnsOf(props, form)}
        rows={{
          groups: [
            { rows: indexed.filter((one) => !waits(one)) },
            ...(waiting.length === 0 ? [] : [{ head: "Low confidence", rows: waiting }]),
          ],
        }}
        rowClass={({ row }) => (row.isStale ? "stale" : undefined)}
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

function columnsOf(props: RepositoryListProps, form: string): (Column<Indexed> | false)[] {
  const { from, sparks, metric = "stars", headOf, saved, moves, more = [] } = props;
  const isForks = metric === "forks";
  // On a phone an additional number replaces one of these, to leave room for names.
  const classOf = (own: string, replaced: MoreColumn["onPhone"]) =>
    more.some(({ onPhone }) => onPhone === replaced) ? `${own} spare` : own;
  return [
    from !== undefined && {
      head: <abbr title="Rank">#</abbr>,
      class: "rank",
      cell: ({ row, index }) => (
        <>
          {from + index}
          <Move ranks={moves?.get(row.repository.id) ?? 0} />
        </>
      ),
    },
    {
      head: "Repository",
      isName: true,
      class: "name",
      cell: (one) => <Name {...props} {...one} scores={scoresAt(props, one.index)} />,
    },
    {
      head: isForks ? "Stars, 30 days" : "30 days",
      class: "spark-cell",
      cell: ({ row }) => <Spark values={sparks.get(row.repository.id) ?? []} />,
    },
    {
      head: isForks ? "Forks" : "Stars",
      isNumber: true,
      class: classOf("of-count", "for-count"),
      sorting: headOf?.(isForks ? "forks" : "stars"),
      cell: ({ row }) => formatCount(row.repository[metric]),
    },
    {
      head: "Gained",
      isNumber: true,
      class: classOf("of-gain", "for-gain"),
      sorting: headOf?.(isForks ? "forksGained" : "starsGained"),
      cell: ({ row }) => <Gain trend={row.trend} measure={metric} />,
    },
    ...more.map(({ onPhone, sorts, cell, ...column }) => ({
      ...column,
      class: columnClass(onPhone),
      sorting: sorts && headOf?.(sorts),
      cell: ({ row, index }: Indexed) => cell(row, index),
    })),
    saved !== undefined && {
      head: "Saved",
      isHeadHidden: true,
      class: "action",
      cell: ({ row: { repository } }) => (
        <SaveStar {...{ repository, form }} isSaved={saved.has(repository.id)} />
      ),
    },
  ];
}

/** The score of a row in a ranking by one, and those of its neighbours. */
function scoresAt({ rows, ranking, from = 1 }: RepositoryListProps, index: number): RowScores | undefined {
  const name = ranking && SCORES[ranking];
  const scoreAt = (at: number) => (name && rows[at]?.trend?.scores[name]) ?? undefined;
  const own = scoreAt(index);
  if (own === undefined) return undefined;
  const neighbours = [index - 1, index + 1].flatMap((other) => {
    const score = scoreAt(other);
    return score === undefined ? [] : [{ position: from + other, score }];
  });
  return { own, neighbours };
}

type NameProps = Indexed &
  Pick<RepositoryListProps, "withForge" | "withLanguage" | "metric"> & { scores: RowScores | undefined };

/** A repository in words, and why it is here. */
const Name: FC<NameProps> = ({ row, index, badges, scores, ...props }) => {
  const { repository, trend } = row;
  const { withForge = false, withLanguage = true, metric = "stars" } = props;
  const { owner, name, provider, language, description } = repository;
  return (
    <>
      <div class="named">
        <a href={repositoryPage(repository)}>
          <span class="owner">
            <OwnerImage owner={owner} provider={provider} isFirst={index < FIRST_ROWS} />
            <span>{owner}/</span>
          </span>
          <span class="title">{name}</span>
        </a>{" "}
        <Badges badges={badges} />
      </div>
      <div class="about">
        {withLanguage ? <Language name={language} /> : null}{" "}
        {withForge ? <span class="forge">{forgeName(provider)}</span> : null}{" "}
        {description === null ? null : <bdi>{withEmoji(description)}</bdi>}
      </div>
      <Why {...{ repository, trend, badges, scores }} measure={metric} />
    </>
  );
};

/** How far a rank has moved; nothing for one that has not. */
const Move: FC<{ ranks: number }> = ({ ranks }) =>
  ranks === 0 ? null : (
    <small class={ranks > 0 ? "rise" : "fall"}>
      <span class="hidden">{ranks > 0 ? "up" : "down"} </span>
      <span aria-hidden="true">{ranks > 0 ? "▲" : "▼"}</span>
      {Math.abs(ranks)}
    </small>
  );

/** Numbers are aligned right; other columns are shown on every screen. */
function columnClass(onPhone: MoreColumn["onPhone"]): string {
  if (onPhone === undefined) return "action";
  return { nowhere: "number spare", "for-count": "number of-count", "for-gain": "number of-gain" }[onPhone];
}
