/**
 * The first minutes of a new installation: `npm run -s build && node dist/bench/first-hour.js`. The real program tracks a fake
 * GitHub with one token, in real time; prints the contents of the first page.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { z } from "zod";
import { systemClock } from "../src/lib/clock.js";
import { type Forge, startForge } from "../test/support/forge/forge.js";
import { waitForLine } from "./support/processes.js";

const { values } = parseArgs({
  options: {
    repositories: { type: "string", default: "3000" },
    seconds: { type: "string", default: "0,5,10,15,20,30,45,60,90,120,180,240,300" },
  },
});

const list = z.object({ window: z.string(), repositories: z.array(z.object({ fullName: z.string() })) });
const summarySchema = z.object({
  data: z.object({ repositoryCount: z.number(), snapshots: z.number(), catalogue: z.string() }),
});
const homeSchema = z.object({ data: z.looseObject({ trending: list, rising: list, newHot: list }) });

const print = (line: string) => process.stdout.write(`${line}\n`);

async function fetchJson<T>(schema: z.ZodType<T>, address: string): Promise<T> {
  const response = await fetch(address);
  return schema.parse(await response.json());
}

async function printState(url: string, { counters }: Forge, began: number): Promise<void> {
  const { data: summary } = await fetchJson(summarySchema, `${url}/api/stats/summary`);
  const { data: home } = await fetchJson(homeSchema, `${url}/api/home`);
  const lists = (["trending", "rising", "newHot"] as const).map((name) => {
    const { repositories, window } = home[name];
    return `${name} ${repositories.length} (${window})`;
  });
  const after = Math.round((performance.now() - began) / 1_000);
  print(
    `${String(after).padStart(4)} s: ${summary.repositoryCount} repositories, ${summary.snapshots} snapshots; ` +
      `${lists.join(", ")}; first ${home.trending.repositories[0]?.fullName ?? "none"}; requests ${JSON.stringify(counters.byKind)}`,
  );
}

async function main(dataDir: string): Promise<void> {
  const forge = await startForge({
    kind: "github",
    clock: systemClock,
    repositories: Number(values.repositories),
  });
  const began = performance.now();
  const child = spawn(process.execPath, [join(import.meta.dirname, "../bundle/main.js"), "start"], {
    cwd: dataDir,
    env: {
      PATH: process.env.PATH,
      SIDEREAL_DATA_DIR: dataDir,
      SIDEREAL_PORT: "0",
      SIDEREAL_GITHUB_URL: forge.url,
      SIDEREAL_GITHUB_TOKENS: "first-token",
      SIDEREAL_GITHUB_PRIVATE: "true",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  try {
    const url = await waitForLine(child, /listens at (\S+)/);
    for (const second of values.seconds.split(",").map(Number)) {
      const wait = began + second * 1_000 - performance.now();
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, wait)));
      await printState(url, forge, began);
    }
  } finally {
    const stopping = performance.now();
    child.kill("SIGTERM");
    const [code] = await ended;
    print(
      `stopped in ${Math.round(performance.now() - stopping)} ms with ${code}; ${forge.violations.length} violations`,
    );
    await forge.close();
  }
}

const dataDir = mkdtempSync(join(tmpdir(), "sidereal-first-"));
await main(dataDir).finally(() => rmSync(dataDir, { recursive: true, force: true }));
