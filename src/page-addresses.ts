/** Paths of pages below the base URL, for feeds, the site map and the pages themselves. */

/** The page of a repository. Slashes in the owner stay unescaped, since some proxies reject escaped ones. */
export function repositoryPage(repository: { provider: string; owner: string; name: string }): string {
  const { provider, owner, name } = repository;
  return `/repos/${[provider.toLowerCase(), ...owner.split("/"), name].map(segment).join("/")}`;
}

/** The page with all filters, showing the list with these parameters. */
export function explorePage(parameters: URLSearchParams): string {
  return parameters.size === 0 ? "/explore" : `/explore?${parameters}`;
}

/** The lists of languages and topics; the page of each one is below. */
export const LANGUAGES_PAGE = "/languages";
export const TOPICS_PAGE = "/topics";

/** The page of a language. */
export function languagePage(name: string): string {
  return `${LANGUAGES_PAGE}/${segment(name)}`;
}

/** The page of a topic. */
export function topicPage(name: string): string {
  return `${TOPICS_PAGE}/${segment(name)}`;
}

/** One segment of a path. */
function segment(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** Where the pages say how to track real repositories. */
export const START_TRACKING_PAGE = "/about#begin";
