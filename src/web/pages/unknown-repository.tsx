import { defaultUrl, forgeName, repositoryUrl } from "../../config/config.js";
import { type RepositoryName, repositoryKey, repositoryPage } from "../../lib/page-addresses.js";
import { type Repository, splitFullName } from "../../repositories/repositories.js";
import type { TrackRequest } from "../../tracking/tracking.js";
import { OwnerImage } from "../components/badges.js";
import { MeantRepository } from "../components/elements.js";
import { PLOT_SCRIPTS } from "../components/plot.js";
import { FullName } from "../components/repository.js";
import { isReading, READING_SECONDS, Reading } from "../components/tracking-state.js";
import { offersToken } from "../forge-tokens.js";
import type { Page, PageRequest, Redirect } from "../page-request.js";
import { SHARE_SCRIPTS } from "../share.js";
import { AskForm, FIELD_SCRIPTS, offerTracking, readAsking, TrackButton } from "../tracking.js";

/** Browser modules of the page of a repository, and of the one before it that becomes it. */
export const REPOSITORY_SCRIPTS = [...PLOT_SCRIPTS, ...SHARE_SCRIPTS, "save.js"];

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
    return progressPage(asked, await offersToken(request, provider));
  const recordedId = asked?.repositoryId ?? null;
  const renamed = recordedId === null ? undefined : await request.modules.catalog.find(recordedId);
  if (renamed !== undefined) return { location: repositoryPage(renamed), status: 302 };
  const failure = asked?.failure?.message;
  const asking = await readAsking(request);
  const site = asking.policy.forges.find(({ name }) => name === provider)?.url;
  // No web address for an unknown forge.
  const url = site === undefined ? defaultUrl(provider, fullName) : repositoryUrl(site, fullName);
  const suggestions = await readSimilar(request, fullName);
  const { offers } = await offerTracking(request, asking, [repositoryKey(named)]);
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
        <AskForm asking={asking} />
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
const SIMILAR_NAMES = 8;

/** Repositories with a similar name: those that begin with it, then those that a search with corrected typing errors finds. */
async function readSimilar({ modules }: PageRequest, fullName: string): Promise<Repository[]> {
  const name = (splitFullName(fullName)?.name ?? "").slice(0, 64);
  const repositories = await modules.search.suggestRepositories(name, SIMILAR_NAMES);
  if (repositories.length >= SIMILAR_NAMES) return repositories;
  const ids = await modules.search.find(name, SIMILAR_NAMES);
  const known = new Set(repositories.map(({ id }) => id));
  const found = await modules.catalog.findMany(ids.filter((id) => !known.has(id)));
  return [...repositories, ...found].slice(0, SIMILAR_NAMES);
}

/** The page of a repository that is being looked up: its frame, which its chart fills without a jump. */
function progressPage(asked: TrackRequest, hasOffer: boolean): Page {
  const { provider, fullName } = asked;
  const { owner = "", name = fullName } = splitFullName(fullName) ?? {};
  return {
    title: fullName,
    isFresh: true,
    isHidden: true,
    isLive: true,
    refreshSeconds: READING_SECONDS,
    scripts: REPOSITORY_SCRIPTS,
    body: (
      <div class="repository" data-live="repository">
        <div class="repository-head">
          <OwnerImage owner={owner} provider={provider} size={64} />
          <div class="titled">
            <h1>
              <FullName of={{ owner, name }} />
            </h1>
            <p class="about">{forgeName(provider)}</p>
          </div>
          <div class="repository-actions" />
        </div>
        <section class="card chart-frame">
          <div class="chart-head">
            <p class="figure">
              <span class="hero">{"\u00a0"}</span>
            </p>
          </div>
          <div class="plot">
            <div class="plot-box plot-empty" />
          </div>
          <Reading request={asked} hasOffer={hasOffer} />
        </section>
      </div>
    ),
  };
}
