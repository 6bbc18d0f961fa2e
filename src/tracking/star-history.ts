/**
 * Reads the star history of a repository from its forge, page by page from the newest, and records it as BACKFILLED before our own first
 * snapshot. It counts stars given until the end of a day and still held, so it is close to that day's total, but not the same, and is
 * never compared with a total. Forges do not promise that their days are those of UTC.
 */
import { sql } from "kysely";
import { z } from "zod";
import type { PastDays } from "../forges/forges.js";
import { DAY_MS, HOUR_MS } from "../lib/clock.js";
import { basisOf, readReadings, type Snapshot } from "../repositories/repositories.js";
import { type Lane, LEASE_MS } from "./lane.js";

/** Age up to which every day is kept; older history is kept weekly, as retention does. */
export const DAILY_DAYS = 400;
/** Delay of further pages, so that the first pages of all repositories come first. */
export const NEXT_PAGE_MS = HOUR_MS;

/** Progress through the star history of a repository. */
const cursorSchema = z.object({
  /** The provider's cursor. */
  next: z.string(),
  /** The oldest day read so far, and the stars at the end of the day before it. */
  day: z.int(),
  stars: z.int(),
});
type Cursor = z.infer<typeof cursorSchema>;

export type HistoryContext = Pick<Lane, "modules" | "provider" | "clock" | "signal">;

/** A repository whose star history is read, and how far. */
export interface HistoryClaim {
  id: number;
  provider_id: string;
  node_id: string | null;
  owner: string;
  name: string;
  stars: number | null;
  counted_at: number | null;
  history_cursor: string | null;
  /** End of the lease, in ms since 1970. No two claims of a history have the same one. */
  leasedUntil: number;
}

/** The result of reading one page. */
export type HistoryPage =
  /** `snapshots`: number added. `hasMore`: older pages follow. */
  | { kind: "recorded"; snapshots: number; hasMore: boolean }
  /** The forge offers no star histories for now. Nothing has changed. */
  | { kind: "notOffered" }
  /** Our own history is damaged, so nothing can be added before it. Nothing has changed. */
  | { kind: "damaged" }
  /** Another worker has claimed it in the meantime. Nothing has changed. */
  | { kind: "taken" };

/**
 * Claims the repository whose history has been due longest, or the one with this id if its history is incomplete, even if not due. It
 * is not due for others until the lease ends. Recording a page or postponing it replaces the lease, and changes nothing if another
 * worker has claimed the history since.
 */
export async function claimHistory(
  { modules, provider, clock }: HistoryContext,
  repositoryId?: number,
): Promise<HistoryClaim | undefined> {
  const { write, dialect } = modules.database;
  const now = clock.now();
  const chosen =
    repositoryId === undefined
      ? sql`t.history_due <= ${now}`
      : sql`t.history_due is not null and r.id = ${repositoryId}`;
  return write.transaction().execute(async (tx) => {
    const { rows } = await sql<Omit<HistoryClaim, "leasedUntil"> & { history_due: number }>`
      select r.id, r.provider_id, t.node_id, r.owner, r.name, r.stars, r.counted_at, t.history_cursor, t.history_due
      from tracking t join repositories r on r.id = t.repository_id
      where t.provider = ${provider.name} and ${chosen} and r.provider_id is not null
        and r.availability = 'AVAILABLE'
      order by t.history_due limit 1 ${dialect.lockFree("t")}`.execute(tx);
    const [row] = rows;
    if (row === undefined) return undefined;
    const { history_due, ...history } = row;
    const leasedUntil = now + LEASE_MS + (history_due === now + LEASE_MS ? 1 : 0);
    await tx
      .updateTable("tracking")
      .set({ history_due: leasedUntil })
      .where("repository_id", "=", row.id)
      .execute();
    return { ...history, leasedUntil };
  });
}

/** Makes the next page of a claimed repository due at `dueAt`. */
export async function postponeHistory(
  { modules }: HistoryContext,
  { id, leasedUntil }: HistoryClaim,
  dueAt: number,
): Promise<void> {
  await modules.database.write
    .updateTable("tracking")
    .set({ history_due: dueAt })
    .where("repository_id", "=", id)
    .where("history_due", "=", leasedUntil)
    .execute();
}

/**
 * Requests the next page of a claimed repository and records it with the progress in one transaction; the page after it becomes
 * due in an hour. Throws UpstreamFailure, and then changes nothing.
 */
