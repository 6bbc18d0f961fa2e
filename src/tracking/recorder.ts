import { sql } from "kysely";
import type { Tx } from "../database/database.js";
import type { UpstreamFailure, UpstreamRepository } from "../forges/forges.js";
import { type Trend, WINDOWS } from "../growth/growth.js";
import { DAY_MS, HOUR_MS, WEEK_MS } from "../lib/clock.js";
import type { Repository } from "../repositories/repositories.js";
import { beforeEnd, spread } from "./cadence.js";
import { findKnown, stillClaimed } from "./claims.js";
import { admitNew, limitLosses } from "./daily-limits.js";
import type { Lane } from "./lane.js";
import { isNews, type Listed, listedUpdateOf } from "./listed.js";
import {
  isPostponed,
  type Outcome,
  type OutcomeContext,
  observationOf,
  replacedObservation,
  type Update,
  updateOf,
} from "./outcomes.js";
import { planRechecks } from "./recheck.js";
import { type Appointment, FIRST_INTERVAL_MS, historyOf, schedule } from "./schedule.js";

/**
 * Records repositories as a forge has sent them, each on its own or in a list, with the times at which they are due next. Each call is
 * one transaction: a kill neither loses nor doubles anything.
 */
export class Recorder {
  readonly #lane: Lane;

  constructor(lane: Lane) {
    this.#lane = lane;
  }

