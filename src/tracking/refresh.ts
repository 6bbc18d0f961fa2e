import type { Availability, Observation, Repository } from "../catalog/catalog.js";
import { DAY_MS, HOUR_MS, WEEK_MS } from "../clock.js";
import { type FailureKind, isTemporary, type Refreshed, UpstreamFailure } from "../providers/providers.js";
import { type Trend, WINDOWS } from "../rankings/rankings.js";
import { intervalOf, nextStretch, retryAfter, spread } from "./cadence.js";
import { answered, type Lane, LEASE_MS, restBetween, type Step, waiting } from "./context.js";
import { observationOf, unchangedObservation } from "./observe.js";
import { asFailure } from "./report.js";
import { type Appointment, type Claim, claimDue, enroll, nextDue, release, schedule } from "./schedule.js";

/** Repositories that are taken up at a time, over so long. */
const ENROLL = 5_000;
const ENROLL_SPREAD_MS = DAY_MS;
/** A batch of so many is one request, and takes along what is due within so long. */
const LARGE_BATCH = 50;
const AHEAD_MS = 10 * 60_000;
/** Those of a call that failed as a whole come so much later, that others are tried first. */
const BEHIND_MS = 10 * 60_000;
/** How long to wait when nothing is due, at most. */
const IDLE_MS = 60_000;

const SEVERAL = 3;

/** What a failure says of the repository; absent: nothing. */
const AVAILABILITY_BY_FAILURE: Partial<Record<FailureKind, Availability>> = {
  gone: "GONE",
  renamed: "GONE",
  private: "PRIVATE",
  blocked: "BLOCKED",
};

/** Refreshes what is due of one provider, batch by batch. */
export class RefreshLane {
  readonly #lane: Lane;
  /** On the monotonic clock. */
  #steppedAt: number;

  constructor(lane: Lane) {
    this.#lane = lane;
    this.#steppedAt = lane.clock.monotonic();
  }

  /** Refreshes one batch. Throws what the provider throws. */
  async step(): Promise<Step> {
    const { modules, provider, clock, reporter } = this.#lane;
    const now = clock.now();
    const readyAt = provider.readyAt("refresh");
    if (readyAt > now) return waiting(readyAt - now);
    await enroll(modules.database, provider, now, ENROLL_SPREAD_MS, ENROLL);
    const next = await nextDue(modules.database, provider.name);
    const { report } = reporter;
    const passed = clock.monotonic() - this.#steppedAt;
    this.#steppedAt = clock.monotonic();
    report.stretch = nextStretch(report.stretch, next === null ? 0 : Math.max(0, now - next), passed);
    if (next === null || next > now) return waiting(next === null ? IDLE_MS : Math.min(IDLE_MS, next - now));
    const leasedUntil = now + LEASE_MS;
    const claims = await claimDue(modules.database, provider.name, {
      now,
      // Where many are asked for at once, those that are due soon go along.
      dueBefore: provider.batchSize >= LARGE_BATCH ? now + AHEAD_MS : now,
      leasedUntil,
      limit: provider.batchSize,
    });
    // Other workers hold what is due.
    if (claims.length === 0) return waiting(IDLE_MS);
    const left = new Set(claims.map((claim) => claim.repositoryId));
    try {
      const outcomes = await this.ask(claims);
      await this.keep(outcomes);
      for (const [{ repositoryId }, outcome] of outcomes) if (!isLeftFor(outcome)) left.delete(repositoryId);
      reporter.succeeded(clock.now());
      await release(modules.database, [...left], leasedUntil);
    } catch (error) {
      // It may be these that cannot be had: then the next ones are tried before them.
      const isTheirs =
        error instanceof UpstreamFailure && !isTemporary(error.kind) && !this.#lane.signal.aborted;
      const dueAt = isTheirs ? clock.now() + BEHIND_MS : undefined;
      await release(modules.database, [...left], leasedUntil, dueAt);
      throw error;
    }
    const requests = provider.batchSize >= LARGE_BATCH ? 1 : claims.length;
    return answered(requests * restBetween(provider.kind));
  }

