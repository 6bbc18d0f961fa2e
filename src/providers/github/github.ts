/**
 * GitHub and GitHub Enterprise: discovers repositories by search, refreshes up to a hundred per request with a token, and
 * reads star histories where offered. Its only state is quota and which features the instance offers.
 */
import type { ProviderSettings } from "../../forges.js";
import { type Connection, ForgeClient } from "../client.js";
import {
  concernsForge,
  isTemporary,
  type Provider,
  type Refreshed,
  type RepositoryRef,
  sameRepository,
  UpstreamFailure,
  type UpstreamRepository,
} from "../contract.js";
import { discover } from "./discover.js";
import { MAX_NODES, NodeRefresh, type Results } from "./graphql.js";
import { StarHistory } from "./history.js";
import { readRepository, repositoryPath } from "./rest.js";

const API_VERSION = "2022-11-28";

/** Small because anonymous requests are limited to 60 per hour, and each repository takes one. */
const ANONYMOUS_BATCH = 10;
/** After this many consecutive requests without a response, the rest of a batch is not tried. */
const MAX_UNREACHABLE = 2;

/** The root of an instance's REST API. The public GitHub has a separate host for it. */
export function apiRoot(site: string): string {
  return site === "https://github.com" ? "https://api.github.com" : `${site}/api/v3`;
}

/** The instance that the settings describe. All requests go to its API, so `fetch` must reach that. */
export function createGithub(settings: ProviderSettings, connection: Connection): Provider {
  const { name, url, minStars } = settings;
  const root = apiRoot(url);
  const api = {
    root,
    authorization: (token: string) => `Bearer ${token}`,
    headers: { accept: "application/vnd.github+json", "x-github-api-version": API_VERSION },
    // A repository that has moved is found by its id.
    redirects: /^\/repositories\/\d+(\/stargazers\/history)?(\?|$)/,
  };
  const client = new ForgeClient(api, settings, connection);
  const nodes = new NodeRefresh(client, root.replace(/\/v3$/, "").concat("/graphql"));
  const stars = new StarHistory(client);
  const resources = {
    discover: "search",
    refresh: client.hasTokens ? "graphql" : "core",
    recheck: "core",
    history: "core",
  } as const;
  return {
    name,
    kind: "github",
    settings,
    batchSize: client.hasTokens ? MAX_NODES : ANONYMOUS_BATCH,
    discover: (cursor, signal) => discover(client, { minStars, cursor, signal }),
    refreshMany: (repositories, signal) => refreshMany({ client, nodes }, repositories, signal),
    async refreshOne(fullName, signal) {
      return read(client, repositoryPath(fullName), signal);
    },
    async recheck(repository, signal) {
      const { nodeId, providerId, fullName } = repository;
      const isBatched = client.hasTokens && nodeId !== null;
      const path = isBatched ? pathOfId(providerId) : repositoryPath(fullName);
      return sameRepository(await read(client, path, signal), repository);
    },
    history: (repository, cursor, signal) => stars.page(repository, cursor, signal),
    quota: () => client.quota.list(),
    readyAt: (call) => client.quota.readyAt(resources[call]),
  };
}

/**
 * Refreshes repositories in one GraphQL query, which needs a token. Those without a node id, and all without tokens, are
 * requested one by one, where unchanged repositories cost no quota. Throws UpstreamFailure if the forge responded about none.
 */
async function refreshMany(
  { client, nodes }: { client: ForgeClient; nodes: NodeRefresh },
  repositories: readonly RepositoryRef[],
  signal: AbortSignal,
): Promise<Refreshed[]> {
  const batched = repositories.filter(({ nodeId }) => client.hasTokens && nodeId !== null);
  const single = repositories.filter((repository) => !batched.includes(repository));
  const results: Results = batched.length === 0 ? new Map() : await nodes.refresh(batched, signal);
  let failure: UpstreamFailure | null = null;
  let unreachable = 0;
  for (const repository of single) {
    try {
      results.set(repository, await refreshById(client, repository, signal));
      unreachable = 0;
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      if (!concernsForge(error.kind)) {
        results.set(repository, { kind: "failed", failure: error });
        continue;
      }
      // After the last token is rejected, further requests fail with `quota`; report the cause.
      if (failure?.kind !== "refused") failure = error;
      unreachable++;
      if (isTemporary(error.kind) || unreachable === MAX_UNREACHABLE) break;
    }
  }
  if (failure !== null && results.size === 0) throw failure;
  const rest = failure ?? new UpstreamFailure("unreachable", "not requested");
  return repositories.map((repository) => results.get(repository) ?? { kind: "failed", failure: rest });
}

const pathOfId = (providerId: string): string => `/repositories/${encodeURIComponent(providerId)}`;

async function read(client: ForgeClient, path: string, signal: AbortSignal): Promise<UpstreamRepository> {
  const document = await client.get(path, { signal });
  return readRepository(document?.body);
}

async function refreshById(
  client: ForgeClient,
  { providerId, etag }: RepositoryRef,
  signal: AbortSignal,
): Promise<Refreshed> {
  const document = await client.get(pathOfId(providerId), { signal, etag });
  if (document === null) return { kind: "unchanged" };
  return { kind: "found", repository: readRepository(document.body), etag: document.etag };
}
