/**
 * A repository tracked on request: `npm run -s build && node dist/bench/on-demand.js`. The real program tracks a fake GitHub that
 * takes 300 ms longer for each response, with and without a token. Prints when the oldest public repository of the forge is
 * recorded, has its first 30 weeks of history, and all of it; without a token, its place in the queue.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request as send } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { z } from "zod";
import { systemClock } from "../src/lib/clock.js";
import { type Forge, startForge } from "../test/support/forge/forge.js";
import { waitForLine } from "./support/processes.js";

const { values } = parseArgs({
  options: {
    latency: { type: "string", default: "300" },
    // Requests that are queued before the last one, without a token.
    ahead: { type: "string", default: "5" },
  },
});
const latencyMs = Number(values.latency);

/** More stars than any repository has, so that only requests bring repositories. */
const NOBODY = "100000000";
const POLL_MS = 50;
const LONGEST_MS = 120_000;
/** Time for the worker to come to rest. */
const SETTLED_MS = 3_000;

const requested = z.object({
  data: z.object({
    id: z.string(),
    state: z.string(),
    position: z.number().nullable(),
    estimatedSeconds: z.number().nullable(),
    historyPages: z.number(),
  }),
});
type Requested = z.output<typeof requested>["data"];

const print = (line: string) => process.stdout.write(`${line}\n`);

/** A forge whose responses take longer. */
async function delayed(forge: Forge): Promise<{ url: string; close: () => void }> {
  const { hostname: host, port } = new URL(forge.url);
  const proxy = createServer((incoming, outgoing) => {
    void setTimeout(latencyMs).then(() => {
      const { method, url: path } = incoming;
      const headers = { ...incoming.headers, host: `${host}:${port}` };
      const upstream = send({ host, port, method, path, headers }, (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(outgoing);
      });
      upstream.on("error", () => outgoing.destroy());
      incoming.pipe(upstream);
    });
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const address = proxy.address();
  if (typeof address !== "object" || address === null) throw new Error("no port is free");
  return { url: `http://127.0.0.1:${address.port}`, close: () => proxy.close() };
}

async function post(url: string, fullName: string): Promise<Requested> {
  const response = await fetch(`${url}/api/repos/track`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ repository: `github:${fullName}` }),
  });
  return requested.parse(await response.json()).data;
}

async function find(url: string, id: string): Promise<Requested> {
  return requested.parse(await (await fetch(`${url}/api/repos/track/${id}`)).json()).data;
}

const isRecorded = ({ state }: Requested) => !["WAITING", "FAILED"].includes(state);
const STEPS: readonly [string, (request: Requested) => boolean][] = [
  ["recorded", isRecorded],
  ["30 weeks of history", ({ historyPages }) => historyPages > 0],
  ["whole history", ({ state }) => state === "FINISHED"],
];

/** Requests the oldest repository, and prints when each step is reached. */
async function withToken(url: string, [oldest = ""]: readonly string[]): Promise<void> {
  const began = performance.now();
  const { id } = await post(url, oldest);
  for (const [step, isReached] of STEPS) {
    let request = await find(url, id);
    while (!isReached(request)) {
      if (request.state === "FAILED" || performance.now() - began > LONGEST_MS)
        throw new Error(`${step} was not reached: ${JSON.stringify(request)}`);
      await setTimeout(POLL_MS);
      request = await find(url, id);
    }
    const seconds = ((performance.now() - began) / 1_000).toFixed(2);
    print(`  ${seconds.padStart(6)} s  ${step}; pages of history: ${request.historyPages}`);
  }
}

/** Requests several repositories when the quota of the address is used up, and prints the place of the last. */
async function withoutToken(url: string, names: readonly string[]): Promise<void> {
  let last = "";
  for (const name of names.slice(0, Number(values.ahead) + 1)) last = (await post(url, name)).id;
  await setTimeout(SETTLED_MS);
  const { state, position, estimatedSeconds } = await find(url, last);
  print(`  ${state.toLowerCase()} at position ${position}, estimated ${estimatedSeconds} s`);
}

async function measure(token: string | undefined): Promise<void> {
  const forge = await startForge({ kind: "github", clock: systemClock, repositories: 300 });
  const slow = await delayed(forge);
  const dataDir = mkdtempSync(join(tmpdir(), "sidereal-on-demand-"));
  if (token === undefined) forge.spend(null, "core", 60);
  const child = spawn(process.execPath, [join(import.meta.dirname, "../bundle/main.js"), "start"], {
    cwd: dataDir,
    env: {
      PATH: process.env.PATH,
      SIDEREAL_DATA_DIR: dataDir,
      SIDEREAL_PORT: "0",
      SIDEREAL_GITHUB_URL: slow.url,
      SIDEREAL_GITHUB_PRIVATE: "true",
      SIDEREAL_GITHUB_MIN_STARS: NOBODY,
      ...(token !== undefined && { SIDEREAL_GITHUB_TOKENS: token }),
      SIDEREAL_TRACK: "everyone",
      SIDEREAL_LIMITS: "false",
      SIDEREAL_LOG_LEVEL: "warn",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  try {
    const url = await waitForLine(child, /listens at (\S+)/);
    // The worker starts in another process, and walks through an empty list first.
    while ((forge.counters.byKind.search ?? 0) === 0 && child.exitCode === null) await setTimeout(POLL_MS);
    await setTimeout(SETTLED_MS);
    const names = forge.catalogue
      .ids()
      .flatMap((id) => forge.catalogue.get(id, Date.now()) ?? [])
      .filter(({ visibility }) => visibility === "public")
      .sort((a, b) => a.createdAt - b.createdAt)
      .map(({ fullName }) => fullName);
    await (token === undefined ? withoutToken(url, names) : withToken(url, names));
    print(`  requests ${JSON.stringify(forge.counters.byKind)}; ${forge.violations.length} violations`);
  } finally {
    child.kill("SIGTERM");
    await ended;
    slow.close();
    await forge.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

print(`each response ${latencyMs} ms later, with a token:`);
await measure("first-token");
print("without a token, its quota used up:");
await measure(undefined);
