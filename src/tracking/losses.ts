/**
 * Losses: when to believe a forge that reports a repository missing. A single response is hearsay: node ids expire, endpoints break,
 * tokens lose rights, whole forges respond 404. A loss is confirmed if a second endpoint reports it too, and that endpoint returns a
 * repository known to exist. Pages, redirects and errors confirm nothing. `daily-limits.ts` decides how many confirmed losses are
 * recorded, but for private repositories: the next reading shows one again that was hidden wrongly, while a publication is final.
 */
import { sql } from "kysely";
import {
  asFailed,
  concernsForge,
  type RepositoryRef,
  UpstreamFailure,
  type UpstreamRepository,
} from "../forges/forges.js";
import type { Claim } from "./claims.js";
import { limitedLosses, lossesLeft } from "./daily-limits.js";
import type { Lane } from "./lane.js";
import { isLoss, type Outcome } from "./outcomes.js";

/** Losses of a batch that are confirmed immediately, as each takes a request. Others wait for their next refresh. */
export const MAX_CONFIRMATIONS = 10;
/** After this long no further loss of a batch is confirmed, so that it ends before the lease of its claims. */
const MAX_MS = 3 * 60_000;

/**
 * The outcomes, where losses of available repositories are confirmed, or replaced by the record that the second endpoint returned, or
 * left as they are. Sends at most twice MAX_CONFIRMATIONS + 2 requests, and none while no further loss may be recorded.
 * Catches the provider's failures: a loss that cannot be confirmed now waits.
 */
export async function confirmLosses(lane: Lane, outcomes: readonly Outcome[]): Promise<readonly Outcome[]> {
  const lost = outcomes.filter(({ result }) => isLoss(result));
  const { read, dialect } = lane.modules.database;
  const ids = lost.map(({ claim }) => claim.repositoryId);
  const rows = await read
    .selectFrom("repositories")
    .select(["id", "created_at"])
    .where(dialect.among(sql.ref("id"), ids))
    .where("availability", "=", "AVAILABLE")
    .execute();
  const available = new Map(rows.map(({ id, created_at }) => [id, created_at]));
  const { provider, clock, reporter } = lane;
  const limit = { provider: provider.name, at: clock.now(), batch: outcomes.length };
  const doubted = lost
    .filter(({ result }) => result.kind === "failed" && result.failure.kind !== "private")
    .map(({ claim }) => claim.repositoryId)
    .filter((id) => available.has(id));
  const isFull = doubted.length > 0 && (await lossesLeft(read, limit)) === 0;
  const held = isFull ? await limitedLosses(read, dialect, doubted) : new Set<number>();
  reporter.add("held", held.size);
  const news = lost.filter(
    ({ claim: { repositoryId } }) => available.has(repositoryId) && !held.has(repositoryId),
  );
  const settled = await new Confirmation(lane, news, available).run();
  return outcomes.map((outcome) => settled.get(outcome) ?? outcome);
}

/** A loss that a second endpoint reports too. */
interface Agreed {
  outcome: Outcome;
  failure: UpstreamFailure;
}

type Requested = Omit<RepositoryRef, "providerId"> & { providerId: string | null };

/** The confirmation of the losses of one batch. */
class Confirmation {
  readonly #lane: Lane;
  readonly #losses: readonly Outcome[];
  /** Outcomes that replace losses. */
  readonly #settled = new Map<Outcome, Outcome>();
  #requests = 0;
  /** Monotonic. */
  readonly #endAt: number;
  /** Whether the forge fails as a whole, so that it gets no further requests. */
  #hasFailed = false;

  readonly #createdAt: ReadonlyMap<number, number | null>;

  constructor(lane: Lane, losses: readonly Outcome[], createdAt: ReadonlyMap<number, number | null>) {
    this.#lane = lane;
    this.#losses = losses;
    this.#createdAt = createdAt;
    this.#endAt = lane.clock.monotonic() + MAX_MS;
  }

