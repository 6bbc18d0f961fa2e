import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import type { ResultRow } from "../../bench/support/results.js";
import { openStore, STORE_END } from "../../bench/support/stores.js";
import { fillWithSynthetic } from "../../bench/synthetic/synthetic.js";
import { updateDerived } from "../../src/modules.js";
import { DiskClient, type Send, UNCHANGED } from "./support/disk-client.js";
import {
  CALLS,
  type Call,
  type CallFault,
  countCalls,
  countInjected,
  type FullDisk,
  hasProgram,
  limitedFiles,
  mayMount,
  mountSmall,
  tracing,
  unmount,
} from "./support/disk-faults.js";
import { type DiskService, startDiskService } from "./support/disk-service.js";
import {
  assertHappened,
  type Harness,
  type HarnessContext,
  HarnessFailure,
  rowMaker,
} from "./support/harness.js";

/** Rounds of requests while the disk is full, and before and after. */
const FULL_ROUNDS = { short: 12, long: 150 } as const;
/** Rounds of requests of one process whose calls fail. */
const TRIAL_ROUNDS = 4;
/** Points at which calls fail, by call. */
const POINTS: Readonly<Record<Call, number>> = { pwrite64: 250, fsync: 50, ftruncate: 10, openat: 10 };
const RECOVERY_MS = 10_000;
const DISK_MB = 16;

