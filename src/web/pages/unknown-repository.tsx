import type { JSX } from "preact";
import { defaultUrl, forgeName, repositoryUrl } from "../../config/config.js";
import { type RepositoryName, repositoryKey, repositoryPage } from "../../lib/page-addresses.js";
import { type Repository, splitFullName } from "../../repositories/repositories.js";
import type { TrackRequest } from "../../tracking/tracking.js";
import { MeantRepository } from "../components/links.js";
import { isReading, READING_SECONDS, Reading } from "../components/reading.js";
import { readTokenOffer } from "../forge-tokens.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";
import { AskForm, FIELD_SCRIPTS, offerTracking, TrackButton } from "../tracking.js";

/** The page of a repository that is not tracked: its progress once it is requested, before that one button, and similar names. The address of a clone redirects to its repository. */
export async function showUnknownRepository(
  request: PageRequest,
  named: RepositoryName,
): Promise<Page | Redirect> {
  const cloned = await asCloned(request, named);
  if (cloned !== undefined) return cloned;
  const { provider, fullName } = named;
  const asked = await request.modules.trackRequests.progress(named);
  if (asked !== undefined && isReading(asked))
    return progressPage(asked, await readTokenOffer(request, provider));
  const recordedId = asked?.repositoryId ?? null;
  const renamed = recordedId === null ? undefined : await request.modules.catalog.find(recordedId);
  if (renamed !== undefined) return { location: repositoryPage(renamed), status: 302 };
  const failure = asked?.failure?.message;
  const site = request.tracking.forges.find(({ name }) => name === provider)?.url;
  // No web address for an unknown forge.
  const url = site === undefined ? defaultUrl(provider, fullName) : repositoryUrl(site, fullName);
  const suggestions = await readSimilar(request, fullName);
  const { offers } = await offerTracking(request, [repositoryKey(named)]);
  return {
    title: `${fullName} isn’t tracked here`,
    status: 404,
    scripts: FIELD_SCRIPTS,
    body: (
      <>
        <h1>
          <bdi>{fullName}</bdi> isn’t tracked here
        </h1>
        {failure === undefined ? null : (
          <p class="lead" role="status">
            {failure}
          </p>
        )}
        <TrackButton offers={offers} />
        {/^https?:/.test(url) ? (
          <p>
            <a href={url} rel="noopener nofollow">
              Look for it on {forgeName(provider)} <span aria-hidden="true">↗</span>
            </a>
          </p>
        ) : null}
        {suggestions.length === 0 ? null : (
          <>
            <h2>Similar names</h2>
            <ul class="plain">
              {suggestions.map((repository) => (
                <li>
                  <MeantRepository repository={repository} href={repositoryPage(repository)} />
                </li>
              ))}
            </ul>
          </>
        )}
        <h2>Another one</h2>
        <AskForm request={request} />
      </>
    ),
  };
}

/** Redirects a clone URL (`….git`) to its repository; undefined for any other address. */
async function asCloned(
  { modules, url }: PageRequest,
  { provider, fullName }: RepositoryName,
): Promise<Redirect | undefined> {
  const name = fullName.replace(/\.git$/i, "");
  if (name === fullName || splitFullName(name) === undefined) return undefined;
  const found = await modules.catalog.findByName(provider, name);
  return found && { location: repositoryPage(found.repository) + url.search, status: 301 };
}

/** Similar names shown. */
const SIMILAR = 8;

/** Repositories with a similar name: those that begin with it, then those that a search with corrected typing errors finds. */
async function readSimilar({ modules }: PageRequest, fullName: string): Promise<Repository[]> {
  const name = (splitFullName(fullName)?.name ?? "").slice(0, 64);
  const repositories = await modules.search.suggestRepositories(name, SIMILAR);
  if (repositories.length >= SIMILAR) return repositories;
  const ids = await modules.search.find(name, SIMILAR);
  const known = new Set(repositories.map(({ id }) => id));
  const found = await modules.catalog.findMany(ids.filter((id) => !known.has(id)));
  return [...repositories, ...found].slice(0, SIMILAR);
}

/** The page of a repository that is being looked up. */
function progressPage(asked: TrackRequest, tokenOffer: JSX.Element | undefined): Page {
  return {
    title: `Reading ${asked.fullName}`,
    isFresh: true,
    isHidden: true,
    isLive: true,
    refreshSeconds: READING_SECONDS,
    body: (
      <div class="read">
        <div data-live="reading">
          <h1>
            <bdi>{asked.fullName}</bdi>
          </h1>
          <Reading request={asked} />
          <p class="soft small">This page updates itself. You can close it and come back to its address.</p>
        </div>
        {tokenOffer}
      </div>
    ),
  };
}
