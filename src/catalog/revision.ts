import { sql } from "kysely";
import type { Clock } from "../clock.js";
import type { Database, Prepared } from "../database/database.js";

/** How long the revision is remembered. */
const REVISION_MS = 1_000;

/** Reads the revision of the catalogue, and remembers it briefly. */
export class RevisionReader {
  readonly #database: Database;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #read: Prepared<null, [number]>;
  /** The revision read last, when, and how much this process had written before. */
  #last: { value: Promise<number>; at: number; writes: number } | undefined;

  constructor(database: Database, clock: Pick<Clock, "monotonic">) {
    this.#database = database;
    this.#clock = clock;
    this.#read = database.prepare(() => sql`select value from revision where id = 1`);
  }

  /** See `Catalog.revision`. */
  read(): Promise<number> {
    const writes = this.#database.writes();
    const at = this.#clock.monotonic();
    const value = this.#read(null).then(([row]) => row?.[0] ?? 0);
    this.#last = { value, at, writes };
    // Whoever reads next must not share a failure.
    value.catch(() => {
      if (this.#last?.value === value) this.#last = undefined;
    });
    return value;
  }

  /** See `Catalog.recentRevision`. */
  recent(): Promise<number> {
    const known = this.#last;
    const isRecent =
      known !== undefined &&
      known.writes === this.#database.writes() &&
      this.#clock.monotonic() - known.at < REVISION_MS;
    return isRecent ? known.value : this.read();
  }
}