export const disk: Harness = {
  name: "disk",
  proves:
    "When the disk is full or fails, no write is acknowledged that is not saved, none is saved by half, reads go on, and writes work again without a restart.",
  async run(context: HarnessContext): Promise<ResultRow[]> {
    if (!hasProgram("prlimit"))
      throw new HarnessFailure("prlimit is missing, which makes files stop growing");
    const folder = mkdtempSync(join(tmpdir(), "sidereal-disk-"));
    try {
      const template = join(folder, "template");
      await prepare(template);
      const rows = await fillFiles(template, folder, context);
      if (context.scale === "long") {
        rows.push(...(await fillDisk(template, folder, context)));
        rows.push(...(await failCalls(template, folder, context)));
      }
      return rows;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function prepare(dataDir: string): Promise<void> {
  const modules = await openStore({ url: undefined, dataDir });
  await fillWithSynthetic(modules.catalog, { repositories: 100, days: 3, seed: 1, end: STORE_END });
  await updateDerived(modules);
  await modules.database.close();
}

const sendTo =
  (url: string | undefined): Send =>
  (path, init) =>
    fetch(new URL(path, url), { ...init, signal: AbortSignal.timeout(10_000), redirect: "manual" });

/** The token of the next link in the log, or undefined where none could be made. */
const nextLink = (service: DiskService) => () =>
  service.next(/"link":"[^"]*token=([^"&]+)|could not be made/);

async function fillFiles(template: string, folder: string, context: HarnessContext): Promise<ResultRow[]> {
  const dataDir = join(folder, "limited");
  cpSync(template, dataDir, { recursive: true });
  return attackFull(dataDir, (service) => limitedFiles(service.pid, dataDir), context);
}

async function fillDisk(template: string, folder: string, context: HarnessContext): Promise<ResultRow[]> {
  const mounted = join(folder, "mounted");
  mkdirSync(mounted);
  if (!mayMount(mounted)) {
    context.report("skipped: a full disk, as this user may not mount one");
    return [];
  }
  const full = mountSmall(mounted, DISK_MB);
  try {
    const dataDir = join(mounted, "data");
    cpSync(template, dataDir, { recursive: true });
    return await attackFull(dataDir, () => full, context);
  } finally {
    unmount(mounted);
  }
}

/** Uses a service before, while and after its disk is full. */
async function attackFull(
  dataDir: string,
  diskOf: (service: DiskService) => FullDisk,
  { scale, report }: HarnessContext,
): Promise<ResultRow[]> {
  const service = await startDiskService(dataDir);
  if (service.url === undefined) throw new HarnessFailure("the service did not start");
  const client = new DiskClient(sendTo(service.url), service.url);
  const full = diskOf(service);
  assertHappened(Number(await client.signIn(nextLink(service))), "sign-ins");
  assertHappened(Number(await client.round()), "rounds before");
  full.fill();
  for (let i = 0; i < FULL_ROUNDS[scale]; i++) await client.round();
  assertHappened(client.counts.refused, `refused writes while ${full.name}`, FULL_ROUNDS[scale]);
  const reads = { ...client.counts };
  full.free();
  const recoveryMs = await recover(client);
  const lost = await client.findLost();
  const code = await service.stop();
  const half = await findDamage(dataDir);
  const { counts } = client;
  report(`${full.name}: ${JSON.stringify({ ...counts, recoveryMs, lost, half })}`);
  for (const text of client.unexpected.slice(0, 3)) report(text);
  const row = rowMaker({ engine: "sqlite" }, (what) => `${full.name}: ${what}`);
  const none = { atMost: 0 };
  return [
    row("writes acknowledged", counts.acknowledged, ""),
    row("writes refused with 503", counts.refused, ""),
    row("other responses to writes", counts.unexpected, "", none),
    row("acknowledged writes lost or half applied", lost.length + half.length, "", none),
    row("reads answered", 100 * (1 - reads.failedReads / reads.reads), "%", { atLeast: 99 }),
    row("until writes work again", recoveryMs, "ms", { atMost: RECOVERY_MS }),
    row("exit codes other than 0", Number(code !== 0), "", none),
  ];
}

/** Milliseconds until a round is acknowledged, at most RECOVERY_MS and what the last round takes. */
async function recover(client: DiskClient): Promise<number> {
  const began = performance.now();
  while (!(await client.round()) && performance.now() - began <= RECOVERY_MS) await setTimeout(50);
  return performance.now() - began;
}

/** Damage of the file, and watchlists that were created by half. */
async function findDamage(dataDir: string): Promise<string[]> {
  const { database } = await openStore({ url: undefined, dataDir });
  try {
    const checked = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(database.read);
    const broken = await sql`pragma foreign_key_check`.execute(database.read);
    const half = await sql<{ id: number }>`select w.id from watchlists w
      where w.name = ${UNCHANGED}
      and (select count(*) from watchlist_items i where i.watchlist_id = w.id) <> 3`.execute(database.read);
    return [
      ...checked.rows.map((row) => row.integrity_check).filter((text) => text !== "ok"),
      ...broken.rows.map((row) => `foreign key: ${JSON.stringify(row)}`),
      ...half.rows.map(({ id }) => `watchlist ${id} has other items`),
    ];
  } finally {
    await database.close();
  }
}

interface Trial {
  fault: CallFault;
  injected: number;
  /** Whether the service listened, and its exit code. */
  served: boolean;
  code: number | null;
  recoveryMs: number;
  client: DiskClient | undefined;
  lost: readonly string[];
}

async function failCalls(template: string, folder: string, { report }: HarnessContext): Promise<ResultRow[]> {
  if (!hasProgram("strace")) {
    report("skipped: errors of single calls, as strace is missing");
    return [];
  }
  const calm = await runTrial(template, folder, undefined);
  const counts = countCalls(join(folder, "calls"));
  report(`calls of an undisturbed service: ${JSON.stringify(counts)}`);
  assertHappened(Number(calm.recoveryMs <= RECOVERY_MS), "undisturbed runs");
  const trials: Trial[] = [];
  for (const fault of faultsFor(counts)) {
    const trial = await runTrial(template, folder, fault);
    trials.push(trial);
    const { client, ...told } = trial;
    report(
      `${trials.length}: ${JSON.stringify({ ...told, ...client?.counts, unexpected: client?.unexpected })}`,
    );
  }
  const hit = trials.filter(({ injected }) => injected > 0);
  assertHappened(hit.length, "trials with a failed call", trials.length * 0.8);
  const row = rowMaker({ engine: "sqlite" }, (what) => `failing calls: ${what}`);
  const total = (what: string, of: (trial: Trial) => number, target?: ResultRow["target"]) =>
    row(
      what,
      hit.reduce((sum, trial) => sum + of(trial), 0),
      "",
      target,
    );
  const none = { atMost: 0 };
  const served = hit.filter((trial) => trial.served);
  return [
    row("trials", hit.length, ""),
    total("calls that failed", ({ injected }) => injected),
    row("services that did not start, and ended with an error", hit.length - served.length, ""),
    total("ended otherwise", (trial) => Number(trial.served ? trial.code !== 0 : !trial.code), none),
    total("writes acknowledged", ({ client }) => client?.counts.acknowledged ?? 0),
    total("writes refused with 503", ({ client }) => client?.counts.refused ?? 0),
    total("other responses to writes", ({ client }) => client?.counts.unexpected ?? 0, none),
    total("acknowledged writes lost, half applied, or damage", ({ lost }) => lost.length, none),
    total("reads", ({ client }) => client?.counts.reads ?? 0),
    total("reads that failed", ({ client }) => client?.counts.failedReads ?? 0),
    row("longest time until writes work again", Math.max(...served.map((one) => one.recoveryMs)), "ms", {
      atMost: RECOVERY_MS,
    }),
  ];
}

/** Faults spread evenly over the calls of a run; every other one lasts for twenty calls. */
function* faultsFor(counts: Readonly<Record<Call, number>>): Generator<CallFault> {
  for (const call of CALLS) {
    const points = Math.min(POINTS[call], counts[call]);
    for (let i = 0; i < points; i++) {
      const first = 1 + Math.floor((i * counts[call]) / points);
      const error = call === "pwrite64" && i % 4 < 2 ? "ENOSPC" : "EIO";
      yield { call, error, first, length: i % 2 === 0 ? 1 : 20 };
    }
  }
}

async function runTrial(template: string, folder: string, fault: CallFault | undefined): Promise<Trial> {
  const dataDir = join(folder, "trial");
  const log = join(folder, "calls");
  cpSync(template, dataDir, { recursive: true });
  try {
    const service = await startDiskService(dataDir, tracing(dataDir, log, fault));
    const { url } = service;
    const client = url === undefined ? undefined : new DiskClient(sendTo(url), url);
    let recoveryMs = 0;
    if (client !== undefined) {
      await client.signIn(nextLink(service));
      for (let i = 0; i < TRIAL_ROUNDS; i++) await client.round();
      recoveryMs = await recover(client);
    }
    const code = await service.stop();
    const lost = await findDamage(dataDir);
    if (client !== undefined) lost.push(...(await lostAfterRestart(client, dataDir)));
    const injected = fault === undefined ? 0 : countInjected(log);
    const details = fault ?? { call: "openat", error: "EIO", first: 0, length: 0 };
    return { fault: details, injected, served: client !== undefined, code, recoveryMs, client, lost };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function lostAfterRestart(client: DiskClient, dataDir: string): Promise<string[]> {
  const service = await startDiskService(dataDir);
  if (service.url === undefined) return ["the store could not be opened again"];
  client.moveTo(sendTo(service.url), service.url);
  const lost = await client.findLost();
  await service.stop();
  return lost;
}
