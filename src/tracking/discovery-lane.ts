import type { Selectable } from "kysely";
import type { WalkTable } from "../database/database.js";
import { UpstreamFailure } from "../forges/forges.js";
import { HOUR_MS } from "../lib/clock.js";
import { LATEST_WALK_MS, MAX_WALK_PAGES, spread, walkInterval } from "./cadence.js";
import type { Lane, Step } from "./lane.js";
import { REPEATED_MS } from "./outcomes.js";
import { Recorder } from "./recorder.js";
import { recheckMissed } from "./schedule.js";

/** Rest after a walk that took longer than the time between two. */
const REST_MS = HOUR_MS;
/** How often to check whether a walk is due. */
const CHECK_MS = 10 * 60_000;

/**
 * Reads the next page of a walk through all repositories of a provider, which finds new ones and the counts of all. A kill before its
 * cursor is stored only repeats it. Throws UpstreamFailure.
 */
export async function discoveryStep(lane: Lane): Promise<Step> {
  const { provider, clock, reporter, signal, chance } = lane;
  const now = clock.now();
  const readyAt = provider.readyAt("discover");
  if (readyAt > now) return { waitMs: readyAt - now };
  const walk = await currentWalk(lane, now);
  // A clock that was set back must not stop walks for long.
  if (walk.next_at > now && walk.next_at - now <= 2 * LATEST_WALK_MS)
    return { waitMs: Math.min(CHECK_MS, walk.next_at - now) };
  const page = await provider.discover(walk.cursor, signal);
  const found = await new Recorder(lane).recordPage(page.repositories);
  const at = clock.now();
  reporter.add("discovered", found);
  reporter.succeeded(at);
  const pages = walk.pages + 1;
  const isEndless = page.next !== null && pages >= MAX_WALK_PAGES;
  const isEnd = page.next === null || isEndless;
  const interval = spread(walkInterval(pages), chance());
  await saveWalk(lane, {
    ...walk,
    cursor: isEnd ? null : page.next,
    next_at: isEnd ? Math.max(at + REST_MS, walk.started_at + interval) : 0,
    found: walk.found + found,
    pages,
    ...(page.next === null && { walks: walk.walks + 1, took_ms: Math.max(0, at - walk.started_at) }),
  });
  if (page.next === null)
    await recheckMissed(lane.lease, provider, {
      dialect: lane.modules.database.dialect,
      seenAfter: walk.started_at - REPEATED_MS,
      now: at,
    });
  if (isEndless)
    throw new UpstreamFailure("malformed", `the repository list has no end after ${pages} pages`);
  return { waitMs: isEnd ? CHECK_MS : 0, hasResponse: true };
}

type Walk = Selectable<WalkTable>;

async function currentWalk({ modules, provider: { name } }: Lane, now: number): Promise<Walk> {
  const { read } = modules.database;
  const row = await read.selectFrom("walks").selectAll().where("provider", "=", name).executeTakeFirst();
  if (row !== undefined && row.cursor !== null) return row;
  const before = row ?? { provider: name, walks: 0, next_at: 0, took_ms: null };
  return { ...before, cursor: null, started_at: now, found: 0, pages: 0 };
}

async function saveWalk({ lease }: Lane, { provider, ...walk }: Walk): Promise<void> {
  await lease.write((tx) =>
    tx
      .insertInto("walks")
      .values({ provider, ...walk })
      .onConflict((conflict) => conflict.column("provider").doUpdateSet(walk))
      .execute(),
  );
}
