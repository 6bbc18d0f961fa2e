import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ResultRow } from "../../bench/support/results.js";
import { Random } from "../../src/demo/random.js";
import { AcknowledgedWrites } from "./support/acknowledged.js";
import { assertHappened, type Harness, type HarnessContext, HarnessFailure } from "./support/harness.js";
import { CuttableDisk, powerProblem } from "./support/power.js";
import {
  fillStore,
  integrityOf,
  MAIN,
  signInWriters,
  type Writers,
  WrittenService,
} from "./support/written-service.js";

const WEAK = fileURLToPath(new URL("./support/weak-service.js", import.meta.url));
const CUTS = { short: { real: 2, weak: 2 }, long: { real: 200, weak: 20 } } as const;
/** A cut comes this long after the first writes. */
const LEAST_MS = 400;
const MOST_MS = 1_400;

export const powerCuts: Harness = {
  name: "power-cuts",
  proves:
    "No acknowledged change of keys and watchlists is lost when the power fails, and none is half done; weaker settings do lose some.",
  run: cutMany,
};

interface Template extends Writers {
  dataDir: string;
}

async function cutMany({ scale, report }: HarnessContext): Promise<ResultRow[]> {
  const problem = powerProblem();
  if (problem !== undefined) throw new HarnessFailure(problem);
  const random = new Random(1);
  const folder = mkdtempSync(join(tmpdir(), "sidereal-cuts-"));
  try {
    const template = await prepare(join(folder, "template"));
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

async function prepare(dataDir: string): Promise<Template> {
  const place = { url: undefined, dataDir };
  await fillStore(place);
  return { dataDir, ...(await signInWriters(place)) };
}

/** What a power cut left. */
interface Trial {
  acknowledged: number;
  interrupted: number;
  /** What the service says otherwise than it was told, and what it refused. */
  wrong: string[];
  /** What SQLite says about the file. */
  integrity: string;
}

async function cutOnce(
  program: readonly string[],
  { dataDir, cookies, repositoryIds }: Template,
  random: Random,
): Promise<Trial> {
  const disk = new CuttableDisk();
  const running: WrittenService[] = [];
  const start = async (args: readonly string[], folder: string) => {
    const service = await WrittenService.start(args, { url: undefined, dataDir: folder });
    running.push(service);
    return service;
  };
  const targetOf = ({ url }: WrittenService) => ({ url, cookies, repositoryIds });
  try {
    cpSync(dataDir, join(disk.folder, "data"), { recursive: true });
    const service = await start(program, join(disk.folder, "data"));
    disk.flush();
    const writes = new AcknowledgedWrites(random);
    const writing = writes.run(targetOf(service), new AbortController().signal);
    await setTimeout(LEAST_MS + random.next() * (MOST_MS - LEAST_MS));
    disk.cut(service.pids);
    await writing;
    const { acknowledged, interrupted } = writes;
    const left = join(disk.platter, "data");
    const wrong = [...writes.refused, ...(await writes.check(targetOf(await start([MAIN, "serve"], left))))];
    return { acknowledged, interrupted, wrong, integrity: integrityOf(join(left, "sidereal.db")) };
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
  const row = (measure: string, value: number, unit: string, target?: ResultRow["target"]): ResultRow => ({
    measure: kind === "real" ? measure : `${measure}, with weaker settings`,
    value,
    unit,
    ...(target && { target }),
  });
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