  async run(): Promise<ReadonlyMap<Outcome, Outcome>> {
    // Which endpoint reads again depends on the node id; see Provider.
    await this.#confirm(
      this.#losses.filter(({ claim }) => claim.providerId !== null && claim.nodeId !== null),
      true,
    );
    await this.#confirm(
      this.#losses.filter(({ claim }) => claim.providerId === null || claim.nodeId === null),
      false,
    );
    return this.#settled;
  }

  async #confirm(losses: readonly Outcome[], hasNodeId: boolean): Promise<void> {
    const agreed: Agreed[] = [];
    let isWorking = false;
    for (const outcome of losses) {
      const { claim, result } = outcome;
      if (claim.providerId === null) {
        // It has been requested by name, and there is no other endpoint.
        if (result.kind === "failed" && isWord(result.failure))
          agreed.push({ outcome, failure: result.failure });
        continue;
      }
      if (this.#isOver()) continue;
      this.#requests++;
      const { providerId, nodeId, owner, name } = claim;
      const second = await this.#readAgain(
        { providerId, nodeId, fullName: `${owner}/${name}`, etag: null },
        claim,
      );
      if (!(second instanceof UpstreamFailure)) {
        isWorking = true;
        this.#settled.set(outcome, { claim, result: { kind: "found", repository: second, etag: null } });
      } else if (isWord(second)) agreed.push({ outcome, failure: second });
    }
    // The record of a private repository shows by itself that the endpoint works.
    const shown = agreed.filter(({ failure }) => failure.kind === "private");
    const isEach = shown.length < agreed.length && (isWorking || (await this.#returnsControl(hasNodeId)));
    for (const { outcome, failure } of isEach ? agreed : shown)
      this.#settled.set(outcome, {
        claim: outcome.claim,
        result: { kind: "failed", failure },
        isConfirmed: true,
      });
  }

  #isOver(): boolean {
    const { clock } = this.#lane;
    return this.#hasFailed || this.#requests === MAX_CONFIRMATIONS || clock.monotonic() >= this.#endAt;
  }

  /** The second endpoint's record; if that finds by name, also one with a new id and the same creation date. */
  async #readAgain(ref: Requested, { repositoryId }: Claim): Promise<UpstreamRepository | UpstreamFailure> {
    const second = await this.#read(ref);
    const createdAt = this.#createdAt.get(repositoryId) ?? null;
    const isOpen = second instanceof UpstreamFailure && second.kind === "gone" && ref.nodeId === null;
    if (!isOpen || createdAt === null) return second;
    const { provider, signal } = this.#lane;
    const named = await provider.refreshOne(ref.fullName, signal).catch(asFailed);
    return !("kind" in named) && named.createdAt === createdAt ? named : second;
  }

  /** Whether the second endpoint returns a repository that was read recently; without one, nothing can be confirmed. */
  async #returnsControl(hasNodeId: boolean): Promise<boolean> {
    if (this.#hasFailed) return false;
    const { modules, provider } = this.#lane;
    const { read, dialect } = modules.database;
    const lost = this.#losses.map(({ claim }) => claim.repositoryId);
    const row = await read
      .selectFrom("repositories")
      .innerJoin("tracking", "tracking.repository_id", "repositories.id")
      .select(["provider_id", "node_id", "owner", "name"])
      .where("repositories.provider", "=", provider.name)
      .where("availability", "=", "AVAILABLE")
      .where("provider_id", "is not", null)
      .where("refreshed_at", "is not", null)
      .where("missing_since", "is", null)
      .where(({ eb }) => (hasNodeId ? eb("node_id", "is not", null) : eb.val(true)))
      .where(({ not }) => not(dialect.among(sql.ref("repositories.id"), lost)))
      .orderBy("refreshed_at", "desc")
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) return false;
    const { provider_id, node_id, owner, name } = row;
    const control = await this.#read({
      providerId: provider_id,
      nodeId: hasNodeId ? node_id : null,
      fullName: `${owner}/${name}`,
      etag: null,
    });
    return !(control instanceof UpstreamFailure);
  }

  /** The second endpoint's record of a repository. */
  async #read({ providerId, ...ref }: Requested): Promise<UpstreamRepository | UpstreamFailure> {
    const { provider, signal } = this.#lane;
    try {
      return await provider.recheck({ providerId: providerId ?? "", ...ref }, signal);
    } catch (error) {
      const { failure } = asFailed(error);
      if (concernsForge(failure.kind)) this.#hasFailed = true;
      return failure;
    }
  }
}

/** Whether the forge says with this failure that a repository is not public. A redirect does not: many lead to a login. */
function isWord({ kind }: UpstreamFailure): boolean {
  return kind === "gone" || kind === "private" || kind === "blocked";
}
