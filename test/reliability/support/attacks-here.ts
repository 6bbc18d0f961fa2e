import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { addKeys } from "../../../bench/support/keys.js";
import type { ResultRow } from "../../../bench/support/results.js";
import { STORE_END } from "../../../bench/support/stores.js";
import { prepareWorst } from "../../../bench/support/worst.js";
import { buildFront } from "../../../src/app/service.js";
import { loadConfig } from "../../../src/config/config.js";
import { BUCKETS } from "../../../src/config/limits.js";
import { openDatabase } from "../../../src/database/database.js";
import { Callers } from "../../../src/http/caller.js";
import { createHttpServer } from "../../../src/http/server.js";
import { HOUR_MS } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";
import { buildModules, followChanges, type Modules } from "../../../src/modules.js";
import { ManualClock } from "../../support/manual-clock.js";
import { daily, NOW, observation } from "../../support/world.js";
import { ACCOUNTS, type AttackSubject, floodOf, OWN_ATTACKS, type OwnAttack } from "./attack-list.js";
import { Flood, type FloodJob } from "./flood.js";
import { assertHappened } from "./harness.js";

/** Repositories with long histories, and snapshots of each, one an hour. */
const LONG = { long: { repositories: 200, snapshots: 4_000 }, short: { repositories: 10, snapshots: 20 } };

/** Adds to a store what the attacks need, and names what is in it. */
export async function prepareAttacks(
  modules: Modules,
  scale: "long" | "short",
): Promise<Omit<AttackSubject, "keys">> {
  const { repositories, snapshots } = LONG[scale];
  const { catalog } = modules;
  const names = Array.from({ length: repositories }, (_, i) => `long-${i}`);
  await catalog.recordAll(
    names.map((name) => ({
      provider: "GITHUB",
      owner: "sidereal-attack",
      name,
      at: STORE_END,
      snapshots: Array.from({ length: snapshots }, (_, i) => ({
        capturedAt: STORE_END - (snapshots - i) * HOUR_MS,
        stars: 1_000 + i,
        forks: 100 + (i >> 2),
        openIssues: 50 + (i % 9),
        watchers: 10,
        source: "IMPORTED" as const,
      })),
      facts: { stars: 1_000 + snapshots, forks: 100 + (snapshots >> 2) },
    })),
  );
  await followChanges(modules);
  const long = await Promise.all(
    names.map(
      async (name) => (await catalog.findByName("GITHUB", `sidereal-attack/${name}`))?.repository.id ?? 0,
    ),
  );
  return { ...(await prepareWorst(modules, scale === "long" ? undefined : 20)), long };
}

/** Units a minute of an address in each bucket. */
const LIMIT = 12;
const CONNECTIONS = 8;
const ADDRESSES = 2;
/** Real time after which an attack that nothing refuses is over. */
const GIVE_UP_MS = 10_000;

/**
 * Runs each attack against a server in this process whose clock does not move, until every connection was refused, and counts what
 * was served before.
 */
export async function countAttacks(): Promise<ResultRow[]> {
  const dataDir = mkdtempSync(join(tmpdir(), "sidereal-attacks-"));
  const log = createLog("silent");
  const clock = new ManualClock(NOW);
  const names = BUCKETS.filter((bucket) => bucket !== "free");
  const config = loadConfig({
    SIDEREAL_LIMITS: names.map((name) => `${name}=${LIMIT}`).join(),
    SIDEREAL_DATA_DIR: dataDir,
  });
  const database = await openDatabase({ url: undefined, dataDir, pool: 1, log });
  try {
    const modules = buildModules(database, { clock, log });
    await modules.catalog.record(
      Array.from({ length: 30 }, (_, i) => observation(`acme/kite-${i}`, daily(1, 2 + i))),
    );
    const keys = await addKeys({ engine: "sqlite", url: undefined, dataDir }, ACCOUNTS);
    const subject = { ...(await prepareAttacks(modules, "short")), keys };
    const rows: ResultRow[] = [];
    for (const attack of OWN_ATTACKS) {
      // Each meets limits that nobody has used.
      const front = buildFront({ config, clock, log }, modules);
      const { server, close } = createHttpServer((message, response) => front.handle(message, response), {
        baseUrl: config.baseUrl,
        isLimited: true,
        callers: new Callers(config.trustedProxies),
        clock,
        log,
      });
      await once(server.listen(0, "127.0.0.1"), "listening");
      try {
        const { port } = server.address() as AddressInfo;
        rows.push(...(await countAttack(attack, floodOf(attack, subject, { host: "127.0.0.1", port }))));
      } finally {
        await close(0);
      }
    }
    return rows;
  } finally {
    await database.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function countAttack(
  { name, reading, from, buckets = 1 }: OwnAttack,
  job: FloodJob,
): Promise<ResultRow[]> {
  const addresses = from === "one address" ? 1 : ADDRESSES;
  const flood = new Flood({ ...job, connections: CONNECTIONS, addresses: job.addresses.slice(0, addresses) });
  const { report } = flood;
  const countOf = (...statuses: string[]) =>
    statuses.reduce((sum, status) => sum + (report.statuses[status] ?? 0), 0);
  const running = flood.run();
  const giveUpAt = performance.now() + GIVE_UP_MS;
  const isOver = () =>
    reading === undefined
      ? countOf("429", "503") + report.closed >= CONNECTIONS
      : report.opened >= CONNECTIONS;
  while (!isOver() && performance.now() < giveUpAt) await setImmediate();
  flood.stop();
  await running;
  assertHappened(report.sent, `requests of "${name}"`, CONNECTIONS);
  const wrong = Object.keys(report.statuses).filter((status) => status >= "500" && status !== "503");
  const head = { unit: "responses", note: `${report.sent} sent` };
  const errors: ResultRow = {
    ...head,
    measure: `${name}: server errors`,
    value: countOf(...wrong),
    target: { atMost: 0 },
  };
  if (reading !== undefined) return [errors];
  assertHappened(countOf("429", "503") + report.closed, `refused requests of "${name}"`);
  return [
    errors,
    {
      ...head,
      measure: `${name}: served before it was refused`,
      value: countOf("200", "201"),
      target: { atMost: LIMIT * addresses * buckets },
    },
  ];
}
