import type { Database } from "../database/database.js";
import type { SearchStatus } from "../search/search.js";
import type { TrackingModules } from "./lane.js";
import { type ProviderStatus, readStatus } from "./status.js";

const NAME = "tracking";

/** The status as the worker last prepared it. Times in ms since 1970. */
export interface PreparedStatus {
  at: number;
  providers: ProviderStatus[];
  search: SearchStatus;
  databaseBytes: number;
}

/**
 * Reads the status and stores it for pages, which may not count rows. Takes as long as `readStatus`, so it belongs into the worker.
 */
export async function prepareStatus(
  { database, search: index }: Pick<TrackingModules, "database" | "search">,
  now: number,
): Promise<void> {
  const providers = await readStatus(database, now);
  const search = await index.status();
  const databaseBytes = await database.dialect.size(database.read);
  const body = JSON.stringify({ providers, search, databaseBytes });
  await database.write
    .insertInto("status_documents")
    .values({ name: NAME, at: now, body })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ at: now, body }))
    .execute();
}

/** Documents of older versions lack some fields. */
function withNewer(status: Omit<ProviderStatus, "newToday"> & Partial<ProviderStatus>): ProviderStatus {
  return { newToday: { added: 0, surplus: 0 }, ...status };
}

/** The prepared status; undefined if no worker has run. Reads one row. */
export async function readPreparedStatus({ read }: Database): Promise<PreparedStatus | undefined> {
  const row = await read
    .selectFrom("status_documents")
    .select(["at", "body"])
    .where("name", "=", NAME)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { providers, ...rest } = JSON.parse(row.body);
  return { at: Number(row.at), providers: providers.map(withNewer), ...rest };
}