  /** Records the results of refreshes, except for repositories that another worker has claimed since. */
  async record(outcomes: readonly Outcome[]): Promise<void> {
    const { clock, reporter } = this.#lane;
    const at = clock.now();
    const before = await this.#readBefore(outcomes.map(({ claim }) => claim.repositoryId));
    const postponed = new Set<UpstreamFailure>();
    const updates = outcomes.flatMap((outcome) => {
      const { claim, result } = outcome;
      // A batch may take minutes, and a count is as old as its own response.
      const readAt = result.kind === "failed" ? at : Math.min(at, result.at ?? at);
      const context = this.#contextOf(claim.repositoryId, before, readAt);
      if (context === undefined) return [];
      if (!isPostponed(result)) {
        if (result.kind === "failed") reporter.failed(result.failure, at);
        return [updateOf(outcome, context)];
      }
      if (result.kind === "failed") postponed.add(result.failure);
      return [];
    });
    // One failure postpones many.
    for (const failure of postponed) reporter.failed(failure, at);
    if (updates.length === 0) return;
    const found = outcomes.flatMap(({ result }) => (result.kind === "found" ? [result.repository] : []));
    const { modules, provider } = this.#lane;
    const claims = outcomes.map(({ claim }) => claim);
    const written = await this.#exclusively(async (tx) => {
      const held = await stillClaimed(tx, modules.database.dialect, claims);
      await modules.avatars.noteAddresses(tx, provider.name, found);
      const own = updates.filter(({ appointment }) => held.has(appointment.repositoryId));
      return this.#write(tx, own, at);
    });
    reporter.add("refreshed", written.filter(({ observation }) => observation !== undefined).length);
    reporter.add("lost", written.filter(({ isLost }) => isLost).length);
    reporter.add("doubted", written.filter(({ isDoubtful }) => isDoubtful).length);
  }

  /** Records a page of a list: new repositories within the daily limit, and news about known ones. Returns how many were added. */
  async recordPage(rows: readonly UpstreamRepository[]): Promise<number> {
    const { modules, provider, clock, reporter } = this.#lane;
    const { database } = modules;
    const listed = new Map(rows.map((row) => [row.providerId, row]));
    if (listed.size === 0) return 0;
    const at = clock.now();
    const ids = [...listed.keys()];
    const stored = await findKnown(database.read, database.dialect, { provider: provider.name, ids });
    const before = await this.#readBefore(stored.map(({ repositoryId }) => repositoryId));
    const { added, surplus, updates } = await this.#exclusively(async (tx) => {
      // Read again: other lanes may have recorded since.
      const known = await findKnown(tx, database.dialect, { provider: provider.name, ids });
      const updates = known.flatMap((one) => {
        const row = listed.get(one.providerId ?? "");
        const context = this.#contextOf(one.repositoryId, before, at);
        if (row === undefined || context === undefined) return [];
        const found: Listed = { known: one, before: context.before, row };
        return isNews(found, at) ? [listedUpdateOf(found, context)] : [];
      });
      await modules.avatars.noteAddresses(tx, provider.name, rows);
      const knownIds = new Set(known.map(({ providerId }) => providerId));
      const fresh = [...listed.values()].filter((row) => !knownIds.has(row.providerId));
      await this.#write(tx, updates, at);
      const added = await admitNew(tx, { settings: provider.settings, at, count: fresh.length });
      await this.#add(tx, fresh.slice(0, added), at);
      return { added, surplus: fresh.length - added, updates };
    });
    reporter.add("surplus", surplus);
    reporter.add("listed", updates.filter(({ observation }) => observation !== undefined).length);
    reporter.add("doubted", updates.filter(({ isDoubtful }) => isDoubtful).length);
    return added;
  }

  #exclusively<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const { dialect, write } = this.#lane.modules.database;
    return dialect.exclusively(write, "catalogue", work);
  }

  /** The repositories as they are, with their recent trends. */
  async #readBefore(ids: readonly number[]): Promise<Before> {
    const { catalog, rankings } = this.#lane.modules;
    const repositories = await catalog.findMany(ids);
    const trends = await Promise.all(WINDOWS.slice(0, 2).map((window) => rankings.trends(ids, window)));
    return { repositories: new Map(repositories.map((one) => [one.id, one])), trends };
  }

  /** Undefined for a repository that is not in the catalogue. */
  #contextOf(id: number, { repositories, trends }: Before, at: number): OutcomeContext | undefined {
    const { provider, stretch, chance } = this.#lane;
    const before = repositories.get(id);
    if (before === undefined) return undefined;
    const known = trends.flatMap((trend) => trend.get(id) ?? []);
    return { provider, at, before, trends: known, stretch: stretch.factor, chance: chance() };
  }

  /** Records repositories that are not known yet. */
  async #add(tx: Tx, rows: readonly UpstreamRepository[], at: number): Promise<void> {
    const { modules, provider } = this.#lane;
    const observations = rows.map((row) => observationOf(provider.name, row, at));
    const { repositoryIds } = await modules.catalog.recordIn(tx, observations);
    const appointments = rows.flatMap((row, i): Appointment[] => {
      const repositoryId = repositoryIds[i];
      return repositoryId === undefined ? [] : [this.#firstAppointment(repositoryId, row, at)];
    });
    await schedule(tx, modules.database.dialect, appointments);
  }

  /** The first appointment of a repository that was not known yet. */
  #firstAppointment(
    repositoryId: number,
    { nodeId, stars }: Pick<UpstreamRepository, "nodeId" | "stars">,
    at: number,
  ): Appointment {
    const { provider, chance } = this.#lane;
    // Its row already has most fields.
    const detailsDue = at + spread(DAY_MS * (0.25 + 0.65 * chance()), chance());
    return {
      repositoryId,
      provider: provider.name,
      dueAt: at + beforeEnd(FIRST_INTERVAL_MS, chance()),
      refreshInterval: FIRST_INTERVAL_MS,
      nodeId,
      etag: null,
      failures: 0,
      missingSince: null,
      detailsDue: provider.listsAreComplete ? null : detailsDue,
      ...historyOf(provider.kind, stars, at),
    };
  }

  /** Returns the updates as they are written: without the losses that are held back. */
  async #write(tx: Tx, all: readonly Update[], at: number): Promise<readonly Update[]> {
    const { provider, chance } = this.#lane;
    const { catalog, database } = this.#lane.modules;
    const founded = await this.#withoutUnfounded(tx, all, at);
    const hasLosses = founded.some(({ isLost }) => isLost);
    const updates = hasLosses ? await limitLosses(tx, this.#lane, { updates: founded, at }) : founded;
    const observed = updates.flatMap(({ observation, ...update }) =>
      observation === undefined ? [] : [{ observation, ...update }],
    );
    const observations = observed.map(({ observation }) => observation);
    const { repositoryIds } = await catalog.recordIn(tx, observations);
    const recorded = new Set(repositoryIds);
    const replaced = observed.filter(({ appointment }) => !recorded.has(appointment.repositoryId));
    // Some were imported under a name that now belongs to a repository already known by its id.
    const renamed = replaced.filter(({ claimedId }) => claimedId === null);
    const gone = renamed.map(({ observation }) => replacedObservation(observation));
    await catalog.recordIn(tx, gone);
    // The forge has given the ids of some to other repositories. Those that had them are requested by name.
    const displaced = replaced.filter(({ claimedId }) => claimedId !== null);
    const appointed = observed.map(({ appointment, observation, claimedId }, i): Appointment => {
      const repositoryId = repositoryIds[i] ?? appointment.repositoryId;
      const isOther = repositoryId !== appointment.repositoryId && claimedId !== null;
      // Lease, node id, ETag and failures are those of the repository that had its id.
      return isOther
        ? this.#firstAppointment(repositoryId, { nodeId: null, stars: observation.facts.stars ?? 0 }, at)
        : { ...appointment, repositoryId };
    });
    await schedule(tx, database.dialect, [
      ...displaced.map(({ appointment: { repositoryId } }) => ({
        repositoryId,
        provider: provider.name,
        dueAt: at + spread(HOUR_MS, chance()),
        nodeId: null,
        etag: null,
        failures: 1,
        missingSince: at,
      })),
      ...renamed.map(({ appointment }) => ({
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
    if (doubtful.length > 0) {
      const ids = doubtful.map(({ appointment }) => appointment.repositoryId);
      await planRechecks(tx, this.#lane, { doubtful: ids, at });
    }
    return updates;
  }

  /**
   * "Unchanged" confirms the counts that came with the ETag. If a list has changed the stored counts since the request, it says nothing
   * about those, and the repository is due again without a condition.
   */
  async #withoutUnfounded(tx: Tx, updates: readonly Update[], at: number): Promise<readonly Update[]> {
    const confirmed = updates.filter(({ confirmedEtag }) => confirmedEtag !== null);
    if (confirmed.length === 0) return updates;
    const ids = confirmed.map(({ appointment }) => appointment.repositoryId);
    const rows = await tx
      .selectFrom("tracking")
      .select(["repository_id", "etag"])
      .where(this.#lane.modules.database.dialect.among(sql.ref("repository_id"), ids))
      .execute();
    const etags = new Map(rows.map(({ repository_id, etag }) => [repository_id, etag]));
    return updates.map((update): Update => {
      const { confirmedEtag, appointment } = update;
      if (confirmedEtag === null || etags.get(appointment.repositoryId) === confirmedEtag) return update;
      const { refreshInterval: _, detailedAt: __, detailsDue: ___, ...rest } = appointment;
      return { ...update, observation: undefined, appointment: { ...rest, dueAt: at, etag: null } };
    });
  }
}

/** Repositories as known before a reading. */
interface Before {
  repositories: ReadonlyMap<number, Repository>;
  trends: readonly ReadonlyMap<number, Trend>[];
}
