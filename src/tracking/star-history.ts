/**
 * Reads the star history of a repository from its forge, page by page from the newest, and records it as BACKFILLED: for the time before our
 * own first total, and where totals are far apart. It counts stars given until the end of a day and still held, so it is close to that
 * day's total, but not the same. Forges do not promise that their days are those of UTC.
 */
import {
  asFailed,
  type FailureKind,
  isTemporary,
  type PastDays,
  type UpstreamFailure,
} from "../forges/forges.js";
import { FILLED_MS } from "../growth/growth.js";
import { DAY_MS, HOUR_MS, WEEK_MS } from "../lib/clock.js";
import {
  bumpRevision,
  cursorOf,
  failedCursor,
  failuresOf,
  type HistoryCursor,
  type HistoryRefusal,
  Readings,
  raiseHistory,
  readReadings,
  type Snapshot,
} from "../repositories/repositories.js";
import { type Lane, type Step, spareAt } from "./lane.js";
import { namelessObservation } from "./outcomes.js";
import { nextWanted } from "./requests/wanted.js";
import { due, readTracked, refOf, saveTracked, type Tracked } from "./schedule.js";

/** Age up to which every day is kept; older history is kept weekly, as retention does. */
export const DAILY_DAYS = 400;
/** Pages of one history; GitHub has 100. */
export const MAX_HISTORY_PAGES = 150;
/** Delay of further pages, so that the first pages of all repositories come first. */
const NEXT_PAGE_MS = HOUR_MS;

/** Default wait when nothing is due. It is short, so that an empty catalogue has rankings soon after the first start. */
const IDLE_MS = 5_000;
/** Shortest and longest wait before the quota is checked again, once the remaining quota is reserved for other work. */
const SPARE_MIN_MS = 60_000;
const SPARE_MAX_MS = 10 * 60_000;
/** When a history is tried again after its n-th failure in a row. */
const RETRIES_MS = [HOUR_MS, 6 * HOUR_MS, DAY_MS, WEEK_MS] as const;
/** Owners whose histories fail in a row until the forge is believed to be the cause. */
const SEVERAL = 5;

/**
 * Reads a page of the star history that is due first, most popular repositories first, unless a repository waits to be looked up. Throws
 * UpstreamFailure.
 */
export async function backfillStep(lane: Lane, idleMs = IDLE_MS): Promise<Step> {
  const { modules, provider, clock, reporter } = lane;
  const now = clock.now();
  const readyAt = provider.readyAt("history");
  if (readyAt > now) return { waitMs: readyAt - now };
  const spareMs = spareAt(provider, now) - now;
  if (spareMs > 0) return { waitMs: Math.max(SPARE_MIN_MS, Math.min(spareMs, SPARE_MAX_MS)) };
  const { read } = modules.database;
  const [lookup] = await nextWanted(read, provider.name, { now, kind: "lookups" });
  if (lookup !== undefined) return { waitMs: idleMs };
  const [row] = await due(read, provider.name, { queue: "history", at: now, limit: 1 });
  if (row === undefined) return { waitMs: idleMs };
  let page: HistoryPage;
  try {
    page = await recordHistoryPage(lane, row);
  } catch (error) {
    const { failure } = asFailed(error);
    // Retried after the others, so that one repository cannot hold them up.
    if (isTemporary(failure.kind)) await postponeHistory(lane, row, now + NEXT_PAGE_MS);
    else await retryLater(lane, row, failure);
    if (isTemporary(failure.kind) || isOfForge(lane, row)) throw failure;
    reporter.failed(failure, clock.now());
    return { waitMs: 0, hasResponse: true };
  }
  if (page.kind === "recorded") {
    reporter.add("backfilled", page.snapshots);
    reporter.succeeded(clock.now());
  }
  if (page.kind === "damaged") await postponeHistory(lane, row, now + WEEK_MS);
  return { waitMs: 0, hasResponse: true };
}

/** Why a forge has not given a history, by the failure. Temporary ones are none of the history. */
const REFUSALS: Readonly<Record<FailureKind, HistoryRefusal>> = {
  gone: "NONE",
  private: "FORBIDDEN",
  blocked: "FORBIDDEN",
  refused: "FORBIDDEN",
  renamed: "UNUSABLE",
  malformed: "UNUSABLE",
  unreachable: "UNREACHABLE",
  quota: "UNREACHABLE",
  clock: "UNREACHABLE",
};

