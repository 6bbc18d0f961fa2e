/** Second readings of repositories whose counts have fallen doubtfully: which are planned, and the lane that reads them. */
import { sql } from "kysely";
import { type Dialect, readNumber, type Tx } from "../database/database.js";
import { concernsForge, type Provider, UpstreamFailure, type UpstreamRepository } from "../forges/forges.js";
import { isNewestDoubted } from "../growth/growth.js";
import { HOUR_MS } from "../lib/clock.js";
import { basisOf, readReadings } from "../repositories/repositories.js";
import { spread } from "./cadence.js";
import type { Lane, Step } from "./lane.js";
import { isDoubtful, observationOf, type Update } from "./outcomes.js";
import { due, keptNodeId, nextDue, readTracked, refOf, saveTracked, type Tracked } from "./schedule.js";

const RECHECK_MS = 5 * 60_000;
/** A repository is not doubted again within this time: remaining doubt waits for the schedule. */
const SETTLED_MS = HOUR_MS / 2;
/** Most second readings per hour and forge: a forge that reports nonsense must not get twice the requests. */
const MOST_PER_HOUR = 60;
/** Part of the requests that a forge allows, if those are few. */
const MOST_PART = 0.1;
const ANONYMOUS_PER_HOUR = 60;
/** How often to look for second readings; those planned since then are due later. */
const CHECK_MS = 0.8 * RECHECK_MS;

/** Reads a repository with doubtful counts again, apart from the schedule. Throws failures of the forge as a whole. */
export async function recheckStep(lane: Lane): Promise<Step> {
  const { modules, provider, clock, reporter, lease } = lane;
  const { read, dialect } = modules.database;
  const now = clock.now();
  const readyAt = provider.readyAt("recheck");
  if (readyAt > now) return { waitMs: readyAt - now };
  const [asked] = await due(read, provider.name, { queue: "recheck", at: now, limit: 1 });
  if (asked === undefined)
    return { waitMs: Math.min(CHECK_MS, Math.max(1, (await nextDue(read, provider.name, "recheck")) - now)) };
  const found = await readAgain(lane, asked);
  const at = clock.now();
  const { repositoryId } = asked;
  await lease.write(async (tx) => {
    const [before] = await readTracked(tx, dialect, { ids: [repositoryId] });
    if (before === undefined) return;
    if (found !== undefined) {
      const observation = { ...observationOf(provider.name, found, at), repositoryId };
      const update = { before, row: before, observation, isDoubtful: isDoubtful(before, found) };
      const [{ observation: own } = update] = await holdBack(tx, dialect, [update]);
      await modules.catalog.recordIn(tx, own === undefined ? [] : [own]);
    }
    const [row] = await readTracked(tx, dialect, { ids: [repositoryId] });
    if (row === undefined) return;
    const nodeId = keptNodeId(row.nodeId, found?.nodeId ?? null);
    const own = found && { detailedAt: at, missingSince: null, nodeId };
    // The next refresh is not conditional: "unchanged" would confirm the first reading, and not the counts stored now.
    await saveTracked(tx, dialect, [{ ...row, recheckAt: null, etag: null, ...own }]);
  });
  if (found !== undefined) reporter.add("rechecked", 1);
  reporter.succeeded(at);
  return { waitMs: 0, hasResponse: true };
}

/** The forge's record; undefined if it sent none. The next refresh then finds out why. */
async function readAgain(
  { provider, clock, reporter, signal }: Lane,
  asked: Tracked,
): Promise<UpstreamRepository | undefined> {
  if (asked.providerId === null) return undefined;
  try {
    return await provider.recheck(refOf(asked), signal);
  } catch (error) {
    if (!(error instanceof UpstreamFailure) || concernsForge(error.kind)) throw error;
    reporter.failed(error, clock.now());
    return undefined;
  }
}

