/**
 * GitHub and GitHub Enterprise: finds repositories by search, refreshes them a hundred at a time where there is a token, and
 * tells the stars of past days where that is offered. It keeps no state but what answers told of quotas and offers.
 */
import type { Clock } from "../../clock.js";
import type { UpstreamFetch } from "../fetch.js";
import type { Provider, ProviderSettings } from "../providers.js";
import { GithubClient } from "./client.js";
import { discover } from "./discover.js";
import { StarHistory } from "./history.js";
import { nameParameters } from "./names.js";
import { readRepository } from "./records.js";
import { batchSize, Refresher } from "./refresh.js";

/**
 * The instance that the settings describe; `https://github.com` is the public one, whose API has a host of its own. Requests
 * go to that API alone, so that is what `fetch` must reach.
 */
export function createGithub(
  settings: ProviderSettings,
  reach: { fetch: UpstreamFetch; clock: Clock },
): Provider {
  const client = new GithubClient(settings, reach);
  const refresher = new Refresher(client);
  const stars = new StarHistory(client);
  const resources = {
    discover: "search",
    refresh: client.hasTokens ? "graphql" : "core",
    history: "core",
  } as const;
  return {
    name: settings.name,
    kind: "github",
    settings,
    batchSize: batchSize(client),
    discover: (cursor, signal) => discover(client, settings.minStars, cursor, signal),
    refreshMany: (repositories, signal) => refresher.refresh(repositories, signal),
    async refreshOne(fullName, signal) {
      const asking = { resource: "core", signal } as const;
      const document = await client.get("/repos/{owner}/{repo}", nameParameters(fullName), asking);
      return readRepository(document?.body);
    },
    history: (repository, cursor, signal) => stars.page(repository, cursor, signal),
    quota: () => client.quota.list(),
    readyAt: (call) => client.quota.readyAt(resources[call]),
  };
}
