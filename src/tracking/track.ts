import type { Tx } from "../database/database.js";
import type { UpstreamRepository } from "../providers/providers.js";
import { findKnown } from "./claims.js";
import { afterOwnRecord } from "./details.js";
import type { Lane } from "./lane.js";
import { keptNodeId } from "./node-id.js";
import { observationOf } from "./outcomes.js";
import { FIRST_INTERVAL_MS, schedule } from "./schedule.js";

/**
 * Records a repository that was looked up by name, and puts it on the schedule, in the caller's transaction, which must hold the
 * catalogue exclusively. It is tracked however few stars it has. `history`: when to start reading its star history.
 */
export async function recordTracked(
  tx: Tx,
  { modules, provider, chance }: Pick<Lane, "modules" | "provider" | "chance">,
  { found, at, history }: { found: UpstreamRepository; at: number; history: { historyDue?: number } },
): Promise<{ repositoryId: number; isNew: boolean }> {
  const { dialect } = modules.database;
  const ids = [found.providerId];
  const [known] = await findKnown(tx, dialect, { provider: provider.name, ids });
  const recorded = await modules.catalog.recordIn(tx, [observationOf(provider.name, found, at)]);
  const [repositoryId = 0] = recorded.repositoryIds;
  await schedule(tx, dialect, [
    {
      repositoryId,
      provider: provider.name,
      dueAt: at + FIRST_INTERVAL_MS,
      refreshInterval: FIRST_INTERVAL_MS,
      nodeId: keptNodeId(known?.nodeId ?? null, found.nodeId),
      etag: null,
      failures: 0,
      missingSince: null,
      ...afterOwnRecord(provider, { at, stretch: 1, chance: chance() }),
      ...history,
    },
  ]);
  return { repositoryId, isNew: recorded.repositoriesAdded > 0 };
}
