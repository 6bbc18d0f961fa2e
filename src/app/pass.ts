/** A store of its own and the forges, for commands that need neither a server nor a worker. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, PUBLIC_FORGES } from "../config/config.js";
import { settingsAmong } from "../forges/forges.js";
import { Admission } from "../http/http.js";
import { type AppContext, openModules } from "../modules.js";
import { type Pass, Responder } from "../publish/publish.js";
import { WorkerLease } from "../tracking/tracking.js";
import { buildMembers, buildRoutes } from "./service.js";
import { openUnderLease } from "./tracker.js";

/** `baseUrl`: public address of what is written; absent: it has none. */
export async function openPass(given: AppContext, baseUrl = "http://localhost"): Promise<Pass> {
  // Nobody else may read it, and nothing of the settings' own store is touched.
  const dataDir = mkdtempSync(join(tmpdir(), `sidereal-${process.pid}-`));
  const { providers } = given.config;
  const unconfigured = PUBLIC_FORGES.filter(({ name }) => providers.every((one) => one.name !== name));
  const config: Config = {
    ...given.config,
    dataDir,
    baseUrl,
    databaseUrl: undefined,
    databaseReadUrl: undefined,
    redisUrl: undefined,
    dumps: undefined,
    providers: [...providers, ...unconfigured.flatMap(({ name }) => settingsAmong([], name) ?? [])],
  };
  const context = { ...given, config };
  const remove = () => rmSync(dataDir, { recursive: true, force: true });
  try {
    const modules = await openModules(context);
    const lease = new WorkerLease(modules.database, context);
    await lease.take();
    const { contextOf, close } = await openUnderLease(context, modules, lease);
    const members = buildMembers(context, modules);
    const admission = new Admission({ ...context, readers: modules.database.maxReaders });
    return {
      modules,
      forges: config.providers,
      contextOf,
      responder: new Responder(buildRoutes(context, { modules, members, admission }).routes),
      async close() {
        await close();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}
