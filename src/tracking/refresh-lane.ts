import type { Repository } from "../catalog/catalog.js";
import { DAY_MS, WEEK_MS } from "../clock.js";
import type { Tx } from "../database/database.js";
import { asFailed, isTemporary, type Refreshed, UpstreamFailure } from "../providers/providers.js";
import { WINDOWS } from "../rankings/rankings.js";
import { nextStretch, spread } from "./cadence.js";
import { type Lane, LEASE_MS, pauseMs, responded, type Step, waiting } from "./lane.js";
import {
  isLoss,
  isPostponed,
  type Outcome,
  replacedObservation,
  type Update,
  updateOf,
  withoutLoss,
} from "./outcomes.js";
import { planRechecks, rechecksPerHour } from "./recheck.js";
import { type Appointment, type Claim, claimDue, enroll, nextDue, release, schedule } from "./schedule.js";

/** Repositories enrolled per step, and the period over which they become due. */
const ENROLL_LIMIT = 5_000;
const ENROLL_SPREAD_MS = DAY_MS;
/** From this batch size on a batch is one request, so it also takes repositories that are due this much later. */
const LARGE_BATCH = 50;
const AHEAD_MS = 10 * 60_000;
/** Delay of a batch whose call failed, so that others are tried first. */
const BEHIND_MS = 10 * 60_000;
/** Default maximum wait when nothing is due: other processes may make repositories due. */
const IDLE_MS = 60_000;
/** This many losses, with nothing else in the catalogue to compare them with, are not believed. */
const MANY_LOSSES = 3;

/** Refreshes the due repositories of one provider, batch by batch. */
export class RefreshLane {
  readonly #lane: Lane;
  /** Factor of all intervals; see nextStretch. */
  #stretch = 1;
  /** Monotonic clock. */
  #steppedAt: number;
  readonly #idleMs: number;

  constructor(lane: Lane, idleMs = IDLE_MS) {
    this.#lane = lane;
    this.#idleMs = idleMs;
    this.#steppedAt = lane.clock.monotonic();
  }

