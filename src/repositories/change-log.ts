/** What changed in the catalogue since a position, for callers that keep a copy of it. */
import { sql } from "kysely";
import { z } from "zod";
import type { Database, Prepared } from "../database/database.js";
import { AppError } from "../lib/errors.js";
import { ALL_CHANGED } from "./outdated.js";
import type { Availability } from "./record-rules.js";

/** How a repository changed: `COUNTS` is its counts, facts or growth, if nothing else is known. */
export const CHANGE_KINDS = ["NEW", "COUNTS", "RENAMED", "GONE"] as const;
type ChangeKind = (typeof CHANGE_KINDS)[number];

/** A repository that changed, as it is now. */
interface ChangedRepository {
  id: number;
  provider: string;
  fullName: string;
  availability: Availability;
  kinds: ChangeKind[];
}

/** A part of the log. */
export interface ChangePage {
  changes: ChangedRepository[];
  /** Opaque; where the next part begins. */
  next: string;
  hasMore: boolean;
}

/**
 * Everything up to a row of the log was read. A round of parts compares with the revision and the highest id at its beginning, so that a
 * rename is reported even if the repository changed again meanwhile.
 */
const positionSchema = z.tuple([z.int(), z.int(), z.int(), z.int(), z.string().default("")]);
interface Position {
  /** Identity of the store; empty: of an older version of the program. */
  store: string;
  roundFrom: number;
  lastId: number;
  revision: number;
  id: number;
}

type ChangeRow = [
  revision: number,
  id: number,
  provider: string,
  owner: string,
  name: string,
  availability: Availability,
  renamed: number | null,
];

/** Reads the log of changes. It has the last change of each repository, so a copy that follows it never misses one. */
export class ChangeLog {
  readonly #database: Database;
  readonly #read: Prepared<Position & { limit: number }, ChangeRow>;
  readonly #readEnd: Prepared<null, [revision: number, all: number | null, store: string]>;

  constructor(database: Database) {
    this.#database = database;
    this.#read = database.prepare(
      (given) => sql`select c.revision, r.id, r.provider, r.owner, r.name, r.availability,
          (select max(p.revision) from previous_names p where p.repository_id = r.id)
        from changes c join repositories r on r.id = c.repository_id
        where (c.revision, c.repository_id) > (${given(({ revision }) => revision)}, ${given(({ id }) => id)})
        order by c.revision, c.repository_id limit ${given(({ limit }) => limit)}`,
    );
    this.#readEnd = database.prepare(
      () => sql`select value, (select revision from changes where repository_id = ${sql.lit(ALL_CHANGED)}), store
        from revision where id = 1`,
    );
  }

  /**
   * The changes after a position, oldest first; without one, none, and the position now. Throws INVALID_REQUEST for a text that is no
   * position, and CURSOR_EXPIRED if all repositories may have changed since.
   */
  async since(text: string | undefined, limit: number): Promise<ChangePage> {
    const { dialect, read } = this.#database;
    const since = text === undefined ? undefined : positionOf(text);
    // In this order: what is written meanwhile is read again in the next round.
    const lastId = await dialect.lastId(read);
    const rows = since === undefined ? [] : await this.#read({ ...since, limit: limit + 1 });
    const [[revision, all, store] = [0, null, ""]] = await this.#readEnd(null);
    if (since === undefined) {
      const next = textOf({ store, roundFrom: revision, lastId, revision, id: Number.MAX_SAFE_INTEGER });
      return { changes: [], next, hasMore: false };
    }
    if (since.store !== store || since.revision > revision || (all !== null && all > since.roundFrom))
      throw expired();
    const page = rows.slice(0, limit);
    const hasMore = rows.length > limit;
    const [last] = page.slice(-1);
    const at = { revision: last?.[0] ?? since.revision, id: last?.[1] ?? since.id };
    const round = hasMore ? since : { roundFrom: at.revision, lastId };
    return {
      changes: page.map((row) => changeOf(row, since)),
      next: textOf({ store, roundFrom: round.roundFrom, lastId: round.lastId, ...at }),
      hasMore,
    };
  }
}

function changeOf(row: ChangeRow, since: Position): ChangedRepository {
  const [, id, provider, owner, name, availability, renamed] = row;
  const kinds: ChangeKind[] = [
    ...(id > since.lastId ? (["NEW"] as const) : []),
    ...((renamed ?? 0) > since.roundFrom ? (["RENAMED"] as const) : []),
    ...(availability === "AVAILABLE" ? [] : (["GONE"] as const)),
  ];
  const fullName = `${owner}/${name}`;
  return { id, provider, fullName, availability, kinds: kinds.length === 0 ? ["COUNTS"] : kinds };
}

function textOf({ store, roundFrom, lastId, revision, id }: Position): string {
  return Buffer.from(JSON.stringify([roundFrom, lastId, revision, id, store])).toString("base64url");
}

function positionOf(text: string): Position {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    value = undefined;
  }
  const { success, data } = positionSchema.safeParse(value);
  if (success) return { roundFrom: data[0], lastId: data[1], revision: data[2], id: data[3], store: data[4] };
  const message = "must be meta.nextCursor of an earlier response";
  throw new AppError("INVALID_REQUEST", `since: ${message}`, { details: [{ parameter: "since", message }] });
}

function expired(): AppError {
  return new AppError(
    "CURSOR_EXPIRED",
    "All repositories may have changed since. Request /api/changes without since, then read all repositories again.",
  );
}
