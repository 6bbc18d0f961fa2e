import { nearestName } from "../lib/nearest-name.js";
import type { Route } from "./route.js";

/** Lists the query parameters of a request that its route does not know: a list of strings as in RFC 9651. */
export const IGNORED_HEADER = "X-Ignored-Parameters";

/** For earlier names of parameters (RFC 9745), with the time since which they are. */
export const DEPRECATION_HEADER = "Deprecation";
const RENAMED_AT = Date.UTC(2026, 10, 23) / 1_000;

/** Names and values of the headers for the names in a query string: those that a route does not declare, and earlier ones. */
export function parameterNotes(
  given: readonly string[],
  { query, aliases = {} }: Pick<Route, "query" | "aliases">,
): string[] {
  const ignored = ignoredParameters(
    given.filter((name) => !Object.hasOwn(aliases, name)),
    query,
  );
  const isDated = given.some((name) => Object.hasOwn(aliases, name));
  return [
    ...(ignored === undefined ? [] : [IGNORED_HEADER, ignored]),
    ...(isDated ? [DEPRECATION_HEADER, `@${RENAMED_AT}`] : []),
  ];
}

/** Names in one header, and characters of a name. */
const MAX_NAMES = 5;
const MAX_LENGTH = 40;

/** Names that other services have for ours. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  per_page: "limit",
  perpage: "limit",
  page_size: "limit",
  pagesize: "limit",
  size: "limit",
  count: "limit",
  offset: "page",
  after: "cursor",
  direction: "order",
  sort_by: "sort",
  sortby: "sort",
  search: "q",
  query: "q",
  since: "window",
  lang: "language",
};

/**
 * The header for the names in a query string that are not `known`: each with the nearest known name, the first five of them. undefined
 * if all are known. Reads nothing but names, so it may run before a request is counted.
 */
export function ignoredParameters(given: Iterable<string>, known: readonly string[]): string | undefined {
  const ignored = new Set<string>();
  for (const name of given) {
    if (!known.includes(name)) ignored.add(name);
    if (ignored.size > MAX_NAMES) break;
  }
  if (ignored.size === 0) return undefined;
  return [...ignored]
    .slice(0, MAX_NAMES)
    .map((name) => {
      const nearest = nearestKnown(name.slice(0, MAX_LENGTH), known);
      return nearest === undefined ? quoted(name) : `${quoted(name)};nearest="${nearest}"`;
    })
    .join(", ");
}

function nearestKnown(name: string, known: readonly string[]): string | undefined {
  const plain = name.replace(/\[\w*\]$/, "");
  const other = OTHER_NAMES[plain.toLowerCase()];
  if (other !== undefined && known.includes(other)) return other;
  const nearest = nearestName(plain, known);
  // One letter is near every other.
  return nearest?.length === 1 && nearest !== plain.toLowerCase() ? undefined : nearest;
}

/** A name as a string of printable ASCII without quotes: everything else in it is percent-encoded. */
function quoted(name: string): string {
  return `"${encodeURIComponent(name.slice(0, MAX_LENGTH).toWellFormed()).slice(0, MAX_LENGTH)}"`;
}
