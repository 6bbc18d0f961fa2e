import assert from "node:assert/strict";
import { type Database, openDatabase } from "../../src/database/database.js";
import { createLog } from "../../src/lib/log.js";
import { allSnapshots } from "../support/snapshots.js";
import type { TrackingWorld } from "../support/tracking.js";

/**
 * Compares every snapshot with its forge's data at that time. Returns the number between two
 * times.
 */
export async function checkTruth(
  { modules, forge }: TrackingWorld,
  { from, to }: { from: number; to: number } = { from: 0, to: Number.MAX_SAFE_INTEGER },
): Promise<number> {
  const repositories = await modules.database.read
    .selectFrom("repositories")
    .select(["id", "provider", "provider_id"])
    .execute();
  const byId = new Map(repositories.map((row) => [row.id, row]));
  const observed = (await allSnapshots(modules.database)).filter(({ source }) => source === "OBSERVED");
  for (const { repositoryId, capturedAt, stars } of observed) {
    const { provider = "", provider_id = "" } = byId.get(repositoryId) ?? {};
    const truth = forge(provider).catalogue.get(Number(provider_id), capturedAt);
    assert.equal(stars, truth?.stars, `${provider} ${provider_id} at ${capturedAt}`);
  }
  return observed.filter(({ capturedAt }) => capturedAt > from && capturedAt < to).length;
}

/** Makes all repositories and walks due now. */
export async function makeAllDue({
  modules,
  clock,
}: Pick<TrackingWorld, "modules" | "clock">): Promise<void> {
  await makeRefreshesDue({ modules, clock });
  await modules.database.write.updateTable("walks").set({ next_at: clock.now() }).execute();
}

/** Makes all repositories due now. A walk would leave nothing to refresh. */
export async function makeRefreshesDue({
  modules,
  clock,
}: Pick<TrackingWorld, "modules" | "clock">): Promise<void> {
  await modules.database.write.updateTable("repositories").set({ next_refresh_at: clock.now() }).execute();
}

/** An empty database in memory, closed with its world. */
export function openSqlite(): Promise<Database> {
  return openDatabase({ url: undefined, dataDir: ":memory:", pool: 1, log: createLog("silent") });
}
