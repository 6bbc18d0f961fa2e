import { sql } from "kysely";
import type { Database, Prepared } from "../../database/database.js";
import { readingsIn, type StoredValues, selectStored, storedOf } from "./read.js";
import { Readings } from "./readings.js";

/** From the last snapshot at or before a time on. */
interface Since {
  id: number;
  from: number;
}

interface Between {
  ids: readonly number[];
  from: number;
  until: number;
}

/** Reads snapshots for requests, each time by one statement that is prepared once. */
export class SnapshotReader {
  readonly #since: Prepared<Since, StoredValues>;
  readonly #between: Prepared<Between, StoredValues>;

  constructor({ dialect, prepare }: Database) {
    this.#since = prepare((given) => {
      const id = given((values) => values.id);
      const among = (column: string) => sql<boolean>`${sql.ref(column)} = ${id}`;
      return selectStored(among, { from: sql`${given(({ from }) => from)}`, withBaseline: true });
    });
    this.#between = prepare((given) => {
      const ids = given((values) => values.ids);
      const [from, until] = [given((values) => values.from), given((values) => values.until)];
      const among = (column: string) => dialect.among(sql.ref(column), ids);
      return selectStored(among, { from: sql`${from}`, until: sql`${until}` });
    });
  }

  /** The snapshots of a repository from the last one at or before `from` on; none if it has none. Throws DamagedBlock. */
  async since(id: number, from: number): Promise<Readings> {
    const stored = storedOf(await this.#since({ id, from }));
    return readingsIn(stored, { from, withBaseline: true }).get(id) ?? Readings.ofLength(0);
  }

  /**
   * The snapshots of repositories between two times (inclusive), by id; repositories without any are absent, and so are those
   * whose history is damaged.
   */
  async between(
    ids: readonly number[],
    span: { from: number; until: number },
  ): Promise<Map<number, Readings>> {
    if (ids.length === 0) return new Map();
    return readingsIn(storedOf(await this.#between({ ids, ...span })), span, { onDamaged: () => {} });
  }
}