  /** Refreshes one batch. Throws what the provider throws. */
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
    this.#stretch = nextStretch(this.#stretch, lateness, steppedAt - this.#steppedAt);
    this.#steppedAt = steppedAt;
    reporter.report.stretch = this.#stretch;
    if (next === null || next > now)
      return waiting(Math.min(this.#idleMs, (next ?? Number.POSITIVE_INFINITY) - now));
    const leasedUntil = now + LEASE_MS;
    const isLarge = provider.batchSize >= LARGE_BATCH;
    const claims = await claimDue(database, provider.name, {
      now,
      dueBefore: isLarge ? now + AHEAD_MS : now,
      leasedUntil,
      limit: provider.batchSize,
    });
    // Other workers hold the due repositories.
    if (claims.length === 0) return waiting(this.#idleMs);
    const open = new Set(claims.map((claim) => claim.repositoryId));
    try {
      const outcomes = await this.request(claims);
      await this.record(outcomes);
      for (const { claim, result } of outcomes) if (!isPostponed(result)) open.delete(claim.repositoryId);
      reporter.succeeded(clock.now());
      await release(database, [...open], { leasedUntil });
    } catch (error) {
      // This batch may be the cause, so others are tried before it.
      const isBatch = error instanceof UpstreamFailure && !isTemporary(error.kind) && !signal.aborted;
      await release(database, [...open], { leasedUntil, ...(isBatch && { dueAt: clock.now() + BEHIND_MS }) });
      throw error;
    }
    return responded((isLarge ? 1 : claims.length) * pauseMs(provider.kind));
  }

  /** Requests each repository from the forge: by its id, or by name if the id is unknown. */
  async request(claims: readonly Claim[]): Promise<Outcome[]> {
    const { provider, signal } = this.#lane;
    const known = claims.filter((claim) => claim.providerId !== null);
    const refs = known.map(({ providerId, nodeId, owner, name, etag }) => ({
      providerId: providerId ?? "",
      nodeId,
      fullName: `${owner}/${name}`,
      etag,
    }));
    const results = refs.length === 0 ? [] : await provider.refreshMany(refs, signal);
    const outcomes = known.flatMap((claim, i): Outcome[] => {
      const result = results[i];
      return result === undefined ? [] : [{ claim, result }];
    });
    for (const claim of claims.filter(({ providerId }) => providerId === null)) {
      const result = await provider
        .refreshOne(`${claim.owner}/${claim.name}`, signal)
        .then((repository): Refreshed => ({ kind: "found", repository, etag: null }), asFailed);
      outcomes.push({ claim, result });
      if (isPostponed(result)) break;
    }
    return (await this.#areLossesDoubtful(outcomes)) ? outcomes.map(withoutLoss) : outcomes;
  }

  /**
   * Whether a forge reports nothing but losses, even of a repository that it returned recently: then the forge is at fault,
   * for example by responding 404 to everything, and nothing is lost.
   */
  async #areLossesDoubtful(outcomes: readonly Outcome[]): Promise<boolean> {
    const { modules, provider, signal } = this.#lane;
    const losses = outcomes.filter(({ result }) => isLoss(result));
    if (losses.length === 0 || outcomes.some(({ result }) => result.kind !== "failed")) return false;
    const claimed = outcomes.map(({ claim }) => claim.repositoryId);
    const row = await modules.database.read
      .selectFrom("repositories")
      .leftJoin("tracking", "tracking.repository_id", "repositories.id")
      .select(["provider_id as providerId", "node_id as nodeId", "owner", "name"])
      .where("repositories.provider", "=", provider.name)
      .where("availability", "=", "AVAILABLE")
      .where("provider_id", "is not", null)
      .where("repositories.id", "not in", claimed)
      .where("refreshed_at", "is not", null)
      .orderBy("refreshed_at", "desc")
      .limit(1)
      .executeTakeFirst();
    if (row === undefined) return losses.length >= MANY_LOSSES;
    const { providerId, nodeId, owner, name } = row;
    const control = { providerId: providerId ?? "", nodeId, fullName: `${owner}/${name}`, etag: null };
    const [result] = await provider.refreshMany([control], signal);
    return result?.kind === "failed";
  }

  /** Records outcomes and when each repository is due next in one transaction: a kill neither loses nor doubles anything. */
  async record(outcomes: readonly Outcome[]): Promise<void> {
    const { modules, provider, clock, reporter, chance } = this.#lane;
    const { catalog, rankings, database } = modules;
    const ids = outcomes.map(({ claim }) => claim.repositoryId);
    const repositories = new Map(
      (await catalog.findMany(ids)).map((one): [number, Repository] => [one.id, one]),
    );
    const trends = await Promise.all(WINDOWS.slice(0, 2).map((window) => rankings.trends(ids, window)));
    const at = clock.now();
    const updates = outcomes.flatMap((outcome) => {
      const { repositoryId } = outcome.claim;
      const before = repositories.get(repositoryId);
      if (before === undefined) return [];
      if (outcome.result.kind === "failed") reporter.failed(outcome.result.failure, at);
      if (isPostponed(outcome.result)) return [];
      const known = trends.flatMap((trend) => trend.get(repositoryId) ?? []);
      const context = { provider: provider.name, at, before, trends: known };
      return [updateOf(outcome, { ...context, stretch: this.#stretch, chance: chance() })];
    });
    if (updates.length === 0) return;
    await database.dialect.exclusively(database.write, "catalogue", (tx) => this.#write(tx, updates, at));
    reporter.add("refreshed", updates.length);
    reporter.add("doubted", updates.filter(({ isDoubtful }) => isDoubtful).length);
  }

  async #write(tx: Tx, updates: readonly Update[], at: number): Promise<void> {
    const { modules, provider, chance } = this.#lane;
    const { catalog, database } = modules;
    const { dialect } = database;
    const observed = updates.flatMap(({ observation, ...update }) =>
      observation === undefined ? [] : [{ observation, ...update }],
    );
    const { repositoryIds } = await catalog.recordIn(
      tx,
      observed.map(({ observation }) => observation),
    );
    // Some were imported under a name that now belongs to a repository already known by its id.
    const recorded = new Set(repositoryIds);
    const replaced = observed.filter(({ appointment }) => !recorded.has(appointment.repositoryId));
    await catalog.recordIn(
      tx,
      replaced.map(({ observation }) => replacedObservation(observation)),
    );
    const appointed = observed.map(
      ({ appointment }, i): Appointment => ({
        ...appointment,
        repositoryId: repositoryIds[i] ?? appointment.repositoryId,
      }),
    );
    await schedule(tx, dialect, [
      ...replaced.map(({ appointment }) => ({
        ...appointment,
        dueAt: at + spread(WEEK_MS, chance()),
        nodeId: null,
        etag: null,
        failures: 0,
      })),
      ...updates.filter(({ observation }) => observation === undefined).map(({ appointment }) => appointment),
      ...appointed,
    ]);
    const doubtful = observed
      .filter(({ isDoubtful, appointment }) => isDoubtful && recorded.has(appointment.repositoryId))
      .sort((a, b) => b.starsBefore - a.starsBefore);
    const perHour = rechecksPerHour(provider, this.#stretch);
    await planRechecks(
      { tx, dialect },
      doubtful.map(({ appointment }) => appointment.repositoryId),
      { provider: provider.name, now: at, perHour, chance },
    );
  }
}
