import type { FunctionComponent as FC } from "preact";
import type { Suggestions } from "../../discovery/discovery.js";
import type { AppError } from "../../lib/errors.js";
import { languagePage, repositoryPage, topicPage } from "../../lib/page-addresses.js";
import type { FrameRequest, Page } from "../page-request.js";
import { AskForm, FIELD_SCRIPTS, readAsking } from "../tracking.js";

/** Heading and advice for each status. */
const KNOWN = {
  400: ["Invalid request", "Check the address or the form and try again."],
  401: ["Sign in required", "Sign in to see this page."],
  403: ["Not allowed", ""],
  404: ["Page not found", ""],
  405: ["Method not allowed", "Open the page from a link instead."],
  409: [
    "Conflict",
    "Something changed in the meantime, or you have reached a limit. Reload the page and try again.",
  ],
  429: ["Too many requests", "You have reached the number of pages allowed per minute."],
  500: ["Something went wrong", "The error has been logged. Try again in a moment."],
  503: ["Temporarily unavailable", "The service should be back soon. Try again in a moment."],
} as const;
type KnownStatus = keyof typeof KNOWN;

/** The page of an error. */
export async function errorPage(error: AppError, request: FrameRequest): Promise<Page> {
  const { message, status } = error;
  const known: KnownStatus = status in KNOWN ? (status as KnownStatus) : status >= 500 ? 500 : 400;
  const [heading, advice] = KNOWN[known];
  const wait = error.headers["Retry-After"];
  const isDaily = error.details?.some(({ parameter }) => parameter === "quota");
  const asking = status === 404 ? await readAsking(request) : undefined;
  const suggestions = status === 404 ? await suggestionsFor(request) : undefined;
  return {
    title: heading,
    status,
    scripts: status === 404 ? FIELD_SCRIPTS : [],
    body: (
      <div class="read">
        <h1>{heading}</h1>
        {status === 429 && !isDaily ? (
          <>
            <p class="lead">
              {advice}
              {wait === undefined ? "" : ` Try again in ${wait} s.`}
            </p>
            <p>
              {message} Programs get higher limits with an <a href="/docs#limits">API key</a>.
            </p>
          </>
        ) : (
          <>
            <p class="lead">{message}</p>
            {advice === "" ? null : (
              <p>{isDaily ? "The limit starts again with the next day (UTC)." : advice}</p>
            )}
          </>
        )}
        {suggestions === undefined ? null : <Suggested {...suggestions} />}
        {asking !== undefined ? <AskForm asking={asking} text={lastSegment(request.url)} /> : null}
        <p class="ways">
          <a href="/">Home</a> · <a href="/explore">Explore all repositories</a> ·{" "}
          <a href="/compare">Compare</a> · <a href="/docs">API</a>
        </p>
      </div>
    ),
  };
}

const Suggested: FC<Suggestions> = ({ repositories, languages, topics }) => (
  <>
    <h2>Did you mean</h2>
    <ul class="plain">
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

/** The end of a path, decoded; empty if it cannot be. */
function lastSegment({ pathname }: URL): string {
  try {
    return decodeURIComponent(pathname.split("/").findLast((part) => part !== "") ?? "").slice(0, 64);
  } catch {
    return "";
  }
}

/** Suggestions of each kind. */
const SUGGESTED = 5;
/** Letters of a name that is sought by its beginning. */
const LEAST_BEGIN = 3;

/** Suggests names like the last segment of the path. Never fails, so that the error itself can be shown. */
async function suggestionsFor({ url, modules, http }: FrameRequest): Promise<Suggestions | undefined> {
  // Requests for files are not rate limited, so they must not cost a search.
  if (http.method !== "GET" || /^\/(?:assets|sitemaps?)\b/.test(url.pathname)) return undefined;
  try {
    const text = lastSegment(url);
    if (text.trim() === "") return undefined;
    const found = await modules.search.suggest(text, SUGGESTED);
    if (countOf(found) > 0) return found;
    // Typos are more common at the end of a name.
    const begin = [...text].slice(0, Math.ceil([...text].length / 2)).join("");
    // A few letters begin too many names to mean any.
    const nearer = begin.length < LEAST_BEGIN ? undefined : await modules.search.suggest(begin, SUGGESTED);
    return nearer === undefined || countOf(nearer) === 0 ? undefined : nearer;
  } catch {
    return undefined;
  }
}

function countOf({ repositories, languages, topics }: Suggestions): number {
  return repositories.length + languages.length + topics.length;
}
