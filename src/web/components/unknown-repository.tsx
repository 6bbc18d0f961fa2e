import type { FC } from "hono/jsx";
import type { Repository } from "../../catalog/catalog.js";
import { forgeName } from "../../forges.js";
import { repositoryPage } from "../../page-addresses.js";
import type { TrackingOffer } from "../tracking-offer.js";
import { formatCompact } from "./numbers.js";
import { TrackForms } from "./track-forms.js";

export interface UnknownRepositoryProps {
  provider: string;
  fullName: string;
  /** Where it would be on its forge; no web address for a forge that is not known. */
  url: string;
  suggestions: readonly Repository[];
  /** The repository itself, if it may be requested. */
  offers: readonly TrackingOffer[];
}

/** The page of a repository that is not tracked, with similar names. */
export const UnknownRepository: FC<UnknownRepositoryProps> = ({
  provider,
  fullName,
  url,
  suggestions,
  offers,
}) => (
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
    <TrackForms offers={offers} label="Track this repository" />
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
