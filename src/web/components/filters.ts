import { forgeName } from "../../forges.js";
import { withQuery } from "./addresses.js";
import { formatCount } from "./numbers.js";

/** A filter in the address of a list. */
export interface ActiveFilter {
  text: string;
  /** The same list without it. */
  href: string;
  /** The parameters of the list without it. */
  without: URLSearchParams;
}

const ARCHIVED = new Map([
  ["true", "only archived"],
  ["false", "not archived"],
  ["any", "including archived"],
]);
const FORK = new Map([
  ["true", "only forks"],
  ["false", "no forks"],
  ["any", "including forks"],
]);

const stars = (text: string) => (/^\d{1,15}$/.test(text) ? formatCount(Number(text)) : text);

/** Describes the value of each filter parameter; undefined for a value that filters nothing. */
const TEXTS: Readonly<Record<string, (value: string) => string | undefined>> = {
  q: (value) => `“${value}”`,
  provider: (value) => forgeName(value.toUpperCase()),
  language: (value) => value,
  topic: (value) => `topic ${value}`,
  license: (value) => `license ${value}`,
  minStars: (value) => `at least ${stars(value)} stars`,
  maxStars: (value) => `at most ${stars(value)} stars`,
  createdAfter: (value) => `created after ${value}`,
  createdBefore: (value) => `created before ${value}`,
  pushedAfter: (value) => `pushed after ${value}`,
  archived: (value) => ARCHIVED.get(value),
  fork: (value) => FORK.get(value),
  reliableOnly: (value) => (value === "true" ? "reliable growth" : undefined),
  excludeAnomalous: (value) => (value === "true" ? "unusual hidden" : undefined),
};

/** What a filter with this value says; undefined for one that filters nothing. */
export function filterText(parameter: string, value: string): string | undefined {
  return TEXTS[parameter]?.(value);
}

/** The filters of an address, in the order of the form. */
export function activeFilters(url: URL): ActiveFilter[] {
  return Object.entries(TEXTS).flatMap(([name, textOf]) => {
    const values = url.searchParams.getAll(name);
    return values.flatMap((value): ActiveFilter[] => {
      const text = textOf(value);
      if (text === undefined) return [];
      // Sorting by relevance needs keywords.
      const sort = name === "q" && url.searchParams.get("sort") === "relevance" ? { sort: undefined } : {};
      const href = withQuery(url, { [name]: values.filter((other) => other !== value), ...sort });
      return [{ text, href, without: new URL(href, url).searchParams }];
    });
  });
}
