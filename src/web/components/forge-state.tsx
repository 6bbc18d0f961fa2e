import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import type { TokenQuota } from "../../forges/forges.js";
import type { ProviderStatus } from "../../tracking/tracking.js";
import { type Fact, Facts, Scroll } from "./elements.js";
import { Ago, durationWords, formatCount } from "./numbers.js";

interface ForgeStateProps {
  status: ProviderStatus;
  now: number;
  isTracked: boolean;
}

/** A worker that has not reported for this long is probably not running. */
const SILENT_MS = 60_000;

/** The last report about a forge; undefined: none in the last day. */
export type LastReport = NonNullable<ProviderStatus["worker"]> | undefined;

/** Whether a forge that was to be read is not: it fails, or the worker is silent. */
export function isInterrupted(worker: LastReport, now: number): boolean {
  return worker !== undefined && (worker.report.failing !== null || now - worker.at > SILENT_MS);
}

interface InterruptionProps {
  provider: string;
  worker: LastReport;
  now: number;
}

/** Why a forge is not read, for operators: the words of the failure, or that the worker is silent. Nothing if it is read. */
export const Interruption: FC<InterruptionProps> = ({ provider, worker, now }) => {
  if (worker !== undefined && !isInterrupted(worker, now)) return null;
  return (
    <div class="note wrong" role="note">
      <p>
        <a href={`/operator#forge-${provider}`}>{forgeName(provider)}</a>:{" "}
        <Reason worker={worker ?? undefined} now={now} />
      </p>
    </div>
  );
};

