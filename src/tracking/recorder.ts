import type { Tx } from "../database/database.js";
import type { UpstreamRepository } from "../forges/forges.js";
import { type Gain, readGains } from "../growth/growth.js";
import { DAY_MS, HOUR_MS, WEEK_MS } from "../lib/clock.js";
import type { Observation } from "../repositories/repositories.js";
import { beforeEnd, spread } from "./cadence.js";
import { admitNew, limitLosses } from "./daily-limits.js";
import type { Lane } from "./lane.js";
import {
  isPostponed,
  listedUpdateOf,
  namelessObservation,
  type Outcome,
  type OutcomeContext,
  observationOf,
  type Update,
  updateOf,
} from "./outcomes.js";
import { holdBack, planRechecks } from "./recheck.js";
import {
  afterOwnRecord,
  FIRST_INTERVAL_MS,
  historyDueOf,
  keptNodeId,
  readTracked,
  saveTracked,
  type Tracked,
} from "./schedule.js";

/**
 * Records repositories as a forge has sent them, each on its own or in a list, with the times at which they are due next. Each call is
 * one transaction: a kill neither loses nor doubles anything.
 */
export class Recorder {
  readonly #lane: Lane;

  constructor(lane: Lane) {
    this.#lane = lane;
  }

  async record(outcomes: readonly Outcome[]): Promise<void> {
    const { modules, provider, clock, reporter, lease } = this.#lane;
    const at = clock.now();
    // One failure postpones many.
    const failures = new Set(
      outcomes.flatMap(({ result }) => (result.kind === "failed" ? result.failure : [])),
    );
    for (const failure of failures) reporter.failed(failure, at);
    const settled = outcomes.filter(({ result }) => !isPostponed(result));
    if (settled.length === 0) return;
    const ids = settled.map(({ asked }) => asked.repositoryId);
    const found = settled.flatMap(({ result }) => (result.kind === "found" ? [result.repository] : []));
    const gains = await this.#readGains(ids);
    const written = await lease.write(async (tx) => {
      await modules.avatars.noteAddresses(tx, provider.name, found);
      const rows = await this.#read(tx, ids);
      const updates = settled.flatMap((outcome): Update[] => {
        const { asked, result } = outcome;
        const row = rows.get(asked.repositoryId);
        // A batch may take minutes, and a count is as old as its own response.
        const readAt = result.kind === "failed" ? at : Math.min(at, result.at ?? at);
        // It may have been untracked or deleted meanwhile.
        if (row === undefined || (asked.isScheduled && !row.isScheduled)) return [];
        return [updateOf(outcome, this.#contextOf(row, gains, readAt))];
      });
      return this.#write(tx, updates, at);
    });
    reporter.add("refreshed", written.filter(({ observation }) => observation !== undefined).length);
    reporter.add("lost", written.filter(({ isLost }) => isLost).length);
    reporter.add("doubted", written.filter((one) => one.isDoubtful).length);
  }

  /** Records a page of a list: new repositories within the daily limit, and news about known ones. Returns how many were added. */
  async recordPage(page: readonly UpstreamRepository[]): Promise<number> {
    const { modules, provider, clock, reporter, lease } = this.#lane;
    const { dialect, read } = modules.database;
    const listed = new Map(page.map((one) => [one.providerId, one]));
    if (listed.size === 0) return 0;
    const at = clock.now();
    const which = { provider: provider.name, providerIds: [...listed.keys()] };
    const gains = await this.#readGains(
      (await readTracked(read, dialect, which)).map((row) => row.repositoryId),
    );
    const { added, surplus, updates } = await lease.write(async (tx) => {
      await modules.avatars.noteAddresses(tx, provider.name, page);
      const updates: Update[] = [];
      const fresh = new Map(listed);
      for (const row of await readTracked(tx, dialect, which)) {
        const own = listed.get(row.providerId ?? "");
        fresh.delete(row.providerId ?? "");
        if (row.availability === "HIDDEN") continue;
        const update = own && listedUpdateOf(own, this.#contextOf(row, gains, at));
        if (update !== undefined) updates.push(update);
      }
      await this.#write(tx, updates, at);
      for (const one of await modules.catalog.hiding.among(tx, provider.name, [...fresh.values()]))
        fresh.delete(one.providerId);
      const added = await admitNew(tx, { settings: provider.settings, at, count: fresh.size });
      await this.#add(tx, [...fresh.values()].slice(0, added), at);
      return { added, surplus: fresh.size - added, updates };
    });
    reporter.add("surplus", surplus);
    reporter.add("listed", updates.filter(({ observation }) => observation !== undefined).length);
    reporter.add("doubted", updates.filter(({ isDoubtful }) => isDoubtful).length);
    return added;
  }

  /**
   * Records a repository that was looked up by name, and puts it on the schedule, in a transaction of the lease. It is tracked however
   * few stars it has. `historyAt`: when to begin reading its star history; default: with the others. `isListed`: it is a row of a search,
   * so its own record is read later. `requested`: the name that was looked up; if the forge led to another one, it is a previous name.
   * Returns undefined for one that is hidden, which is not recorded.
   */
  async recordNamed(
    tx: Tx,
    found: UpstreamRepository,
    {
      at,
      requested,
      historyAt,
      isListed = false,
    }: { at: number; requested: string; historyAt?: number; isListed?: boolean },
  ): Promise<{ repositoryId: number; isNew: boolean } | undefined> {
    const { modules, provider, chance } = this.#lane;
    const { dialect } = modules.database;
    const isRenamed = requested.toLowerCase() !== `${found.owner}/${found.name}`.toLowerCase();
    const previousNames = isRenamed ? [{ fullName: requested, until: at }] : [];
    const observation = { ...observationOf(provider.name, found, at), previousNames };
    const recorded = await modules.catalog.recordIn(tx, [observation]);
    const ids = recorded.repositoryIds.filter((id) => id !== undefined);
    if (ids.length === 0) return undefined;
    const [row] = await readTracked(tx, dialect, { ids });
    if (row === undefined) throw new Error("a recorded repository is not in the catalogue");
    const historyDue = historyDueOf(provider.kind, row, { stars: found.stars, now: at });
    const tracked: Tracked = {
      ...row,
      dueAt: at + FIRST_INTERVAL_MS,
      refreshInterval: FIRST_INTERVAL_MS,
      nodeId: keptNodeId(row.nodeId, found.nodeId),
      etag: null,
      failures: 0,
      missingSince: null,
      ...(isListed
        ? { detailsDue: detailsAfterList(at, chance) }
        : afterOwnRecord(provider, { at, stretch: 1, chance: chance() })),
      historyDue: historyDue !== null && row.historyCursor === null ? (historyAt ?? historyDue) : historyDue,
    };
    await saveTracked(tx, dialect, [tracked]);
    return { repositoryId: row.repositoryId, isNew: recorded.repositoriesAdded > 0 };
  }

  #readGains(ids: readonly number[]): Promise<ReadonlyMap<number, Gain[]>> {
    const { read, dialect } = this.#lane.modules.database;
    return readGains(read, dialect, ids);
  }

  async #read(tx: Tx, ids: readonly number[]): Promise<Map<number, Tracked>> {
    const rows = await readTracked(tx, this.#lane.modules.database.dialect, { ids });
    return new Map(rows.map((row) => [row.repositoryId, row]));
  }

  #contextOf(row: Tracked, gains: ReadonlyMap<number, Gain[]>, at: number): OutcomeContext {
    const { provider, stretch, chance } = this.#lane;
    const known = gains.get(row.repositoryId) ?? [];
    return { provider, at, row, gains: known, stretch: stretch.factor, chance: chance() };
  }

