import type { FC } from "hono/jsx";
import type { Repository } from "../../catalog/catalog.js";
import { forgeName } from "../../forges.js";
import { repositoryPage } from "../../page-addresses.js";
import { formatCompact } from "./numbers.js";

export interface UnknownRepositoryProps {
  provider: string;
  fullName: string;
  suggestions: readonly Repository[];
}

/** That nothing is known of a repository, and which ones are called alike. */
export const UnknownRepository: FC<UnknownRepositoryProps> = ({ provider, fullName, suggestions }) => (
  <>
    <h1>Not tracked here</h1>
    <p class="lead">
      Nothing is known of {fullName} of {forgeName(provider)}. It may be spelled otherwise, not be public, or
      not have been found yet.
    </p>
    {suggestions.length === 0 ? null : (
      <>
        <h2>Called alike</h2>
        <ul class="plain">
          {suggestions.map((repository) => (
            <li>
              <a href={repositoryPage(repository)}>{repository.fullName}</a>{" "}
              <span class="soft small">
                {forgeName(repository.provider)}, {formatCompact(repository.stars)} stars
              </span>
            </li>
          ))}
        </ul>
      </>
    )}
    <p>
      <a href={`/explore?${new URLSearchParams({ q: fullName.slice(-64) })}`}>Look for it in the catalogue</a>
    </p>
  </>
);
