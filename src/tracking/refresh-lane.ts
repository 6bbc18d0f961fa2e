import { failureOfAll, isTemporary, oneByOne, type Refreshed, UpstreamFailure } from "../forges/forges.js";
import { DAY_MS, HOUR_MS } from "../lib/clock.js";
import { type Claim, claimDue, nextDue, release } from "./claims.js";
import { type Lane, LEASE_MS, responded, type Step, waiting } from "./lane.js";
import { confirmLosses } from "./losses.js";
import { isLoss, isPostponed, type Outcome } from "./outcomes.js";
import { Recorder } from "./recorder.js";
import { enroll } from "./schedule.js";

/** Repositories enrolled per step, and the period over which they become due. */
const ENROLL_LIMIT = 5_000;
const ENROLL_SPREAD_MS = DAY_MS;
/** From this size on a batch is one request, so it also takes repositories that are due this much later. */
const LARGE_BATCH = 50;
const AHEAD_MS = 10 * 60_000;
/** Where a batch is one request, own records that are due wait this long for a batch with room. */
const DETAILS_PATIENCE_MS = 6 * HOUR_MS;
/** Every tenth batch begins with own records that are due, even if counts are late, so that a backlog of counts does not starve them. */
const DETAILS_EVERY = 10;
/** Delay of a batch whose call failed, so that others are tried first. */
const BEHIND_MS = 10 * 60_000;
/** Shortest wait for a quota that only some repositories need. */
const QUOTA_MS = 60_000;
/** Default maximum wait when nothing is due: other processes may make repositories due. */
const IDLE_MS = 60_000;

const never = Number.POSITIVE_INFINITY;

/** Refreshes the due repositories of one provider, batch by batch. */
export class RefreshLane {
  readonly #lane: Lane;
  readonly #recorder: Recorder;
  /** Monotonic clock. */
  #steppedAt: number;
  readonly #idleMs: number;
  #batches = 0;

  constructor(lane: Lane, idleMs = IDLE_MS) {
    this.#lane = lane;
    this.#recorder = new Recorder(lane);
    this.#idleMs = idleMs;
    this.#steppedAt = lane.clock.monotonic();
  }