  /** What the forge says of each. Those without an id of the forge are asked for by their name. */
  async ask(claims: readonly Claim[]): Promise<[Claim, Refreshed][]> {
    const { provider, signal } = this.#lane;
    const known = claims.filter((claim) => claim.providerId !== null);
    const refs = known.map(({ providerId, nodeId, owner, name, etag }) => ({
      providerId: providerId ?? "",
      nodeId,
      fullName: `${owner}/${name}`,
      etag,
    }));
    const outcomes = refs.length === 0 ? [] : await provider.refreshMany(refs, signal);
    const told = known.flatMap((claim, i): [Claim, Refreshed][] => {
      const outcome = outcomes[i];
      return outcome === undefined ? [] : [[claim, outcome]];
    });
    for (const claim of claims.filter(({ providerId }) => providerId === null)) {
      const outcome = await this.#askByName(claim);
      told.push([claim, outcome]);
      if (isLeftFor(outcome)) break;
    }
    return (await this.#isDoubtful(told)) ? told.map(doubted) : told;
  }

  /**
   * Whether a forge has only losses to tell, even of a repository that it had a short time ago: then it is the forge that is
   * at fault, such as one that answers 404 to everything, and nothing is lost.
   */
  async #isDoubtful(told: readonly [Claim, Refreshed][]): Promise<boolean> {
    const { modules, provider, signal } = this.#lane;
    const losses = told.filter(([, outcome]) => isLoss(outcome));
    if (losses.length === 0 || told.some(([, { kind }]) => kind !== "failed")) return false;
    const claimed = told.map(([{ repositoryId }]) => repositoryId);
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
    // All that there are have been asked for: some can be lost at once, but hardly each of several.
    if (row === undefined) return losses.length >= SEVERAL;
    const { providerId, nodeId, owner, name } = row;
    const control = { providerId: providerId ?? "", nodeId, fullName: `${owner}/${name}`, etag: null };
    const [answer] = await provider.refreshMany([control], signal);
    return answer?.kind === "failed";
  }

  async #askByName({ owner, name }: Claim): Promise<Refreshed> {
    const { provider, signal } = this.#lane;
    try {
      const repository = await provider.refreshOne(`${owner}/${name}`, signal);
      return { kind: "found", repository, etag: null };
    } catch (error) {
      return { kind: "failed", failure: asFailure(error) };
    }
  }

  /** Records what was told and when each is due next, in one transaction: a kill in between loses or doubles nothing. */
  async keep(outcomes: readonly [Claim, Refreshed][]): Promise<void> {
    const { modules, clock, reporter } = this.#lane;
    const { catalog, rankings, database } = modules;
    const ids = outcomes.map(([{ repositoryId }]) => repositoryId);
    const repositories = new Map((await catalog.findMany(ids)).map((one) => [one.id, one]));
    const trends = await Promise.all(WINDOWS.slice(0, 2).map((window) => rankings.trends(ids, window)));
    const at = clock.now();
    const batch: {
      observation: Observation;
      appointment: Omit<Appointment, "repositoryId">;
      repositoryId: number;
    }[] = [];
    const onlyScheduled: Appointment[] = [];
    for (const [claim, outcome] of outcomes) {
      const before = repositories.get(claim.repositoryId);
      if (before === undefined) continue;
      if (outcome.kind === "failed") reporter.failed(outcome.failure, at);
      if (isLeftFor(outcome)) continue;
      const known = trends.flatMap((trend) => trend.get(claim.repositoryId) ?? []);
      const appointment = this.#appointment(claim, outcome, before, known, at);
      const { repositoryId } = claim;
      const observation = this.#observation(claim, outcome, before, at);
      if (observation === undefined) onlyScheduled.push({ ...appointment, repositoryId });
      else batch.push({ observation: { ...observation, repositoryId }, appointment, repositoryId });
      reporter.report.refreshed++;
    }
    if (batch.length + onlyScheduled.length === 0) return;
    const { dialect } = database;
    const doubles: Observation[] = [];
    const record = (observations: readonly Observation[]) =>
      catalog.record(observations, async (tx, recorded) => {
        // What was asked for and turned out to be one that is known by its id keeps a place in the schedule.
        const found = new Set(recorded);
        const others = batch.filter(({ repositoryId }) => !found.has(repositoryId));
        doubles.push(...others.map(({ observation }) => lostObservation(observation, at)));
        await schedule(tx, dialect, [
          ...others.map(({ repositoryId }) => this.#again(repositoryId, at)),
          ...onlyScheduled,
          ...batch.flatMap(({ appointment }, i): Appointment[] => {
            const repositoryId = recorded[i];
            return repositoryId === undefined ? [] : [{ ...appointment, repositoryId }];
          }),
        ]);
      });
    if (batch.length > 0) await record(batch.map(({ observation }) => observation));
    else await dialect.exclusively(database.write, "catalogue", (tx) => schedule(tx, dialect, onlyScheduled));
    // Imported under a name that one known by its id has had since: there is nothing left of its own.
    if (doubles.length > 0) await catalog.record(doubles);
  }

  #again(repositoryId: number, at: number): Appointment {
    const { provider, chance } = this.#lane;
    return {
      repositoryId,
      provider: provider.name,
      dueAt: at + spread(WEEK_MS, chance()),
      nodeId: null,
      etag: null,
      failures: 0,
    };
  }

  #appointment(
    claim: Claim,
    outcome: Refreshed,
    before: Repository,
    trends: readonly Trend[],
    at: number,
  ): Omit<Appointment, "repositoryId"> {
    const { provider, reporter, chance } = this.#lane;
    const { name } = provider;
    if (outcome.kind === "failed") {
      const failures = claim.failures + 1;
      const dueAt = at + spread(retryAfter(failures), chance());
      return { provider: name, dueAt, nodeId: claim.nodeId, etag: null, failures };
    }
    const stars = outcome.kind === "found" ? outcome.repository.stars : (before.stars ?? 0);
    const pushedAt = outcome.kind === "found" ? outcome.repository.pushedAt : before.pushedAt;
    const wait = intervalOf({
      stars,
      starsPerDay: paceOf(claim, stars, trends, at),
      idleDays: pushedAt === null ? null : (at - pushedAt) / DAY_MS,
    });
    const stretched = Math.min(WEEK_MS, wait * reporter.report.stretch);
    return {
      provider: name,
      dueAt: at + spread(stretched, chance()),
      nodeId: outcome.kind === "found" ? outcome.repository.nodeId : claim.nodeId,
      etag: outcome.kind === "found" ? outcome.etag : claim.etag,
      failures: 0,
    };
  }

  #observation(claim: Claim, outcome: Refreshed, before: Repository, at: number): Observation | undefined {
    const { name } = this.#lane.provider;
    if (outcome.kind === "found") return observationOf(name, outcome.repository, at);
    if (outcome.kind === "unchanged") return unchangedObservation(before, claim.providerId ?? "", at);
    const availability = AVAILABILITY_BY_FAILURE[outcome.failure.kind];
    if (availability === undefined) return undefined;
    return {
      provider: name,
      ...(claim.providerId === null ? {} : { providerId: claim.providerId }),
      owner: before.owner,
      name: before.name,
      at,
      isNameless: true,
      facts: { availability },
      snapshots: [],
    };
  }
}

