/** How often a response is computed when 500 clients request it together, before it is cached. */
import { request } from "undici";
import { startService } from "../src/app/service.js";
import { loadConfig } from "../src/config/config.js";
import { systemClock } from "../src/lib/clock.js";
import { createLog } from "../src/lib/log.js";
import type { Modules } from "../src/modules.js";
import { GENEROUS_LIMITS } from "./support/keys.js";
import type { BenchContext, ResultRow } from "./support/results.js";
import { openStore } from "./support/stores.js";

const CLIENTS = 500;

export async function measureColdKey({ store }: BenchContext): Promise<ResultRow[]> {
  const modules = await openStore(store);
  let calls = 0;
  const lists = new Proxy(modules.lists, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        calls++;
        return Reflect.apply(value, target, args);
      };
    },
  });
  const config = loadConfig({ ...GENEROUS_LIMITS, SIDEREAL_PORT: "0", SIDEREAL_DATA_DIR: store.dataDir });
  const context = { config, clock: systemClock, log: createLog("error") };
  const counted: Modules = { ...modules, lists };
  const service = await startService(context, counted);
  const send = async (path: string) => {
    const { statusCode, body } = await request(`http://127.0.0.1:${service.port}${path}`);
    await body.dump({ limit: 2 ** 30 });
    if (statusCode !== 200) throw new Error(`${path} returned ${statusCode}`);
  };
  try {
    await send("/api/repos?sort=stars&limit=31");
    const callsOfOne = calls;
    if (callsOfOne === 0) throw new Error("no list was computed");
    calls = 0;
    await Promise.all(Array.from({ length: CLIENTS }, () => send("/api/repos?sort=stars&limit=32")));
    return [
      {
        measure: "500 clients on one cold key",
        unit: "computations",
        size: store.size,
        engine: store.engine,
        value: calls / callsOfOne,
        target: { atMost: 1 },
      },
    ];
  } finally {
    await service.stop();
  }
}
