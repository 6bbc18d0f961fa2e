import type { FunctionComponent as FC } from "preact";
import {
  isGrowthSort,
  type ListPage,
  type ListQuery,
  listPage,
  listQuery,
  type UnmatchedValue,
} from "../../discovery/discovery.js";
import { readQuery, resultOrProblems } from "../page-query.js";
import type { PageRequest } from "../page-request.js";
import { AskForm, mayRequest } from "../tracking.js";
import { type ActiveFilter, filterText } from "./filters.js";
import { withQuery } from "./links.js";
import { repositoriesText } from "./numbers.js";

/** Ways out of an empty list. */
export interface Help {
  /** Lists with results: without one of the filters, or with one word of the search alone. */
  wider: readonly Wider[];
  /** For the field. */
  request: PageRequest;
}

interface Wider {
  /** Before the link. */
  label: "Without" | "Only";
  text: string;
  href: string;
  total: number;
}

/** Lists that are tried. */
const MOST_TRIED = 5;

/** Tries wider lists than one that is empty, at most five, and looks whether its search names a repository. */
export async function helpWith(
  request: PageRequest,
  { url, filters, query }: { url: URL; filters: readonly ActiveFilter[]; query: ListQuery },
): Promise<Help> {
  // Without its only filter, a list is that of everything.
  const removed = filters.length < 2 ? [] : filters;
  const candidates = [
    ...removed.map(({ text, href }) => ({ label: "Without" as const, text, href })),
    ...wordsOf(query.q ?? "").map((word) => ({
      label: "Only" as const,
      text: filterText("q", word) ?? word,
      href: withQuery(url, { q: word }),
    })),
  ];
  const wider = candidates.slice(0, MOST_TRIED).map(async (candidate): Promise<Wider[]> => {
    const found = await totalOf(request, candidate.href);
    return found === undefined || found === 0 ? [] : [{ ...candidate, total: found }];
  });
  return { wider: (await Promise.all(wider)).flat(), request };
}

/** The parts of a search that may be searched for alone; none of a single word. */
function wordsOf(text: string): string[] {
  const words = [...new Set(text.split(/[\s/]+/).filter((word) => word !== ""))];
  return words.length < 2 ? [] : words;
}

async function totalOf({ modules }: PageRequest, href: string): Promise<number | undefined> {
  const { query } = readQuery(listQuery, new URL(href, "http://localhost"));
  if (query === undefined) return undefined;
  const { found } = await resultOrProblems(() => listPage(modules, { ...query, limit: 1, page: 1 }));
  return found?.total;
}

interface NoMatchesProps {
  url: URL;
  query: ListQuery;
  list: ListPage;
  help: Help;
}

/** The heading of an empty list. */
export function noMatchesText(filters: readonly ActiveFilter[]): string {
  if (filters.length === 0) return "This list is empty";
  const [only] = filters;
  return filters.length === 1 && only !== undefined
    ? `No matches for ${only.text}`
    : "No repository matches all of these filters";
}

/** Why a list is empty, and how to get results. */
export const NoMatches: FC<NoMatchesProps> = ({ url, query, list, help: { wider, request } }) => (
  <div class="note no-matches">
    {(list.unmatched ?? []).map((unmatched) => (
      <Unmatched url={url} unmatched={unmatched} />
    ))}
    {query.q === undefined ? null : (
      <p>
        Every keyword must occur in the name, the topics or the description. Try fewer, or check their
        spelling.
      </p>
    )}
    {query.q === undefined || !mayRequest(request) ? null : <AskForm request={request} text={query.q} />}
    {wider.length === 0 ? null : (
      <ul>
        {wider.map(({ label, text, href, ...found }) => (
          <li>
            {label} <a href={href}>{text}</a>: {repositoriesText(found.total)}
          </li>
        ))}
      </ul>
    )}
    {isGrowthSort(list.sort) ? (
      <p>
        This list has only repositories with known growth in {query.window}. Try{" "}
        <a href={withQuery(url, { window: query.window === "30d" ? "7d" : "30d" })}>another window</a> or{" "}
        <a href={withQuery(url, { sort: "stars" })}>sort by stars</a>.
      </p>
    ) : null}
  </div>
);

/** A value of a filter that no repository has, with the one that was probably meant. */
const Unmatched: FC<{ url: URL; unmatched: UnmatchedValue }> = ({ url, unmatched }) => {
  const { parameter, value, nearest, message } = unmatched;
  const others = url.searchParams
    .getAll(parameter)
    .filter((one) => one.toLowerCase() !== value.toLowerCase());
  const meant = parameter === "provider" ? nearest?.toLowerCase() : nearest;
  return (
    <p>
      <bdi>{filterText(parameter, value) ?? value}</bdi>: {message}
      {meant === null || meant === undefined ? null : (
        <>
          {" "}
          Did you mean <a href={withQuery(url, { [parameter]: [...others, meant] })}>{nearest}</a>?
        </>
      )}
    </p>
  );
};
