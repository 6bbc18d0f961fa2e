import type { Selectable } from "kysely";
import type { WalkTable } from "../database/database.js";
import { UpstreamFailure } from "../forges/forges.js";
import { HOUR_MS } from "../lib/clock.js";
import { LATEST_WALK_MS, MAX_WALK_PAGES, spread, walkInterval } from "./cadence.js";
import { type Lane, responded, type Step, waiting } from "./lane.js";
import { Recorder } from "./recorder.js";

/** Rest after a walk that took longer than the time between two. */
const REST_MS = HOUR_MS;
/** How often to check whether a walk is due. */
const CHECK_MS = 10 * 60_000;

/** Walks through all repositories of a provider: finds new ones, and reads the counts of all. */
export class DiscoveryLane {
  readonly #lane: Lane;
  readonly #recorder: Recorder;

  constructor(lane: Lane) {
    this.#lane = lane;
    this.#recorder = new Recorder(lane);
  }

  /** Reads one page. A kill before its cursor is stored only repeats it. Throws UpstreamFailure. */
  async step(): Promise<Step> {
    const { provider, clock, reporter, signal, chance } = this.#lane;
    const now = clock.now();
    const readyAt = provider.readyAt("discover");
    if (readyAt > now) return waiting(readyAt - now);
    const walk = await this.#current(now);
    // A clock that was set back must not stop walks for long.
    if (walk.next_at > now && walk.next_at - now <= 2 * LATEST_WALK_MS)
      return waiting(Math.min(CHECK_MS, walk.next_at - now));
    const page = await provider.discover(walk.cursor, signal);
    const found = await this.#recorder.recordPage(page.repositories);
    const at = clock.now();
    reporter.add("discovered", found);
    reporter.succeeded(at);
    const pages = walk.pages + 1;
    const isEndless = page.next !== null && pages >= MAX_WALK_PAGES;
    const isEnd = page.next === null || isEndless;
    const interval = spread(walkInterval(pages), chance());
    await this.#save({
      ...walk,
      cursor: isEnd ? null : page.next,
      next_at: isEnd ? Math.max(at + REST_MS, walk.started_at + interval) : 0,
      found: walk.found + found,
      pages,
      ...(page.next === null && { walks: walk.walks + 1, took_ms: Math.max(0, at - walk.started_at) }),
    });
    if (isEndless)
      throw new UpstreamFailure("malformed", `the repository list has no end after ${pages} pages`);
    return responded(isEnd ? CHECK_MS : 0);
  }

  /** The walk under way, or a new one. */
  async #current(now: number): Promise<Walk> {
    const { modules, provider } = this.#lane;
    const row = await modules.database.read
      .selectFrom("walks")
      .selectAll()
      .where("provider", "=", provider.name)
      .executeTakeFirst();
    if (row !== undefined && row.cursor !== null) return row;
    const { walks, next_at, took_ms } = row ?? { walks: 0, next_at: 0, took_ms: null };
    return {
      provider: provider.name,
      cursor: null,
      started_at: now,
      found: 0,
      pages: 0,
      walks,
      next_at,
      took_ms,
    };
  }

  async #save({ provider, ...walk }: Walk): Promise<void> {
    await this.#lane.lease.write((tx) =>
      tx
        .insertInto("walks")
        .values({ provider, ...walk })
        .onConflict((conflict) => conflict.column("provider").doUpdateSet(walk))
        .execute(),
    );
  }
}

type Walk = Selectable<WalkTable>;
