import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { ResultRow } from "../../bench/support/results.js";
import { Random } from "../../bench/synthetic/random.js";
import { createTestDatabase, startKillablePostgres } from "../support/postgres.js";
import { AcknowledgedWrites } from "./support/acknowledged.js";
import { assertHappened, type Harness, type HarnessContext } from "./support/harness.js";
import { fillStore, MAIN, signInWriters, WrittenService } from "./support/written-service.js";

const KILLS = { short: 2, long: 50 } as const;
/** A kill comes after up to this many writes, and after this time at the latest. */
const MOST_WRITES = 60;
const LATEST_MS = 20_000;
const LOOK_MS = 2;
/** Time in which the list index is built. */
const WARM_MS = 4_000;
/** Kills after which clients sign in again. */
const SIGN_IN_EVERY = 20;
/** Time in which the service must write again after the server accepts connections. */
const RECOVERY_MS = 5_000;

export const postgresKills: Harness = {
  name: "postgres-kills",
  proves:
    "No acknowledged change of keys and watchlists is lost when all processes of PostgreSQL are killed; cached responses go on, and the service recovers by itself.",
  async run(context) {
    const folder = mkdtempSync(join(tmpdir(), "sidereal-postgres-kills-"));
    const server = await startKillablePostgres();
    try {
      return await killMany(context, folder, server);
    } finally {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function killMany(
  { scale, report }: HarnessContext,
  dataDir: string,
  server: Awaited<ReturnType<typeof startKillablePostgres>>,
): Promise<ResultRow[]> {
  const place = { url: await createTestDatabase(server.port), dataDir };
  await fillStore(place);
  const random = new Random(1);
  const writes = new AcknowledgedWrites(random);
  const began = performance.now();
  const wrong: string[] = [];
  let longest = 0;
  const reads = { sent: 0, failed: 0 };
  let writers = await signInWriters(place);
  const service = await WrittenService.start([MAIN, "serve"], place);
  try {
    for (let i = 0; i < KILLS[scale]; i++) {
      if (i % SIGN_IN_EVERY === SIGN_IN_EVERY - 1) writers = await signInWriters(place);
      const target = { url: service.url, ...writers };
      await warm(service.url, i === 0 ? WARM_MS : 0);
      const writing = new AbortController();
      const written = writes.run(target, writing.signal);
      const enough = writes.acknowledged + random.between(0, MOST_WRITES);
      const latest = performance.now() + LATEST_MS;
      while (writes.acknowledged < enough && performance.now() < latest) await setTimeout(LOOK_MS);
      let isBack = false;
      const killed = server.kill().then(() => {
        isBack = true;
      });
      while (!isBack) await readCached(service.url, reads);
      await killed;
      longest = Math.max(longest, await msUntilItWrites(service.url));
      writing.abort();
      await written;
      wrong.push(...(await writes.check(target)));
      report(
        `${i + 1}: ${writes.acknowledged} acknowledged, ${wrong.length} wrong, ${reads.failed} reads failed`,
      );
    }
    assertHappened(Number(service.isRunning), "services still running");
  } finally {
    await service.kill();
  }
  for (const line of [...wrong, ...writes.refused].slice(0, 20)) report(line);
  assertHappened(writes.acknowledged, "acknowledged writes", KILLS[scale]);
  assertHappened(writes.interrupted, "interrupted writes");
  assertHappened(reads.sent, "reads while the server was away", KILLS[scale]);
  const row = (measure: string, value: number, unit: string, atMost?: number): ResultRow => ({
    measure,
    value,
    unit,
    engine: "postgres",
    ...(atMost === undefined ? {} : { target: { atMost } }),
  });
  return [
    row("kills of all processes of the server", KILLS[scale], ""),
    row("acknowledged writes", writes.acknowledged, ""),
    row("writes interrupted", writes.interrupted, ""),
    row("keys and lists that are not as acknowledged", wrong.length, "", 0),
    row("writes refused without a reason", writes.refused.length, "", 0),
    row("cached reads while the server was away", reads.sent, ""),
    // On a busy machine the list index may not have been built before the first kill.
    row("of these, failed", reads.failed, "", scale === "long" ? 0 : undefined),
    row(
      "longest time until a write succeeds again",
      longest,
      "ms",
      scale === "long" ? RECOVERY_MS : undefined,
    ),
    row("time", (performance.now() - began) / 1_000, "s"),
  ];
}

/** Reads the list for some time: when the list index has been built, what was cached before is computed again. */
async function warm(url: string, ms: number): Promise<void> {
  const until = performance.now() + ms;
  do {
    await readCached(url, { sent: 0, failed: 0 });
    await setTimeout(LOOK_MS);
  } while (performance.now() < until);
}

/** Reads a list that is cached. */
async function readCached(url: string, reads: { sent: number; failed: number }): Promise<void> {
  reads.sent++;
  const isFine = await fetch(`${url}/api/repos?sort=stars`)
    .then(async (response) => {
      await response.text();
      return response.status === 200;
    })
    .catch(() => false);
  if (!isFine) reads.failed++;
}

async function msUntilItWrites(url: string): Promise<number> {
  const began = performance.now();
  for (;;) {
    const { status } = await fetch(`${url}/api/watchlists`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url },
      body: JSON.stringify({ name: "again" }),
    });
    if (status === 201) return performance.now() - began;
    if (performance.now() - began > 10 * RECOVERY_MS) return Number.POSITIVE_INFINITY;
    await setTimeout(20);
  }
}