const Reason: FC<Pick<InterruptionProps, "worker" | "now">> = ({ worker, now }) => {
  if (worker === undefined) return <>no worker has reported in the last 24 hours.</>;
  const { failing, site } = worker.report;
  if (failing === null || now - worker.at > SILENT_MS)
    return (
      <>
        the worker last reported <Ago at={worker.at} now={now} />. It may not be running.
      </>
    );
  return (
    <>
      requests to {site} have failed for {durationWords(now - failing.since)}, the last{" "}
      <Ago at={failing.at} now={now} />: <strong>{failing.message}</strong>.
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
  return (
    <section aria-labelledby={`forge-${provider}`}>
      <h2 id={`forge-${provider}`}>{forgeName(provider)}</h2>
      {isTracked ? null : (
        <p class="soft">No longer tracked: its repositories stay, and their counts grow old.</p>
      )}
      {isTracked ? <Interruption provider={provider} worker={worker ?? undefined} now={now} /> : null}
      <Facts facts={factsOf(status, now)} />
      {worker === null ? null : (
        <>
          <Quota quota={worker.report.quota} now={now} name={forgeName(provider)} />
          <Failures failures={worker.report.recentFailures} now={now} name={forgeName(provider)} />
          <p class="soft small">
            Worker <code>{worker.report.worker}</code>, started <Ago at={worker.report.startedAt} now={now} />
            , last response <Ago at={worker.report.lastSuccessAt} now={now} />:{" "}
            {formatCount(worker.report.refreshed)} refreshed, {formatCount(worker.report.listed)} read from
            lists, {formatCount(worker.report.discovered)} discovered, {formatCount(worker.report.backfilled)}{" "}
            snapshots of past days
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

function factsOf(status: ProviderStatus, now: number): Fact[] {
  const { repositories, freshness, olderThanADay, due, overdue, walk, backfillWaiting, newToday } = status;
  const { AVAILABLE = 0, ...unavailable } = repositories;
  const others = Object.entries(unavailable).map(
    ([state, count]) => `${formatCount(count)} ${state.toLowerCase()}`,
  );
  return [
    {
      name: "Repositories",
      value: formatCount(AVAILABLE),
      more: others.length === 0 ? "all available" : others.join(", "),
    },
    freshness === null
      ? { name: "Counts read", value: "not yet", isText: true }
      : {
          name: "Counts read (half of them)",
          value: `${durationWords(freshness.median)} ago`,
          more: `99 % within ${durationWords(freshness.p99)}; ${formatCount(olderThanADay)} over a day ago`,
          isText: true,
        },
    {
      name: "Refreshes due",
      value: formatCount(due),
      more: `${formatCount(overdue)} for over an hour`,
    },
    {
      name: "Discovery",
      value: walk === null ? "not started" : walk.isRunning ? "running" : "waiting",
      more: walk === null ? "" : walkWords(walk, now),
      isText: true,
    },
    {
      name: "Star histories to read",
      value: formatCount(backfillWaiting),
      more: `${formatCount(status.rechecksWaiting)} counts to read again`,
    },
    {
      name: "Avatars",
      value: formatCount(status.avatars.images),
      more: `of ${formatCount(status.avatars.wanted)} owners on lists`,
    },
    {
      name: "Lost today",
      value: formatCount(status.lostToday),
      more: `${formatCount(status.missing.waiting)} reported missing, not believed yet`,
    },
    ...(newToday.surplus === 0
      ? []
      : [
          {
            name: "New today",
            value: formatCount(newToday.added),
            more: `${formatCount(newToday.surplus)} more listed and left out by the limit of a day`,
          },
        ]),
  ];
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
  slow_down: "the forge asked to slow down",
  used_up: "used up",
  not_renewed: "no new token was obtained",
} as const;

const Quota: FC<{ quota: readonly TokenQuota[]; now: number; name: string }> = ({ quota, now, name }) =>
  quota.length === 0 ? null : (
    <Scroll label={`Quota of ${name}`}>
      <table>
        <caption class="hidden">Quota of {name}</caption>
        <thead>
          <tr>
            <th scope="col">Token</th>
            <th scope="col">Limit</th>
            <th scope="col" class="number">
              Left
            </th>
            <th scope="col">Renewed</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {quota.map(
            ({ token, resource, remaining, limit, resetAt, blockReason, blockedUntil, blockMessage }) => {
              const isOver = blockedUntil !== null && blockedUntil <= now && blockReason !== "rejected";
              return (
                <tr>
                  <th scope="row">{token}</th>
                  <td>{resource}</td>
                  <td class="number">
                    {formatCount(remaining)} of {formatCount(limit)}
                  </td>
                  <td>{resetAt === null || resetAt <= now ? "–" : <Ago at={resetAt} now={now} />}</td>
                  <td>
                    {blockReason === null || isOver ? (
                      "in use"
                    ) : (
                      <span class="wrong">
                        {BLOCKED[blockReason]}
                        {blockMessage === null ? "" : `: ${blockMessage}`}
                        {blockedUntil === null || blockedUntil <= now
                          ? ""
                          : `, for ${durationWords(blockedUntil - now)}`}
                      </span>
                    )}
                  </td>
                </tr>
              );
            },
          )}
        </tbody>
      </table>
    </Scroll>
  );

type Failure = NonNullable<ProviderStatus["worker"]>["report"]["recentFailures"][number];

const Failures: FC<{ failures: readonly Failure[]; now: number; name: string }> = ({
  failures,
  now,
  name,
}) =>
  failures.length === 0 ? (
    <p class="soft">No failures since the worker started.</p>
  ) : (
    <Scroll label={`Failures of ${name}`}>
      <table>
        <caption class="hidden">Latest failures of {name}</caption>
        <thead>
          <tr>
            <th scope="col">Failure</th>
            <th scope="col" class="number">
              Times
            </th>
            <th scope="col">Last</th>
            <th scope="col">Message</th>
          </tr>
        </thead>
        <tbody>
          {failures.map(({ kind, count, at, message }) => (
            <tr>
              <th scope="row">{kind}</th>
              <td class="number">{formatCount(count)}</td>
              <td>
                <Ago at={at} now={now} />
              </td>
              <td class="words">{message}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
