/** Entry point of a worker: a complete service that runs until it receives a message. */
import { parentPort, workerData } from "node:worker_threads";
import { ServerClock } from "../../lib/clock.js";
import { createLog } from "../../lib/log.js";
import { type AppContext, openModules } from "../../modules.js";
import { type StopOptions, startService } from "../service.js";
import type { ThreadData } from "./threads.js";

const parent = parentPort;
if (parent === null) throw new Error("this file is the entry of a thread");
const { config, shared }: ThreadData = workerData;
const context: AppContext = { config, clock: new ServerClock(), log: createLog(config.logLevel) };
const service = await startService(context, await openModules(context, { withReplicas: true }), shared);
parent.once("message", async (options: StopOptions) => {
  await service.stop(options);
  // Exits this thread only.
  process.exit();
});
parent.postMessage("ready");
