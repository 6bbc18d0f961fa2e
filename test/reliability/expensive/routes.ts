import { buildMembers, buildRoutes } from "../../../src/app/service.js";
import { loadConfig } from "../../../src/config/config.js";
import { Admission } from "../../../src/http/limits.js";
import type { Route } from "../../../src/http/route.js";
import { systemClock } from "../../../src/lib/clock.js";
import { createLog } from "../../../src/lib/log.js";
import type { Modules } from "../../../src/modules.js";

/** The routes that callers without an account can use, as the service has them. */
export function openRoutes(modules: Modules): Route[] {
  const config = loadConfig({ SIDEREAL_BASE_URL: "https://sidereal.example" });
  const context = { config, clock: systemClock, log: createLog("silent") };
  const parts = {
    modules,
    members: buildMembers(context, modules),
    admission: new Admission({ ...context, readers: 1 }),
  };
  return buildRoutes(context, parts).routes.filter(({ access }) => access !== "session" && access !== "key");
}
