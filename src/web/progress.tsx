import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../config/config.js";
import { HOUR_MS } from "../lib/clock.js";
import { type ProviderStatus, readPreparedStatus } from "../tracking/tracking.js";
import { isInterrupted } from "./components/forge-state.js";
import { Ago, durationWords, formatCount } from "./components/numbers.js";
import { Table } from "./components/table.js";
import type { FrameRequest } from "./page-request.js";

/** How far tracking of each forge is: read, and shown as a table. */

/** A tracked forge, and its status as the worker last prepared it; undefined before the first time. */
export interface ForgeProgress {
  provider: string;
  status: ProviderStatus | undefined;
}

/** The progress of all tracked forges. Reads one row. */
export async function readProgress({
  modules,
  tracked,
}: Pick<FrameRequest, "modules" | "tracked">): Promise<ForgeProgress[]> {
  const prepared = await readPreparedStatus(modules.database);
  return tracked.map((provider) => ({
    provider,
    status: prepared?.providers.find((one) => one.provider === provider),
  }));
}

/** "1,234 of 5,000", of all tokens together; undefined if that is not known. */
function quotaWords({ status }: ForgeProgress): string | undefined {
  const known = (status?.worker?.report.quota ?? []).filter(
    ({ remaining, limit }) => remaining !== null && limit !== null,
  );
  const sum = (of: "remaining" | "limit") => known.reduce((total, one) => total + (one[of] ?? 0), 0);
  return known.length === 0 ? undefined : `${formatCount(sum("remaining"))} of ${formatCount(sum("limit"))}`;
}

/** Repositories that are known. */
const foundOf = ({ status }: ForgeProgress): number => status?.repositories.AVAILABLE ?? 0;

/** Growth needs two snapshots of a repository that are this far apart. */
const GROWTH_MS = 12 * HOUR_MS;

interface ProgressProps {
  forges: readonly ForgeProgress[];
  /** Operators also see what is left of the quota. */
  request: Pick<FrameRequest, "operator" | "now">;
}

/** The progress of each forge, and its next steps. */
export const Progress: FC<ProgressProps> = ({ forges, request: { operator, now } }) => (
  <Table
    label="Progress of tracking"
    columns={[
      { head: "Forge", cell: ({ provider }) => forgeName(provider) },
      { head: "Found", isNumber: true, cell: (forge) => formatCount(foundOf(forge)) },
      {
        head: "Read in 24 h",
        isNumber: true,
        cell: (forge) => formatCount(foundOf(forge) - (forge.status?.olderThanADay ?? 0)),
      },
      {
        head: "Histories left",
        isNumber: true,
        cell: ({ status }) => formatCount(status?.backfillWaiting ?? 0),
      },
      operator !== undefined &&
        forges.some((forge) => quotaWords(forge) !== undefined) && {
          head: "Requests left",
          isNumber: true,
          cell: (forge) => quotaWords(forge) ?? "–",
        },
      { head: "Next", cell: ({ status }) => <Next status={status} now={now} /> },
    ]}
    rows={forges}
  />
);

const Next: FC<{ status: ProviderStatus | undefined; now: number }> = ({ status, now }) => {
  if (!status?.worker) return <>Waiting for the first report of a worker.</>;
  if (isInterrupted(status.worker, now)) return <>Interrupted.</>;
  const { walk, due, repositories } = status;
  const growthAt = walk?.walks === 0 ? walk.startedAt + GROWTH_MS : null;
  return (
    <>
      {walk === null
        ? "Discovery starts. "
        : walk.isRunning
          ? `Discovery is running${repositories.AVAILABLE ? ", and adds repositories as it finds them" : ""}. `
          : walk.nextAt === null
            ? "Discovery starts soon. "
            : `Discovery again in ${durationWords(walk.nextAt - now)}. `}
      {due === 0 ? "" : `${formatCount(due)} to be read now. `}
      {growthAt !== null && growthAt > now ? (
        <>
          First growth <Ago at={growthAt} />.
        </>
      ) : null}
    </>
  );
};
