/**
 * What GitLab and Forgejo have in common: a list of everything in the order of ids, and one document for each repository. It
 * makes a provider of what is peculiar to one of them; whom it asks, how often and what a status means is the same.
 */
import type { z } from "zod";
import type { Clock } from "../clock.js";
import { Client, type Document, RESOURCE } from "./client.js";
import { isForNow, isOfForge, UpstreamFailure } from "./failures.js";
import type { UpstreamFetch } from "./fetch.js";
import { fullName as fullNameField, parseRecord, parseRecords } from "./fields.js";
import type {
  Discovered,
  Provider,
  ProviderKind,
  ProviderSettings,
  Refreshed,
  RepositoryRef,
  UpstreamRepository,
} from "./providers.js";

/** A repository, and whether everybody may see it: a token can see more than is to be told. */
export interface ForgeRecord {
  repository: UpstreamRepository;
  isPublic: boolean;
}

/** How far a walk has come. */
export interface Position {
  /** Counts from 1; the one to be asked for. */
  page: number;
  /** The greatest id so far; 0 at the beginning. */
  lastId: number;
}

/** What is peculiar to a forge. Paths begin with a slash and are below `base`. */
export interface RestForge {
  kind: ProviderKind;
  /** Path of the API on the site, such as `/api/v1`. */
  base: string;
  /** The `Authorization` header that carries a token. */
  authorization: (token: string) => string;
  /** The page at a position, in the order of ids. */
  listPath: (position: Position) => string;
  /** Records on a full page, unless the forge has been told to give fewer. */
  pageSize: number;
  /** The list in the document that `listPath` gives. */
  listOf: (body: unknown) => unknown;
  pathOfId: (id: string) => string;
  pathOfName: (name: { owner: string; name: string }) => string;
  record: z.ZodType<ForgeRecord>;
}

/** Refreshing asks for one repository after another, so a batch is kept small. */
const BATCH_SIZE = 20;
/** After so many requests in a row without an answer, the rest of a batch is not tried. */
const MAX_UNREACHABLE = 2;

/** The provider of one instance. Stars of the past are not told by these forges. */
export function createRestProvider(
  forge: RestForge,
  settings: ProviderSettings,
  { fetch, clock }: { fetch: UpstreamFetch; clock: Clock },
): Provider {
  const client = new Client({ settings, fetch, clock, base: forge.base, authorization: forge.authorization });

  async function discover(cursor: string | null, signal: AbortSignal): Promise<Discovered> {
    const at = positionOf(cursor);
    const page = await client.get(forge.listPath(at), signal);
    const list = page === null ? null : forge.listOf(page.body);
    const records = parseRecords(forge.record, list);
    const isFull = Array.isArray(list) && list.length >= forge.pageSize;
    const isLast = page === null || records.length === 0 || !(isFull || hasNextPage(page));
    const lastId = Math.max(at.lastId, ...records.map(({ repository }) => Number(repository.providerId)));
    if (!isLast && lastId === at.lastId) {
      throw new UpstreamFailure(
        "malformed",
        `${settings.name}: the walk over its repositories goes in circles`,
      );
    }
    return {
      repositories: records
        .filter(({ isPublic, repository }) => isPublic && repository.stars >= settings.minStars)
        .map(({ repository }) => repository),
      next: isLast ? null : `${at.page + 1}:${lastId}`,
    };
  }

  async function refresh(ref: RepositoryRef, signal: AbortSignal): Promise<Refreshed> {
    const document = await client.get(forge.pathOfId(encodeURIComponent(ref.providerId)), signal, ref.etag);
    if (document === null) return { kind: "unchanged" };
    const repository = publicOnly(document);
    if (repository.providerId === ref.providerId) return { kind: "found", repository, etag: document.etag };
    throw new UpstreamFailure(
      "malformed",
      `${settings.name}: another repository than the one that was asked for`,
    );
  }

  function publicOnly(document: Document): UpstreamRepository {
    const { repository, isPublic } = parseRecord(forge.record, document.body);
    if (isPublic) return repository;
    throw new UpstreamFailure(
      "private",
      `${settings.name}: ${repository.owner}/${repository.name} is not public`,
    );
  }

  return {
    name: settings.name,
    kind: forge.kind,
    settings,
    batchSize: BATCH_SIZE,
    discover,
    refreshMany: (repositories, signal) => oneByOne(repositories, (ref) => refresh(ref, signal)),
    async refreshOne(fullName, signal) {
      const name = fullNameField.safeParse(fullName).data;
      if (name === undefined)
        throw new UpstreamFailure("gone", `${settings.name}: no repository is called so`);
      const document = await client.get(forge.pathOfName(name), signal);
      if (document !== null) return publicOnly(document);
      throw new UpstreamFailure("malformed", `${settings.name}: no document`);
    },
    history: async () => null,
    quota: () => client.quota.list(),
    readyAt: () => client.quota.readyAt(RESOURCE),
  };
}

/**
 * What is wrong with one repository is its own outcome. When no more can be sent, or nothing is answered any more, the rest
 * fails with that. Throws it where not one repository was answered for.
 */
async function oneByOne(
  repositories: readonly RepositoryRef[],
  refresh: (repository: RepositoryRef) => Promise<Refreshed>,
): Promise<Refreshed[]> {
  const outcomes: Refreshed[] = [];
  const ofForge: UpstreamFailure[] = [];
  let unreachable = 0;
  for (const repository of repositories) {
    const outcome = await refresh(repository).catch(asOutcome);
    outcomes.push(outcome);
    const failure = outcome.kind === "failed" ? outcome.failure : null;
    if (failure !== null && isOfForge(failure.kind)) ofForge.push(failure);
    unreachable = failure?.kind === "unreachable" ? unreachable + 1 : 0;
    if ((failure !== null && isForNow(failure.kind)) || unreachable === MAX_UNREACHABLE) break;
  }
  const [first] = ofForge;
  if (first !== undefined && ofForge.length === outcomes.length) throw first;
  const last = outcomes.at(-1);
  return repositories.flatMap((_, i) => outcomes[i] ?? last ?? []);
}

function asOutcome(error: unknown): Refreshed {
  if (error instanceof UpstreamFailure) return { kind: "failed", failure: error };
  throw error;
}

/** Cursors are kept by us; one that is none begins anew. */
function positionOf(cursor: string | null): Position {
  const [, page, lastId] = /^([1-9]\d{0,8}):(\d{1,15})$/.exec(cursor ?? "") ?? [];
  return { page: Number(page ?? 1), lastId: Number(lastId ?? 0) };
}

/** Whether a `Link` header tells of a next page. Where it leads is not looked at: addresses are made from cursors. */
function hasNextPage({ headers }: Document): boolean {
  return /;\s*rel="?next"?/i.test(headers.get("link") ?? "");
}
