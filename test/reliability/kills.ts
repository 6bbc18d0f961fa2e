import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { addKeys } from "../../bench/support/keys.js";
import type { ResultRow } from "../../bench/support/results.js";
import { openStore } from "../../bench/support/stores.js";
import { Random } from "../../bench/synthetic/random.js";
import { DAY_MS, isoTime, systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { updateDerived } from "../../src/modules.js";
import { checkStore } from "../../src/transfer/check.js";
import { importFiles } from "../../src/transfer/import.js";
import { type Forge, startForge } from "../support/forge/forge.js";
import { rankingFile } from "../support/imports.js";
import { limits } from "../support/limits.js";
import { AcknowledgedWrites } from "./support/acknowledged.js";
import { assertHappened, countMaker, type Harness, type HarnessContext } from "./support/harness.js";
import { startKeyedClients } from "./support/keyed-clients.js";
import {
  environment,
  fillStore,
  integrityOf,
  MAIN,
  type Place,
  signInWriters,
  WrittenService,
} from "./support/written-service.js";

const KILLS = { short: 4, long: Number(process.env.KILLS ?? 1_000) } as const;
/** A kill comes after up to this many writes of a service that has just started, once it tracks, and after this time at the latest. */
const MOST_WRITES = 25;
const LATEST_MS = 5_000;
const LOOK_MS = 2;
/** A new key needs a sign-in a quarter of an hour ago at most, so clients sign in again after this. */
const SIGN_IN_EVERY_MS = 8 * 60_000;
/** One of this many kills hits an import too. */
const IMPORT_EVERY = 3;
const IMPORTED = 3_000;

export const kills: Harness = {
  name: "kills",
  proves:
    "No acknowledged change of keys, sessions, watchlists and requests is lost when all processes are killed while they serve, track and import, and none is half done.",
  async run(context) {
    const folder = mkdtempSync(join(tmpdir(), "sidereal-kills-"));
    const forge = await startForge({ kind: "github", clock: systemClock, repositories: 300 });
    try {
      return await killMany(context, folder, forge);
    } finally {
      await forge.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function killMany(
  { scale, report }: HarnessContext,
  folder: string,
  forge: Forge,
): Promise<ResultRow[]> {
  const place = { url: undefined, dataDir: join(folder, "data") };
  const settings = {
    SIDEREAL_GITHUB_URL: forge.url,
    SIDEREAL_GITHUB_PRIVATE: "true",
    SIDEREAL_GITHUB_TOKENS: "token",
    SIDEREAL_TRACK: "accounts",
    ...limits("tracked=1000000"),
  };
  await fillStore(place);
  const files = writeFiles(folder);
  const random = new Random(1);
  const writes = new AcknowledgedWrites(random);
  const began = performance.now();
  const wrong: string[] = [];
  let damaged = 0;
  let received = 0;
  let imports = 0;
  const [key = ""] = await addKeys({ engine: "sqlite", ...place }, 1);
  let writers = await signInWriters(place);
  let signedInAt = began;
  let service: WrittenService | undefined;
  try {
    for (let i = 0; i <= KILLS[scale]; i++) {
      if (performance.now() - signedInAt > SIGN_IN_EVERY_MS) {
        writers = await signInWriters(place);
        signedInAt = performance.now();
      }
      service = await WrittenService.start([MAIN, "start"], place, settings);
      const target = { url: service.url, canRequest: true, ...writers };
      wrong.push(...(await writes.check(target)));
      // The last one is only looked at.
      if (i === KILLS[scale]) break;
      const writing = writes.run(target, new AbortController().signal);
      const clients = startKeyedClients(service.url, key, 2);
      const importing = i % IMPORT_EVERY === 0 ? spawnImport(place.dataDir, files) : undefined;
      const enough = writes.acknowledged + random.between(0, MOST_WRITES);
      const latest = performance.now() + LATEST_MS;
      const isEnough = () => writes.acknowledged >= enough && forge.counters.requests > 0;
      while (!isEnough() && performance.now() < latest) await setTimeout(LOOK_MS);
      await Promise.all([service.kill(), importing?.kill()]);
      await Promise.all([writing, clients.stop()]);
      received += clients.received.complete;
      if (importing !== undefined) imports++;
      const integrity = integrityOf(join(place.dataDir, "sidereal.db"));
      if (integrity !== "ok") damaged++;
      report(`${i + 1}: ${writes.acknowledged} acknowledged, ${wrong.length} wrong, ${integrity}`);
    }
  } finally {
    await service?.kill();
  }
  for (const line of [...wrong, ...writes.refused].slice(0, 20)) report(line);
  assertHappened(writes.acknowledged, "acknowledged writes", KILLS[scale]);
  assertHappened(received, "responses to keyed clients");
  assertHappened(forge.counters.requests, "requests to the forge");
  for (const [what, count] of writes.counts()) report(`${count} of the kind ${what}`);
  const examineStore = () => checkStore(place, systemClock, createLog("silent"));
  const left = (await examineStore()).findings;
  await complete(place, files);
  const completed = (await examineStore()).findings;
  for (const finding of [...left, ...completed]) report(JSON.stringify(finding));
  const row = countMaker({ engine: "sqlite" });
  const none = { atMost: 0 };
  return [
    row("kills of all processes", KILLS[scale]),
    row("of these, while a file was imported", imports),
    row("acknowledged writes", writes.acknowledged),
    row("writes interrupted", writes.interrupted),
    row("responses to clients with keys", received),
    row("keys, sessions, lists and requests that are not as acknowledged", wrong.length, none),
    row("writes refused without a reason", writes.refused.length, none),
    row("times that SQLite finds its file damaged", damaged, none),
    row("kinds of damage that a check finds after the last kill", left.length, none),
    row("the same, after completing the import", completed.length, none),
    { ...row("time", (performance.now() - began) / 1_000), unit: "s" },
  ];
}

/** Files of an archive, more rows than one transaction takes. */
function writeFiles(folder: string): string[] {
  return [2, 1].map((daysAgo) => {
    const path = join(folder, `ranking-${isoTime(Date.now() - daysAgo * DAY_MS).slice(0, 10)}.csv`);
    const rows = Array.from({ length: IMPORTED }, (_, i) => ({
      repo_url: `https://github.com/archived${i % 50}/repository-${i}`,
      stars: String(1_000 + i * 3 - daysAgo),
      language: i % 3 === 0 ? "Go" : "Rust",
    }));
    writeFileSync(path, rankingFile(...rows));
    return path;
  });
}

/** An import in a process of its own. */
function spawnImport(dataDir: string, files: readonly string[]): { kill(): Promise<void> } {
  const child = spawn(process.execPath, [MAIN, "import", ...files], {
    env: { ...environment(), SIDEREAL_DATA_DIR: dataDir, SIDEREAL_LOG_LEVEL: "fatal" },
    stdio: "ignore",
  });
  const ended = once(child, "exit");
  return {
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Completes the import, and brings everything up to date. */
async function complete(place: Place, files: readonly string[]): Promise<void> {
  const modules = await openStore(place);
  try {
    await importFiles(modules.catalog, files);
    await updateDerived(modules);
  } finally {
    await modules.database.close();
  }
}
