/**
 * Forges with one document per repository, and the provider of those with lists of all repositories. A `RestForge` describes the
 * differences.
 */
import { z } from "zod";
import { type ForgeKind, type ProviderSettings, repositoryUrl } from "../config/config.js";
import { type Connection, type ForgeApi, ForgeClient } from "./client.js";
import {
  type Discovered,
  failureOfAll,
  NAMED_ROWS,
  oneByOne,
  type Provider,
  type Refreshed,
  type RepositoryRef,
  SOUGHT_ROWS,
  type Sought,
  type SoughtList,
  type TokenCheck,
  type UpstreamRepository,
} from "./contract.js";
import { checkPublic, checkSame, type RequestedRepository, UpstreamFailure } from "./failures.js";
import { avatarUrlOn, fullName as fullNameField, parseRecord, parseRecords, textOfFile } from "./fields.js";
import type { ForgeRecord, ListRequest, WalkContext } from "./lists.js";
import { hasNextPage, numberOf } from "./responses.js";

/** The documents of a forge. Paths begin with a slash and are relative to the API's root. */
export interface RestApi {
  kind: ForgeKind;
  /** Path of the API on the site, such as `/api/v1`. */
  base: string;
  authorization: (token: string) => string;
  /** The part of lists, if the forge limits them separately; see ForgePace. */
  listPart?: string;
  listOf: (body: unknown) => unknown;
  /** `id` is encoded. Absent: the forge finds repositories by name only. */
  pathOfId?: (id: string) => string;
  /** A list that has a repository with this name, for second readings without `pathOfId`. */
  searchPath?: (name: string) => string;
  /** The list of repositories with a name, most stars first if the forge can sort it. */
  pathOfNamed: (name: string) => string;
  /** The same for an owner. `read`: the document at a path, null if it does not exist. Returns null for an unknown owner. */
  pathOfOwned: (owner: string, read: (path: string) => Promise<unknown>) => Promise<string | null>;
  pathOfName: (name: { owner: string; name: string }) => string;
  /** Path of a file at the top of a repository. */
  pathOfFile: (name: { owner: string; name: string }, file: string) => string;
  /** Path of a document that everybody may read and no repository is part of; see `Provider.checkWorks`. */
  controlPath: string;
  checkToken: (client: ForgeClient, signal: AbortSignal) => Promise<TokenCheck>;
  record: z.ZodType<ForgeRecord>;
}

/** With lists of all repositories, which a walk reads. */
export interface RestForge extends RestApi {
  /** The page at a cursor that an earlier page returned; null or an unknown cursor: the first page. */
  list: (cursor: string | null, context: WalkContext) => ListRequest;
  /** Whether a record of the list has every field that a single one has. */
  listsAreComplete: boolean;
  /** Records on a full page, unless the forge is configured for fewer. */
  pageSize: number;
}

/** Kept small because each repository takes one request. */
const BATCH_SIZE = 20;
/** Status of a request with a parameter that this version does not know. */
const UNSUPPORTED = 422;
/** Names of READMEs that link to many repositories, the most common first: these forges do not look for the file themselves. */
const README_NAMES = ["README.md", "readme.md", "README.rst", "README"] as const;

export function restClient(forge: RestApi, settings: ProviderSettings, connection: Connection): ForgeClient {
  const api: ForgeApi = {
    root: settings.url + forge.base,
    authorization: forge.authorization,
    headers: { accept: "application/json" },
  };
  return new ForgeClient(api, settings, connection);
}

/** Creates the provider of one instance. */
export function createRestProvider(
  forge: RestForge,
  settings: ProviderSettings,
  client: ForgeClient,
): Provider {
  return {
    ...createRestReader(forge, settings, client),
    listsAreComplete: forge.listsAreComplete,
    discover: (cursor, signal) => discover({ forge, settings, client }, cursor, signal),
  };
}

