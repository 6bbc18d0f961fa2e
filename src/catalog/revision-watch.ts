import { sql } from "kysely";
import type { Clock } from "../clock.js";
import type { Database } from "../database/database.js";

/** How often to look whether this process has written; announcements are at least so far apart. */
const LOOK_MS = 250;

export interface RevisionWatchOptions {
  database: Database;
  clock: Clock;
  /** Called after a change of the revision is committed. Must not throw. */
  announce: () => Promise<void>;
}

/**
 * Announces the changes of the revision that this process commits. Looks for them only after it has written. Returns the function
 * that ends it, after a last look.
 */
export function watchRevision({ database, clock, announce }: RevisionWatchOptions): () => Promise<void> {
  const stopping = new AbortController();
  let writes = database.writes();
  let announced: number | undefined;
  const look = async () => {
    const present = database.writes();
    if (present === writes) return;
    try {
      const { rows } = await sql<{ value: number }>`select value from revision where id = 1`.execute(
        database.read,
      );
      writes = present;
      const revision = rows[0]?.value ?? 0;
      if (revision === announced) return;
      announced = revision;
    } catch {
      // The next look tries again; without it, others notice by themselves.
      return;
    }
    await announce();
  };
  const ended = (async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(LOOK_MS, stopping.signal);
      await look();
    }
  })();
  return () => {
    stopping.abort();
    return ended;
  };
}
