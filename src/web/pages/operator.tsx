import { stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { FunctionComponent as FC } from "preact";
import { readMailUse } from "../../accounts/accounts.js";
import { forgeName } from "../../config/config.js";
import { readOpenRequests, readPreparedStatus } from "../../tracking/tracking.js";
import { Dumps, readBackupNote } from "../../transfer/transfer.js";
import { ActionButton, type Fact, Facts } from "../components/elements.js";
import {
  durationWords,
  formatBytes,
  formatCount,
  formatDate,
  repositoriesText,
} from "../components/numbers.js";
import { ForgeState, isInterrupted } from "../components/tracking-state.js";
import type { OperatorRequest, Page } from "../page-request.js";

/** How often the page updates itself. */
const REFRESH_SECONDS = 10;
/** Free space of a disk, as a part of it, below which the page warns. */
const LITTLE_SPACE = 0.1;

/** Most of what an instance tracks is there. */
const gitHubFirst = (a: { provider: string }, b: { provider: string }) =>
  Number(b.provider === "GITHUB") - Number(a.provider === "GITHUB");

/** How the service does, for its operators. */
export async function showOperator(request: OperatorRequest): Promise<Page> {
  const { operator, now } = request;
  const state = await readOperatorState(request);
  const { tracked } = state;
  const { disk } = state;
  const isDiskShort = disk !== null && disk.free < disk.total * LITTLE_SPACE;
  return {
    title: "Status",
    refreshSeconds: REFRESH_SECONDS,
    isLive: true,
    body: (
      <>
        <Head canLeave={operator.accountId === null} />
        <div data-live="operation">
          <div class="tiles">
            {tilesOf(request, state).map(({ name, value, more }) => (
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
          {isDiskShort ? (
            <p class="note wrong" role="note">
              Little space is left on the disk of the data folder.
            </p>
          ) : null}
          {state.status?.providers.toSorted(gitHubFirst).map((status) => (
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
    ),
  };
}

/** The heading and what operators can do. Only a session that a key began can be left. */
const Head: FC<{ canLeave: boolean }> = ({ canLeave }) => (
  <div class="apart">
    <h1>Status</h1>
    <div class="buttons">
      <a class="button press" href="/operator/tokens">
        Forge tokens
      </a>
      <a class="button" href="/track">
        Track repositories
      </a>
      <a class="button" href="/operator/untrack">
        Untrack
      </a>
      <a class="button" href="/operator/hidden">
        Hidden
      </a>
      <a class="button" href="/operator/accounts">
        Accounts
      </a>
      <a class="button" href="/operator/log">
        Log
      </a>
      {canLeave ? <ActionButton action="/operator/leave">Leave</ActionButton> : null}
    </div>
  </div>
);

/** Whether forges are read, how much waits, how recent the counts are, and how much space they take. */
function tilesOf(
  { summary, now }: OperatorRequest,
  { tracked, status, requests, files, disk }: OperatorState,
): Fact[] {
  const failing = (status?.providers ?? []).filter(
    ({ provider, worker }) => tracked.includes(provider) && isInterrupted(worker, now),
  );
  const [people, lists] = (["people", "batch"] as const).map((kind) =>
    requests.reduce((sum, request) => sum + request[kind], 0),
  );
  const oldest = Math.min(now, ...requests.map((request) => request.oldest));
  const stale = summary.repositories - summary.freshRepositories;
  const bytes = files === null ? status?.databaseBytes : files.bytes + files.logBytes;
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
      value: summary.asOf === null ? "–" : `${durationWords(now - summary.asOf)} ago`,
      more: `${repositoriesText(summary.repositories)}${stale === 0 ? "" : `; ${formatCount(stale)} no longer seen`}`,
    },
    {
      name: "Storage",
      value: bytes === undefined ? "waiting for the worker" : formatBytes(bytes),
      more: `${formatCount(summary.snapshots)} snapshots${
        disk === null ? "" : `; ${formatBytes(disk.free)} of ${formatBytes(disk.total)} free`
      }`,
    },
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

type OperatorState = Awaited<ReturnType<typeof readOperatorState>>;

/** Reads small tables, one prepared document and the sizes of files: some milliseconds for any size of the catalogue. */
async function readOperatorState({ modules, site, now }: OperatorRequest) {
  const { database } = modules;
  const { databaseUrl, dataDir, dumps } = site.storage;
  const isFile = databaseUrl === undefined && dataDir !== ":memory:";
  const [forges, status, requests, mail, files, disk, listed, backup] = await Promise.all([
    modules.forges.current(),
    readPreparedStatus(database),
    readOpenRequests(database.read),
    readMailUse(database.read, now),
    isFile ? sizesOf(dataDir) : null,
    dataDir === ":memory:" ? null : diskOf(dataDir),
    dumps === undefined ? null : new Dumps(dumps.folder).list().catch(() => []),
    dataDir === ":memory:" ? null : readBackupNote(dataDir),
  ]);
  return {
    tracked: forges.map(({ name }) => name),
    status,
    requests,
    mail,
    files,
    disk,
    dumps: listed && { count: listed.length, newest: listed[0]?.asOf ?? null },
    backup,
    cache: site.cache?.state ?? null,
    memory: process.memoryUsage.rss(),
    uptimeMs: process.uptime() * 1_000,
  };
}

async function sizesOf(dataDir: string): Promise<{ bytes: number; logBytes: number }> {
  const sizeOf = (name: string) =>
    stat(join(dataDir, name)).then(
      ({ size }) => size,
      () => 0,
    );
  const [bytes, logBytes] = await Promise.all([sizeOf("sidereal.db"), sizeOf("sidereal.db-wal")]);
  return { bytes, logBytes };
}

async function diskOf(dataDir: string): Promise<{ free: number; total: number } | null> {
  try {
    const { bavail, blocks, bsize } = await statfs(dataDir);
    return { free: bavail * bsize, total: blocks * bsize };
  } catch {
    return null;
  }
}
