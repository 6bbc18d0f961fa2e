import type { Child, FC } from "hono/jsx";
import type { Repository, StarCount } from "../../catalog/catalog.js";
import { forgeName } from "../../forges.js";
import { repositoryPage } from "../../page-addresses.js";
import type { Trend } from "../../rankings/rankings.js";
import { Language } from "./language.js";
import { formatCompact, formatCount, formatDay, Gain } from "./numbers.js";
import { SaveStar } from "./save-button.js";
import { StarSpark } from "./spark.js";
import { StaleBadge } from "./stale-note.js";
import { StillHeldNote } from "./still-held.js";

export interface ListedRow {
  repository: Repository;
  trend: Trend | undefined;
  /** Whether its counts are no longer recent. */
  isStale: boolean;
}

/** An additional column. */
export interface MoreColumn {
  title: string;
  /** Whether only screen readers get the title. */
  isTitleHidden?: boolean;
  /** For numbers and days: what the column replaces on a phone, or `nowhere` to hide it there. */
  onPhone?: "for-count" | "for-gain" | "nowhere";
  cell: (row: ListedRow) => Child;
}

export interface RepositoryListProps {
  rows: readonly ListedRow[];
  /** Caption for screen readers. */
  caption: string;
  /** Rank of the first row; absent: ranks are not shown. */
  from?: number;
  /** Stars over the last 30 days, by repository. */
  sparks: ReadonlyMap<number, readonly (StarCount | null)[]>;
  /** Whether the page has several lists: fewer words and shorter numbers. */
  isShort?: boolean;
  /** The count shown; stars by default. */
  metric?: "stars" | "forks";
  /** Saved repositories. If given, each row has a star that saves it; the page needs the script save.js. */
  saved?: ReadonlySet<number>;
  /** Path to return to after saving without scripts; the home page by default. */
  next?: string;
  /** Columns after the others. */
  more?: readonly MoreColumn[];
  /** Whether rows show their forge. */
  withForge?: boolean;
  /** Whether rows show that their age counts from when they were first seen. */
  marksFirstSeen?: boolean;
  /** false: rows do not show their language, since all have the same. */
  withLanguage?: boolean;
}

/** Repositories, one per row: rank, name, sparkline, stars, and the gain in the window. */
export const RepositoryList: FC<RepositoryListProps> = ({
  rows,
  caption,
  from,
  sparks,
  isShort = false,
  metric = "stars",
  saved,
  next = "/",
  more = [],
  withForge = false,
  withLanguage = true,
  marksFirstSeen = false,
}) => {
  const form = `save-${caption.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;
  const columns = saved === undefined ? more : [...more, saveColumn(form, saved)];
  // On a phone an additional number replaces one of these, to leave room for names.
  const classOf = (replaced: MoreColumn["onPhone"]) =>
    more.some(({ onPhone }) => onPhone === replaced) ? "number spare" : "number";
  const [countClass, gainClass] = [classOf("for-count"), classOf("for-gain")];
  return (
    <>
      <table class={isShort ? "list short" : "list"}>
        <caption class="hidden">{caption}</caption>
        {isShort ? (
          <colgroup>
            {from === undefined ? null : <col class="rank" />}
            <col />
            <col class="spark-column spare" />
            <col class="count" />
            <col class="gain" />
            {columns.map(() => (
              <col class="action" />
            ))}
          </colgroup>
        ) : null}
        <thead class={isShort ? "hidden" : undefined}>
          <tr>
            {from === undefined ? null : (
              <th scope="col" class="rank">
                <abbr title="Rank">#</abbr>
              </th>
            )}
            <th scope="col">Repository</th>
            <th scope="col" class="spare">
              {metric === "stars" ? "30 days" : "Stars, 30 days"}
            </th>
            <th scope="col" class={countClass}>
              {metric === "stars" ? "Stars" : "Forks"}
            </th>
            <th scope="col" class={gainClass}>
              Gained
            </th>
            {columns.map(({ title, isTitleHidden = false, onPhone }) => (
              <th scope="col" class={columnClass(onPhone)}>
                {isTitleHidden ? <span class="hidden">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ repository, trend, isStale }, i) => (
            <tr>
              {from === undefined ? null : <td class="rank">{from + i}</td>}
              <td class="name">
                <div class="named">
                  <a href={repositoryPage(repository)}>{repository.fullName}</a>{" "}
                  <Marks {...{ repository, trend, marksFirstSeen }} />
                </div>
                <div class="about">
                  <StaleBadge {...{ repository, isStale }} />{" "}
                  {isShort || !withLanguage ? null : <Language name={repository.language} />}{" "}
                  {withForge ? <span class="forge">{forgeName(repository.provider)}</span> : null}{" "}
                  {repository.description === null ? null : <bdi>{repository.description}</bdi>}
                </div>
              </td>
              <td class="spark-cell spare">
                <StarSpark counts={sparks.get(repository.id) ?? []} />
              </td>
              <td class={countClass}>
                {isShort ? formatCompact(repository[metric]) : formatCount(repository[metric])}
              </td>
              <td class={gainClass}>
                <Gain trend={trend} measure={metric} />
              </td>
              {columns.map(({ onPhone, cell }) => (
                <td class={columnClass(onPhone) ?? "action"}>{cell({ repository, trend, isStale })}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {isShort ? null : <StillHeldNote trends={rows.map(({ trend }) => trend)} />}
      {saved === undefined ? null : (
        <form method="post" action="/watchlist/items" id={form}>
          <input type="hidden" name="next" value={next} />
        </form>
      )}
    </>
  );
};

/** Numbers are aligned right; other columns are shown on every screen. */
function columnClass(onPhone: MoreColumn["onPhone"]): string | undefined {
  return onPhone === undefined ? undefined : onPhone === "nowhere" ? "number spare" : "number";
}

/** A star for each row, as buttons of one form. */
function saveColumn(form: string, saved: ReadonlySet<number>): MoreColumn {
  return {
    title: "Saved",
    isTitleHidden: true,
    cell: ({ repository }) => <SaveStar {...{ repository, form }} isSaved={saved.has(repository.id)} />,
  };
}

/** Badges of a row that affect how far to trust it. */
const Marks: FC<Pick<ListedRow, "repository" | "trend"> & { marksFirstSeen: boolean }> = ({
  repository,
  trend,
  marksFirstSeen,
}) => (
  <>
    {repository.availability === "AVAILABLE" ? null : (
      <span class="badge caution">{repository.availability.toLowerCase()}</span>
    )}
    {repository.archived ? <span class="badge">archived</span> : null}
    {marksFirstSeen && trend !== undefined && trend.firstSeenAt !== null ? (
      <span
        class="badge"
        title="Its date of creation is not known, so its age counts from its first snapshot."
      >
        first seen {formatDay(trend.firstSeenAt)}
      </span>
    ) : null}
    {(trend?.predecessorId ?? null) === null ? null : (
      <span class="badge" title="Its growth begins with a snapshot of what seems to be its earlier name.">
        new name
      </span>
    )}
    {(trend?.anomalies.length ?? 0) > 0 ? (
      <span class="badge caution" title={trend?.anomalies.map(({ reason }) => reason).join("; ")}>
        unusual
      </span>
    ) : null}
  </>
);