async function discover(
  { forge, settings, client }: { forge: RestForge; settings: ProviderSettings; client: ForgeClient },
  cursor: string | null,
  signal: AbortSignal,
): Promise<Discovered> {
  let request = forge.list(cursor, { minStars: settings.minStars, now: client.clock.now() });
  const options = { signal, part: forge.listPart ?? null };
  let page = await client.get(request.path, {
    ...options,
    expected: request.instead === undefined ? [] : [UNSUPPORTED],
  });
  if (page.status === UNSUPPORTED && request.instead !== undefined) {
    request = request.instead();
    page = await client.get(request.path, options);
  }
  const list = forge.listOf(page.body);
  const records = parseRecords(forge.record, list);
  const rows = Array.isArray(list) ? list.length : 0;
  // Forgejo and Gitea report it.
  const total = numberOf(page.headers, "x-total-count");
  // A proxy may remove the links; a page that is not full may then be a page of an instance with shorter ones.
  const isAnnounced = page.headers.has("link")
    ? hasNextPage(page.headers)
    : total !== null && request.page * rows < total;
  const hasMore = records.length > 0 && (rows >= forge.pageSize || isAnnounced);
  return {
    repositories: records
      .filter(
        ({ isPublic, isBeingDeleted, isBeingImported }) => isPublic && !isBeingDeleted && !isBeingImported,
      )
      .filter(({ repository }) => repository.stars >= settings.minStars)
      .map((record) => toRepository(settings, record)),
    next: request.next({ records, rows, hasMore, total }),
  };
}

/** All of a provider but its walk. */
export type RestReader = Omit<Provider, "discover" | "listsAreComplete">;

/** Creates the part of a provider that reads single documents. These forges offer no star history. */
export function createRestReader(
  forge: RestApi,
  settings: ProviderSettings,
  client: ForgeClient,
): RestReader {
  const documents = new Documents(forge, settings, client);
  const part = forge.listPart ?? null;
  return {
    name: settings.name,
    kind: forge.kind,
    settings,
    batchSize: BATCH_SIZE,
    async refreshMany(repositories, signal) {
      const results = await oneByOne(repositories, (ref) => documents.refresh(ref, signal), client);
      const failure = failureOfAll(results);
      if (failure !== null) throw failure;
      return results;
    },
    refreshOne: (fullName, signal) => documents.readByName(fullName, signal),
    recheck: (ref, signal) => documents.recheck(ref, signal),
    checkWorks: async (signal) => void (await client.get(forge.controlPath, { signal })),
    namesPerSearch: 0,
    findNamed: async () => ({ asked: 0, repositories: [] }),
    history: () => Promise.reject(new UpstreamFailure("gone", "this kind of forge has no star histories")),
    seek: (sought, signal) => documents.seek(sought, signal),
    readme: (fullName, signal) => documents.readme(fullName, signal),
    checkToken: (signal) => forge.checkToken(client, signal),
    useEntered: (tokens) => client.useEntered(tokens),
    withheld: () => [],
    quota: () => client.quotas(),
    notices: () => client.notices(),
    readyAt: (call) => client.readyAt({ resource: "core", part: call === "discover" ? part : null }),
  };
}

function toRepository({ url }: ProviderSettings, { repository }: ForgeRecord): UpstreamRepository {
  return {
    ...repository,
    nodeId: null,
    avatarUrl: avatarUrlOn(url, repository.avatarUrl),
    url: repository.url ?? repositoryUrl(url, `${repository.owner}/${repository.name}`),
  };
}

/** The single documents of one instance. */
class Documents {
  readonly #forge: RestApi;
  readonly #settings: ProviderSettings;
  readonly #client: ForgeClient;

  constructor(forge: RestApi, settings: ProviderSettings, client: ForgeClient) {
    this.#forge = forge;
    this.#settings = settings;
    this.#client = client;
  }

  async refresh(ref: RepositoryRef, signal: AbortSignal): Promise<Refreshed> {
    const { pathOfId } = this.#forge;
    const path = pathOfId?.(pathSegment(ref.providerId)) ?? this.#pathOf(ref.fullName);
    const document = await this.#client.get(path, { signal, etag: ref.etag, about: ref.fullName });
    if (document.status === 304) return { kind: "unchanged" };
    const by = pathOfId === undefined ? "name" : "id";
    const repository = this.#publicOnly(document.body, { providerId: ref.providerId, by });
    return { kind: "found", repository, etag: document.etag };
  }

