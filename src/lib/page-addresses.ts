/** Addresses of pages and the references of repositories in them, for feeds, embeds, the site map and the pages. */

/** A repository as addresses name it. */
export interface RepositoryName {
  provider: string;
  fullName: string;
}

/** The page of a repository. Slashes in the owner stay unescaped, since some proxies reject escaped ones. */
export function repositoryPage({ provider, fullName }: RepositoryName): string {
  return `/repos/${[provider.toLowerCase(), ...fullName.split("/")].map(encoded).join("/")}`;
}

/** The page about these repositories: the repository page for one, the comparison for several. */
export function chartPage(repositories: readonly RepositoryName[]): string {
  const [only] = repositories;
  return repositories.length === 1 && only !== undefined
    ? repositoryPage(only)
    : `/compare?${queryOf(repositories.map((one) => ["repo", repositoryKey(one)]))}`;
}

/** `provider:owner/name`, the form of the parameter `repo`. */
export function repositoryKey({ provider, fullName }: RepositoryName): string {
  return `${provider.toLowerCase()}:${fullName}`;
}

/** A query string with the parameters in the given order. Colons and slashes in values stay readable. */
export function queryOf(parameters: readonly (readonly [string, string])[]): string {
  return parameters
    .map(([name, value]) => `${name}=${encoded(value).replaceAll("%3A", ":").replaceAll("%2F", "/")}`)
    .join("&");
}

/** The page with all filters, showing the list with these parameters. */
export function explorePage(parameters: URLSearchParams): string {
  return parameters.size === 0 ? "/explore" : `/explore?${parameters}`;
}

/** The progress of repositories that were requested together. */
export function trackListPage(listId: string): string {
  return `/track/lists/${listId}`;
}

/** A question to forges about the meaning of a text, and its answers. `next`: the comparison that it came from. */
export function trackQuestionPage(questionId: string, next?: string): string {
  return `/track/questions/${questionId}${next === undefined ? "" : `?${new URLSearchParams({ next })}`}`;
}

export const LANGUAGES_PAGE = "/languages";
export const TOPICS_PAGE = "/topics";

export function languagePage(name: string): string {
  return `${LANGUAGES_PAGE}/${encoded(name)}`;
}

export function topicPage(name: string): string {
  return `${TOPICS_PAGE}/${encoded(name)}`;
}

export const DOCS_PAGE = "/docs";

/** Instructions for tracking repositories. */
export const START_TRACKING_PAGE = "/about#begin";

/** Percent-encodes a path segment or value, including !'()*, which are special in Markdown and HTML. */
function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** A path without the slashes at its end. Not by an expression, which would try every run of slashes in it. */
export function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === "/") end--;
  return path.slice(0, end);
}
