/** A store of its own and the forges, for commands that need neither a server nor a worker. */
import { lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Config, PUBLIC_FORGES } from "../config/config.js";
import { settingsAmong } from "../forges/forges.js";
import { Admission } from "../http/http.js";
import { DAY_MS } from "../lib/clock.js";
import { type AppContext, openModules } from "../modules.js";
import { PASS_URL, type Pass, Responder } from "../publish/publish.js";
import { WorkerLease } from "../tracking/tracking.js";
import type { FileSite } from "../web/web.js";
import { buildMembers, buildRoutes } from "./service.js";
import { openUnderLease } from "./tracker.js";

const ENDING = ["SIGINT", "SIGTERM"] as const;
const PREFIX = join(tmpdir(), "sidereal-pass-");

/** Deletes stores that killed commands of this user have left: those a day older than its own. */
function removeLeft(own: string): void {
  const { mtimeMs: now, uid } = lstatSync(own);
  for (const name of readdirSync(tmpdir())) {
    const path = join(tmpdir(), name);
    const found = path.startsWith(PREFIX) ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
    if (found?.isDirectory() && found.uid === uid && now - found.mtimeMs > DAY_MS)
      rmSync(path, { recursive: true, force: true });
  }
}

export async function openPass(given: AppContext): Promise<Pass> {
  // Nobody else may read it, and nothing of the settings' own store is touched.
  const dataDir = mkdtempSync(`${PREFIX}${process.pid}-`);
  removeLeft(dataDir);
  const { providers } = given.config;
  const unconfigured = PUBLIC_FORGES.filter(({ name }) => providers.every((one) => one.name !== name));
  const config: Config = {
    ...given.config,
    dataDir,
    baseUrl: PASS_URL,
    databaseUrl: undefined,
    databaseReadUrl: undefined,
    redisUrl: undefined,
    dumps: undefined,
    providers: [...providers, ...unconfigured.flatMap(({ name }) => settingsAmong([], name) ?? [])],
  };
  const context = { ...given, config };
  // Sent again, the signal ends the process, as it does without a listener.
  const onSignal = (signal: NodeJS.Signals) => {
    remove();
    process.kill(process.pid, signal);
  };
  const remove = () => {
    for (const signal of ENDING) process.off(signal, onSignal);
    rmSync(dataDir, { recursive: true, force: true });
  };
  for (const signal of ENDING) process.on(signal, onSignal);
  try {
    const modules = await openModules(context);
    const lease = new WorkerLease(modules.database, context);
    await lease.take();
    const { contextOf, close } = await openUnderLease(context, modules, lease);
    const members = buildMembers(context, modules);
    const admission = new Admission({ ...context, readers: modules.database.maxReaders });
    const respond = (files?: FileSite) =>
      new Responder(buildRoutes(context, { modules, members, admission, files }).routes);
    return {
      modules,
      forges: config.providers,
      job: config.job,
      folder: dataDir,
      contextOf,
      responder: respond(),
      siteResponder: respond,
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
