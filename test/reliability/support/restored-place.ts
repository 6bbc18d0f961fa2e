import { join } from "node:path";
import { systemClock } from "../../../src/lib/clock.js";
import { type BackupPlace, restoreBackup } from "../../../src/transfer/backups/backups.js";

/** A store with the secret beside it; in PostgreSQL, with an address, the secret is a row. */
export function placeAt(dataDir: string, url: string | undefined): BackupPlace {
  return {
    location: { url, dataDir },
    secretFile: url === undefined ? join(dataDir, "auth-secret") : undefined,
  };
}

/** Restores a backup over a store. */
export async function restoreAt(
  file: string,
  { dataDir, url }: { dataDir: string; url: string | undefined },
): Promise<void> {
  await restoreBackup(file, placeAt(dataDir, url), {
    clock: systemClock,
    replaces: true,
    total: 1,
    onProgress: () => {},
  });
}
