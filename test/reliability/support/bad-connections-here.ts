import { once } from "node:events";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import type { ResultRow } from "../../../bench/support/results.js";
import { buildFront } from "../../../src/app/service.js";
import { loadConfig } from "../../../src/config/config.js";
import { openDatabase } from "../../../src/database/database.js";
import { Callers } from "../../../src/http/caller.js";
import { createHttpServer } from "../../../src/http/server.js";
import { createLog } from "../../../src/lib/log.js";
import { buildModules } from "../../../src/modules.js";
import { inject } from "../../support/inject.js";
import { ManualClock } from "../../support/manual-clock.js";
import { NOW } from "../../support/world.js";
import { BAD_KINDS, openBad } from "./bad-clients.js";
import { assertHappened } from "./harness.js";

const HOST = "127.0.0.1";
const PROXY = "127.0.0.9";
const PER_ADDRESS = 4;
/** Short, as Node.js counts them in real time. */
const TIMEOUTS = {
  // Longer than a slow client waits between two bytes.
  timeout: 1_500,
  headersTimeout: 100,
  requestTimeout: 150,
  connectionsCheckingInterval: 20,
  keepAliveTimeout: 50,
  keepAliveTimeoutBuffer: 10,
};
/** Real time after which a connection that is still open counts as never closed. */
const GIVE_UP_MS = 5_000;

/**
 * Opens bad connections of all kinds to a server in this process, and counts those that it closes; then opens more than an
 * address may have.
 */
export async function closeBadConnections(): Promise<ResultRow[]> {
  const log = createLog("silent");
  const clock = new ManualClock(NOW);
  const config = loadConfig({ SIDEREAL_DATA_DIR: ":memory:", SIDEREAL_TRUSTED_PROXIES: PROXY });
  const database = await openDatabase({ url: undefined, dataDir: ":memory:", pool: 1, log });
  const front = buildFront({ config, clock, log }, buildModules(database, { clock, log }));
  const { server, close } = createHttpServer((message, response) => front.handle(message, response), {
    baseUrl: config.baseUrl,
    isLimited: true,
    perAddress: PER_ADDRESS,
    callers: new Callers(config.trustedProxies),
    clock,
    log,
    timeouts: TIMEOUTS,
  });
  const accepted: Socket[] = [];
  server.on("connection", (socket) => accepted.push(socket));
  await once(server.listen(0, HOST), "listening");
  const { port } = server.address() as AddressInfo;
  const clients: Socket[] = [];
  try {
    // Not over the server: on a busy machine the first page can take longer than the short timeouts.
    const handle = front.handle.bind(front);
    const page = await (await inject(handle, new Request(config.baseUrl), HOST)).text();
    const [path = ""] = /\/assets\/[^"]*\.css/.exec(page) ?? [];
    assertHappened(path.length, "characters of the path of a free response");
    const rows: ResultRow[] = [];
    for (const kind of BAD_KINDS) {
      accepted.length = 0;
      const opened = Array.from({ length: PER_ADDRESS }, () =>
        openBad(kind, { host: HOST, port, path }, HOST),
      );
      clients.push(...opened);
      await until(() => accepted.length === PER_ADDRESS);
      assertHappened(accepted.length, `connections of a client that ${kind}`, PER_ADDRESS);
      await until(() => accepted.every(({ destroyed }) => destroyed));
      rows.push({
        measure: `closed connections of a client that ${kind}`,
        value: accepted.filter(({ destroyed }) => destroyed).length,
        unit: "",
        target: { atLeast: PER_ADDRESS },
      });
    }
    for (const [who, localAddress, target] of [
      ["an address", "127.0.0.2", { atMost: PER_ADDRESS }],
      ["a trusted proxy", PROXY, { atLeast: 3 * PER_ADDRESS }],
    ] as const) {
      accepted.length = 0;
      for (let i = 0; i < 3 * PER_ADDRESS; i++)
        clients.push(connect({ host: HOST, port, localAddress }).on("error", () => {}));
      await until(() => accepted.length === 3 * PER_ADDRESS);
      assertHappened(accepted.length, `connections of ${who}`, 3 * PER_ADDRESS);
      const value = accepted.filter(({ destroyed }) => !destroyed).length;
      rows.push({ measure: `connections of ${who}`, value, unit: "", target });
    }
    return rows;
  } finally {
    for (const client of clients) client.destroy();
    await close(0);
    await database.close();
  }
}

/** Turns the loop until something is so, or it takes too long. */
async function until(isDone: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  while (!isDone() && performance.now() < giveUpAt) await setImmediate();
}
