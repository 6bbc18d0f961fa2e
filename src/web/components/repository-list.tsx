import type { ComponentChildren as Child, FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import type { ListRow } from "../../discovery/discovery.js";
import type { Ranking, ScoreName } from "../../growth/growth.js";
import { repositoryPage } from "../../lib/page-addresses.js";
import type { StarCount } from "../../repositories/repositories.js";
import { OwnerImage } from "../avatars.js";
import { withEmoji } from "../emoji.js";
import { type ListStars, SaveStar } from "../saving.js";
import { Badges, badgesOf, type RowScores, Why } from "./badges.js";
import { Language } from "./language.js";
import { formatCount, Gain, StillHeldNote } from "./numbers.js";
import { StarSpark } from "./small-charts.js";

/** The columns that a list may be sorted by at their heads. */
export type SortableColumn =
  | "stars"
  | "forks"
  | "starsGained"
  | "forksGained"
  | "pushed"
  | "created"
  | "score";

/** The head of a column: where its link leads, if it has one, and the `aria-sort` of its cell. */
export interface ColumnHead {
  href?: string | undefined;
  sorted: "ascending" | "descending" | undefined;
}

/** An additional column. */
export interface MoreColumn {
  title: string;
  /** Whether only screen readers get the title. */
  isTitleHidden?: boolean;
  /** For numbers and days: what the column replaces on a phone, or `nowhere` to hide it there. */
  onPhone?: "for-count" | "for-gain" | "nowhere";
  /** The order that its head sorts by. */
  sorts?: SortableColumn;
  cell: (row: ListRow) => Child;
}

export interface RepositoryListProps extends ListStars {
  rows: readonly ListRow[];
  /** Caption for screen readers. */
  caption: string;
  /** Rank of the first row; absent: ranks are not shown. */
  from?: number;
  /** Stars over the last 30 days, by repository. */
  sparks: ReadonlyMap<number, readonly (StarCount | null)[]>;
  /** The count shown; stars by default. */
  metric?: "stars" | "forks";
  /** Columns after the others. */
  more?: readonly MoreColumn[];
  /** How the head of a column sorts the list; undefined for one that does not. */
  headOf?: (column: SortableColumn) => ColumnHead | undefined;
  /** Whether rows show their forge. */
  withForge?: boolean;
  /** Whether rows show that their age counts from when they were first seen. */
  marksFirstSeen?: boolean;
  /** false: rows do not show their language, since all have the same. */
  withLanguage?: boolean;
  /** How many ranks repositories have risen since the day before; negative: fallen. */
  moves?: ReadonlyMap<number, number>;
  /** The ranking that the list is in; absent for other orders. */
  ranking?: Ranking | undefined;
}

/** Owners' images in the first rows load with the page, those below when they come near. */
const FIRST_ROWS = 5;

/** Repositories, one per row: rank, name, why it is here, sparkline, stars, and the gain in the window. */
export const RepositoryList: FC<RepositoryListProps> = (props) => {
  const {
    rows,
    caption,
    from,
    metric = "stars",
    saved,
    next = "/",
    more = [],
    marksFirstSeen = false,
  } = props;
  const form = `save-${caption.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;
  const columns = saved === undefined ? more : [...more, saveColumn(form, saved)];
  // On a phone an additional number replaces one of these, to leave room for names.
  const classOf = (own: string, replaced: MoreColumn["onPhone"]) =>
    more.some(({ onPhone }) => onPhone === replaced) ? `number ${own} spare` : `number ${own}`;
  const classes = { count: classOf("of-count", "for-count"), gain: classOf("of-gain", "for-gain") };
  return (
    <>
      <table class={`list repositories${from === undefined ? " unranked" : ""}`}>
        <caption class="hidden">{caption}</caption>
        <Heads {...props} {...{ classes, columns }} />
        <Rows {...props} {...{ classes, columns, metric }} isWaiting={false} />
        {props.ranking === undefined ? null : <Rows {...props} {...{ classes, columns, metric }} isWaiting />}
      </table>
      {marksFirstSeen && rows.some(({ trend }) => (trend?.firstSeenAt ?? null) !== null) ? (
        <p class="soft small">
          First seen: the date of creation is not known, so the age counts from the first snapshot.
        </p>
      ) : null}
      <StillHeldNote trends={rows.map(({ trend }) => trend)} />
      {saved === undefined ? null : (
        <form method="post" action="/watchlist/items" id={form}>
          <input type="hidden" name="next" value={next} />
        </form>
      )}
    </>
  );
};

/** The score of each ranking by one. */
const SCORES: Readonly<Partial<Record<Ranking, ScoreName>>> = {
  trending: "trending",
  rising: "rising",
  "new-hot": "newHot",
};

type RowsProps = RepositoryListProps & Columns & { metric: "stars" | "forks"; isWaiting: boolean };

/** The rows of a list. In a ranking, those of low confidence wait in a group of their own below the others, with their ranks. */
const Rows: FC<RowsProps> = ({ isWaiting, ...props }) => {
  const { rows, ranking, from = 1, columns } = props;
  const waits = ({ trend }: ListRow) => ranking !== undefined && trend?.reliable === false;
  const shown = [...rows.entries()].filter(([, row]) => waits(row) === isWaiting);
  const name = ranking && SCORES[ranking];
  const scoreAt = (index: number) =>
    (name === undefined ? undefined : rows[index]?.trend?.scores[name]) ?? undefined;
  const scoresAt = (index: number): RowScores | undefined => {
    const own = scoreAt(index);
    if (own === undefined) return undefined;
    const neighbours = [index - 1, index + 1].flatMap((other) => {
      const score = scoreAt(other);
      return score === undefined ? [] : [{ position: from + other, score }];
    });
    return { own, neighbours };
  };
  if (shown.length === 0) return null;
  return (
    <tbody>
      {isWaiting ? (
        <tr class="group">
          <th scope="rowgroup" colspan={(props.from === undefined ? 4 : 5) + columns.length}>
            Waiting for confirmation
          </th>
        </tr>
      ) : null}
      {shown.map(([index, row]) => (
        <Row {...props} {...{ row, index }} scores={scoresAt(index)} />
      ))}
    </tbody>
  );
};

interface Columns {
  classes: { count: string; gain: string };
  columns: readonly MoreColumn[];
}

const Heads: FC<RepositoryListProps & Columns> = ({ from, metric, headOf, classes, columns }) => {
  const isForks = metric === "forks";
  return (
    <thead>
      <tr>
        {from === undefined ? null : (
          <th scope="col" class="rank">
            <abbr title="Rank">#</abbr>
          </th>
        )}
        <th scope="col" class="name">
          Repository
        </th>
        <th scope="col" class="spark-cell">
          {isForks ? "Stars, 30 days" : "30 days"}
        </th>
        <Head class={classes.count} head={headOf?.(isForks ? "forks" : "stars")}>
          {isForks ? "Forks" : "Stars"}
        </Head>
        <Head class={classes.gain} head={headOf?.(isForks ? "forksGained" : "starsGained")}>
          Gained
        </Head>
        {columns.map(({ title, isTitleHidden = false, onPhone, sorts }) => (
          <Head class={columnClass(onPhone)} head={sorts && headOf?.(sorts)}>
            {isTitleHidden ? <span class="hidden">{title}</span> : title}
          </Head>
        ))}
      </tr>
    </thead>
  );
};

const Head: FC<{ class: string | undefined; head: ColumnHead | undefined; children: Child }> = ({
  class: className,
  head,
  children,
}) => (
  <th scope="col" class={className} aria-sort={head?.sorted}>
    {head?.href === undefined ? children : <a href={head.href}>{children}</a>}
    {head?.sorted === undefined ? null : (
      <span class="sorted" aria-hidden="true">
        {head.sorted === "ascending" ? "▲" : "▼"}
      </span>
    )}
  </th>
);

type RowProps = Omit<RowsProps, "isWaiting"> & { row: ListRow; index: number; scores: RowScores | undefined };

const Row: FC<RowProps> = ({
  row,
  index,
  from,
  sparks,
  metric,
  withForge = false,
  withLanguage = true,
  marksFirstSeen = false,
  classes,
  columns,
  scores,
  moves,
}) => {
  const { repository, trend, isStale, movedTo } = row;
  const { owner, name, provider, language, description } = repository;
  const badges = badgesOf({ repository, isStale, movedTo, marksFirstSeen, trends: [trend] });
  return (
    <tr class={isStale ? "stale" : undefined}>
      {from === undefined ? null : (
        <td class="rank">
          {from + index}
          <Move ranks={moves?.get(repository.id) ?? 0} />
        </td>
      )}
      <td class="name">
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
      </td>
      <td class="spark-cell">
        <StarSpark counts={sparks.get(repository.id) ?? []} />
      </td>
      <td class={classes.count}>{formatCount(repository[metric])}</td>
      <td class={classes.gain}>
        <Gain trend={trend} measure={metric} />
      </td>
      {columns.map(({ onPhone, cell }) => (
        <td class={columnClass(onPhone)}>{cell(row)}</td>
      ))}
    </tr>
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

/** A star for each row, as buttons of one form. */
function saveColumn(form: string, saved: ReadonlySet<number>): MoreColumn {
  return {
    title: "Saved",
    isTitleHidden: true,
    cell: ({ repository }) => <SaveStar {...{ repository, form }} isSaved={saved.has(repository.id)} />,
  };
}
