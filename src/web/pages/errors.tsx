import type { FC } from "hono/jsx";
import type { AppError } from "../../errors.js";
import { languagePage, repositoryPage, topicPage } from "../../page-addresses.js";
import type { Suggestions } from "../../search/search.js";
import type { Page, PageRequest } from "../page-request.js";

/** What errors are called, by what they mean to somebody who reads a page, and what can be done. */
const KNOWN = {
  400: ["That cannot be asked", "Something in the address or the form is not as it should be."],
  401: ["Please sign in", "This page is for those who are signed in."],
  403: ["That is not allowed", "Go back and try it from a page of this service."],
  404: ["Page not found", "The address may be mistyped, or the page may have been removed."],
  405: ["That cannot be done here", "Follow a link to the page instead."],
  409: ["That does not fit", "Something else has been changed meanwhile, or a limit is reached."],
  429: ["Too many requests", "You have asked for more pages than one address may in a minute."],
  500: ["Something went wrong", "The fault is ours, and it has been written down. Try again in a moment."],
  503: ["Not available right now", "It should be back soon. Try again in a moment."],
} as const;
type KnownStatus = keyof typeof KNOWN;

/** The page that tells an error. */
export async function errorPage(error: AppError, request: PageRequest): Promise<Page> {
  const { message, status } = error;
  const known: KnownStatus = status in KNOWN ? (status as KnownStatus) : status >= 500 ? 500 : 400;
  const [heading, advice] = KNOWN[known];
  const wait = error.headers["Retry-After"];
  const suggestions = status === 404 ? await suggestionsFor(request) : undefined;
  return {
    title: heading,
    status,
    body: (
      <div class="read">
        <h1>{heading}</h1>
        {status === 429 ? (
          <>
            <p class="lead">
              {advice}
              {wait === undefined ? "" : ` Try again in ${wait === "1" ? "a second" : `${wait} seconds`}.`}
            </p>
            <p>
              {message} With an <a href="/docs#limits">API key</a> programs may ask more often.
            </p>
          </>
        ) : (
          <>
            <p class="lead">{message}</p>
            <p>{advice}</p>
          </>
        )}
        {suggestions === undefined ? null : <Meant {...suggestions} />}
        <p>
          <a href="/">Home</a> · <a href="/explore">Explore all repositories</a>
        </p>
      </div>
    ),
  };
}

/** Names of each kind that are suggested. */
const SUGGESTED = 5;

/** What the last part of an address may have meant; whatever fails here, the error itself can still be told. */
async function suggestionsFor({ url, modules, method }: PageRequest): Promise<Suggestions | undefined> {
  // Files are no pages, and nothing counts who asks for them: they are not looked for.
  if (method !== "GET" || /^\/(?:assets|sitemaps?)\b/.test(url.pathname)) return undefined;
  try {
    const last = decodeURIComponent(url.pathname.split("/").findLast((part) => part !== "") ?? "");
    const text = last.slice(0, 64);
    if (text.trim() === "") return undefined;
    const found = await modules.search.suggest(text, SUGGESTED);
    if (countOf(found) > 0) return found;
    // The end is mistyped more often than the beginning.
    const begin = [...text].slice(0, Math.ceil([...text].length / 2)).join("");
    const nearer = begin.length < 2 ? undefined : await modules.search.suggest(begin, SUGGESTED);
    return nearer === undefined || countOf(nearer) === 0 ? undefined : nearer;
  } catch {
    return undefined;
  }
}

function countOf({ repositories, languages, topics }: Suggestions): number {
  return repositories.length + languages.length + topics.length;
}

const Meant: FC<Suggestions> = ({ repositories, languages, topics }) => (
  <>
    <h2>Was it one of these?</h2>
    <ul>
      {repositories.map((repository) => (
        <li>
          <a href={repositoryPage(repository)}>{repository.fullName}</a>
        </li>
      ))}
      {languages.map(({ name }) => (
        <li>
          Language <a href={languagePage(name)}>{name}</a>
        </li>
      ))}
      {topics.map(({ name }) => (
        <li>
          Topic <a href={topicPage(name)}>{name}</a>
        </li>
      ))}
    </ul>
  </>
);
