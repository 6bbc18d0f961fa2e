import { sql } from "kysely";
import { z } from "zod";
import { readReadings, type Snapshot } from "../catalog/catalog.js";
import { DAY_MS, HOUR_MS, WEEK_MS } from "../clock.js";
import { asFailed, concernsForge, type PastDays } from "../providers/providers.js";
import { type Lane, LEASE_MS, pauseMs, responded, type Step, waiting } from "./lane.js";

/** Age up to which every day is kept; older history is kept weekly, as retention does. */
export const DAILY_DAYS = 400;
/** Delay of further pages, so that the first pages of all repositories come first. */
const NEXT_PAGE_MS = HOUR_MS;
/**
 * Wait when nothing is due. It starts short, so that an empty catalogue has rankings soon after the first start, and doubles
 * with each look that finds nothing, as a look takes a transaction.
 */
const IDLE_MIN_MS = 5_000;
const IDLE_MAX_MS = 60_000;
/** How long to wait when the forge does not offer star histories. */
const NOT_OFFERED_MS = DAY_MS;

/** Progress through the star history of a repository. */
const cursorSchema = z.object({
  /** The provider's cursor. */
  next: z.string(),
  /** The oldest day read so far, and the stars at the end of the day before it. */
  day: z.int(),
  stars: z.int(),
});
type Cursor = z.infer<typeof cursorSchema>;

interface Candidate {
  id: number;
  provider_id: string;
  node_id: string | null;
  owner: string;
  name: string;
  stars: number | null;
  counted_at: number | null;
  history_cursor: string | null;
}

/**
 * Reads star histories and adds them before our own first snapshot as BACKFILLED. They count stars that were given on a day
 * and not withdrawn since, so they are close to the real counts of that day, but not the same.
 */
export class BackfillLane {
  readonly #lane: Lane;
  #idleMs = IDLE_MIN_MS;

  constructor(lane: Lane) {
    this.#lane = lane;
  }

  /** Reads one page. Throws what the provider throws. */
  async step(): Promise<Step> {
    const { modules, provider, clock, reporter, signal } = this.#lane;
    const now = clock.now();
    const readyAt = provider.readyAt("history");
    if (readyAt > now) return waiting(readyAt - now);
    const candidate = await this.#claim(now);
    if (candidate === undefined) {
      const waitMs = this.#idleMs;
      this.#idleMs = Math.min(IDLE_MAX_MS, 2 * waitMs);
      return waiting(waitMs);
    }
    const { id, provider_id, node_id, owner, name } = candidate;
    const ref = { providerId: provider_id, nodeId: node_id, fullName: `${owner}/${name}`, etag: null };
    const at = cursorOf(candidate.history_cursor);
    let page: PastDays | null;
    try {
      page = await provider.history(ref, at?.next ?? null, signal);
    } catch (error) {
      const { failure } = asFailed(error);
      const isOfRepository = !concernsForge(failure.kind);
      // Retried after the others, so that one repository cannot hold them up.
      await this.#postpone(id, candidate.history_cursor, now + (isOfRepository ? WEEK_MS : NEXT_PAGE_MS));
      if (!isOfRepository) throw failure;
      reporter.failed(failure, clock.now());
      return responded(pauseMs(provider.kind));
    }
    if (page === null) {
      await this.#postpone(id, candidate.history_cursor, now + NOT_OFFERED_MS);
      return responded(NOT_OFFERED_MS);
    }
    // Gains after the time of the count are not part of it. Pages overlap when a new week begins in between.
    const known = at ?? { day: (candidate.counted_at ?? now) + 1, stars: candidate.stars ?? 0 };
    const days = page.days.filter(({ day }) => day < known.day);
    const { snapshots, before } = pastSnapshots({ days }, known.stars, now);
    const oldest = Math.min(known.day, ...days.map(({ day }) => day));
    const first = await firstOwnSnapshot(this.#lane, id);
    if (first === "damaged") {
      await this.#postpone(id, candidate.history_cursor, now + WEEK_MS);
      return responded(pauseMs(provider.kind));
    }
    const older = snapshots.filter(({ capturedAt }) => first === null || capturedAt < first);
    const next: Cursor | null = page.next === null ? null : { next: page.next, day: oldest, stars: before };
    const { dialect, write } = modules.database;
    await dialect.exclusively(write, "catalogue", async (tx) => {
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
      await tx
        .updateTable("tracking")
        .set({
          history_cursor: next === null ? "" : JSON.stringify(next),
          history_due: next === null ? null : now + NEXT_PAGE_MS,
        })
        .where("repository_id", "=", id)
        .execute();
    });
    reporter.add("backfilled", older.length);
    reporter.succeeded(clock.now());
    return responded(pauseMs(provider.kind));
  }

  /** Claims the next repository whose history is due, by postponing it for the duration of a lease. */
  async #claim(now: number): Promise<Candidate | undefined> {
    const { modules, provider } = this.#lane;
    const { write, dialect } = modules.database;
    return write.transaction().execute(async (tx) => {
      const { rows } = await sql<Candidate>`
        select r.id, r.provider_id, t.node_id, r.owner, r.name, r.stars, r.counted_at, t.history_cursor
        from tracking t join repositories r on r.id = t.repository_id
        where t.provider = ${provider.name} and t.history_due <= ${now} and r.provider_id is not null
          and r.availability = 'AVAILABLE'
        order by t.history_due limit 1 ${dialect.lockFree("t")}`.execute(tx);
      const [row] = rows;
      if (row === undefined) return undefined;
      await tx
        .updateTable("tracking")
        .set({ history_due: now + LEASE_MS })
        .where("repository_id", "=", row.id)
        .execute();
      return row;
    });
  }

  async #postpone(id: number, cursor: string | null, due: number): Promise<void> {
    await this.#lane.modules.database.write
      .updateTable("tracking")
      .set({ history_cursor: cursor, history_due: due })
      .where("repository_id", "=", id)
      .execute();
  }
}

function cursorOf(text: string | null): Cursor | undefined {
  if (text === null || text === "") return undefined;
  const parsed = cursorSchema.safeParse(JSON.parse(text));
  return parsed.success ? parsed.data : undefined;
}

/** Time of the first snapshot that is not backfilled; null without one. */
async function firstOwnSnapshot({ modules }: Lane, id: number): Promise<number | null | "damaged"> {
  const { read, dialect } = modules.database;
  let isDamaged = false;
  const onDamaged = () => {
    isDamaged = true;
  };
  const readings = (await readReadings(read, dialect, { ids: [id], onDamaged })).get(id);
  if (isDamaged) return "damaged";
  return readings?.snapshots().find(({ source }) => source !== "BACKFILLED")?.capturedAt ?? null;
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
      snapshots.push({
        capturedAt,
        stars: Math.max(0, held),
        forks: null,
        openIssues: null,
        watchers: null,
        source: "BACKFILLED",
      });
    }
    held -= gained;
  }
  return { snapshots: snapshots.reverse(), before: Math.max(0, held) };
}
