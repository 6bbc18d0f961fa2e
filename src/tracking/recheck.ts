/**
 * Second readings of repositories whose counts have fallen doubtfully: which are planned, when they are due, and who holds
 * them. All of it is in the table `tracking`, so that it survives a restart.
 */
import { sql } from "kysely";
import { HOUR_MS } from "../clock.js";
import type { BulkRow, BulkTable, Database, Dialect, Tx } from "../database/database.js";
import type { Provider } from "../providers/providers.js";
import { spread } from "./cadence.js";
import { type Claim, claim } from "./claims.js";

/** Time between a doubtful reading and the second one. */
export const RECHECK_MS = 5 * 60_000;
/** A repository is not doubted again within this time: what the second reading leaves open waits for the schedule. */
const SETTLED_MS = HOUR_MS / 2;
/** Most second readings per hour and forge, so that a forge that reports nonsense does not get twice the requests. */
const MOST_PER_HOUR = 60;
/** Most of what a forge allows, where that is little. */
const MOST_PART = 0.1;
/** What GitHub allows without a token. */
const ANONYMOUS_PER_HOUR = 60;

const RECHECKS: BulkTable = {
  table: "tracking",
  columns: { repository_id: "bigint", doubted_at: "bigint", recheck_at: "bigint" },
  key: ["repository_id"],
};

/** How many second readings may be planned in an hour. `stretch`: see nextStretch; at least one in any case. */
export function rechecksPerHour(
  { kind, settings }: Pick<Provider, "kind" | "settings">,
  stretch: number,
): number {
  const isAnonymous = kind === "github" && settings.tokens.length === 0;
  const allowed = Math.min(
    settings.requestsPerHour ?? Number.POSITIVE_INFINITY,
    isAnonymous ? ANONYMOUS_PER_HOUR : Number.POSITIVE_INFINITY,
  );
  return Math.max(1, Math.floor(Math.min(MOST_PER_HOUR, allowed * MOST_PART) / stretch));
}

/** What a plan depends on. Times in ms since 1970. */
export interface RecheckPlan {
  provider: string;
  now: number;
  perHour: number;
  /** From 0 to 1, for spreading due times. */
  chance: () => number;
}

/**
 * Plans a second reading of repositories that are on the schedule, in the transaction that records the first. Those that come
 * first in `doubtful` are preferred. Returns how many are planned.
 */
export async function planRechecks(
  { tx, dialect }: { tx: Tx; dialect: Dialect },
  doubtful: readonly number[],
  { provider, now, perHour, chance }: RecheckPlan,
): Promise<number> {
  if (doubtful.length === 0) return 0;
  const planned = await tx
    .selectFrom("tracking")
    .select(({ fn }) => fn.countAll().as("total"))
    .where("provider", "=", provider)
    .where("doubted_at", ">", now - HOUR_MS)
    .where("doubted_at", "<=", now)
    .executeTakeFirstOrThrow();
  const settled = await tx
    .selectFrom("tracking")
    .select("repository_id")
    .where(dialect.among(sql.ref("repository_id"), doubtful))
    .where("recheck_at", "is", null)
    .where((row) =>
      row.or([
        row("doubted_at", "is", null),
        row("doubted_at", "<=", now - SETTLED_MS),
        row("doubted_at", ">", now),
      ]),
    )
    .execute();
  const free = new Set(settled.map((row) => row.repository_id));
  const rows = doubtful
    .filter((id) => free.has(id))
    .slice(0, Math.max(0, perHour - Number(planned.total)))
    .map((id): BulkRow => [id, now, now + spread(RECHECK_MS, chance())]);
  await dialect.updateRows(tx, RECHECKS, rows);
  return rows.length;
}

/** Claims the second reading that has been due longest; undefined if none is. */
export async function claimRecheck(
  database: Database,
  provider: string,
  { now, leasedUntil }: { now: number; leasedUntil: number },
): Promise<Claim | undefined> {
  const isDue = sql`t.provider = ${provider} and t.recheck_at <= ${now}`;
  const [first] = await claim(database, { isDue, order: sql`t.recheck_at` }, { now, leasedUntil, limit: 1 });
  return first;
}

/** When the next second reading of a provider is due; null if none is planned. */
export async function nextRecheck({ read }: Database, provider: string): Promise<number | null> {
  const { rows } = await sql<{ at: number | null }>`select min(recheck_at) as at from tracking
    where provider = ${provider} and recheck_at is not null`.execute(read);
  const at = rows[0]?.at ?? null;
  return at === null ? null : Number(at);
}

/**
 * Ends a second reading and its lease, in the transaction that records it. `found`: what was read and when; undefined: it
 * failed. The next refresh is not conditional: "unchanged" would mean the first reading, and not the counts that are stored now.
 */
export async function endRecheck(
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