/**
 * Leaves the counts of readings that growth does not believe yet out of the repositories, which keep the last believed ones: only their
 * snapshots are recorded. The others are no longer doubtful.
 */
export async function holdBack(tx: Tx, dialect: Dialect, updates: readonly Update[]): Promise<Update[]> {
  const doubtful = updates.filter(({ isDoubtful, observation }) => isDoubtful && observation !== undefined);
  if (doubtful.length === 0) return [...updates];
  const ids = doubtful.map(({ row }) => row.repositoryId);
  const from = Math.min(...doubtful.map(({ before }) => before.countedAt ?? 0));
  const known = await readReadings(tx, dialect, { ids, span: { from }, onDamaged: () => {} });
  const isHeld = ({ before, row, observation }: Update) => {
    const later = [...(known.get(row.repositoryId)?.snapshots() ?? [])].filter(
      ({ capturedAt, source }) => capturedAt > (before.countedAt ?? 0) && basisOf(source) === "TOTAL",
    );
    const { stars, forks, openIssues, watchers, countedAt } = before;
    const last = { capturedAt: countedAt ?? 0, stars: stars ?? 0, forks, openIssues, watchers };
    const readings = [{ ...last, source: "OBSERVED" } as const, ...later, ...(observation?.snapshots ?? [])];
    return isNewestDoubted(readings.map((one) => ({ ...one, at: one.capturedAt })));
  };
  const held = new Set(doubtful.filter(isHeld));
  return updates.map((update) => {
    if (!held.has(update) || update.observation === undefined) return { ...update, isDoubtful: false };
    const { stars: _, forks: __, openIssues: ___, watchers: ____, ...facts } = update.observation.facts;
    // "Unchanged" would confirm these counts, and not those that stay.
    const row = { ...update.row, etag: null };
    return { ...update, row, observation: { ...update.observation, facts, isDoubted: true } };
  });
}

/**
 * Plans second readings as far as the hour allows, those of repositories with more stars first. Returns the row to save of each, by id, in
 * the transaction that records the first readings.
 */
export async function planRechecks(
  tx: Tx,
  { provider, stretch, chance }: Pick<Lane, "provider" | "stretch" | "chance">,
  { doubtful, at }: { doubtful: readonly Update[]; at: number },
): Promise<ReadonlyMap<number, Pick<Tracked, "doubtedAt" | "recheckAt">>> {
  const isSettled = ({ before: { recheckAt, doubtedAt } }: Update) =>
    recheckAt === null && (doubtedAt === null || doubtedAt <= at - SETTLED_MS || doubtedAt > at);
  const rows = doubtful
    .filter(isSettled)
    .sort((a, b) => (b.before.stars ?? 0) - (a.before.stars ?? 0))
    .map(({ row }) => row);
  if (rows.length === 0) return new Map();
  const planned = sql`select count(*) from tracking
    where provider = ${provider.name} and doubted_at > ${at - HOUR_MS} and doubted_at <= ${at}`;
  const left = Math.max(0, perHourOf(provider, stretch.factor) - (await readNumber(tx, planned)));
  return new Map(
    rows
      .slice(0, left)
      .map(({ repositoryId }) => [
        repositoryId,
        { doubtedAt: at, recheckAt: at + spread(RECHECK_MS, chance()) },
      ]),
  );
}

/** How many second readings may be planned in an hour: at least one. `stretch`: see nextStretch. */
function perHourOf({ kind, settings }: Pick<Provider, "kind" | "settings">, stretch: number): number {
  const isAnonymous = kind === "github" && settings.tokens.length === 0;
  const allowed = Math.min(
    settings.requestsPerHour ?? Number.POSITIVE_INFINITY,
    isAnonymous ? ANONYMOUS_PER_HOUR : Number.POSITIVE_INFINITY,
  );
  return Math.max(1, Math.floor(Math.min(MOST_PER_HOUR, allowed * MOST_PART) / stretch));
}
