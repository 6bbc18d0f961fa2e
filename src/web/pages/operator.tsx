import type { FunctionComponent as FC } from "preact";
import { forgeName } from "../../config/config.js";
import type { CurrentSummary } from "../../discovery/discovery.js";
import { type Fact, Facts } from "../components/elements.js";
import { ForgeState } from "../components/forge-state.js";
import { Ago, durationWords, formatBytes, formatCount, formatDate } from "../components/numbers.js";
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
      <p class="lead">
        {tracked.length === 0 ? (
          <>
            No forge is tracked. <a href="/operator/tokens">Enter a token</a> to begin.
          </>
        ) : (
          `Tracking ${new Intl.ListFormat("en").format(tracked.map(forgeName))}.`
        )}{" "}
        {state.status === undefined ? (
          "The worker is not running."
        ) : (
          <>
            Counted by the worker <Ago at={state.status.at} now={now} />.
          </>
        )}
      </p>
      {state.status?.providers.map((status) => (
        <ForgeState status={status} now={now} isTracked={tracked.includes(status.provider)} />
      ))}
      <section>
        <h2>Requests to track</h2>
        <Facts facts={requestFacts(state, now)} />
      </section>
      <section>
        <h2>Storage</h2>
        {isDiskShort(state) ? (
          <p class="note wrong" role="note">
            Little space is left on the disk of the data folder.
          </p>
        ) : null}
        <Facts facts={storageFacts(state, summary)} />
      </section>
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

function requestFacts({ requests }: OperatorState, now: number): Fact[] {
  if (requests.length === 0) return [{ name: "Waiting", value: "none", isText: true }];
  return requests.map(({ provider, people, batch, oldest }) => ({
    name: forgeName(provider),
    value: formatCount(people + batch),
    more: `${formatCount(people)} of people, ${formatCount(batch)} of lists; the oldest for ${durationWords(now - oldest)}`,
  }));
}

function isDiskShort({ disk }: OperatorState): boolean {
  return disk !== null && disk.free < disk.total * LITTLE_SPACE;
}

function storageFacts({ status, files, disk }: OperatorState, summary: CurrentSummary): Fact[] {
  const bytes = files?.bytes ?? status?.databaseBytes;
  return [
    { name: "Repositories", value: formatCount(summary.repositories) },
    { name: "Snapshots", value: formatCount(summary.snapshots) },
    {
      name: "Database",
      value: bytes === undefined ? "waiting for the worker" : formatBytes(bytes),
      ...(files !== null && { more: `and a log of ${formatBytes(files.logBytes)}` }),
    },
    ...(disk === null
      ? []
      : [{ name: "Free on its disk", value: formatBytes(disk.free), more: `of ${formatBytes(disk.total)}` }]),
  ];
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
