/**
 * Entry of a service whose accounts, keys and watchlists are written like counts: a commit survives the end of the process, and a
 * power cut may take it. Only to show that power cuts find what such a service loses.
 */
import { startService } from "../../../src/app/service.js";
import { loadConfig, readEnvironment } from "../../../src/config/config.js";
import { openDatabase } from "../../../src/database/database.js";
import { systemClock } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";
import { buildModules } from "../../../src/modules.js";

const config = loadConfig(readEnvironment(process.cwd(), process.env));
const context = { config, clock: systemClock, log: createLog(config.logLevel) };
const database = await openDatabase({ url: undefined, dataDir: config.dataDir, pool: 1, log: context.log });
const weak = { ...database, durable: database.write };
const service = await startService(context, buildModules(weak, context));
process.stdout.write(`Sidereal listens at ${service.url}\n`);
