/**
 * When the own records of repositories are read. Lists keep counts fresh, but some lack fields; these may be older. A backlog
 * here never makes counts late: such readings use what requests are left over, and a small share if none are.
 */
import { sql } from "kysely";
import type { Database } from "../database/database.js";
import type { Provider } from "../providers/providers.js";
import { detailsInterval, spread } from "./cadence.js";
import { type Claim, type ClaimRequest, claim } from "./claims.js";
import type { Appointment } from "./schedule.js";

/** What decides when an own record is due. */
interface DetailsContext {
  /** Time of the reading. */
  at: number;
  /** See nextStretch. */
  stretch: number;
  /** From 0 to 1, for spreading due times. */
  chance: number;
}

/** The part of an appointment that follows from reading the own record. */
export function afterOwnRecord(
  { listsAreComplete }: Pick<Provider, "listsAreComplete">,
  { at, stretch, chance }: DetailsContext,
): Pick<Appointment, "detailedAt" | "detailsDue"> {
  return {
    detailedAt: at,
    detailsDue: listsAreComplete ? null : at + spread(detailsInterval(stretch), chance),
  };
}

/** Claims repositories whose own record is due, those due longest first. */
export function claimDetails(
  database: Database,
  provider: string,
  request: Omit<ClaimRequest, "dueBefore">,
): Promise<Claim[]> {
  const isDue = sql`t.provider = ${provider} and t.details_due <= ${request.now}`;
  return claim(database, { isDue, order: sql`t.details_due` }, request);
}

/** When the next own record of a provider is due; null if none is. */
export async function nextDetails({ read }: Database, provider: string): Promise<number | null> {
  const { rows } = await sql<{ at: number | null }>`select min(details_due) as at from tracking
    where provider = ${provider} and details_due is not null`.execute(read);
  const at = rows[0]?.at ?? null;
  return at === null ? null : Number(at);
}
