/** Addresses of pages, below the base URL, for all that links to them: feeds, the site map, the pages themselves. */

/** The page of a repository. The slashes of an owner stay as they are, which passes every proxy. */
export function repositoryPage(repository: { provider: string; owner: string; name: string }): string {
  const { provider, owner, name } = repository;
  return `/repos/${[provider.toLowerCase(), ...owner.split("/"), name].map(segment).join("/")}`;
}

/** The page with all filters, showing the list that these parameters ask for. */
export function explorePage(parameters: URLSearchParams): string {
  return parameters.size === 0 ? "/explore" : `/explore?${parameters}`;
}

/** The pages that list the languages and the topics; those of one each are below them. */
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
