import { sql } from "kysely";
import { DAY_MS, HOUR_MS } from "../clock.js";
import type { Discovered, UpstreamRepository } from "../providers/providers.js";
import { spread } from "./cadence.js";
import { type Lane, LEASE_MS, pauseMs, responded, type Step, waiting } from "./lane.js";
import { observationOf } from "./outcomes.js";
import { type Appointment, FIRST_INTERVAL_MS, historyOf, schedule } from "./schedule.js";

/** Time between the starts of two walks. */
const WALK_MS = DAY_MS;
/** How often to check whether a walk is due; another worker may have finished it. */
const CHECK_MS = 10 * 60_000;

interface Walk {
  cursor: string | null;
  startedAt: number;
}

/** A repository of the page that is already in the catalogue. */
interface Known {
  provider_id: string;
  id: number;
  stars: number | null;
  owner: string;
  name: string;
  availability: string;
  archived: number | null;
}

/** Walks through all repositories of a provider to find new and changed ones. */
export class DiscoveryLane {
  readonly #lane: Lane;

  constructor(lane: Lane) {
    this.#lane = lane;
  }

  /** Reads one page. Throws what the provider throws. */
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
      found = await this.#record(page.repositories);
    } catch (error) {
      await this.#release();
      throw error;
    }
    reporter.add("discovered", found);
    reporter.succeeded(clock.now());
    const isEnd = page.next === null;
    const nextAt = isEnd
      ? Math.max(clock.now() + HOUR_MS, walk.startedAt + spread(WALK_MS, this.#lane.chance()))
      : 0;
    await sql`update walks set cursor = ${page.next}, next_at = ${nextAt}, found = found + ${found},
      walks = walks + ${isEnd ? 1 : 0}, leased_until = 0 where provider = ${provider.name}`.execute(
      modules.database.write,
    );
    return responded(isEnd ? CHECK_MS : pauseMs(provider.kind));
  }

  /** Claims the walk for this worker; or returns how long to wait before trying again. */
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
      if (row !== undefined && row.next_at > now && row.next_at - now <= 2 * WALK_MS)
        return Math.min(CHECK_MS, row.next_at - now);
      const isNew = row === undefined || row.cursor === null;
      const startedAt = isNew ? now : row.started_at;
      await sql`insert into walks (provider, cursor, next_at, started_at, found, walks, leased_until)
        values (${provider.name}, null, 0, ${now}, 0, 0, ${now + LEASE_MS})
        on conflict (provider) do update set leased_until = excluded.leased_until, started_at = ${startedAt},
          found = case when ${isNew ? 1 : 0} = 1 then 0 else walks.found end`.execute(tx);
      return { cursor: row?.cursor ?? null, startedAt };
    });
  }

  async #release(): Promise<void> {
    const { modules, provider } = this.#lane;
    await modules.database.write
      .updateTable("walks")
      .set({ leased_until: 0 })
      .where("provider", "=", provider.name)
      .execute();
  }

  /** Records new repositories and makes changed ones due now, as lists have fewer fields. Returns the number of new ones. */
  async #record(listed: readonly UpstreamRepository[]): Promise<number> {
    const { modules, provider, clock, chance } = this.#lane;
    const { dialect, write, read } = modules.database;
    if (listed.length === 0) return 0;
    const at = clock.now();
    const rows = await read
      .selectFrom("repositories")
      .select(["provider_id", "id", "stars", "owner", "name", "availability", "archived"])
      .where("provider", "=", provider.name)
      .where(
        dialect.among(
          sql.ref("provider_id"),
          listed.map((one) => one.providerId),
        ),
      )
      .execute();
    const known = new Map(rows.map((row) => [row.provider_id, row as Known]));
    const changed = listed.flatMap((one) => {
      const before = known.get(one.providerId);
      return before !== undefined && hasChanged(before, one) ? [before.id] : [];
    });
    if (changed.length > 0) {
      await dialect.exclusively(write, "catalogue", (tx) =>
        sql`update repositories set next_refresh_at = ${at} where ${dialect.among(sql.ref("id"), changed)}
          and next_refresh_at > ${at}`.execute(tx),
      );
    }
    const fresh = new Map(
      listed.filter((one) => !known.has(one.providerId)).map((one) => [one.providerId, one]),
    );
    if (fresh.size === 0) return 0;
    const list = [...fresh.values()];
    await dialect.exclusively(write, "catalogue", async (tx) => {
      const observations = list.map((one) => observationOf(provider.name, one, at));
      const { repositoryIds } = await modules.catalog.recordIn(tx, observations);
      const appointments = list.flatMap((one, i): Appointment[] => {
        const repositoryId = repositoryIds[i];
        if (repositoryId === undefined) return [];
        return [
          {
            repositoryId,
            provider: provider.name,
            // Its list entry already has most fields.
            dueAt: at + spread(FIRST_INTERVAL_MS * (0.25 + 0.65 * chance()), chance()),
            refreshInterval: FIRST_INTERVAL_MS,
            nodeId: one.nodeId,
            etag: null,
            failures: 0,
            ...historyOf(provider.kind, one.stars, at),
          },
        ];
      });
      await schedule(tx, dialect, appointments);
    });
    return fresh.size;
  }
}

function hasChanged(before: Known, now: UpstreamRepository): boolean {
  return (
    before.availability !== "AVAILABLE" ||
    before.stars !== now.stars ||
    before.owner !== now.owner ||
    before.name !== now.name ||
    (now.archived !== null && before.archived !== (now.archived ? 1 : 0))
  );
}
