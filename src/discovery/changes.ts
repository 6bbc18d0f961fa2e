/**
 * The changes of the catalogue since a position, each repository as it is now: a copy that follows it needs to read nothing else, and
 * never misses a change. A change is announced once all responses of this process have it.
 */

import { sql } from "kysely";
import { z } from "zod";
import type { Database, Given, Prepared } from "../database/database.js";
import { TREND, WINDOW_HOURS, type Window } from "../growth/growth.js";
import { AppError } from "../lib/errors.js";
import { ALL_CHANGED, type Catalog, FORGOTTEN, REPOSITORY } from "../repositories/repositories.js";
import { type ListRow, RowReader, type RowValues } from "./lists.js";
import type { LiveModel } from "./live.js";

/** How a repository changed: `COUNTS` is its counts, facts or growth, if nothing else is known. */
export const CHANGE_KINDS = ["NEW", "COUNTS", "RENAMED", "GONE", "JOINED", "DELETED"] as const;
type ChangeKind = (typeof CHANGE_KINDS)[number];

/** A repository that changed. */
interface Change {
  id: number;
  kinds: ChangeKind[];
  /** As it is now, or a moment later; undefined: it was deleted. */
  row: ListRow | undefined;
}

/** A part of the log. */
export interface ChangePage {
  changes: Change[];
  /** Opaque; the beginning of the next part. */
  next: string;
  hasMore: boolean;
}

/**
 * Everything up to a row of the log was read; with WALK as the revision, all repositories up to an id, and the log since `roundFrom`
 * comes after them. A round of parts compares with the revision at its beginning, so that a rename is reported even if the repository
 * changed again meanwhile.
 */
interface Position {
  /** Identity of the store. */
  store: string;
  roundFrom: number;
  revision: number;
  id: number;
}
const positionSchema = z.tuple([z.string(), z.int(), z.int(), z.int()]);
const WALK = -1;
const LAST_ID = Number.MAX_SAFE_INTEGER;

/** The position before the first repository, which needs no earlier response. */
export const START = "start";

interface Part extends Position {
  /** The last revision to read. */
  until: number;
  limit: number;
  window: Window;
}

type ChangeRow = [
  revision: number,
  id: number,
  added: number,
  renamed: number | null,
  isThere: number | null,
  ...RowValues,
];
const OWN_COLUMNS = 5;
type EndRow = [revision: number, store: string, all: number | null, forgotten: number | null];
const NO_END: EndRow = [0, "", null, null];

/** Reads the log of changes. It has the last change of each repository, so a copy that follows it never misses one. */
export class ChangeLog {
  readonly #rows: RowReader;
  readonly #live: LiveModel;
  readonly #readLog: Prepared<Part, ChangeRow>;
  readonly #readAll: Prepared<Part, ChangeRow>;
  readonly #readEnd: Prepared<null, EndRow>;