/** The reason of a failed history. A forge that says when to come back for one has not prepared it yet. */
export const refusalOf = ({ kind, until }: Pick<UpstreamFailure, "kind" | "until">): HistoryRefusal =>
  kind === "malformed" && until !== null ? "NOT_READY" : REFUSALS[kind];

/** Postpones a history that could not be read, and keeps its failures and their reason with its progress. */
export async function retryLater(
  { lease, clock }: Lane,
  { repositoryId, historyCursor }: Tracked,
  failure: UpstreamFailure,
): Promise<void> {
  const { until } = failure;
  const { failures } = failuresOf(historyCursor);
  const waitMs = RETRIES_MS[failures] ?? WEEK_MS;
  const dueAt = failures === 0 && until !== null ? until : clock.now() + waitMs;
  const history_cursor = failedCursor(historyCursor, refusalOf(failure));
  await lease.write(async (tx) => {
    await tx
      .updateTable("tracking")
      .set({ history_cursor, history_due: dueAt })
      .where("repository_id", "=", repositoryId)
      .where("history_due", "is not", null)
      .where("history_cursor", historyCursor === null ? "is" : "=", historyCursor)
      .execute();
    // Readers see why it is not read.
    await bumpRevision(tx);
  });
}

/** Notes a failed history. Returns whether those of several owners have failed in a row: one says nothing about the others. */
export function isOfForge({ failedHistories }: Lane, { owner }: Tracked): boolean {
  return failedHistories.add(owner.toLowerCase()).size >= SEVERAL;
}

export type HistoryPage =
  /** `snapshots`: number added. `hasMore`: older pages follow. */
  | { kind: "recorded"; snapshots: number; hasMore: boolean }
  /** Our own history is damaged, so nothing can be added before it. Nothing has changed. */
  | { kind: "damaged" }
  /** Another lane has recorded this page in the meantime, or nobody wants it anymore. Nothing has changed. */
  | { kind: "taken" };

/** Whether a page of its history can be read. */
export const hasUnreadHistory = ({ historyDue, providerId, availability }: Tracked): boolean =>
  historyDue !== null && providerId !== null && availability === "AVAILABLE";

/** Makes the next page of an incomplete history due at `dueAt`; null: never. */
export async function postponeHistory(
  { lease }: Lane,
  { repositoryId }: Tracked,
  dueAt: number | null,
): Promise<void> {
  await lease.write((tx) =>
    tx
      .updateTable("tracking")
      .set({ history_due: dueAt })
      .where("repository_id", "=", repositoryId)
      .where("history_due", "is not", null)
      .execute(),
  );
}

/**
 * Requests the next page of a history and records it with the progress in one transaction; the page after it becomes due in an hour.
 * Throws UpstreamFailure, and then changes nothing.
 */
export async function recordHistoryPage(lane: Lane, asked: Tracked): Promise<HistoryPage> {
  const { modules, provider, clock, signal, lease, failedHistories } = lane;
  const { repositoryId } = asked;
  const now = clock.now();
  const at = cursorOf(asked.historyCursor);
  const page = await provider.history(refOf(asked), at?.next ?? null, signal);
  failedHistories.clear();
  // Weeks begin before the day of the creation, and some forges list weeks before it.
  const bornAt = startOfDay(asked.createdAt ?? 0);
  // Gains after the time of the count are not part of it. Pages overlap when a new week begins in between.
  const countedAt = asked.countedAt ?? now;
  const known = at ?? { day: countedAt + 1, stars: asked.stars ?? 0 };
  const days = page.days.filter(({ day }) => day < known.day && day >= bornAt);
  const counted = at === undefined ? untilCount(days, countedAt, now) : days;
  const past = pastSnapshots({ days: counted }, known.stars, now);
  const oldest = Math.min(known.day, ...days.map(({ day }) => day));
  const totals = await totalsOf(modules, repositoryId);
  if (totals === "damaged") return { kind: "damaged" };
  const snapshots = past.snapshots.filter(
    ({ capturedAt }) => capturedAt < countedAt && saysMore(totals, capturedAt),
  );
  // At the time of the count just as many stars are still held, so what the history shows reaches up to it.
  if (at === undefined && days.length > 0) snapshots.push(retained(countedAt - 1, known.stars));
  const isOlder = page.days.some(({ day }) => day < bornAt);
  const next: HistoryCursor | null =
    page.next === null || isOlder ? null : { next: page.next, day: oldest, stars: past.before };
  const isEmpty = at === undefined && days.length === 0;
  // Stars that the forge counts and has no day for were there from the beginning, as far as anybody knows.
  if (next === null && past.before > 0 && !isEmpty)
    snapshots.unshift(retained(asked.createdAt ?? oldest, past.before));
  // Where older days have more stars than there are, all of it is raised, so that none of them are lost.
  const [before, raised] = [Math.max(0, -known.stars), Math.max(0, -past.before)];
  for (const snapshot of snapshots) snapshot.stars += raised;
  const { dialect } = modules.database;
  const recorded = await lease.write(async (tx): Promise<HistoryPage> => {
    const [row] = await readTracked(tx, dialect, { ids: [repositoryId] });
    if (row?.isScheduled !== true || row.historyCursor !== asked.historyCursor) return { kind: "taken" };
    const progress =
      next === null
        ? { historyCursor: "", historyDue: null }
        : { historyCursor: JSON.stringify(next), historyDue: now + NEXT_PAGE_MS };
    await saveTracked(tx, dialect, [{ ...row, ...progress }]);
    if (raised > before) await raiseHistory(tx, dialect, repositoryId, raised - before);
    await modules.catalog.recordIn(tx, [{ ...namelessObservation(row, {}, null), snapshots }]);
    // Readers see how far it is read.
    if (snapshots.length === 0) await bumpRevision(tx);
    return { kind: "recorded", snapshots: snapshots.length, hasMore: next !== null };
  });
  if (recorded.kind === "recorded" && next === null && !isEmpty) logFit(lane, asked, past.before);
  return recorded;
}

