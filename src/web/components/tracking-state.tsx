import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import type { TokenQuota } from "../../forges/forges.js";
import { HOUR_MS } from "../../lib/clock.js";
import type { Modules } from "../../modules.js";
import {
  missingHistories,
  type ProviderStatus,
  readPreparedStatus,
  type TrackRequest,
} from "../../tracking/tracking.js";
import type { FrameRequest, RenderContext } from "../page-request.js";
import { type Fact, Facts } from "./elements.js";
import { Ago, durationWords, formatCount, formatDate } from "./numbers.js";
import { Table } from "./table.js";

interface ForgeStateProps {
  status: ProviderStatus;
  now: number;
  isTracked: boolean;
}

/** A worker that has not reported for this long is probably not running. */
const SILENT_MS = 60_000;

/** The last report about a forge; none in the last day. */
type LastReport = ProviderStatus["worker"] | undefined;

/** Whether a forge that was to be read is not: it fails, or the worker is silent. */
export function isInterrupted(worker: LastReport, now: number): boolean {
  return !!worker && (worker.report.failing !== null || now - worker.at > SILENT_MS);
}

interface InterruptionProps {
  provider: string;
  worker: LastReport;
  now: number;
}

/** Why a forge is not read, for operators: the words of the failure, or that the worker is silent. Nothing if it is read. */
export const Interruption: FC<InterruptionProps> = ({ provider, worker, now }) => {
  if (worker && !isInterrupted(worker, now)) return null;
  return (
    <div class="note wrong" role="note">
      <p>
        <a href={`/operator#forge-${provider}`}>{forgeName(provider)}</a>:{" "}
        <Reason worker={worker} now={now} />
      </p>
    </div>
  );
};

const Reason: FC<Pick<InterruptionProps, "worker" | "now">> = ({ worker, now }) => {
  if (!worker) return <>no worker has reported in the last 24 hours.</>;
  const { failing, site } = worker.report;
  if (failing === null || now - worker.at > SILENT_MS)
    return (
      <>
        the worker last reported <Ago at={worker.at} />. It may not be running.
      </>
    );
  return (
    <>
      requests to {site} have failed for {durationWords(now - failing.since)}, the last{" "}
      <Ago at={failing.at} />: <strong>{failing.message}</strong>.
      {failing.kind === "refused" ? (
        <>
          {" "}
          <a href="/operator/tokens">Check its tokens</a>
        </>
      ) : null}
    </>
  );
};

/** How tracking of one forge goes. */
export const ForgeState: FC<ForgeStateProps> = ({ status, now, isTracked }) => {
  const { provider, worker } = status;
  const { quota = [], recentFailures = [] } = worker?.report ?? {};
  return (
    <section aria-labelledby={`forge-${provider}`}>
      <h2 id={`forge-${provider}`}>{forgeName(provider)}</h2>
      {isTracked ? null : (
        <p class="soft">No longer tracked: its repositories stay, and their counts grow old.</p>
      )}
      {isTracked ? <Interruption provider={provider} worker={worker} now={now} /> : null}
      <Facts facts={factsOf(status, now)} />
      {worker === null ? null : (
        <>
          {quota.length === 0 ? null : <QuotaTable {...{ provider, quota, now }} />}
          {recentFailures.length === 0 ? null : (
            <Table
              label={`Latest failures of ${forgeName(provider)}`}
              columns={[
                { head: "Failure", cell: ({ kind }) => kind },
                { head: "Times", isNumber: true, cell: ({ count }) => formatCount(count) },
                { head: "Last", cell: ({ at }) => <Ago at={at} /> },
                { head: "Message", class: "words", cell: ({ message }) => message },
              ]}
              rows={recentFailures}
            />
          )}
          <p class="soft small">
            {worker.report.lastSuccessAt === null ? (
              (status.repositories.AVAILABLE ?? 0) === 0 ? (
                "Idle: nothing tracked"
              ) : (
                "Idle: nothing read yet"
              )
            ) : (
              <>
                Worker <code>{worker.report.worker}</code>, started <Ago at={worker.report.startedAt} />, last
                response <Ago at={worker.report.lastSuccessAt} />: {formatCount(worker.report.refreshed)}{" "}
                refreshed, {formatCount(worker.report.listed)} read from lists,{" "}
                {formatCount(worker.report.discovered)} discovered, {formatCount(worker.report.backfilled)}{" "}
                snapshots of past days
              </>
            )}
            {worker.report.stretch > 1
              ? `; refreshes are ${worker.report.stretch.toFixed(1)} times as far apart, as the quota is small`
              : ""}
            {worker.report.withheld.length === 0
              ? ""
              : `; the forge does not send ${worker.report.withheld.join(", ")}`}
            .
          </p>
        </>
      )}
    </section>
  );
};

