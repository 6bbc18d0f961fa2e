import type { Child, FC } from "hono/jsx";
import type { Repository } from "../../catalog/catalog.js";
import { forgeName } from "../../forges.js";
import { repositoryPage } from "../../page-addresses.js";
import type { Trend } from "../../rankings/rankings.js";
import { Language } from "./language.js";
import { Delta, formatCompact, formatCount } from "./numbers.js";
import { SaveStar } from "./save-button.js";
import { Spark } from "./spark.js";

export interface ListedRow {
  repository: Repository;
  trend: Trend | undefined;
}

/** A column besides those that every list has. */
export interface MoreColumn {
  title: string;
  /** Whether the title is only told to those who cannot see what the column is. */
  isTitleHidden?: boolean;
  /** For numbers and days: whether a phone shows them instead of the count or the gain, or nowhere. */
  onPhone?: "for-count" | "for-gain" | "nowhere";
  cell: (row: ListedRow) => Child;
}

export interface RepositoryListProps {
  rows: readonly ListedRow[];
  /** What the table lists, for those who cannot see its heading. */
  caption: string;
  /** Place of the first row; absent: places are not told. */
  from?: number;
  /** Stars over the last 30 days, by repository. */
  sparks: ReadonlyMap<number, readonly (number | null)[]>;
  /** Whether it stands among others on a page, with fewer words and shorter numbers. */
  isShort?: boolean;
  /** What is counted; stars unless told. */
  metric?: "stars" | "forks";
  /** What is on the visitor's watchlist; given, each row has a star that saves it. The page needs the script save.js. */
  saved?: ReadonlySet<number>;
  /** The path that a press of such a star comes back to where no script runs; the first page of the service unless told. */
  next?: string;
  /** Columns behind the others. */
  more?: readonly MoreColumn[];
  /** Whether rows say their forge, as they are of several. */
  withForge?: boolean;
  /** false: rows do not say their language, as all have the same. */
  withLanguage?: boolean;
}

/** Repositories, one a row: place, name, course of its stars, stars, and what it gained in the window. */
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
}) => {
  const form = `save-${caption.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;
  const columns = saved === undefined ? more : [...more, saveColumn(form, saved)];
  // On a phone a further number takes the place of one of these, or names would be cut to nothing.
  const classOf = (place: MoreColumn["onPhone"]) =>
    more.some(({ onPhone }) => onPhone === place) ? "number spare" : "number";
  const [countClass, gainClass] = [classOf("for-count"), classOf("for-gain")];
  return (
    <>
      <table class="list">
        <caption class="hidden">{caption}</caption>
        <thead class={isShort ? "hidden" : undefined}>
          <tr>
            {from === undefined ? null : (
              <th scope="col" class="place">
                <abbr title="Place">#</abbr>
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
          {rows.map(({ repository, trend }, i) => (
            <tr>
              {from === undefined ? null : <td class="place">{from + i}</td>}
              <td class="name">
                <div class="named">
                  <a href={repositoryPage(repository)}>{repository.fullName}</a>{" "}
                  <Marks {...{ repository, trend }} />
                </div>
                <div class="about">
                  {isShort || !withLanguage ? null : <Language name={repository.language} />}{" "}
                  {withForge ? <span class="forge">{forgeName(repository.provider)}</span> : null}{" "}
                  {repository.description ?? ""}
                </div>
              </td>
              <td class="spark-cell spare">
                <Spark values={sparks.get(repository.id) ?? []} />
              </td>
              <td class={countClass}>
                {isShort ? formatCompact(repository[metric]) : formatCount(repository[metric])}
              </td>
              <td class={gainClass}>
                <Delta value={metric === "stars" ? trend?.starsDelta : trend?.forksDelta} />
              </td>
              {columns.map(({ onPhone, cell }) => (
                <td class={columnClass(onPhone) ?? "action"}>{cell({ repository, trend })}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {saved === undefined ? null : (
        <form method="post" action="/watchlist/items" id={form}>
          <input type="hidden" name="next" value={next} />
        </form>
      )}
    </>
  );
};

/** Numbers stand at the right; what else there is needs its room always. */
function columnClass(onPhone: MoreColumn["onPhone"]): string | undefined {
  return onPhone === undefined ? undefined : onPhone === "nowhere" ? "number spare" : "number";
}

/** The stars that save rows, as buttons of one form. */
function saveColumn(form: string, saved: ReadonlySet<number>): MoreColumn {
  return {
    title: "Saved",
    isTitleHidden: true,
    cell: ({ repository }) => <SaveStar {...{ repository, form }} isSaved={saved.has(repository.id)} />,
  };
}

/** What somebody should know before believing a row. */
const Marks: FC<ListedRow> = ({ repository, trend }) => (
  <>
    {repository.availability === "AVAILABLE" ? null : (
      <span class="badge caution">{repository.availability.toLowerCase()}</span>
    )}
    {repository.archived ? <span class="badge">archived</span> : null}
    {(trend?.anomalies.length ?? 0) > 0 ? (
      <span class="badge caution" title={trend?.anomalies.map(({ kind }) => kind).join(", ")}>
        unusual
      </span>
    ) : null}
  </>
);
