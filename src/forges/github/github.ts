/**
 * GitHub and GitHub Enterprise: discovers repositories by search, refreshes up to a hundred per request with a token, and
 * reads star histories. Its only state is the quota, and the features that the instance offers.
 */
import { type ProviderSettings, repositoryUrl } from "../../config/config.js";
import { type AppClient, type AppSource, type Connection, ForgeClient } from "../client.js";
import {
  type Call,
  failureOfAll,
  oneByOne,
  type Provider,
  type Refreshed,
  type RepositoryRef,
  type UpstreamRepository,
} from "../contract.js";
import { textOfFile } from "../fields.js";
import type { Results } from "../halves.js";
import { checkGithubToken } from "../token-check.js";
import { AppTokens } from "./app-tokens.js";
import { discover } from "./discover.js";
import { MAX_NODES, NodeRefresh } from "./graphql.js";
import { StarHistory } from "./history.js";
import { pathOfId, readRepository, repositoryPath } from "./repository.js";
import { findNamed, MAX_NAMES, seek } from "./seek.js";

const API_VERSION = "2022-11-28";

/** Small because anonymous requests are limited to 60 per hour, and each repository takes one. */
const ANONYMOUS_BATCH = 10;

/** The root of an instance's REST API. The public GitHub, and GitHub with data residency, have a separate host for it. */
export function apiRoot(site: string): string {
  const { protocol, host } = new URL(site);
  const hasOwnHost = host === "github.com" || /^[\w-]+\.ghe\.com$/.test(host);
  return protocol === "https:" && hasOwnHost ? `https://api.${host}` : `${site}/api/v3`;
}

/** The instance that the settings describe. All requests go to its API, so `fetch` must reach that. */
export function createGithub(settings: ProviderSettings, connection: Connection): Provider {
  const { name, url, minStars } = settings;
  const root = apiRoot(url);
  const api = {
    root,
    authorization: (token: string) => `Bearer ${token}`,
    headers: {
      accept: "application/vnd.github+json",
      "x-github-api-version": API_VERSION,
      // Node ids of the present format: GitHub is closing down the older ones.
      "x-github-next-global-id": "1",
    },
    // Moved repositories are found by id. A history does not name its repository, so its requests are not redirected.
    redirects: /^\/repositories\/\d+(\?|$)/,
    appTokens: (source: AppSource, tools: AppClient) => new AppTokens(source, tools),
  };
  const client = new ForgeClient(api, settings, connection);
  const nodes = new NodeRefresh(client, {
    url: root.replace(/\/v3$/, "").concat("/graphql"),
    urlOf: (fullName) => repositoryUrl(url, fullName),
    readOne: (repository, signal) => refreshById(client, { ...repository, etag: null }, signal),
  });
  const stars = new StarHistory(client);
  const resourceOf = (call: Call): string => {
    if (call === "refresh" && client.hasTokens) return "graphql";
    return call === "discover" ? "search" : "core";
  };
  return {
    name,
    kind: "github",
    settings,
    get batchSize() {
      return client.hasTokens ? MAX_NODES : ANONYMOUS_BATCH;
    },
    // Searches do not return the number of watchers.
    listsAreComplete: false,
    discover: (cursor, signal) => discover(client, { minStars, cursor, signal }),
    refreshMany: (repositories, signal) => refreshMany({ client, nodes }, repositories, signal),
    refreshOne: (fullName, signal) => readByName(client, fullName, signal),
    // Its quota is separate, which matters without a token.
    get namesPerSearch() {
      return client.hasTokens ? 0 : MAX_NAMES;
    },
    findNamed: (fullNames, signal) => findNamed(client, fullNames, signal),
    recheck: (repository, signal) => recheck(client, repository, signal),
    checkWorks: async (signal) => void (await client.get("/meta", { signal })),
    history: (repository, cursor, signal) => stars.page(repository, cursor, signal),
    seek: (sought, signal) => seek(client, sought, signal),
    readme: (fullName, signal) => readReadme(client, fullName, signal),
    checkToken: (signal) => checkGithubToken(client, signal),
    useEntered: (tokens) => client.useEntered(tokens),
    withheld: () => nodes.withheld.list(),
    quota: () => client.quotas(),
    notices: () => client.notices(),
    readyAt: (call) => client.readyAt({ resource: resourceOf(call) }),
  };
}

/**
 * Refreshes repositories in one GraphQL query, which needs a token. Those without a node id, and all without tokens, are
 * requested one by one; unchanged ones cost no quota with a token, and as much as others without. Throws UpstreamFailure if the
 * forge responded about none, unless queries may go on: then those without a node id alone have to wait.
 */
async function refreshMany(
  { client, nodes }: { client: ForgeClient; nodes: NodeRefresh },
  repositories: readonly RepositoryRef[],
  signal: AbortSignal,
): Promise<Refreshed[]> {
  const { clock, hasTokens } = client;
  const beganAt = clock.monotonic();
  const batched = repositories.filter(({ nodeId }) => hasTokens && nodeId !== null);
  const single = repositories.filter((repository) => !batched.includes(repository));
  const results: Results = batched.length === 0 ? new Map() : await nodes.refresh(batched, signal);
  if (single.length > 0) {
    const read = await oneByOne(single, (ref) => refreshById(client, ref, signal), { clock, beganAt });
    const failure = results.size === 0 ? failureOfAll(read) : null;
    const mayGoOn = hasTokens && client.readyAt({ resource: "graphql" }) <= clock.now();
    if (failure !== null && !(failure.kind === "quota" && mayGoOn)) throw failure;
    for (const [i, repository] of single.entries()) results.set(repository, read[i] ?? { kind: "skipped" });
  }
  return repositories.map((repository) => results.get(repository) ?? { kind: "skipped" });
}

async function refreshById(
  client: ForgeClient,
  { providerId, etag, fullName }: RepositoryRef,
  signal: AbortSignal,
): Promise<Refreshed> {
  const document = await client.get(pathOfId(providerId), { signal, etag, about: fullName });
  if (document.status === 304) return { kind: "unchanged" };
  const repository = readRepository(document.body, { providerId, by: "id" });
  return { kind: "found", repository, etag: document.etag };
}

async function readByName(
  client: ForgeClient,
  fullName: string,
  signal: AbortSignal,
): Promise<UpstreamRepository> {
  const document = await client.get(repositoryPath(fullName), { signal, about: fullName });
  return readRepository(document.body);
}

async function recheck(
  client: ForgeClient,
  { nodeId, providerId, fullName }: RepositoryRef,
  signal: AbortSignal,
): Promise<UpstreamRepository> {
  const by = client.hasTokens && nodeId !== null ? "id" : "name";
  const path = by === "id" ? pathOfId(providerId) : repositoryPath(fullName);
  const document = await client.get(path, { signal, about: fullName });
  return readRepository(document.body, { providerId, by });
}

async function readReadme(client: ForgeClient, fullName: string, signal: AbortSignal): Promise<string> {
  // A token may be allowed to read private repositories.
  const { owner, name } = await readByName(client, fullName, signal);
  const present = `${owner}/${name}`;
  const document = await client.get(`${repositoryPath(present)}/readme`, { signal, about: present });
  return textOfFile(document.body);
}
