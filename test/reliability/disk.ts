import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ResultRow } from "../../bench/support/results.js";
import { Random } from "../../bench/synthetic/random.js";
import { AcknowledgedWrites } from "./support/acknowledged.js";
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
import {
  assertHappened,
  type Harness,
  type HarnessContext,
  HarnessFailure,
  rowMaker,
} from "./support/harness.js";
import {
  fillStore,
  integrityOf,
  MAIN,
  signInWriters,
  type Writers,
  WrittenService,
} from "./support/written-service.js";

/** Writes that are refused while the disk is full. */
const FULL_WRITES = { short: 100, long: 1_000 } as const;
/** Writes of one process whose calls fail. */
const TRIAL_WRITES = 40;
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
      await fillStore({ url: undefined, dataDir: template });
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

async function fillFiles(template: string, folder: string, context: HarnessContext): Promise<ResultRow[]> {
  const dataDir = join(folder, "limited");
  cpSync(template, dataDir, { recursive: true });
  return attackFull(dataDir, (pid) => limitedFiles(pid, dataDir), context);
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

/** What clients write to a service, and what they read meanwhile. */
class Use {
  readonly writes = new AcknowledgedWrites(new Random(1));
  readonly reads = { sent: 0, failed: 0 };
  readonly #writers: Writers;
  readonly #url: string;

  constructor(url: string, writers: Writers) {
    this.#url = url;
    this.#writers = writers;
  }

  /** Writes and reads until so many more writes are acknowledged, or are not; at most for a time. Returns how long it took, in ms. */
  async until(
    outcome: "acknowledged" | "interrupted",
    count: number,
    latestMs = RECOVERY_MS,
  ): Promise<number> {
    const began = performance.now();
    const enough = this.writes[outcome] + count;
    const writing = new AbortController();
    const written = this.writes.run({ url: this.#url, ...this.#writers }, writing.signal);
    while (this.writes[outcome] < enough && performance.now() - began < latestMs) await this.#read();
    const took = performance.now() - began;
    writing.abort();
    await written;
    return took;
  }

  async #read(): Promise<void> {
    this.reads.sent++;
    const path = `/api/repos?limit=1&page=${1 + (this.reads.sent % 50)}&sort=stars`;
    const response = await fetch(this.#url + path).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.status !== 200) this.reads.failed++;
  }
}

/** Uses a service before, while and after its disk is full. */
async function attackFull(
  dataDir: string,
  diskOf: (pid: number) => FullDisk,
  { scale, report }: HarnessContext,
): Promise<ResultRow[]> {
  const place = { url: undefined, dataDir };
  const writers = await signInWriters(place);
  const service = await WrittenService.start([MAIN, "serve"], place);
  const use = new Use(service.url, writers);
  const { writes } = use;
  const full = diskOf(service.pids[0] ?? 0);
  await use.until("acknowledged", 5);
  assertHappened(writes.acknowledged, "writes before", 5);
  full.fill();
  const earlier = writes.interrupted;
  await use.until("interrupted", FULL_WRITES[scale]);
  const refused = writes.interrupted - earlier;
  assertHappened(refused, `refused writes while ${full.name}`, FULL_WRITES[scale]);
  const reads = { ...use.reads };
  full.free();
  const recoveryMs = await use.until("acknowledged", 1);
  const lost = await writes.check(service);
  const code = await service.stop();
  const integrity = integrityOf(join(dataDir, "sidereal.db"));
  report(`${full.name}: ${JSON.stringify({ refused, reads, recoveryMs, lost, integrity })}`);
  for (const text of writes.refused.slice(0, 3)) report(text);
  const row = rowMaker({ engine: "sqlite" }, (what) => `${full.name}: ${what}`);
  const none = { atMost: 0 };
  return [
    row("writes acknowledged", writes.acknowledged, ""),
    row("writes not acknowledged", refused, ""),
    row("other responses to writes", writes.refused.length, "", none),
    row("acknowledged writes lost or half applied", lost.length, "", none),
    row("files that SQLite finds damaged", Number(integrity !== "ok"), "", none),
    row("reads answered", 100 * (1 - reads.failed / reads.sent), "%", { atLeast: 99 }),
    row("until writes work again", recoveryMs, "ms", { atMost: RECOVERY_MS }),
    row("exit codes other than 0", Number(code !== 0), "", none),
  ];
}

interface Trial {
  fault: CallFault;
  injected: number;
  /** Its exit code; undefined: it did not start. */
  code: number | null | undefined;
  recoveryMs: number;
  use: Use | undefined;
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
    const { use, ...told } = trial;
    report(
      `${trials.length}: ${JSON.stringify({ ...told, reads: use?.reads, refused: use?.writes.refused })}`,
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
  const served = hit.filter(({ use }) => use !== undefined);
  return [
    row("trials", hit.length, ""),
    total("calls that failed", ({ injected }) => injected),
    row("services that did not start, and ended with an error", hit.length - served.length, ""),
    total("ended otherwise", ({ code }) => Number(code !== undefined && code !== 0), none),
    total("writes acknowledged", ({ use }) => use?.writes.acknowledged ?? 0),
    total("writes not acknowledged", ({ use }) => use?.writes.interrupted ?? 0),
    total("other responses to writes", ({ use }) => use?.writes.refused.length ?? 0, none),
    total("acknowledged writes lost, half applied, or damage", ({ lost }) => lost.length, none),
    total("reads", ({ use }) => use?.reads.sent ?? 0),
    total("reads that failed", ({ use }) => use?.reads.failed ?? 0),
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
  const place = { url: undefined, dataDir };
  try {
    const writers = await signInWriters(place);
    const service = await WrittenService.start(
      [MAIN, "serve"],
      place,
      {},
      tracing(dataDir, log, fault),
    ).catch(() => undefined);
    const use = service && new Use(service.url, writers);
    await use?.until("acknowledged", TRIAL_WRITES);
    const recoveryMs = (await use?.until("acknowledged", 1)) ?? 0;
    const code = await service?.stop();
    const integrity = integrityOf(join(dataDir, "sidereal.db"));
    const lost = integrity === "ok" ? [] : [integrity];
    const again = await WrittenService.start([MAIN, "serve"], place);
    lost.push(...((await use?.writes.check(again)) ?? []));
    await again.stop();
    const injected = fault === undefined ? 0 : countInjected(log);
    const details = fault ?? { call: "openat", error: "EIO", first: 0, length: 0 };
    return { fault: details, injected, code, recoveryMs, use, lost };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
