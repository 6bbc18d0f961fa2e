import { failureOfAll, isTemporary, oneByOne, type Refreshed, UpstreamFailure } from "../forges/forges.js";
import { DAY_MS, HOUR_MS } from "../lib/clock.js";
import type { Lane, Step } from "./lane.js";
import { confirmLosses } from "./losses.js";
import { isLoss, isPostponed, type Outcome } from "./outcomes.js";
import { Recorder } from "./recorder.js";
import { due, enroll, nextDue, postpone, refOf, type Tracked } from "./schedule.js";

/** Repositories enrolled per step, and the period over which they become due. */
const ENROLL_LIMIT = 5_000;
const ENROLL_SPREAD_MS = DAY_MS;
/** From this size on a batch is one request, so it also takes repositories that are due this much later. */
const LARGE_BATCH = 50;
const AHEAD_MS = 10 * 60_000;
/** If a batch is one request, own records that are due wait this long for a batch with room. */
const DETAILS_PATIENCE_MS = 6 * HOUR_MS;
/** Every tenth batch begins with own records that are due, even if counts are late, so that a backlog of counts does not starve them. */
const DETAILS_EVERY = 10;
/** Delay of a batch whose call failed, so that others are tried first. */
const BEHIND_MS = 10 * 60_000;
/** Shortest wait for a quota that only some repositories need. */
const QUOTA_MS = 60_000;
/** Default maximum wait when nothing is due: other processes may make repositories due. */
const IDLE_MS = 5_000;

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

  async step(): Promise<Step> {
    const { modules, provider, clock, reporter, signal, lease, stretch } = this.#lane;
    const { read, dialect } = modules.database;
    const now = clock.now();
    const readyAt = provider.readyAt("refresh");
    if (readyAt > now) return { waitMs: readyAt - now };
    const context = { lease, database: modules.database };
    if (provider.settings.onDemand !== true)
      await enroll(context, provider, { now, spreadMs: ENROLL_SPREAD_MS, limit: ENROLL_LIMIT });
    const next = await nextDue(read, provider.name, "refresh");
    const steppedAt = clock.monotonic();
    stretch.note(Math.max(0, now - next), steppedAt - this.#steppedAt);
    this.#steppedAt = steppedAt;
    reporter.report.stretch = stretch.factor;
    const details = await nextDue(read, provider.name, "details");
    const nextAt = Math.min(next, details + (this.#isLarge ? DETAILS_PATIENCE_MS : 0));
    if (nextAt > now) return { waitMs: Math.min(this.#idleMs, nextAt - now) };
    const batch = await this.#nextBatch(now);
    if (batch.length === 0) return { waitMs: this.#idleMs };
    let outcomes: readonly Outcome[];
    try {
      outcomes = await this.request(batch);
      await this.#recorder.record(outcomes);
    } catch (error) {
      // This batch may be the cause, so others are tried before it.
      if (error instanceof UpstreamFailure && !isTemporary(error.kind) && !signal.aborted) {
        const ids = batch.map(({ repositoryId }) => repositoryId);
        await postpone(lease, dialect, { ids, dueAt: clock.now() + BEHIND_MS });
      }
      throw error;
    }
    await this.#awaitQuota(outcomes);
    if (outcomes.every(({ result }) => isPostponed(result))) return { waitMs: 0 };
    reporter.succeeded(clock.now());
    return { waitMs: 0, hasResponse: true };
  }

  /**
   * Postpones repositories that wait for another quota than the others, such as those that are read one by one, until it is reset, so that
   * they do not hold up others.
   */
  async #awaitQuota(outcomes: readonly Outcome[]): Promise<void> {
    const { modules, provider, clock, lease } = this.#lane;
    const now = clock.now();
    const waits = outcomes.flatMap(({ asked, result }) =>
      result.kind === "failed" && result.failure.kind === "quota"
        ? [{ id: asked.repositoryId, until: result.failure.until ?? 0 }]
        : [],
    );
    if (waits.length === 0 || provider.readyAt("refresh") > now) return;
    const until = Math.min(now + DAY_MS, Math.max(...waits.map((one) => one.until)));
    const ids = waits.map(({ id }) => id);
    await postpone(lease, modules.database.dialect, { ids, dueAt: Math.max(now + QUOTA_MS, until) });
  }

  /** Due counts first, then due own records as far as there is room. See DETAILS_EVERY for the exception. */
  async #nextBatch(now: number): Promise<Tracked[]> {
    const { modules, provider } = this.#lane;
    const { read } = modules.database;
    const limit = provider.batchSize;
    this.#batches++;
    const counts = { queue: "refresh", at: this.#isLarge ? now + AHEAD_MS : now, limit } as const;
    const details = { queue: "details", at: now, limit } as const;
    const [first, second] = this.#batches % DETAILS_EVERY === 0 ? [details, counts] : [counts, details];
    const batch = await due(read, provider.name, first);
    if (batch.length === limit || (batch.length > 0 && !this.#isLarge)) return batch;
    const known = new Set(batch.map(({ repositoryId }) => repositoryId));
    const more = await due(read, provider.name, second);
    return [...batch, ...more.filter(({ repositoryId }) => !known.has(repositoryId))].slice(0, limit);
  }

  get #isLarge(): boolean {
    return this.#lane.provider.batchSize >= LARGE_BATCH;
  }

  /** Requests each repository from the forge by its id, or by name if the id is unknown. Confirms losses. */
  async request(batch: readonly Tracked[]): Promise<readonly Outcome[]> {
    const { provider, clock, signal } = this.#lane;
    const beganAt = clock.monotonic();
    const known = batch.filter(({ providerId }) => providerId !== null);
    const refs = known.map((row) => refOf(row, row.etag));
    const results = refs.length === 0 ? [] : await provider.refreshMany(refs, signal);
    const outcomes = outcomesOf(known, results);
    const unknown = batch.filter(({ providerId }) => providerId === null);
    if (unknown.length > 0) {
      const read = async ({ owner, name }: Tracked): Promise<Refreshed> => {
        const repository = await provider.refreshOne(`${owner}/${name}`, signal);
        return { kind: "found", repository, etag: null };
      };
      const found = await oneByOne(unknown, read, { clock, beganAt });
      const failure = known.length === 0 ? failureOfAll(found) : null;
      if (failure !== null && !(failure.kind === "quota" && provider.readyAt("refresh") <= clock.now()))
        throw failure;
      outcomes.push(...outcomesOf(unknown, found));
    }
    return outcomes.some(({ result }) => isLoss(result)) ? confirmLosses(this.#lane, outcomes) : outcomes;
  }
}

/** The results in the order of the batch, without skipped ones. */
function outcomesOf(batch: readonly Tracked[], results: readonly Refreshed[]): Outcome[] {
  return batch.flatMap((asked, i): Outcome[] => {
    const result = results[i];
    return result === undefined || result.kind === "skipped" ? [] : [{ asked, result }];
  });
}
