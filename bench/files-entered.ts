/**
 * Counts the files of `src` that a warm request enters: those with a function that runs for it, by V8's precise coverage.
 * `npm run -s build && node dist/bench/files-entered.js` prints the files of each request.
 */
import { Session } from "node:inspector/promises";
import { fileURLToPath } from "node:url";
import { buildFront } from "../src/app/service.js";
import { loadConfig } from "../src/config/config.js";
import { openDatabase } from "../src/database/database.js";
import { DAY_MS, HOUR_MS, systemClock } from "../src/lib/clock.js";
import { createLog } from "../src/lib/log.js";
import { buildModules, updateDerived } from "../src/modules.js";
import { RefreshLane } from "../src/tracking/refresh-lane.js";
import { inject } from "../test/support/inject.js";
import { createTrackingWorld, laneOf } from "../test/support/tracking.js";
import { fillWithSynthetic } from "./synthetic/synthetic.js";

const WARM_ROUNDS = 20;
const SOURCE = fileURLToPath(new URL("../src/", import.meta.url));
const log = createLog("silent");
const inMemory = { url: undefined, dataDir: ":memory:", pool: 1, log };

const profiler = new Session();

/** The files that ran while `work` did. */
async function filesOf(work: () => Promise<unknown>): Promise<string[]> {
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

function print(title: string, files: readonly string[]): void {
  process.stdout.write(`${title}: ${files.length} files\n  ${files.join("\n  ")}\n\n`);
}

async function measureRequests(): Promise<void> {
  const modules = buildModules(await openDatabase(inMemory), { clock: systemClock, log });
  await fillWithSynthetic(modules.catalog, {
    repositories: 2_000,
    days: 40,
    seed: 1,
    end: systemClock.now(),
  });
  await updateDerived(modules);
  const [repository] = await modules.catalog.findMany([11]);
  for (const [title, path, cacheMb] of [
    ["cached list", "/api/repos?sort=stars", "64"],
    ["uncached search sorted by gains", "/api/repos?q=parser&sort=stars-gained", "0"],
    ["repository page", `/repos/${repository?.provider.toLowerCase()}/${repository?.fullName}`, "0"],
  ] as const) {
    const config = loadConfig({ SIDEREAL_CACHE_MB: cacheMb });
    const front = buildFront({ config, clock: systemClock, log }, modules);
    const ask = async () => {
      const request = new Request(`http://localhost${path}`);
      const response = await inject(
        (message, reply) => void front.handle(message, reply),
        request,
        "127.0.0.1",
      );
      if (response.status !== 200) throw new Error(`${path} returned ${response.status}`);
    };
    for (let round = 0; round < WARM_ROUNDS; round++) await ask();
    print(title, await filesOf(ask));
  }
  await modules.database.close();
}

/** One batch of due repositories, from the lane to the recorded commit. */
async function measureRefresh(): Promise<void> {
  const forge = {
    kind: "github",
    name: "GITHUB",
    repositories: 50,
    catalogue: "quiet",
    hasHistory: false,
  } as const;
  const world = await createTrackingWorld(await openDatabase(inMemory), [forge]);
  const { clock, opened, stop, pass, close } = world;
  await pass(24 * HOUR_MS);
  await stop();
  const [provider] = opened;
  if (provider === undefined) throw new Error("there is no provider");
  const lane = new RefreshLane(laneOf(world, provider.provider));
  const step = async () => {
    clock.advance(8 * DAY_MS);
    if (!(await lane.step()).hasResponse) throw new Error("nothing was due");
  };
  for (let round = 0; round < WARM_ROUNDS; round++) await step();
  print("GitHub refresh", await filesOf(step));
  await close();
}

profiler.connect();
await profiler.post("Profiler.enable");
await profiler.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
await measureRequests();
await measureRefresh();
