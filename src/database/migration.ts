import type { Dialect, Tx } from "./dialect.js";

/**
 * One step from a database version to the next. Once released, a migration never changes and is never removed, and there is
 * no way back. It imports nothing that may change later: its SQL is written out, even where live code creates the same table.
 */
export interface Migration {
  name: string;
  up(tx: Tx, engine: MigrationEngine): Promise<void>;
}

/** The parts of a dialect that a migration may use. They keep their meaning forever, as released migrations rely on it. */
type MigrationEngine = Pick<Dialect, "engine" | "types" | "clustered">;