/** That the repository which an observation was asked for is not there any more. */
function lostObservation({ provider, owner, name, repositoryId }: Observation, at: number): Observation {
  return {
    provider,
    owner,
    name,
    at,
    ...(repositoryId === undefined ? {} : { repositoryId }),
    isNameless: true,
    facts: { availability: "GONE" },
    snapshots: [],
  };
}

/** Whether a forge says that the repository is not there, or not to be shown. */
function isLoss(outcome: Refreshed): boolean {
  return outcome.kind === "failed" && AVAILABILITY_BY_FAILURE[outcome.failure.kind] !== undefined;
}

/** A loss that is not believed: asked for again later, and not recorded. */
function doubted([claim, outcome]: [Claim, Refreshed]): [Claim, Refreshed] {
  if (!isLoss(outcome)) return [claim, outcome];
  const message = `${claim.owner}/${claim.name} is said to be lost, and so is everything else`;
  return [claim, { kind: "failed", failure: new UpstreamFailure("malformed", message) }];
}

/** Whether nothing was found out, through no fault of the repository: it stays as due as it was. */
function isLeftFor(outcome: Refreshed): boolean {
  return outcome.kind === "failed" && isTemporary(outcome.failure.kind);
}

/** The greatest pace that is known, in stars a day. */
function paceOf(claim: Claim, stars: number, trends: readonly Trend[], at: number): number | null {
  const paces = trends.map(({ starsDelta, from, to }) => (Math.max(0, starsDelta) * DAY_MS) / (to - from));
  if (claim.stars !== null && claim.countedAt !== null && at - claim.countedAt >= HOUR_MS / 2) {
    paces.push((Math.max(0, stars - claim.stars) * DAY_MS) / (at - claim.countedAt));
  }
  return paces.length === 0 ? null : Math.max(...paces);
}
