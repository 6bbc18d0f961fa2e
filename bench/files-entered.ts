/**
 * Counts the files of `src` that a warm request enters: those with a function that runs for it, by V8's precise coverage, on a store in a
 * file. `npm run -s build && node dist/bench/files-entered.js` prints the files of each request; `test/budgets.test.ts` bounds them.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildFront } from "../src/app/service.js";
import { loadConfig } from "../src/config/config.js";
import { type Database, openDatabase } from "../src/database/database.js";
import { DAY_MS, HOUR_MS } from "../src/lib/clock.js";
import { createLog } from "../src/lib/log.js";
import { buildModules, updateDerived } from "../src/modules.js";
import { RefreshLane } from "../src/tracking/refresh-lane.js";
import { inject } from "../test/support/inject.js";
import { ManualClock } from "../test/support/manual-clock.js";
import { createTrackingWorld, laneOf } from "../test/support/tracking.js";
import { fillWithSynthetic } from "./synthetic/synthetic.js";

const WARM_ROUNDS = 20;
const REPOSITORIES = 500;
const NOW = Date.UTC(2026, 0, 10);
const SOURCE = fileURLToPath(new URL("../src/", import.meta.url));
const log = createLog("silent");

const REQUESTS = {
  "cached list": { path: "/api/repos?sort=stars", cacheMb: "64" },
  search: { path: "/api/repos?q=parser&sort=stars-gained", cacheMb: "0" },
  "repository page": { path: undefined, cacheMb: "0" },
} as const;

/** What is measured: three requests, the last two without a cache, and a batch of repositories that a worker refreshes. */
export type Walk = keyof typeof REQUESTS | "refresh";

/** Files of `src` without their endings, by walk. No other work may run in this process. */
export async function filesEntered(): Promise<Map<Walk, string[]>> {
  const profiler = new Session();
  profiler.connect();
  await profiler.post("Profiler.enable");
  await profiler.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  const folder = mkdtempSync(join(tmpdir(), "sidereal-walks-"));
  const open = (name: string) => openDatabase({ url: undefined, dataDir: join(folder, name), pool: 1, log });
  try {
    const walks = await walkRequests(profiler, await open("requests"));
    return new Map([...walks, ["refresh", await walkRefresh(profiler, await open("refresh"))]]);
  } finally {
    profiler.disconnect();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The files that run while `work` does, after some rounds of it. */
async function filesOf(profiler: Session, work: () => Promise<unknown>): Promise<string[]> {
  for (let round = 0; round < WARM_ROUNDS; round++) await work();
  await profiler.post("Profiler.takePreciseCoverage");
  await work();
  const { result } = await profiler.post("Profiler.takePreciseCoverage");
  const entered = result.filter(({ functions }) =>
    functions.some(({ ranges: [range] }) => (range?.count ?? 0) > 0),
  );
  return entered
    .filter(({ url }) => url.startsWith("file:"))
    .map(({ url }) => fileURLToPath(url))
    .filter((path) => path.startsWith(SOURCE))
    .map((path) => path.slice(SOURCE.length).replace(/\.js$/, ""))
    .sort();
}

async function walkRequests(profiler: Session, database: Database): Promise<[Walk, string[]][]> {
  // Its time stands still, so that nothing becomes due during a request.
  const clock = new ManualClock(NOW);
  const modules = buildModules(database, { clock, log });
  await fillWithSynthetic(modules.catalog, { repositories: REPOSITORIES, days: 40, seed: 1, end: NOW });
  await updateDerived(modules);
  const [repository] = await modules.catalog.findMany([11]);
  const page = `/repos/${repository?.provider.toLowerCase()}/${repository?.fullName}`;
  const walks: [Walk, string[]][] = [];
  for (const [walk, { path = page, cacheMb }] of Object.entries(REQUESTS)) {
    const config = loadConfig({ SIDEREAL_CACHE_MB: cacheMb });
    const front = buildFront({ config, clock, log }, modules);
    const handle = (...[message, reply]: Parameters<Parameters<typeof inject>[0]>) =>
      void front.handle(message, reply);
    const files = await filesOf(profiler, async () => {
      const { status } = await inject(handle, new Request(`http://localhost${path}`), "127.0.0.1");
      if (status !== 200) throw new Error(`${path} returned ${status}`);
    });
    walks.push([walk as Walk, files]);
  }
  await database.close();
  return walks;
}

/** One batch of due repositories, from the lane to the recorded commit. */
async function walkRefresh(profiler: Session, database: Database): Promise<string[]> {
  const forge = {
    kind: "github",
    name: "GITHUB",
    repositories: 50,
    catalogue: "quiet",
    hasHistory: false,
  } as const;
  const world = await createTrackingWorld(database, [forge]);
  const { clock, opened, stop, pass, close } = world;
  await pass(24 * HOUR_MS);
  await stop();
  const [provider] = opened;
  if (provider === undefined) throw new Error("there is no provider");
  const lane = new RefreshLane(laneOf(world, provider.provider));
  const files = await filesOf(profiler, async () => {
    clock.advance(8 * DAY_MS);
    if (!(await lane.step()).hasResponse) throw new Error("nothing was due");
  });
  await close();
  return files;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const [walk, files] of await filesEntered())
    process.stdout.write(`${walk}: ${files.length} files\n  ${files.join("\n  ")}\n\n`);
