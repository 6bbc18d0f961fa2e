import { sql } from "kysely";
import { type Discovered, UpstreamFailure } from "../forges/forges.js";
import { HOUR_MS } from "../lib/clock.js";
import { LATEST_WALK_MS, MAX_WALK_PAGES, spread, walkInterval } from "./cadence.js";
import { type Lane, LEASE_MS, responded, type Step, waiting } from "./lane.js";
import { Recorder } from "./recorder.js";

/** Rest after a walk that took longer than the time between two. */
const REST_MS = HOUR_MS;
/** How often to check whether a walk is due; another worker may have finished it. */
const CHECK_MS = 10 * 60_000;

interface Walk {
  cursor: string | null;
  startedAt: number;
  /** Pages read so far. */
  pages: number;
  /** End of the lease, which identifies the claim. */
  leasedUntil: number;
}

/** Walks through all repositories of a provider: finds new ones, and reads the counts of all. */
export class DiscoveryLane {
  readonly #lane: Lane;
  readonly #recorder: Recorder;

  constructor(lane: Lane) {
    this.#lane = lane;
    this.#recorder = new Recorder(lane);
  }

  /** Reads one page. Throws UpstreamFailure. */
  async step(): Promise<Step> {
    const { modules, provider, clock, reporter, signal } = this.#lane;
    const now = clock.now();
    const readyAt = provider.readyAt("discover");
    if (readyAt > now) return waiting(readyAt - now);
    const walk = await this.#claim(now);
    if (typeof walk === "number") return waiting(walk);
    let page: Discovered;
    let found: number;
    try {
      page = await provider.discover(walk.cursor, signal);
      found = await this.#recorder.recordPage(page.repositories);
    } catch (error) {
      await this.#release(walk);
      throw error;
    }
    reporter.add("discovered", found);
    reporter.succeeded(clock.now());
    const at = clock.now();
    const pages = walk.pages + 1;
    const isEndless = page.next !== null && pages >= MAX_WALK_PAGES;
    const isEnd = page.next === null || isEndless;
    const interval = spread(walkInterval(pages), this.#lane.chance());
    const nextAt = isEnd ? Math.max(at + REST_MS, walk.startedAt + interval) : 0;
    await modules.database.write
      .updateTable("walks")
      .set(({ ref }) => ({
        cursor: isEnd ? null : page.next,
        next_at: nextAt,
        found: sql`${ref("found")} + ${found}`,
        pages,
        leased_until: 0,
        ...(page.next === null && {
          walks: sql`${ref("walks")} + 1`,
          took_ms: Math.max(0, at - walk.startedAt),
        }),
      }))
      .where("provider", "=", provider.name)
      // Another worker that has claimed it since reads the page again.
      .where("leased_until", "=", walk.leasedUntil)
      .execute();
    if (isEndless)
      throw new UpstreamFailure("malformed", `the repository list has no end after ${pages} pages`);
    return responded(isEnd ? CHECK_MS : 0);
  }

  /** Claims the walk, or returns how long to wait before trying again. */
  async #claim(now: number): Promise<Walk | number> {
    const { modules, provider } = this.#lane;
    const { dialect, write } = modules.database;
    return dialect.exclusively(write, "catalogue", async (tx) => {
      const row = await tx
        .selectFrom("walks")
        .selectAll()
        .where("provider", "=", provider.name)
        .executeTakeFirst();
      if (row !== undefined && row.leased_until > now) return Math.min(CHECK_MS, row.leased_until - now);
      // A clock that was set back must not stop walks for long.
      if (row !== undefined && row.next_at > now && row.next_at - now <= 2 * LATEST_WALK_MS)
        return Math.min(CHECK_MS, row.next_at - now);
      const isUnderWay = row !== undefined && row.cursor !== null;
      const state = isUnderWay
        ? { started_at: row.started_at, found: row.found, pages: row.pages }
        : { started_at: now, found: 0, pages: 0 };
      const leasedUntil = now + LEASE_MS;
      const claimed = { ...state, leased_until: leasedUntil };
      await tx
        .insertInto("walks")
        .values({ provider: provider.name, cursor: null, next_at: 0, walks: 0, ...claimed })
        .onConflict((conflict) => conflict.column("provider").doUpdateSet(claimed))
        .execute();
      return { cursor: row?.cursor ?? null, startedAt: state.started_at, pages: state.pages, leasedUntil };
    });
  }

  async #release({ leasedUntil }: Walk): Promise<void> {
    const { modules, provider } = this.#lane;
    await modules.database.write
      .updateTable("walks")
      .set({ leased_until: 0 })
      .where("provider", "=", provider.name)
      .where("leased_until", "=", leasedUntil)
      .execute();
  }
}