  /** Reads it by name, or from a search if `refresh` reads it by name. */
  async recheck(ref: RepositoryRef, signal: AbortSignal): Promise<UpstreamRepository> {
    const found = await this.#search(ref, signal);
    return found ?? this.readByName(ref.fullName, signal, { providerId: ref.providerId, by: "name" });
  }

  async #search(
    { fullName, providerId }: RepositoryRef,
    signal: AbortSignal,
  ): Promise<UpstreamRepository | undefined> {
    const { searchPath, listPart = null, listOf, record } = this.#forge;
    const parts = fullNameField.safeParse(fullName).data;
    if (searchPath === undefined || parts === undefined) return undefined;
    const page = await this.#client.get(searchPath(parts.name), { signal, part: listPart });
    const [found] = parseRecord(z.array(z.unknown()), listOf(page.body))
      .flatMap((document) => record.safeParse(document).data ?? [])
      .filter(({ isPublic, repository }) => isPublic && repository.providerId === providerId);
    return found && toRepository(this.#settings, found);
  }

  /** Throws `gone` for a name that no repository can have. */
  #pathOf(fullName: string): string {
    const parts = fullNameField.safeParse(fullName).data;
    if (parts !== undefined) return this.#forge.pathOfName(parts);
    throw new UpstreamFailure("gone", `${this.#settings.name}: not a valid repository name`);
  }

  async seek(sought: Sought, signal: AbortSignal): Promise<SoughtList> {
    const { listPart = null, listOf, pathOfNamed, pathOfOwned, record } = this.#forge;
    const options = { signal, part: listPart };
    const read = async (path: string) => {
      const document = await this.#client.get(path, { ...options, expected: [404] });
      return document.status === 404 ? null : document.body;
    };
    const path = "name" in sought ? pathOfNamed(sought.name) : await pathOfOwned(sought.owner, read);
    if (path === null) throw new UpstreamFailure("gone", `${this.#settings.name}: no such owner`);
    const { body, headers } = await this.#client.get(path, options);
    const list = Array.isArray(body) ? body : parseRecord(z.array(z.unknown()), listOf(body));
    const repositories = parseRecords(record, list)
      .filter(({ isPublic }) => isPublic)
      .map((one) => toRepository(this.#settings, one))
      .sort((a, b) => b.stars - a.stars);
    const total = numberOf(headers, "x-total-count") ?? numberOf(headers, "x-total");
    return { repositories: repositories.slice(0, "name" in sought ? NAMED_ROWS : SOUGHT_ROWS), total };
  }

  async readme(fullName: string, signal: AbortSignal): Promise<string> {
    // A token may be allowed to read private repositories.
    const repository = await this.readByName(fullName, signal);
    for (const file of README_NAMES) {
      const path = this.#forge.pathOfFile(repository, file);
      const document = await this.#client.get(path, { signal, expected: [404], about: fullName });
      if (document.status !== 404) return textOfFile(document.body);
    }
    throw new UpstreamFailure("gone", `${this.#settings.name}: the repository has no README`);
  }

  async readByName(
    fullName: string,
    signal: AbortSignal,
    requested?: RequestedRepository,
  ): Promise<UpstreamRepository> {
    const document = await this.#client.get(this.#pathOf(fullName), { signal, about: fullName });
    return this.#publicOnly(document.body, requested);
  }

  #publicOnly(document: unknown, requested?: RequestedRepository): UpstreamRepository {
    const record = parseRecord(this.#forge.record, document);
    if (requested !== undefined) checkSame(record.repository.providerId, requested);
    const repository = toRepository(this.#settings, record);
    checkPublic(this.#settings.name, repository, record);
    return repository;
  }
}

/** An id as one segment of a path. Throws UpstreamFailure `malformed` for `.` and `..`, which a URL would resolve. */
function pathSegment(text: string): string {
  if (/^\.{1,2}$/.test(text)) throw new UpstreamFailure("malformed", "not an id of a repository");
  return encodeURIComponent(text);
}