/** Logs how well the days of a whole history add up to the count. `before`: stars without a day; below 0: too many have one. */
function logFit({ log, provider }: Lane, { owner, name, stars }: Tracked, before: number): void {
  if (!stars) return;
  const ratio = Math.round((1 - before / stars) * 10_000) / 10_000;
  log.info({ provider: provider.name, repository: `${owner}/${name}`, ratio }, "a star history is whole");
}

const startOfDay = (at: number): number => Math.floor(at / DAY_MS) * DAY_MS;

/** Gains until a count: that of its day is reduced to the part of the day (so far) before the count. */
function untilCount(days: PastDays["days"], countedAt: number, now: number): PastDays["days"] {
  return days.map(({ day, gained }) => {
    const length = Math.min(now, day + DAY_MS) - day;
    const part = countedAt - day < length ? Math.max(0, countedAt - day) / length : 1;
    return { day, gained: Math.round(gained * part) };
  });
}

async function totalsOf({ database }: Lane["modules"], id: number): Promise<Readings | "damaged"> {
  let isDamaged = false;
  const onDamaged = () => {
    isDamaged = true;
  };
  const found = await readReadings(database.read, database.dialect, { ids: [id], onDamaged });
  if (isDamaged) return "damaged";
  const readings = found.get(id) ?? Readings.ofLength(0);
  return readings.only((i) => !readings.isRetained(i));
}

/** Whether a day is before the first total or after the last, or near a time between two that the history fills. */
function saysMore(totals: Readings, at: number): boolean {
  // With a day on both sides the history covers that time to its ends.
  const last = totals.countBefore(at + DAY_MS);
  for (let i = totals.countBefore(at - DAY_MS); i <= last; i++)
    if (!(totals.at(i) - totals.at(i - 1) <= FILLED_MS)) return true;
  return false;
}

/**
 * Stars at the end of each day, backwards from `stars` at the newest, and before the oldest. Missing days gained nothing. Below 0 where the
 * days have more stars than that.
 */
export function pastSnapshots(
  { days }: Pick<PastDays, "days">,
  stars: number,
  now: number,
): { snapshots: Snapshot[]; before: number } {
  const newestFirst = days.toSorted((a, b) => b.day - a.day);
  const snapshots: Snapshot[] = [];
  let held = stars;
  for (const { day, gained } of newestFirst) {
    const capturedAt = day + DAY_MS;
    const isKept = now - capturedAt <= DAILY_DAYS * DAY_MS || (day / DAY_MS) % 7 === 0;
    if (capturedAt <= now && isKept) {
      snapshots.push(retained(capturedAt, held));
    }
    held -= gained;
  }
  return { snapshots: snapshots.reverse(), before: held };
}

function retained(capturedAt: number, stars: number): Snapshot {
  return {
    capturedAt,
    stars,
    forks: null,
    openIssues: null,
    watchers: null,
    source: "BACKFILLED",
  };
}
