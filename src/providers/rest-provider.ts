/**
 * The provider that GitLab and Forgejo share: a list of all repositories by ascending id, and one document per repository.
 * A `RestForge` describes the differences.
 */
import type { z } from "zod";
import { type ForgeKind, type ProviderSettings, repositoryUrl } from "../forges.js";
import { type Connection, type Document, type ForgeApi, ForgeClient } from "./client.js";
import {
  asFailed,
  concernsForge,
  type Discovered,
  isTemporary,
  type Provider,
  type Refreshed,
  type RepositoryRef,
  sameRepository,
  UpstreamFailure,
  type UpstreamRepository,
} from "./contract.js";
import { fullName as fullNameField, parseRecord, parseRecords } from "./fields.js";

/** A repository as a forge describes it. */
export interface ForgeRecord {
  /** `url`: null when the forge does not give it. */
  repository: Omit<UpstreamRepository, "nodeId" | "url"> & { url: string | null };
  /** Whether everybody may see it; a token may see more than may be shown here. */
  isPublic: boolean;
}

/** Progress of a walk. */
export interface WalkProgress {
  /** Page to request next, from 1. */
  page: number;
  /** The highest id so far; 0 at the start. */
  lastId: number;
}

/** The differences between the forges. Paths begin with a slash and are relative to the API's root. */
export interface RestForge {
  kind: ForgeKind;
  /** Path of the API on the site, such as `/api/v1`. */
  base: string;
  /** The `Authorization` header for a token. */
  authorization: (token: string) => string;
  /** Path of the next page of a walk, by ascending id. */
  listPath: (progress: WalkProgress) => string;
  /** Records on a full page, unless the forge is configured for fewer. */
  pageSize: number;
  /** The list in a document from `listPath`. */
  listOf: (body: unknown) => unknown;
  pathOfId: (id: string) => string;
  pathOfName: (name: { owner: string; name: string }) => string;
  record: z.ZodType<ForgeRecord>;
}

/** Kept small because each repository takes one request. */
const BATCH_SIZE = 20;
/** After this many consecutive requests without a response, the rest of a batch is not tried. */
const MAX_UNREACHABLE = 2;

/** Creates the provider of one instance. These forges offer no star history. */
export function createRestProvider(
  forge: RestForge,
  settings: ProviderSettings,
  connection: Connection,
): Provider {
  const { name } = settings;
  const api: ForgeApi = {
    root: settings.url + forge.base,
    authorization: forge.authorization,
    headers: { accept: "application/json" },
  };
  const client = new ForgeClient(api, settings, connection);

  async function discover(cursor: string | null, signal: AbortSignal): Promise<Discovered> {
    const at = parseCursor(cursor);
    const page = await client.get(forge.listPath(at), { signal });
    const list = page === null ? null : forge.listOf(page.body);
    const records = parseRecords(forge.record, list);
    const isFull = Array.isArray(list) && list.length >= forge.pageSize;
    const isLast = page === null || records.length === 0 || !(isFull || hasNextPage(page));
    const lastId = Math.max(at.lastId, ...records.map(({ repository }) => Number(repository.providerId)));
    if (!isLast && lastId === at.lastId)
      throw new UpstreamFailure("malformed", `${name}: the repository list repeats itself`);
    return {
      repositories: records
        .filter(({ isPublic, repository }) => isPublic && repository.stars >= settings.minStars)
        .map(toRepository),
      next: isLast ? null : `${at.page + 1}:${lastId}`,
    };
  }

  async function refresh(ref: RepositoryRef, signal: AbortSignal): Promise<Refreshed> {
    const path = forge.pathOfId(encodeURIComponent(ref.providerId));
    const document = await client.get(path, { signal, etag: ref.etag });
    if (document === null) return { kind: "unchanged" };
    return { kind: "found", repository: sameRepository(publicOnly(document), ref), etag: document.etag };
  }

  async function refreshOne(fullName: string, signal: AbortSignal): Promise<UpstreamRepository> {
    const parts = fullNameField.safeParse(fullName).data;
    if (parts === undefined) throw new UpstreamFailure("gone", `${name}: not a valid repository name`);
    const document = await client.get(forge.pathOfName(parts), { signal });
    if (document !== null) return publicOnly(document);
    throw new UpstreamFailure("malformed", `${name}: no document`);
  }

  function publicOnly(document: Document): UpstreamRepository {
    const record = parseRecord(forge.record, document.body);
    const repository = toRepository(record);
    if (record.isPublic) return repository;
    throw new UpstreamFailure("private", `${name}: ${repository.owner}/${repository.name} is not public`);
  }

  function toRepository({ repository }: ForgeRecord): UpstreamRepository {
    const fullName = `${repository.owner}/${repository.name}`;
    return {
      ...repository,
      nodeId: null,
      url: repository.url ?? repositoryUrl(settings.url, fullName),
    };
  }

  return {
    name,
    kind: forge.kind,
    settings,
    batchSize: BATCH_SIZE,
    discover,
    refreshMany: (repositories, signal) => oneByOne(repositories, (ref) => refresh(ref, signal)),
    refreshOne,
    recheck: async (ref, signal) => sameRepository(await refreshOne(ref.fullName, signal), ref),
    history: async () => null,
    quota: () => client.quota.list(),
    readyAt: () => client.quota.readyAt("core"),
  };
}

/**
 * Refreshes one repository after the other. A failure of one repository is its own result. Once the forge cannot be asked
 * any more, the rest fails in the same way. Throws that failure if the forge responded about none of them.
 */
async function oneByOne(
  repositories: readonly RepositoryRef[],
  refresh: (repository: RepositoryRef) => Promise<Refreshed>,
): Promise<Refreshed[]> {
  const results: Refreshed[] = [];
  const ofForge: UpstreamFailure[] = [];
  let unreachable = 0;
  for (const repository of repositories) {
    const result = await refresh(repository).catch(asFailed);
    results.push(result);
    const failure = result.kind === "failed" ? result.failure : null;
    if (failure !== null && concernsForge(failure.kind)) ofForge.push(failure);
    unreachable = failure?.kind === "unreachable" ? unreachable + 1 : 0;
    if ((failure !== null && isTemporary(failure.kind)) || unreachable === MAX_UNREACHABLE) break;
  }
  const [first] = ofForge;
  if (first !== undefined && ofForge.length === results.length) throw first;
  const last = results.at(-1);
  return repositories.flatMap((_, i) => results[i] ?? last ?? []);
}

/** An invalid cursor starts a new walk. */
function parseCursor(cursor: string | null): WalkProgress {
  const [, page, lastId] = /^([1-9]\d{0,8}):(\d{1,15})$/.exec(cursor ?? "") ?? [];
  return { page: Number(page ?? 1), lastId: Number(lastId ?? 0) };
}

/** Whether the `Link` header announces a next page. Its address is ignored: ours come from cursors. */
function hasNextPage({ headers }: Document): boolean {
  return /;\s*rel="?next"?/i.test(headers.get("link") ?? "");
}
