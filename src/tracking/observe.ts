import type { Observation, Repository } from "../catalog/catalog.js";
import type { UpstreamRepository } from "../providers/providers.js";

/** What a forge said of a repository at a time. */
export function observationOf(provider: string, told: UpstreamRepository, at: number): Observation {
  const { providerId, nodeId, owner, name, topics, stars, forks, openIssues, watchers, ...facts } = told;
  const known = Object.entries({ ...facts, forks, openIssues, watchers }).filter(
    ([, value]) => value !== null,
  );
  return {
    provider,
    providerId,
    owner,
    name,
    at,
    // null is "not told here", and what is not told replaces nothing; but a text that was there and is gone is told.
    facts: {
      ...Object.fromEntries(known),
      description: facts.description,
      homepage: facts.homepage,
      url: facts.url,
      stars,
      availability: "AVAILABLE",
      ...(topics === null ? {} : { topics }),
    },
    snapshots: [{ capturedAt: at, stars, forks, openIssues, watchers, source: "OBSERVED" }],
  };
}

/** That nothing has changed since the last time: the counts stand, at this time too. */
export function unchangedObservation(repository: Repository, providerId: string, at: number): Observation {
  const { provider, owner, name, stars, forks, openIssues, watchers } = repository;
  return {
    provider,
    providerId,
    owner,
    name,
    at,
    isNameless: true,
    facts: { stars, forks, openIssues, watchers, availability: "AVAILABLE" },
    snapshots:
      stars === null ? [] : [{ capturedAt: at, stars, forks, openIssues, watchers, source: "OBSERVED" }],
  };
}