  async #add(tx: Tx, fresh: readonly UpstreamRepository[], at: number): Promise<void> {
    const { modules, provider } = this.#lane;
    const observations = fresh.map((one) => observationOf(provider.name, one, at));
    const { repositoryIds } = await modules.catalog.recordIn(tx, observations);
    const rows = await this.#read(
      tx,
      repositoryIds.filter((id) => id !== undefined),
    );
    const first = fresh.flatMap((one, i): Tracked[] => {
      const row = rows.get(repositoryIds[i] ?? 0);
      return row === undefined ? [] : [this.#first(row, one, at)];
    });
    await saveTracked(tx, modules.database.dialect, first);
  }

  #first(row: Tracked, { nodeId, stars }: Pick<Tracked, "nodeId" | "stars">, at: number): Tracked {
    const { provider, chance } = this.#lane;
    const detailsDue = detailsAfterList(at, chance);
    return {
      ...row,
      dueAt: at + beforeEnd(FIRST_INTERVAL_MS, chance()),
      refreshInterval: FIRST_INTERVAL_MS,
      nodeId,
      etag: null,
      failures: 0,
      missingSince: null,
      detailsDue: provider.listsAreComplete ? null : detailsDue,
      historyDue: historyDueOf(provider.kind, row, { stars: stars ?? 0, now: at }),
    };
  }

  /** Returns the updates as they are written: without the losses that are held back. */
  async #write(tx: Tx, all: readonly Update[], at: number): Promise<readonly Update[]> {
    const { catalog, database } = this.#lane.modules;
    const limited = all.some(({ isLost }) => isLost)
      ? await limitLosses(tx, this.#lane, { updates: all, at })
      : all;
    const isDoubted = limited.some(({ isDoubtful }) => isDoubtful);
    const updates = isDoubted ? await holdBack(tx, database.dialect, limited) : limited;
    const observed = updates.filter(hasObservation);
    const { repositoryIds } = await catalog.recordIn(
      tx,
      observed.map(({ observation }) => observation),
    );
    // Some turn out to be about another repository than the one that was requested.
    const moved = observed.flatMap((update, i) => {
      const id = repositoryIds[i] ?? update.row.repositoryId;
      return id === update.row.repositoryId ? [] : [{ update, id }];
    });
    const isMoved = new Set<Update>(moved.map(({ update }) => update));
    const own = updates.filter((update) => !isMoved.has(update));
    const doubtful = own.filter((one) => one.isDoubtful);
    const rechecks = isDoubted ? await planRechecks(tx, this.#lane, { doubtful, at }) : undefined;
    await saveTracked(tx, database.dialect, [
      ...(moved.length === 0 ? [] : await this.#resolveMoved(tx, moved, at)),
      ...own.map(({ row }) => ({ ...row, ...rechecks?.get(row.repositoryId) })),
    ]);
    return updates;
  }

  /** Rows for both sides of a name or id that changed owner. */
  async #resolveMoved(
    tx: Tx,
    moved: readonly { update: Update; id: number }[],
    at: number,
  ): Promise<Tracked[]> {
    const { modules, chance } = this.#lane;
    const others = await this.#read(
      tx,
      moved.map(({ id }) => id),
    );
    const left: Tracked[] = [];
    const taken: Tracked[] = [];
    const gone: Observation[] = [];
    for (const { update, id } of moved) {
      const { before, row } = update;
      const other = others.get(id);
      const unknown = { ...before, nodeId: null, etag: null };
      if (before.providerId === null) {
        // It was imported under a name that now belongs to a repository already known by its id.
        gone.push(namelessObservation(before, { availability: "GONE" }, at));
        left.push({ ...unknown, failures: 0, dueAt: at + spread(WEEK_MS, chance()) });
        if (other !== undefined) taken.push(readingOf(row, other));
      } else {
        // The forge has given its id to another repository, so it is requested by name.
        const missingSince = before.missingSince ?? at;
        left.push({ ...unknown, failures: 1, dueAt: at + spread(HOUR_MS, chance()), missingSince });
        if (other !== undefined) taken.push(this.#first(other, { nodeId: null, stars: other.stars }, at));
      }
    }
    await modules.catalog.recordIn(tx, gone);
    return [...left, ...taken];
  }
}

/** When to read the own record of a repository that a list has shown: the list already has most fields. */
const detailsAfterList = (at: number, chance: () => number): number =>
  at + spread(DAY_MS * (0.25 + 0.65 * chance()), chance());

function hasObservation(update: Update): update is Update & { observation: Observation } {
  return update.observation !== undefined;
}

/** Another repository, whose record a reading turned out to be, with the outcome. */
function readingOf(
  { dueAt, refreshInterval, nodeId, etag, failures, missingSince, detailedAt, detailsDue }: Tracked,
  other: Tracked,
): Tracked {
  return { ...other, dueAt, refreshInterval, nodeId, etag, failures, missingSince, detailedAt, detailsDue };
}
