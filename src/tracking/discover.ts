import { sql } from "kysely";
import { DAY_MS, HOUR_MS } from "../clock.js";
import type { Discovered, UpstreamRepository } from "../providers/providers.js";
import { spread } from "./cadence.js";
import { answered, type Lane, LEASE_MS, restBetween, type Step, waiting } from "./context.js";
import { observationOf } from "./observe.js";
import { type Appointment, historyOf, schedule } from "./schedule.js";

/** A new walk begins so long after the last one began. */
const WALK_MS = DAY_MS;
/** How often it is looked whether a walk is due, as another worker may have made it. */
const LOOK_MS = 10 * 60_000;
/** A new repository is refreshed within so long, as its list has told most of it. */
const FIRST_REFRESH_MS = DAY_MS;

interface Walk {
  cursor: string | null;
  startedAt: number;
}

/** A repository of the page that is known already. */
interface Known {
  provider_id: string;
  id: number;
  stars: number | null;
  owner: string;
  name: string;
  availability: string;
  archived: number | null;
}

/** Walks over everything a provider has, in order to discover what is new and to see what has changed. */
export class DiscoverLane {
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
    const walk = await this.#take(now);
    if (typeof walk === "number") return waiting(walk);
    let page: Discovered;
    let found: number;
    try {
      page = await provider.discover(walk.cursor, signal);
      found = await this.#keep(page.repositories);
    } catch (error) {
      await this.#giveBack();
      throw error;
    }
    reporter.report.discovered += found;
    reporter.succeeded(clock.now());
    const isEnd = page.next === null;
    const nextAt = isEnd
      ? Math.max(clock.now() + HOUR_MS, walk.startedAt + spread(WALK_MS, this.#lane.chance()))
      : 0;
    await sql`update walks set cursor = ${page.next}, next_at = ${nextAt}, found = found + ${found},
      walks = walks + ${isEnd ? 1 : 0}, leased_until = 0 where provider = ${provider.name}`.execute(
      modules.database.write,
    );
    return answered(isEnd ? LOOK_MS : restBetween(provider.kind));
  }

  /** The walk, taken by this worker; or how long to wait until it can be. */
  async #take(now: number): Promise<Walk | number> {
    const { modules, provider } = this.#lane;
    const { dialect, write } = modules.database;
    return dialect.exclusively(write, "catalogue", async (tx) => {
      const row = await tx
        .selectFrom("walks")
        .selectAll()
        .where("provider", "=", provider.name)
        .executeTakeFirst();
      if (row !== undefined && row.leased_until > now) return Math.min(LOOK_MS, row.leased_until - now);
      // A clock that was set back must not stop walks for longer than they take.
      if (row !== undefined && row.next_at > now && row.next_at - now <= 2 * WALK_MS)
        return Math.min(LOOK_MS, row.next_at - now);
      const begins = row === undefined || row.cursor === null;
      const startedAt = begins ? now : row.started_at;
      await sql`insert into walks (provider, cursor, next_at, started_at, found, walks, leased_until)
        values (${provider.name}, null, 0, ${now}, 0, 0, ${now + LEASE_MS})
        on conflict (provider) do update set leased_until = excluded.leased_until, started_at = ${startedAt},
          found = case when ${begins ? 1 : 0} = 1 then 0 else walks.found end`.execute(tx);
      return { cursor: row?.cursor ?? null, startedAt };
    });
  }

  async #giveBack(): Promise<void> {
    const { modules, provider } = this.#lane;
    await modules.database.write
      .updateTable("walks")
      .set({ leased_until: 0 })
      .where("provider", "=", provider.name)
      .execute();
  }

  /**
   * Records what is new; what is scheduled and has changed is due at once, as lists tell less than a refresh. Returns how many
   * are new.
   */
  async #keep(told: readonly UpstreamRepository[]): Promise<number> {
    const { modules, provider, clock, chance } = this.#lane;
    const { dialect, write, read } = modules.database;
    if (told.length === 0) return 0;
    const at = clock.now();
    const rows = await read
      .selectFrom("repositories")
      .select(["provider_id", "id", "stars", "owner", "name", "availability", "archived"])
      .where("provider", "=", provider.name)
      .where(
        dialect.among(
          sql.ref("provider_id"),
          told.map((one) => one.providerId),
        ),
      )
      .execute();
    const known = new Map(rows.map((row) => [row.provider_id, row as Known]));
    const changed = told.flatMap((one) => {
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
      told.filter((one) => !known.has(one.providerId)).map((one) => [one.providerId, one]),
    );
    if (fresh.size === 0) return 0;
    const list = [...fresh.values()];
    await modules.catalog.record(
      list.map((one) => observationOf(provider.name, one, at)),
      async (tx, ids) => {
        const appointments = list.flatMap((one, i): Appointment[] => {
          const repositoryId = ids[i];
          if (repositoryId === undefined) return [];
          const dueAt = at + spread(FIRST_REFRESH_MS * (0.25 + 0.65 * chance()), chance());
          return [
            {
              repositoryId,
              provider: provider.name,
              dueAt,
              nodeId: one.nodeId,
              etag: null,
              failures: 0,
              ...historyOf(provider.kind, one.stars, at),
            },
          ];
        });
        await schedule(tx, dialect, appointments);
      },
    );
    return fresh.size;
  }
}

function hasChanged(before: Known, told: UpstreamRepository): boolean {
  return (
    before.availability !== "AVAILABLE" ||
    before.stars !== told.stars ||
    before.owner !== told.owner ||
    before.name !== told.name ||
    (told.archived !== null && before.archived !== (told.archived ? 1 : 0))
  );
}