export async function recordHistoryPage(
  { modules, provider, clock, signal }: HistoryContext,
  claim: HistoryClaim,
): Promise<HistoryPage> {
  const { id, provider_id, node_id, owner, name } = claim;
  const now = clock.now();
  const ref = { providerId: provider_id, nodeId: node_id, fullName: `${owner}/${name}`, etag: null };
  const at = cursorOf(claim.history_cursor);
  const page = await provider.history(ref, at?.next ?? null, signal);
  if (page === null) return { kind: "notOffered" };
  // Gains after the time of the count are not part of it. Pages overlap when a new week begins in between.
  const known = at ?? { day: (claim.counted_at ?? now) + 1, stars: claim.stars ?? 0 };
  const days = page.days.filter(({ day }) => day < known.day);
  const counted = at === undefined ? untilCount(days, known.day - 1, now) : days;
  const { snapshots, before } = pastSnapshots({ days: counted }, known.stars, now);
  const oldest = Math.min(known.day, ...days.map(({ day }) => day));
  const first = await firstTotal(modules, id);
  if (first === "damaged") return { kind: "damaged" };
  const older = snapshots.filter(({ capturedAt }) => first === null || capturedAt < first.capturedAt);
  const isAnchored = at === undefined && first !== null && older.length > 0;
  // At the time of a total just as many stars are still held, so growth between counts of these reaches up to it.
  if (isAnchored && Math.abs(known.day - 1 - first.capturedAt) <= ANCHORED_MS)
    older.push(retained(first.capturedAt - 1, first.stars));
  const next: Cursor | null = page.next === null ? null : { next: page.next, day: oldest, stars: before };
  const { dialect, write } = modules.database;
  const isOwn = await dialect.exclusively(write, "catalogue", async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable("tracking")
      .set({
        history_cursor: next === null ? "" : JSON.stringify(next),
        history_due: next === null ? null : now + NEXT_PAGE_MS,
      })
      .where("repository_id", "=", id)
      .where("history_due", "=", claim.leasedUntil)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 0n) return false;
    await modules.catalog.recordIn(tx, [
      {
        provider: provider.name,
        providerId: provider_id,
        owner,
        name,
        at: null,
        isNameless: true,
        facts: {},
        snapshots: older,
      },
    ]);
    return true;
  });
  if (!isOwn) return { kind: "taken" };
  return { kind: "recorded", snapshots: older.length, hasMore: next !== null };
}

function cursorOf(text: string | null): Cursor | undefined {
  if (text === null || text === "") return undefined;
  const parsed = cursorSchema.safeParse(JSON.parse(text));
  return parsed.success ? parsed.data : undefined;
}

/** How far the first total may be from the count that the history is computed from. */
const ANCHORED_MS = HOUR_MS;

/** Gains until a count: that of its day is reduced to the part of the day (so far) before the count. */
function untilCount(days: PastDays["days"], countedAt: number, now: number): PastDays["days"] {
  return days.map(({ day, gained }) => {
    const length = Math.min(now, day + DAY_MS) - day;
    const part = countedAt - day < length ? Math.max(0, countedAt - day) / length : 1;
    return { day, gained: Math.round(gained * part) };
  });
}

/** The first snapshot that is not backfilled; null without one. */
async function firstTotal(
  { database: { read, dialect } }: HistoryContext["modules"],
  id: number,
): Promise<Pick<Snapshot, "capturedAt" | "stars"> | null | "damaged"> {
  let isDamaged = false;
  const onDamaged = () => {
    isDamaged = true;
  };
  const readings = (await readReadings(read, dialect, { ids: [id], onDamaged })).get(id);
  if (isDamaged) return "damaged";
  return readings?.snapshots().find(({ source }) => basisOf(source) === "TOTAL") ?? null;
}

/**
 * Stars at the end of each day, computed backwards from `stars` at the end of the newest day, and the stars before the oldest
 * day. Nothing was gained on missing days.
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
  return { snapshots: snapshots.reverse(), before: Math.max(0, held) };
}

function retained(capturedAt: number, stars: number): Snapshot {
  return {
    capturedAt,
    stars: Math.max(0, stars),
    forks: null,
    openIssues: null,
    watchers: null,
    source: "BACKFILLED",
  };
}
