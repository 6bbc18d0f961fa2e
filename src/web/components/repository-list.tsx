import type { FC } from "hono/jsx";
import type { Repository } from "../../catalog/catalog.js";
import { repositoryPage } from "../../page-addresses.js";
import type { Trend } from "../../rankings/rankings.js";
import { forgeName } from "./forges.js";
import { Language } from "./language.js";
import { Delta, formatCompact, formatCount } from "./numbers.js";
import { Spark } from "./spark.js";

export interface ListedRow {
  repository: Repository;
  trend: Trend | undefined;
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
  /** One more column at the end: what the list is sorted by, where the others do not show it. */
  column?: ListColumn | undefined;
  /** Whether rows say their forge, as they are of several. */
  withForge?: boolean;
  /** false: rows do not say their language, as all have the same. */
  withLanguage?: boolean;
}

export interface ListColumn {
  title: string;
  value: (row: ListedRow) => string;
  /** A day: on a phone it is shown rather than the gain. */
  isDay?: boolean;
}

/** Repositories, one a row: place, name, course of its stars, stars, and what it gained in the window. */
export const RepositoryList: FC<RepositoryListProps> = ({
  rows,
  caption,
  from,
  sparks,
  isShort = false,
  metric = "stars",
  column,
  withForge = false,
  withLanguage = true,
}) => (
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
          30 days
        </th>
        <th scope="col" class="number">
          {metric === "stars" ? "Stars" : "Forks"}
        </th>
        <th scope="col" class={column?.isDay ? "number spare" : "number"}>
          Gained
        </th>
        {column === undefined ? null : (
          <th scope="col" class={column.isDay ? "number" : "number spare"}>
            {column.title}
          </th>
        )}
      </tr>
    </thead>
    <tbody>
      {rows.map(({ repository, trend }, i) => (
        <tr>
          {from === undefined ? null : <td class="place">{from + i}</td>}
          <td class="name">
            <div>
              <a href={repositoryPage(repository)}>{repository.fullName}</a>{" "}
              {isShort || !withLanguage ? null : <Language name={repository.language} />}{" "}
              {withForge ? <span class="forge">{forgeName(repository.provider)}</span> : null}{" "}
              <Marks {...{ repository, trend }} />
            </div>
            <div class="about">{repository.description ?? ""}</div>
          </td>
          <td class="spark-cell spare">
            <Spark values={sparks.get(repository.id) ?? []} />
          </td>
          <td class="number">
            {isShort ? formatCompact(repository[metric]) : formatCount(repository[metric])}
          </td>
          <td class={column?.isDay ? "number spare" : "number"}>
            <Delta value={metric === "stars" ? trend?.starsDelta : trend?.forksDelta} />
          </td>
          {column === undefined ? null : (
            <td class={column.isDay ? "number" : "number spare"}>{column.value({ repository, trend })}</td>
          )}
        </tr>
      ))}
    </tbody>
  </table>
);

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