  /** Refreshes one batch. Throws UpstreamFailure. */
  async step(): Promise<Step> {
    const { modules, provider, clock, reporter, signal } = this.#lane;
    const { database } = modules;
    const now = clock.now();
    const readyAt = provider.readyAt("refresh");
    if (readyAt > now) return waiting(readyAt - now);
    await enroll(database, provider, { now, spreadMs: ENROLL_SPREAD_MS, limit: ENROLL_LIMIT });
    const next = await nextDue(database, provider.name);
    const steppedAt = clock.monotonic();
    const lateness = next === null ? 0 : Math.max(0, now - next);
    this.#lane.stretch.note(lateness, steppedAt - this.#steppedAt);
    this.#steppedAt = steppedAt;
    reporter.report.stretch = this.#lane.stretch.factor;
    const details = (await nextDue(database, provider.name, "details")) ?? never;
    const nextAt = Math.min(next ?? never, details + (this.#isLarge ? DETAILS_PATIENCE_MS : 0));
    if (nextAt > now) return waiting(Math.min(this.#idleMs, nextAt - now));
    const leasedUntil = now + LEASE_MS;
    const claims = await this.#claim({ now, leasedUntil });
    // Other workers hold the due repositories.
    if (claims.length === 0) return waiting(this.#idleMs);
    const open = new Set(claims.map((claim) => claim.repositoryId));
    try {
      const outcomes = await this.request(claims);
      await this.#recorder.record(outcomes);
      for (const { claim, result } of outcomes) if (!isPostponed(result)) open.delete(claim.repositoryId);
      const later = this.#waiting(outcomes);
      if (later !== null) for (const id of later.ids) open.delete(id);
      await release(database, [...open], { leasedUntil });
      if (later !== null) await release(database, later.ids, { leasedUntil, dueAt: later.dueAt });
      if (outcomes.every(({ result }) => isPostponed(result))) return waiting(0);
      reporter.succeeded(clock.now());
    } catch (error) {
      // This batch may be the cause, so others are tried before it.
      const isBatch = error instanceof UpstreamFailure && !isTemporary(error.kind) && !signal.aborted;
      await release(database, [...open], { leasedUntil, ...(isBatch && { dueAt: clock.now() + BEHIND_MS }) });
      throw error;
    }
    return responded(0);
  }

  /**
   * Repositories that wait for another quota than the rest, such as those that are read one by one. They become due when it is reset,
   * so that they do not hold up others. null: none, or the whole lane waits.
   */
  #waiting(outcomes: readonly Outcome[]): { ids: number[]; dueAt: number } | null {
    const { provider, clock } = this.#lane;
    const now = clock.now();
    const ids: number[] = [];
    let dueAt = now + QUOTA_MS;
    for (const { claim, result } of outcomes) {
      if (result.kind !== "failed" || result.failure.kind !== "quota") continue;
      ids.push(claim.repositoryId);
      dueAt = Math.max(dueAt, Math.min(result.failure.until ?? 0, now + DAY_MS));
    }
    return ids.length === 0 || provider.readyAt("refresh") > now ? null : { ids, dueAt };
  }

  /** Claims a batch: due counts first, then due own records as far as there is room. See DETAILS_EVERY for the exception. */
  async #claim({ now, leasedUntil }: { now: number; leasedUntil: number }): Promise<Claim[]> {
    const { modules, provider } = this.#lane;
    const { database } = modules;
    const limit = provider.batchSize;
    this.#batches++;
    const first =
      this.#batches % DETAILS_EVERY === 0
        ? await claimDue(database, provider.name, { dueFor: "details", now, leasedUntil, limit })
        : [];
    const dueBefore = this.#isLarge ? now + AHEAD_MS : now;
    const claims =
      first.length > 0
        ? first
        : await claimDue(database, provider.name, { now, dueBefore, leasedUntil, limit });
    const room = claims.length === 0 || this.#isLarge ? limit - claims.length : 0;
    if (room === 0) return claims;
    const details = { dueFor: "details", now, leasedUntil, limit: room } as const;
    return [...claims, ...(await claimDue(database, provider.name, details))];
  }

  /** Whether a batch is one request. */
  get #isLarge(): boolean {
    return this.#lane.provider.batchSize >= LARGE_BATCH;
  }

  /** Requests each repository from the forge by its id, or by name if the id is unknown. Confirms losses. */
  async request(claims: readonly Claim[]): Promise<readonly Outcome[]> {
    const { provider, clock, signal } = this.#lane;
    const beganAt = clock.monotonic();
    const known = claims.filter((claim) => claim.providerId !== null);
    const refs = known.map(({ providerId, nodeId, owner, name, etag }) => ({
      providerId: providerId ?? "",
      nodeId,
      fullName: `${owner}/${name}`,
      etag,
    }));
    const results = refs.length === 0 ? [] : await provider.refreshMany(refs, signal);
    const outcomes = outcomesOf(known, results);
    const unknown = claims.filter(({ providerId }) => providerId === null);
    if (unknown.length > 0) {
      const found = await this.#requestByName(unknown, beganAt);
      const failure = known.length === 0 ? failureOfAll(found) : null;
      if (failure !== null && !(failure.kind === "quota" && provider.readyAt("refresh") <= clock.now()))
        throw failure;
      outcomes.push(...outcomesOf(unknown, found));
    }
    return outcomes.some(({ result }) => isLoss(result)) ? confirmLosses(this.#lane, outcomes) : outcomes;
  }

  #requestByName(claims: readonly Claim[], beganAt: number): Promise<Refreshed[]> {
    const { provider, clock, signal } = this.#lane;
    const request = async ({ owner, name }: Claim): Promise<Refreshed> => {
      const repository = await provider.refreshOne(`${owner}/${name}`, signal);
      return { kind: "found", repository, etag: null };
    };
    return oneByOne(claims, request, { clock, beganAt });
  }
}

/** The results in the order of their claims, without skipped ones. */
function outcomesOf(claims: readonly Claim[], results: readonly Refreshed[]): Outcome[] {
  return claims.flatMap((claim, i): Outcome[] => {
    const result = results[i];
    return result === undefined || result.kind === "skipped" ? [] : [{ claim, result }];
  });
}
