import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ResultRow } from "../../bench/support/results.js";
import { Random } from "../../bench/synthetic/random.js";
import { AcknowledgedWrites } from "./support/acknowledged.js";
import {
  assertHappened,
  type Harness,
  type HarnessContext,
  HarnessFailure,
  rowMaker,
} from "./support/harness.js";
import { CuttableDisk, powerProblem } from "./support/power.js";
import { fillStore, integrityOf, MAIN, signInWriters, WrittenService } from "./support/written-service.js";

const WEAK = fileURLToPath(new URL("./support/weak-service.js", import.meta.url));
const CUTS = { short: { real: 2, weak: 2 }, long: { real: 200, weak: 20 } } as const;
/** A cut comes after up to this many writes, and after this time at the latest. */
const MOST_WRITES = 60;
const LATEST_MS = 20_000;
const LOOK_MS = 2;

export const powerCuts: Harness = {
  name: "power-cuts",
  proves:
    "No acknowledged change of keys and watchlists is lost when the power fails, and none is half done; weaker settings do lose some.",
  run: cutMany,
};

async function cutMany({ scale, report }: HarnessContext): Promise<ResultRow[]> {
  const problem = powerProblem();
  if (problem !== undefined) throw new HarnessFailure(problem);
  const random = new Random(1);
  const folder = mkdtempSync(join(tmpdir(), "sidereal-cuts-"));
  try {
    const template = join(folder, "template");
    await fillStore({ url: undefined, dataDir: template });
    const rows: ResultRow[] = [];
    for (const kind of ["real", "weak"] as const) {
      const began = performance.now();
      const trials: Trial[] = [];
      for (let i = 0; i < CUTS[scale][kind]; i++) {
        trials.push(await cutOnce(kind === "real" ? [MAIN, "serve"] : [WEAK], template, random));
        report(`${kind} ${i + 1}: ${JSON.stringify(trials.at(-1))}`);
      }
      rows.push(...rowsOf(kind, trials, (performance.now() - began) / 1_000));
    }
    return rows;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What a power cut left. */
interface Trial {
  acknowledged: number;
  interrupted: number;
  /** What the service says otherwise than it was told. */
  wrong: string[];
  /** Writes that it refused before the cut. */
  refused: string[];
  /** What SQLite says about the file. */
  integrity: string;
}

async function cutOnce(program: readonly string[], template: string, random: Random): Promise<Trial> {
  const disk = new CuttableDisk();
  const running: WrittenService[] = [];
  const start = async (args: readonly string[], dataDir: string) => {
    const service = await WrittenService.start(args, { url: undefined, dataDir });
    running.push(service);
    return service;
  };
  try {
    const dataDir = join(disk.folder, "data");
    cpSync(template, dataDir, { recursive: true });
    const writers = await signInWriters({ url: undefined, dataDir });
    const service = await start(program, dataDir);
    disk.flush();
    const writes = new AcknowledgedWrites(random);
    const writing = writes.run({ url: service.url, ...writers }, new AbortController().signal);
    const enough = random.between(1, MOST_WRITES);
    const latest = performance.now() + LATEST_MS;
    while (writes.acknowledged < enough && performance.now() < latest) await setTimeout(LOOK_MS);
    disk.cut(service.pids);
    await writing;
    const { acknowledged, interrupted, refused } = writes;
    const left = join(disk.platter, "data");
    const { url } = await start([MAIN, "serve"], left);
    const wrong = await writes.check({ url, ...writers });
    return { acknowledged, interrupted, wrong, refused, integrity: integrityOf(join(left, "sidereal.db")) };
  } finally {
    for (const service of running) await service.kill();
    disk.remove();
  }
}

function rowsOf(kind: "real" | "weak", trials: readonly Trial[], seconds: number): ResultRow[] {
  const sum = (of: (trial: Trial) => number) => trials.reduce((total, trial) => total + of(trial), 0);
  const acknowledged = sum((trial) => trial.acknowledged);
  assertHappened(acknowledged, "acknowledged writes", trials.length);
  const lost = sum(({ wrong }) => wrong.length);
  const row = rowMaker({}, (measure) => (kind === "real" ? measure : `${measure}, with weaker settings`));
  // A harness that sees no loss where there must be some would see none anywhere.
  if (kind === "weak") assertHappened(lost, "acknowledged writes lost with weaker settings");
  const none = kind === "real" ? { atMost: 0 } : undefined;
  return [
    row("power cuts", trials.length, ""),
    row("acknowledged writes", acknowledged, ""),
    row(
      "writes interrupted",
      sum(({ interrupted }) => interrupted),
      "",
    ),
    row("keys and lists that are not as acknowledged", lost, "", none),
    row(
      "writes refused without a reason",
      sum(({ refused }) => refused.length),
      "",
      none,
    ),
    row(
      "files that SQLite finds damaged",
      sum(({ integrity }) => Number(integrity !== "ok")),
      "",
      {
        atMost: 0,
      },
    ),
    row("time", seconds, "s"),
  ];
}