const QuotaTable: FC<{ provider: string; quota: readonly TokenQuota[]; now: number }> = ({
  provider,
  quota,
  now,
}) => (
  <Table
    label={`Quota of ${forgeName(provider)}`}
    columns={[
      { head: "Token", cell: ({ token }) => token },
      { head: "Limit", cell: ({ resource }) => resource },
      {
        head: "Left",
        isNumber: true,
        cell: ({ remaining, limit }) => `${formatCount(remaining)} of ${formatCount(limit)}`,
      },
      {
        head: "Renewed",
        cell: ({ resetAt }) => (resetAt === null || resetAt <= now ? "–" : <Ago at={resetAt} />),
      },
      { head: "State", cell: (one) => <Blocked quota={one} now={now} /> },
    ]}
    rows={quota}
  />
);

/** The facts of a forge; those that say that nothing waits or happened are left out. */
function factsOf(status: ProviderStatus, now: number): Fact[] {
  const { repositories, freshness, olderThanADay, due, overdue, walk, histories, newToday } = status;
  const { rechecksWaiting, avatars, lostToday, missing, backfillNextAt } = status;
  const unread = missingHistories(status);
  const { AVAILABLE = 0, ...unavailable } = repositories;
  const others = Object.entries(unavailable).map(
    ([state, count]) => `${formatCount(count)} ${state.toLowerCase()}`,
  );
  const facts: (Fact | false)[] = [
    { name: "Repositories", value: formatCount(AVAILABLE), more: others.join(", ") },
    freshness !== null && {
      name: "Counts read",
      value: `${durationWords(freshness.median)} ago`,
      more: `half of them since; ${olderThanADay === 0 ? "all within a day" : `${formatCount(olderThanADay)} over a day ago`}`,
      isText: true,
    },
    due > 0 && {
      name: "Refreshes due",
      value: formatCount(due),
      more: overdue === 0 ? "" : `${formatCount(overdue)} for over an hour`,
    },
    walk !== null && {
      name: "Discovery",
      value: walk.isRunning ? "running" : "waiting",
      more: walkWords(walk, now),
      isText: true,
    },
    unread > 0 && {
      name: "Star histories to read",
      value: formatCount(unread),
      more: [
        ...(histories.REFUSED > 0 ? [`${formatCount(histories.REFUSED)} refused`] : []),
        ...(backfillNextAt === null ? [] : [`the next in ${durationWords(backfillNextAt - now)}`]),
      ].join("; "),
    },
    rechecksWaiting > 0 && { name: "Counts to read again", value: formatCount(rechecksWaiting) },
    avatars.images < avatars.wanted && {
      name: "Avatars",
      value: formatCount(avatars.images),
      more: `of ${formatCount(avatars.wanted)} owners on lists`,
    },
    lostToday + missing.waiting > 0 && {
      name: "Lost today",
      value: formatCount(lostToday),
      more: missing.waiting === 0 ? "" : `${formatCount(missing.waiting)} reported missing, not believed yet`,
    },
    newToday.surplus > 0 && {
      name: "New today",
      value: formatCount(newToday.added),
      more: `${formatCount(newToday.surplus)} more listed and left out by the limit of a day`,
    },
  ];
  return facts.filter((fact) => fact !== false);
}

function walkWords(
  { found, nextAt, walks, tookMs }: NonNullable<ProviderStatus["walk"]>,
  now: number,
): string {
  const next = nextAt === null ? "" : `next in ${durationWords(nextAt - now)}, `;
  const took = tookMs === null ? "" : `, the last in ${durationWords(tookMs)}`;
  return `${next}${formatCount(found)} found, ${formatCount(walks)} complete${took}`;
}

const BLOCKED = {
  rejected: "rejected by the forge",
  no_access: "no access",
  slow_down: "the forge asked to slow down",
  used_up: "used up",
  not_renewed: "no new token was obtained",
} as const;

const Blocked: FC<{ quota: TokenQuota; now: number }> = ({
  quota: { blockReason, blockedUntil, blockMessage },
  now,
}) => {
  const isOver = blockedUntil !== null && blockedUntil <= now;
  if (blockReason === null || (isOver && blockReason !== "rejected")) return <>in use</>;
  return (
    <span class="wrong">
      {BLOCKED[blockReason]}
      {blockMessage === null ? "" : `: ${blockMessage}`}
      {blockedUntil === null || isOver ? "" : `, for ${durationWords(blockedUntil - now)}`}
    </span>
  );
};

/** How far tracking of each forge is: read, and shown as a table. */

