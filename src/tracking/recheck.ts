/**
 * Second readings of repositories whose counts have fallen doubtfully: which are planned, when they are due, and the lane that reads
 * them. The plan is in the table `tracking`, so that it survives a restart.
 */
import { sql } from "kysely";
import type { BulkRow, BulkTable, Tx } from "../database/database.js";
import { concernsForge, type Provider, UpstreamFailure, type UpstreamRepository } from "../forges/forges.js";
import { HOUR_MS } from "../lib/clock.js";
import { spread } from "./cadence.js";
import { type Claim, claimDue, keptNodeId, nextDue, release, stillClaimed } from "./claims.js";
import { type Lane, LEASE_MS, responded, type Step, waiting } from "./lane.js";
import { observationOf } from "./outcomes.js";

/** Time between a doubtful reading and the second one. */
const RECHECK_MS = 5 * 60_000;
/** A repository is not doubted again within this time: remaining doubt waits for the schedule. */
const SETTLED_MS = HOUR_MS / 2;
/** Most second readings per hour and forge: a forge that reports nonsense must not get twice the requests. */
const MOST_PER_HOUR = 60;
/** Part of the requests that a forge allows, where those are few. */
const MOST_PART = 0.1;
/** What GitHub allows without a token. */
const ANONYMOUS_PER_HOUR = 60;
/** How often to look for second readings; those planned since then are due later. */
const CHECK_MS = 0.8 * RECHECK_MS;

/** Reads repositories with doubtful counts again. Does not change the schedule of their refreshes. */
export class RecheckLane {
  readonly #lane: Lane;

  constructor(lane: Lane) {
    this.#lane = lane;
  }

  /** Reads one repository. Throws failures of the forge as a whole. */
  async step(): Promise<Step> {
    const { modules, provider, clock, reporter } = this.#lane;
    const { database } = modules;
    const now = clock.now();
    const readyAt = provider.readyAt("recheck");
    if (readyAt > now) return waiting(readyAt - now);
    const next = (await nextDue(database, provider.name, "recheck")) ?? Number.POSITIVE_INFINITY;
    if (next > now) return waiting(Math.min(CHECK_MS, next - now));
    const leasedUntil = now + LEASE_MS;
    const request = { dueFor: "recheck", now, leasedUntil, limit: 1 } as const;
    const [claim] = await claimDue(database, provider.name, request);
    // Another worker holds it.
    if (claim === undefined) return waiting(CHECK_MS);
    try {
      await this.#record(claim, await this.#request(claim));
    } catch (error) {
      await release(database, [claim.repositoryId], { leasedUntil });
      throw error;
    }
    reporter.succeeded(clock.now());
    return responded(0);
  }

  /** The forge's record; undefined if it sent none. The next refresh then finds out why. */
  async #request(claim: Claim): Promise<UpstreamRepository | undefined> {
    const { provider, clock, reporter, signal } = this.#lane;
    const { providerId, nodeId, owner, name } = claim;
    if (providerId === null) return undefined;
    try {
      return await provider.recheck({ providerId, nodeId, fullName: `${owner}/${name}`, etag: null }, signal);
    } catch (error) {
      if (!(error instanceof UpstreamFailure) || concernsForge(error.kind)) throw error;
      reporter.failed(error, clock.now());
      return undefined;
    }
  }

  async #record(claim: Claim, found: UpstreamRepository | undefined): Promise<void> {
    const { repositoryId, nodeId } = claim;
    const { modules, provider, clock, reporter } = this.#lane;
    const { database, catalog } = modules;
    const at = clock.now();
    const isOwn = await database.dialect.exclusively(database.write, "catalogue", async (tx) => {
      if (!(await stillClaimed(tx, database.dialect, [claim])).has(repositoryId)) return false;
      if (found !== undefined)
        await catalog.recordIn(tx, [{ ...observationOf(provider.name, found, at), repositoryId }]);
      await endRecheck(tx, repositoryId, found && { at, nodeId: keptNodeId(nodeId, found.nodeId) });
      return true;
    });
    if (found !== undefined && isOwn) reporter.add("rechecked", 1);
  }
}

const RECHECKS: BulkTable = {
  table: "tracking",
  columns: { repository_id: "bigint", doubted_at: "bigint", recheck_at: "bigint" },
  key: ["repository_id"],
};

/**
 * Plans second readings, in the transaction that records the first ones, as far as the hour allows. The first in `doubtful` are
 * preferred. All must be on the schedule.
 */
export async function planRechecks(
  tx: Tx,
  { modules, provider, stretch, chance }: Pick<Lane, "modules" | "provider" | "stretch" | "chance">,
  { doubtful, at }: { doubtful: readonly number[]; at: number },
): Promise<void> {
  const { dialect } = modules.database;
  const planned = await tx
    .selectFrom("tracking")
    .select(({ fn }) => fn.countAll().as("total"))
    .where("provider", "=", provider.name)
    .where("doubted_at", ">", at - HOUR_MS)
    .where("doubted_at", "<=", at)
    .executeTakeFirstOrThrow();
  const settled = await tx
    .selectFrom("tracking")
    .select("repository_id")
    .where(dialect.among(sql.ref("repository_id"), doubtful))
    .where("recheck_at", "is", null)
    .where((row) =>
      row.or([
        row("doubted_at", "is", null),
        row("doubted_at", "<=", at - SETTLED_MS),
        row("doubted_at", ">", at),
      ]),
    )
    .execute();
  const free = new Set(settled.map((row) => row.repository_id));
  const rows = doubtful
    .filter((id) => free.has(id))
    .slice(0, Math.max(0, perHourOf(provider, stretch.factor) - Number(planned.total)))
    .map((id): BulkRow => [id, at, at + spread(RECHECK_MS, chance())]);
  await dialect.updateRows(tx, RECHECKS, rows);
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

/**
 * Ends a second reading and its lease, in the transaction that records it. `found`: when it was read; undefined: it failed. The next
 * refresh is not conditional: "unchanged" would confirm the first reading, and not the counts stored now.
 */
async function endRecheck(
  tx: Tx,
  repositoryId: number,
  found: { at: number; nodeId: string | null } | undefined,
): Promise<void> {
  const end = { recheck_at: null, leased_until: 0, etag: null };
  const seen = found && { detailed_at: found.at, missing_since: null };
  const renewed = found?.nodeId ? { node_id: found.nodeId } : undefined;
  await tx
    .updateTable("tracking")
    .set({ ...end, ...seen, ...renewed })
    .where("repository_id", "=", repositoryId)
    .execute();
}
