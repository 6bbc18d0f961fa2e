import type { FunctionComponent as FC } from "preact";
import { defaultUrl, forgeName, repositoryUrl } from "../../config/config.js";
import { type RepositoryName, repositoryKey, repositoryPage } from "../../lib/page-addresses.js";
import { type Repository, splitFullName } from "../../repositories/repositories.js";
import { formatCompact } from "../components/numbers.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";
import { offerTracking, TrackButtons, type TrackingOffer } from "../tracking.js";

/** The page of a repository that is not tracked, with similar names. The address of a clone redirects to its repository. */
export async function showUnknownRepository(
  request: PageRequest,
  named: RepositoryName,
): Promise<Page | Redirect> {
  const cloned = await asCloned(request, named);
  if (cloned !== undefined) return cloned;
  const { provider, fullName } = named;
  const site = request.tracking.forges.find(({ name }) => name === provider)?.url;
  return {
    title: "Not tracked here",
    status: 404,
    body: (
      <UnknownRepository
        {...named}
        url={site === undefined ? defaultUrl(provider, fullName) : repositoryUrl(site, fullName)}
        suggestions={await readSimilar(request, fullName)}
        offers={await offerTracking(request, [repositoryKey(named)])}
      />
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

interface UnknownRepositoryProps {
  provider: string;
  fullName: string;
  /** Its address on its forge; no web address for an unknown forge. */
  url: string;
  suggestions: readonly Repository[];
  /** The repository itself, if it may be requested. */
  offers: readonly TrackingOffer[];
}

const UnknownRepository: FC<UnknownRepositoryProps> = ({ provider, fullName, url, suggestions, offers }) => (
  <>
    <h1>Not tracked here</h1>
    <p class="lead">
      We have no data on <bdi>{fullName}</bdi> ({forgeName(provider)}). The name may be misspelled, or the
      repository private or not discovered yet.
    </p>
    {/^https?:/.test(url) ? (
      <p>
        <a href={url} rel="noopener nofollow">
          Look for it on {forgeName(provider)} <span aria-hidden="true">↗</span>
        </a>
      </p>
    ) : null}
    <TrackButtons offers={offers} label="Track this repository" />
    {suggestions.length === 0 ? null : (
      <>
        <h2>Similar names</h2>
        <ul class="plain">
          {suggestions.map((repository) => (
            <li>
              <a href={repositoryPage(repository)}>
                <bdi>{repository.fullName}</bdi>
              </a>{" "}
              <span class="soft small">
                {forgeName(repository.provider)}, {formatCompact(repository.stars)} stars
              </span>
            </li>
          ))}
        </ul>
      </>
    )}
    <p>
      <a href={`/explore?${new URLSearchParams({ q: fullName.slice(-64) })}`}>Search for it</a>
    </p>
  </>
);
