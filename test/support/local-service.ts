import { ApiKeys } from "../../src/accounts/api-keys.js";
import { type Service, startService } from "../../src/app/service.js";
import { loadConfig } from "../../src/config/config.js";
import type { Database } from "../../src/database/database.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules, updateDerived } from "../../src/modules.js";
import { accountsContext, addAccount } from "./accounts.js";
import { ManualClock } from "./manual-clock.js";
import { daily, GENEROUS, NOW, observation } from "./world.js";

/** Starts a service at a free port, with three repositories and an address that other programs can use. It closes the database. */
export async function startLocalService(
  database: Database,
  env: Record<string, string> = {},
): Promise<Service & { apiKey: string }> {
  const config = loadConfig({
    ...GENEROUS,
    SIDEREAL_PORT: "0",
    SIDEREAL_AUTH_SECRET: "s".repeat(40),
    ...env,
  });
  const clock = new ManualClock(NOW);
  const modules = buildModules(database, { clock, log: createLog("silent") });
  await modules.catalog.record([
    observation("facebook/react", daily(...Array.from({ length: 31 }, (_, i) => 200 + i)), {
      facts: { language: "JavaScript" },
    }),
    observation("acme/kite", daily(10, 12, 13, 14, 15, 16, 17, 19), { facts: { language: "Rust" } }),
    observation("group/sub/three", daily(5, 6), { provider: "GITLAB", facts: { language: "Go" } }),
  ]);
  await updateDerived(modules);
  const log = createLog("silent");
  const account = await addAccount(database, "reader@example.org");
  const { secret } = await new ApiKeys(accountsContext(database, clock)).create(account, "reader");
  return { ...(await startService({ config, clock, log }, modules)), apiKey: secret };
}
