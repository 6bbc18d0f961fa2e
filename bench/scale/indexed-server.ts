import { type MeasuredServer, measuredServer, spawnSidereal, waitForLine } from "../support/processes.js";
import type { Store } from "../support/stores.js";

/** Starts `sidereal serve` on any core; resolves when its list index is built. The index may take as much memory as it needs. */
export async function startIndexed(
  store: Store,
  settings: Readonly<Record<string, string>>,
): Promise<MeasuredServer> {
  const child = spawnSidereal(
    store,
    { ...settings, SIDEREAL_LIST_INDEX_MB: "65536", SIDEREAL_LOG_LEVEL: "info" },
    { isPinned: false, stderr: "pipe" },
  );
  const isBuilt = waitForLine(child, /(the list index is built)/, "stderr");
  const url = await waitForLine(child, /listens at (\S+)/);
  await isBuilt;
  return measuredServer(child, url);
}