  constructor(database: Database, catalog: Catalog, live: LiveModel) {
    this.#rows = new RowReader(database, catalog);
    this.#live = live;
    // One statement, so that a repository is as it was when its change was read.
    this.#readLog = database.prepare(
      (
        given,
      ) => sql`select ${columns} from changes c left join repositories r on r.id = c.repository_id ${growth(given)}
        where (c.revision, c.repository_id) > (${given(({ revision }) => revision)}, ${given(({ id }) => id)})
          and c.revision <= ${given(({ until }) => until)} and c.repository_id > 0
          and (r.id is not null or c.removed_at is not null)
        order by c.revision, c.repository_id limit ${given(({ limit }) => limit)}`,
    );
    this.#readAll = database.prepare(
      (
        given,
      ) => sql`select ${columns} from repositories r left join changes c on c.repository_id = r.id ${growth(given)}
        where r.id > ${given(({ id }) => id)} and r.availability not in ('RENAMED', 'HIDDEN')
        order by r.id limit ${given(({ limit }) => limit)}`,
    );
    const revisionOf = (id: number) =>
      sql`(select revision from changes where repository_id = ${sql.lit(id)})`;
    this.#readEnd = database.prepare(
      () =>
        sql`select value, store, ${revisionOf(ALL_CHANGED)}, ${revisionOf(FORGOTTEN)} from revision where id = 1`,
    );
  }

  /**
   * The changes after a position, oldest first, with growth in a window. Without a position: none, and the position now. At START: all
   * repositories, then the changes while they were read. Throws INVALID_REQUEST for a text that is no position, and CURSOR_EXPIRED if
   * all repositories may have changed since, or removed ones are forgotten.
   */
  async since(
    text: string | undefined,
    { limit, window }: { limit: number; window: Window },
  ): Promise<ChangePage> {
    const until = await this.#live.announced();
    const since = text === undefined || text === START ? await this.#begin() : positionOf(text);
    if (text === undefined) return { changes: [], next: textOf(endOf(since, until)), hasMore: false };
    const isWalk = since.revision === WALK;
    const read = await (isWalk ? this.#readAll : this.#readLog)({
      ...since,
      until,
      window,
      limit: limit + 1,
    });
    // Read after them: if all have changed meanwhile, they may be too new for the next part.
    const [[revision, store, all, forgotten] = NO_END] = await this.#readEnd(null);
    const from = isWalk ? since.roundFrom : since.revision;
    if (since.store !== store || from > revision || (all ?? 0) > from || (forgotten ?? -1) >= from)
      throw expired();
    const page = read.slice(0, limit);
    const hasMore = read.length > limit;
    const [lastRevision = 0, lastId = 0] = page.at(-1) ?? [];
    // Another process may have announced more than this one.
    const end = isWalk ? endOf(since, since.roundFrom) : until < from ? since : endOf(since, until);
    const next = hasMore ? { ...since, revision: isWalk ? WALK : lastRevision, id: lastId } : end;
    return {
      changes: await this.#changesOf(page, since),
      next: textOf(next),
      hasMore: hasMore || isWalk,
    };
  }

  /** The position before the first repository. Repositories are read from the store, so nothing since is missed. */
  async #begin(): Promise<Position> {
    const [[roundFrom, store] = NO_END] = await this.#readEnd(null);
    return { store, roundFrom, revision: WALK, id: 0 };
  }

  async #changesOf(page: readonly ChangeRow[], since: Position): Promise<Change[]> {
    const stored = page.filter((row) => row[4] !== null);
    const rows = await this.#rows.rowsOf(stored.map((row) => row.slice(OWN_COLUMNS) as RowValues));
    const byId = new Map(rows.map((row) => [row.repository.id, row]));
    return page.map(([, id, added, renamed]) => {
      const row = byId.get(id);
      return { id, row, kinds: kindsOf(row, { added, renamed: renamed ?? 0 }, since) };
    });
  }
}

const endOf = ({ store }: Position, revision: number): Position => ({
  ...{ store, roundFrom: revision, revision, id: LAST_ID },
});

function kindsOf(
  row: ListRow | undefined,
  { added, renamed }: { added: number; renamed: number },
  { roundFrom, revision }: Position,
): ChangeKind[] {
  if (row === undefined) return ["DELETED"];
  if (row.movedTo !== undefined) return ["JOINED"];
  const isNew = revision === WALK || added > roundFrom;
  const kinds: ChangeKind[] = [
    ...(isNew ? (["NEW"] as const) : []),
    ...(renamed > roundFrom ? (["RENAMED"] as const) : []),
    ...(row.repository.availability === "AVAILABLE" ? [] : (["GONE"] as const)),
  ];
  return kinds.length === 0 ? ["COUNTS"] : kinds;
}

const columns = sql`c.revision, coalesce(c.repository_id, r.id), coalesce(c.added, 0),
  (select max(p.revision) from previous_names p where p.repository_id = r.id),
  case when r.availability <> 'HIDDEN' then r.id end,
  ${REPOSITORY.sql}, ${TREND.sql}`;

function growth(given: Given<Part>) {
  return sql`left join rollups g
    on g.repository_id = r.id and g.window_hours = ${given(({ window }) => WINDOW_HOURS[window])}`;
}

function textOf({ store, roundFrom, revision, id }: Position): string {
  return Buffer.from(JSON.stringify([store, roundFrom, revision, id])).toString("base64url");
}

function positionOf(text: string): Position {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    value = undefined;
  }
  const { success, data } = positionSchema.safeParse(value);
  if (success) return { store: data[0], roundFrom: data[1], revision: data[2], id: data[3] };
  const message = `must be ${START}, or meta.nextCursor of an earlier response`;
  throw new AppError("INVALID_REQUEST", `since: ${message}`, { details: [{ parameter: "since", message }] });
}

function expired(): AppError {
  return new AppError(
    "CURSOR_EXPIRED",
    `All repositories may have changed since. Drop the copy, and begin again with since=${START}.`,
  );
}
