import assert from "node:assert/strict";
import { type Database, openDatabase } from "../../src/database/database.js";
import { createLog } from "../../src/log.js";
import type { TrackingWorld } from "../support/tracking.js";

/**
 * Compares every snapshot with its forge's data at that time. Returns the number between two
 * times.
 */
export async function checkTruth(
  { modules, forge }: TrackingWorld,
  { from, to }: { from: number; to: number } = { from: 0, to: Number.MAX_SAFE_INTEGER },
): Promise<number> {
  const rows = await modules.database.read
    .selectFrom("snapshots")
    .innerJoin("repositories", "repositories.id", "snapshots.repository_id")
    .select(["repositories.provider", "provider_id", "captured_at", "snapshots.stars", "source"])
    .where("source", "=", 0)
    .execute();
  for (const { provider, provider_id, captured_at, stars } of rows) {
    const truth = forge(provider).catalogue.get(Number(provider_id), captured_at);
    assert.equal(stars, truth?.stars, `${provider} ${provider_id} at ${captured_at}`);
  }
  return rows.filter(({ captured_at }) => captured_at > from && captured_at < to).length;
}

/** Makes all repositories and walks due now. */
export async function makeAllDue({ modules, clock }: TrackingWorld): Promise<void> {
  const { write } = modules.database;
  await write.updateTable("repositories").set({ next_refresh_at: clock.now() }).execute();
  await write.updateTable("walks").set({ next_at: clock.now() }).execute();
}

/** An empty database in memory, closed with its world. */
export function openSqlite(): Promise<Database> {
  return openDatabase({ url: undefined, dataDir: ":memory:", pool: 1, log: createLog("silent") });
}
