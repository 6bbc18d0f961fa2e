import { join } from "node:path";
import type { BackupPlace } from "../../../src/backups/backups.js";

/** A store with the secret beside it; in PostgreSQL, with an address, the secret is a row. */
export function placeAt(dataDir: string, url: string | undefined): BackupPlace {
  return {
    location: { url, dataDir },
    secretFile: url === undefined ? join(dataDir, "auth-secret") : undefined,
  };
}
