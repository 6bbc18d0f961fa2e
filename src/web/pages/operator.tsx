import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import type { CurrentSummary } from "../../discovery/discovery.js";
import { type Fact, Facts } from "../components/elements.js";
import { ForgeState, isInterrupted } from "../components/forge-state.js";
import { durationWords, formatBytes, formatCount, formatDate } from "../components/numbers.js";
import { type OperatorState, readOperatorState } from "../operator-state.js";
import type { OperatorRequest, Page } from "../page-request.js";

/** How often the page updates itself. */
const REFRESH_SECONDS = 10;
/** Free space of a disk, as a part of it, below which the page warns. */
const LITTLE_SPACE = 0.1;

/** How the service does, for its operators. */
export async function showOperator(request: OperatorRequest): Promise<Page> {
  const { summary, tracked, operator, now } = request;
  const state = await readOperatorState(request);
  return {
    title: "Status",
    refreshSeconds: REFRESH_SECONDS,
    isLive: true,
    body: <Operation {...{ state, summary, tracked, now }} isAtMachine={operator.accountId === null} />,
  };
}

interface OperationProps {
  state: OperatorState;
  summary: CurrentSummary;
  tracked: readonly string[];
  now: number;
  /** Whether the operator has no account, but a session at the machine. */
  isAtMachine: boolean;
}

const Operation: FC<OperationProps> = ({ state, summary, tracked, now, isAtMachine }) => (
  <>
    <div class="apart">
      <h1>Status</h1>
      <div class="buttons">
        <a class="button press" href="/operator/tokens">
          Forge tokens
        </a>
        <a class="button" href="/track">
          Track repositories
        </a>
        {isAtMachine ? (
          <form method="post" action="/operator/leave">
            <button type="submit">Leave</button>
          </form>
        ) : null}
      </div>
    </div>
    <div data-live="operation">
      <div class="tiles">
        {tilesOf({ state, summary, tracked, now }).map(({ name, value, more }) => (
          <p class="tile">
            <span>{name}</span>
            <strong>{value}</strong>
            <small class="soft">{more}</small>
          </p>
        ))}
      </div>
      {tracked.length > 0 ? null : (
        <p>
          No forge is tracked. <a href="/operator/tokens">Enter a token</a>
        </p>
      )}
      {isDiskShort(state) ? (
        <p class="note wrong" role="note">
          Little space is left on the disk of the data folder.
        </p>
      ) : null}
      {state.status?.providers.map((status) => (
        <ForgeState status={status} now={now} isTracked={tracked.includes(status.provider)} />
      ))}
      <section>
        <h2>Jobs</h2>
        <Facts facts={jobFacts(state, now)} />
      </section>
      <section>
        <h2>This process</h2>
        <Facts facts={processFacts(state)} />
      </section>
    </div>
  </>
);

type TileProps = Pick<OperationProps, "state" | "summary" | "tracked" | "now">;

/** Whether forges are read, how much waits, how recent the counts are, and how much space they take. */
function tilesOf({ state: { status, requests, files, disk }, summary, tracked, now }: TileProps): Fact[] {
  const failing = (status?.providers ?? []).filter(
    ({ provider, worker }) => tracked.includes(provider) && isInterrupted(worker ?? undefined, now),
  );
  const [people, lists] = (["people", "batch"] as const).map((kind) =>
    requests.reduce((sum, request) => sum + request[kind], 0),
  );
  const oldest = Math.min(now, ...requests.map((request) => request.oldest));
  const fresh = summary.freshRepositories;
  const bytes = files?.bytes ?? status?.databaseBytes;
  return [
    {
      name: "Forges",
      value:
        failing.length > 0 ? `${failing.length} of ${tracked.length} failing` : formatCount(tracked.length),
      more: status === undefined ? "The worker is not running." : tracked.map(forgeName).join(", "),
    },
    {
      name: "Queue",
      value: formatCount((people ?? 0) + (lists ?? 0)),
      more:
        requests.length === 0
          ? "nothing waits"
          : `${formatCount(people ?? 0)} of people, ${formatCount(lists ?? 0)} of lists; oldest ${durationWords(now - oldest)}`,
    },
    {
      name: "Freshness",
      value: `${formatCount(fresh)} of ${formatCount(summary.repositories)}`,
      more: `repositories with recent counts; ${formatCount(summary.snapshots)} snapshots`,
    },
    {
      name: "Storage",
      value: bytes === undefined ? "waiting for the worker" : formatBytes(bytes),
      more: [
        ...(files === null ? [] : [`log ${formatBytes(files.logBytes)}`]),
        ...(disk === null ? [] : [`${formatBytes(disk.free)} of ${formatBytes(disk.total)} free`]),
      ].join(", "),
    },
  ];
}

function isDiskShort({ disk }: OperatorState): boolean {
  return disk !== null && disk.free < disk.total * LITTLE_SPACE;
}

function jobFacts({ dumps, backup, mail }: OperatorState, now: number): Fact[] {
  const refused = Object.values(mail.refused).reduce((sum, times) => sum + times, 0);
  return [
    {
      name: "Last backup",
      value: backup === null ? "never" : `${durationWords(now - backup.takenAt)} ago`,
      more: backup === null ? "Run sidereal backup" : formatBytes(backup.fileBytes),
      isText: true,
    },
    {
      name: "Dumps",
      value: dumps === null ? "off" : formatCount(dumps.count),
      ...(dumps?.newest && { more: `newest ${formatDate(Date.parse(dumps.newest))}` }),
      isText: dumps === null,
    },
    {
      name: "Emails, last 2 hours",
      value: formatCount(mail.sent),
      ...(refused > 0 && { more: `${formatCount(refused)} over a limit` }),
    },
  ];
}

function processFacts({ cache, memory, uptimeMs }: OperatorState): Fact[] {
  const asked = (cache?.hits ?? 0) + (cache?.misses ?? 0);
  return [
    {
      name: "Cached responses used",
      value: cache === null || asked === 0 ? "–" : `${Math.round((100 * cache.hits) / asked)} %`,
      more: `of ${formatCount(asked)} requests for public data`,
    },
    {
      name: "Cache",
      value: cache === null ? "–" : cache.maxBytes === 0 ? "off" : formatBytes(cache.bytes),
      ...(cache !== null &&
        cache.maxBytes > 0 && {
          more: `of ${formatBytes(cache.maxBytes)}, ${formatCount(cache.responses)} responses`,
        }),
    },
    { name: "Memory", value: formatBytes(memory), more: "of all threads that serve" },
    { name: "Running for", value: durationWords(uptimeMs), isText: true },
  ];
}
