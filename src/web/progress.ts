import { type PreparedStatus, readPreparedStatus } from "../tracking/tracking.js";
import type { FrameRequest } from "./page-request.js";

/** How far tracking of one forge is. Times in ms since 1970. */
export interface ForgeProgress {
  provider: string;
  /** Repositories that are known, and those of them whose counts were read in the last day. */
  found: number;
  read: number;
  /** Star histories that are not complete. */
  historiesLeft: number;
  /** Refreshes that are due. */
  due: number;
  walk: { isRunning: boolean; nextAt: number | null; isFirst: boolean; startedAt: number } | null;
  /** When the worker last reported; null: not in the last day. */
  reportedAt: number | null;
  /** Requests left with all tokens together, and when they are renewed: for operators alone; null: not known. */
  quota: { remaining: number; limit: number; resetAt: number | null } | null;
}

/** How far tracking is, of the forges that are tracked: as the worker last prepared it. Reads one row. */
export async function readProgress({
  modules,
  tracked,
  operator,
}: Pick<FrameRequest, "modules" | "tracked" | "operator">): Promise<ForgeProgress[]> {
  const status = await readPreparedStatus(modules.database);
  return tracked.map((provider) => progressOf(provider, status, operator !== undefined));
}

function progressOf(provider: string, status: PreparedStatus | undefined, withQuota: boolean): ForgeProgress {
  const found = status?.providers.find((one) => one.provider === provider);
  const available = found?.repositories.AVAILABLE ?? 0;
  const [worker] = found?.workers ?? [];
  const walk = found?.walk ?? null;
  return {
    provider,
    found: available,
    read: available - (found?.olderThanADay ?? 0),
    historiesLeft: found?.backfillWaiting ?? 0,
    due: found?.due ?? 0,
    walk: walk && {
      isRunning: walk.isRunning,
      nextAt: walk.nextAt,
      isFirst: walk.walks === 0,
      startedAt: walk.startedAt,
    },
    reportedAt: worker?.at ?? null,
    quota: withQuota ? quotaOf(worker?.report.quota ?? []) : null,
  };
}

type Quotas = PreparedStatus["providers"][number]["workers"][number]["report"]["quota"];

function quotaOf(quotas: Quotas): ForgeProgress["quota"] {
  const known = quotas.flatMap(({ remaining, limit, resetAt }) =>
    remaining === null || limit === null ? [] : [{ remaining, limit, resetAt }],
  );
  if (known.length === 0) return null;
  const resets = known.flatMap(({ resetAt }) => resetAt ?? []);
  return {
    remaining: known.reduce((sum, one) => sum + one.remaining, 0),
    limit: known.reduce((sum, one) => sum + one.limit, 0),
    resetAt: resets.length === 0 ? null : Math.max(...resets),
  };
}