/** A tracked forge, and its status as the worker last prepared it; undefined before the first time. */
export interface ForgeProgress {
  provider: string;
  status: ProviderStatus | undefined;
}

/** The progress of all tracked forges. Reads one row. */
export async function readProgress({ database, forges }: Modules): Promise<ForgeProgress[]> {
  const [prepared, tracked] = await Promise.all([readPreparedStatus(database), forges.current()]);
  return tracked.map(({ name: provider }) => ({
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
  /** Operators also see the remaining quota. */
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
        cell: ({ status }) => formatCount(status === undefined ? 0 : missingHistories(status)),
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
      {walk?.isRunning
        ? `Finds other repositories${repositories.AVAILABLE ? ", and adds them" : ""}. `
        : walk?.nextAt
          ? `Looks for other repositories in ${durationWords(walk.nextAt - now)}. `
          : ""}
      {due === 0 ? "" : `${formatCount(due)} to be read now. `}
      {growthAt !== null && growthAt > now ? (
        <>
          First growth <Ago at={growthAt} />.
        </>
      ) : null}
    </>
  );
};

/** How often the progress is updated, and the page loaded again without scripts. */
export const READING_SECONDS = 1;

/** Whether a request still has something to do. */
export const isReading = ({ finishedAt }: TrackRequest): boolean => finishedAt === null;

interface ReadingProps {
  request: TrackRequest;
  /** The part of its stars whose days are not read yet; absent: all. */
  left?: number;
  /** Whether the reader can make it faster. */
  hasOffer?: boolean;
}

/** How far a requested repository is read: back to when, and how long the rest takes; or when its forge permits more. */
export const Reading: FC<ReadingProps> = (
  { request, left = 1, hasOffer = false },
  { now }: RenderContext,
) => {
  const seconds = now === undefined ? undefined : secondsToGo(now - request.requestedAt, left);
  return (
    <div class="reading">
      <svg viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true">
        <rect class="now" width={(100 * (1 - left)).toFixed(1)} height="3" />
      </svg>
      <div class="chart-foot">
        <p role="status">
          <strong>{stateWords(request)}</strong>
          {seconds === undefined ? null : <span class="soft spare"> · {seconds} to go</span>}
        </p>
        <Wait {...request} />
        {hasOffer ? <a href={`/operator/tokens#token-${request.provider}`}>Faster with a token</a> : null}
      </div>
    </div>
  );
};

/** "4 seconds", at the pace until now; undefined before there is one. */
function secondsToGo(elapsedMs: number, left: number): string | undefined {
  const seconds = Math.ceil((elapsedMs * left) / (1 - left) / 1_000);
  if (!(left > 0 && left < 1) || seconds > 3_600) return undefined;
  return seconds < 90 ? `${seconds} second${seconds === 1 ? "" : "s"}` : waitWords(seconds);
}

/** Why nothing is read from a forge at the moment, and until when; nothing if it is. */
export const Wait: FC<Pick<TrackRequest, "provider" | "waitsUntil" | "isUnreachable">> = (
  { provider, waitsUntil, isUnreachable },
  { now = 0, isOperator = false }: RenderContext,
) => {
  const forge = forgeName(provider);
  if (isUnreachable) {
    const seconds = Math.max(1, Math.ceil(((waitsUntil ?? now) - now) / 1_000));
    return (
      <p>
        Can’t reach {forge} from this server. Trying again in {seconds} s.
      </p>
    );
  }
  return waitsUntil === null ? null : (
    <p>
      The limit of {forge} is used up; it continues at {new Date(waitsUntil).toISOString().slice(11, 16)} UTC.
      {isOperator ? (
        <>
          {" "}
          <a href="/operator/tokens">Use a token</a>
        </>
      ) : null}
    </p>
  );
};

/** Shorter waits are not worth a word. */
const LEAST_WAIT = 10;

function stateWords({ state, provider, pointsFrom, estimatedSeconds }: TrackRequest): string {
  if (state === "HISTORY" && pointsFrom !== null)
    return `Back to ${formatDate(pointsFrom).replace(/^\d+ /, "")}`;
  if (state !== "WAITING") return "Reading its history …";
  if (estimatedSeconds === null) return "Waiting: no worker is running";
  const forge = forgeName(provider);
  return estimatedSeconds < LEAST_WAIT
    ? `Asking ${forge} …`
    : `Its turn at ${forge} comes in ${waitWords(estimatedSeconds)}`;
}

function waitWords(seconds: number): string {
  if (seconds < 60) return "less than a minute";
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 90) return minutes === 1 ? "about a minute" : `about ${minutes} minutes`;
  return `about ${formatCount(Math.ceil(minutes / 60))} hours`;
}
