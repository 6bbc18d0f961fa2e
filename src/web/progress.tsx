import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../config/config.js";
import { HOUR_MS } from "../lib/clock.js";
import { type PreparedStatus, readPreparedStatus } from "../tracking/tracking.js";
import { Scroll } from "./components/elements.js";
import { isInterrupted, type LastReport } from "./components/forge-state.js";
import { Ago, durationWords, formatCount } from "./components/numbers.js";
import type { FrameRequest } from "./page-request.js";

/** How far tracking of each forge is: read, and shown as a table. */

/** The progress of one forge. Times in ms since 1970. */
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
  worker: LastReport;
  /** Requests left with all tokens together, and when they are renewed: for operators alone; null: not known. */
  quota: { remaining: number; limit: number; resetAt: number | null } | null;
}

/** The progress of all tracked forges, as the worker last prepared it. Reads one row. */
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
  const worker = found?.worker ?? undefined;
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
    worker,
    quota: withQuota ? quotaOf(worker?.report.quota ?? []) : null,
  };
}

type Quotas = NonNullable<PreparedStatus["providers"][number]["worker"]>["report"]["quota"];

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

/** Growth needs two snapshots of a repository that are this far apart. */
const GROWTH_MS = 12 * HOUR_MS;

/** The progress of each forge, and its next steps. */
export const Progress: FC<{ forges: readonly ForgeProgress[]; now: number }> = ({ forges, now }) => {
  const hasQuota = forges.some(({ quota }) => quota !== null);
  return (
    <Scroll label="Progress of tracking">
      <table>
        <caption class="hidden">Progress of tracking</caption>
        <thead>
          <tr>
            <th scope="col">Forge</th>
            <th scope="col" class="number">
              Found
            </th>
            <th scope="col" class="number">
              Read in 24 h
            </th>
            <th scope="col" class="number">
              Histories left
            </th>
            {hasQuota ? (
              <th scope="col" class="number">
                Requests left
              </th>
            ) : null}
            <th scope="col">Next</th>
          </tr>
        </thead>
        <tbody>
          {forges.map((forge) => (
            <tr>
              <th scope="row">{forgeName(forge.provider)}</th>
              <td class="number">{formatCount(forge.found)}</td>
              <td class="number">{formatCount(forge.read)}</td>
              <td class="number">{formatCount(forge.historiesLeft)}</td>
              {hasQuota ? (
                <td class="number">
                  {forge.quota === null ? (
                    "–"
                  ) : (
                    <>
                      {formatCount(forge.quota.remaining)} of {formatCount(forge.quota.limit)}
                    </>
                  )}
                </td>
              ) : null}
              <td>
                <Next forge={forge} now={now} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
};

const Next: FC<{ forge: ForgeProgress; now: number }> = ({ forge: { walk, due, found, worker }, now }) => {
  if (worker === undefined) return <>Waiting for the first report of a worker.</>;
  if (isInterrupted(worker, now)) return <>Interrupted.</>;
  const growthAt = walk?.isFirst === true ? walk.startedAt + GROWTH_MS : null;
  return (
    <>
      {walk === null
        ? "Discovery starts. "
        : walk.isRunning
          ? `Discovery is running${found === 0 ? "" : ", and adds repositories as it finds them"}. `
          : walk.nextAt === null
            ? "Discovery starts soon. "
            : `Discovery again in ${durationWords(walk.nextAt - now)}. `}
      {due === 0 ? "" : `${formatCount(due)} to be read now. `}
      {growthAt !== null && growthAt > now ? (
        <>
          First growth <Ago at={growthAt} now={now} />.
        </>
      ) : null}
    </>
  );
};
