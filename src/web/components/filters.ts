import { forgeName } from "../../forges.js";
import { withQuery } from "./addresses.js";
import { formatCount } from "./numbers.js";

/** Something that a list is narrowed by, or widened, as its address says. */
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
  ["any", "archived too"],
]);
const FORK = new Map([
  ["true", "only forks"],
  ["false", "no forks"],
  ["any", "forks too"],
]);

const stars = (text: string) => (/^\d{1,15}$/.test(text) ? formatCount(Number(text)) : text);

/** How a value of each parameter is told; those that are not here narrow nothing. `undefined`: this value does not. */
const TEXTS: Readonly<Record<string, (value: string) => string | undefined>> = {
  q: (value) => `“${value}”`,
  provider: (value) => forgeName(value.toUpperCase()),
  language: (value) => value,
  topic: (value) => `topic ${value}`,
  license: (value) => `license ${value}`,
  minStars: (value) => `at least ${stars(value)} stars`,
  maxStars: (value) => `at most ${stars(value)} stars`,
  createdAfter: (value) => `created since ${value}`,
  createdBefore: (value) => `created before ${value}`,
  pushedAfter: (value) => `pushed to since ${value}`,
  archived: (value) => ARCHIVED.get(value),
  fork: (value) => FORK.get(value),
  reliableOnly: (value) => (value === "true" ? "reliable growth" : undefined),
  excludeAnomalous: (value) => (value === "true" ? "nothing unusual" : undefined),
};

/** The filters of an address, in the order of the form. */
export function activeFilters(url: URL): ActiveFilter[] {
  return Object.entries(TEXTS).flatMap(([name, textOf]) => {
    const values = url.searchParams.getAll(name);
    return values.flatMap((value): ActiveFilter[] => {
      const text = textOf(value);
      if (text === undefined) return [];
      // The order by how well words fit goes with the words.
      const sort = name === "q" && url.searchParams.get("sort") === "relevance" ? { sort: undefined } : {};
      const href = withQuery(url, { [name]: values.filter((other) => other !== value), ...sort });
      return [{ text, href, without: new URL(href, url).searchParams }];
    });
  });
}
