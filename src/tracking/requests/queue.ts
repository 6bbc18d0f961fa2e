/** The queue of requests to track as workers use it: claiming, postponing and ending them. */
import { type RawBuilder, sql } from "kysely";
import type { Database, Dialect, Tx } from "../../database/database.js";
import type { FailureKind } from "../../forges/forges.js";
import { HOUR_MS } from "../../lib/clock.js";
import type { Pace } from "./request.js";

/** A request that a worker has claimed. */
export interface ClaimedRequest {
  id: number;
  fullName: string;
  isBatch: boolean;
  /** Failed attempts so far, without lookups while the forge failed as a whole. */
  attempts: number;
  /** Since when lookups fail because the forge fails as a whole; null: they do not. */
  failingSince: number | null;
  /** Pages of its star history read so far. */
  pages: number;
  /** null: it has to be looked up; otherwise its history is read next. */
  repositoryId: number | null;
  /** End of the lease, which identifies the claim: writes under an earlier lease change nothing. */
  leasedUntil: number;
}

/** Nothing is postponed for longer: a later time was written while the clock was wrong. */
const FURTHEST_MS = HOUR_MS;
/** The order in which requests are claimed. */
const ORDER = sql`t.is_batch, case when t.repository_id is null then 0 else 1 end, t.pages, t.id`;

/** Which request to claim. Times in ms since 1970. */
export interface RequestClaim {
  now: number;
  /** End of the lease: until then no other worker claims it. */
  leasedUntil: number;
  /** false: only requests that have to be looked up. */
  mayReadHistory: boolean;
}

/** A request that may be claimed. */
export interface DueRequest {
  fullName: string;
  isBatch: boolean;
  /** true: its history is read next; false: it has to be looked up. */
  isRecorded: boolean;
  /** Since when it may be claimed, in ms since 1970. */
  dueAt: number;
}

interface ClaimRow {
  id: number;
  full_name: string;
  is_batch: number;
  attempts: number;
  failing_since: number | null;
  pages: number;
  repository_id: number | null;
}

/** The requests of one provider. */
export class TrackQueue {
  readonly #database: Database;
  readonly #provider: string;

  constructor(database: Database, provider: string) {
    this.#database = database;
    this.#provider = provider;
  }

  /** Whether no request is open. Reads one row of an index, so it may be called often. */
  async isEmpty(): Promise<boolean> {
    const { rows } = await sql`select 1 from track_requests
      where provider = ${this.#provider} and finished_at is null limit 1`.execute(this.#database.read);
    return rows.length === 0;
  }

  /**
   * Claims the next request: those of people before batches, lookups before histories, and first pages of histories before
   * later ones.
   */
  async claim({ now, leasedUntil, mayReadHistory }: RequestClaim): Promise<ClaimedRequest | undefined> {
    const { dialect, write, read } = this.#database;
    const isOpen = sql`${this.#isOpen()} and ${this.#isFree(now)}
      and (t.repository_id is null or ${mayReadHistory ? 1 : 0} = 1)`;
    const any = await sql`select 1 from track_requests t where ${isOpen} limit 1`.execute(read);
    if (any.rows.length === 0) return undefined;
    return write.transaction().execute(async (tx) => {
      const { rows } = await sql<ClaimRow>`
        select t.id, t.full_name, t.is_batch, t.attempts, t.failing_since, t.pages, t.repository_id
        from track_requests t where ${isOpen}
        order by ${ORDER}
        limit 1 ${dialect.lockFree("t")}`.execute(tx);
      const [row] = rows;
      if (row === undefined) return undefined;
      await tx
        .updateTable("track_requests")
        .set({ leased_until: leasedUntil })
        .where("id", "=", row.id)
        .execute();
      return {
        leasedUntil,
        id: row.id,
        fullName: row.full_name,
        isBatch: row.is_batch === 1,
        attempts: row.attempts,
        failingSince: row.failing_since,
        pages: row.pages,
        repositoryId: row.repository_id,
      };
    });
  }

  /** The requests that may be claimed: their number, the first of them in their order, and when another one follows them. */
  async due(
    now: number,
    limit: number,
  ): Promise<{ due: number; first: DueRequest[]; nextAt: number | null }> {
    const { read } = this.#database;
    const counted = await sql<{ due: number | null; next_at: number | null }>`
      select sum(case when ${this.#isFree(now)} then 1 else 0 end) as due,
        min(case when ${this.#isFree(now)} then t.requested_at else t.leased_until end) as next_at
      from track_requests t where ${this.#isOpen()}`.execute(read);
    const { rows } = await sql<
      Pick<ClaimRow, "full_name" | "is_batch" | "repository_id"> & { due_at: number }
    >`select t.full_name, t.is_batch, t.repository_id,
        case when t.leased_until between t.requested_at and ${now} then t.leased_until else t.requested_at end as due_at
      from track_requests t where ${this.#isOpen()} and ${this.#isFree(now)}
      order by ${ORDER} limit ${limit}`.execute(read);
    const [count] = counted.rows;
    return {
      due: Number(count?.due ?? 0),
      first: rows.map((row) => ({
        fullName: row.full_name,
        isBatch: row.is_batch === 1,
        isRecorded: row.repository_id !== null,
        dueAt: Number(row.due_at),
      })),
      nextAt: count === undefined || count.next_at === null ? null : Number(count.next_at),
    };
  }

  #isOpen(): RawBuilder<unknown> {
    return sql`t.provider = ${this.#provider} and t.finished_at is null`;
  }

  #isFree(now: number): RawBuilder<unknown> {
    return sql`(t.leased_until <= ${now} or t.leased_until > ${now + FURTHEST_MS})`;
  }

  /** Releases a request until a time, with the attempts and failures in the claim. */
  async postpone(claim: ClaimedRequest, until: number): Promise<void> {
    const { attempts, failingSince } = claim;
    await setClaimed(this.#database.write, claim, {
      leased_until: until,
      attempts,
      failing_since: failingSince,
    });
  }

  async fail(claim: ClaimedRequest, failure: FailureKind, now: number): Promise<void> {
    await setClaimed(this.#database.write, claim, { leased_until: 0, failure, finished_at: now });
  }

  /** Ends a request whose history is read, or left to the backfill. */
  async finish(claim: ClaimedRequest, now: number): Promise<void> {
    await setClaimed(this.#database.write, claim, { leased_until: 0, finished_at: now });
  }

  /** Notes one more page of history, and releases the request unless it was the last page. */
  async readPage({ id, leasedUntil }: ClaimedRequest, { isLast }: { isLast: boolean }): Promise<void> {
    await sql`update track_requests set pages = pages + 1, attempts = 0, leased_until = ${isLast ? leasedUntil : 0}
      where id = ${id} and finished_at is null and leased_until = ${leasedUntil}`.execute(
      this.#database.write,
    );
  }

  /** Reports the pace of the lane, for estimates. */
  async report({ at, readyAt, remaining, quota, resetAt }: Pace): Promise<void> {
    const pace = { at, ready_at: readyAt, remaining, quota, reset_at: resetAt };
    await this.#database.write
      .insertInto("track_lanes")
      .values({ provider: this.#provider, ...pace })
      .onConflict((conflict) => conflict.column("provider").doUpdateSet(pace))
      .execute();
  }

  /** Whether no other worker has claimed the request since; none can before the transaction ends. */
  static async isClaimed(tx: Tx, dialect: Dialect, { id, leasedUntil }: ClaimedRequest): Promise<boolean> {
    const { rows } = await sql`select 1 from track_requests where id = ${id} and finished_at is null
      and leased_until = ${leasedUntil} ${dialect.lockRow}`.execute(tx);
    return rows.length > 0;
  }

  /**
   * Notes the repository of a claimed request, in the transaction that records it. `isFinished`: no history follows. Returns the ids of
   * the watchlists to add it to.
   */
  static async record(
    tx: Tx,
    claim: ClaimedRequest,
    { repositoryId, at, isFinished }: { repositoryId: number; at: number; isFinished: boolean },
  ): Promise<number[]> {
    const { id } = claim;
    await setClaimed(tx, claim, {
      repository_id: repositoryId,
      leased_until: 0,
      attempts: 0,
      failing_since: null,
      finished_at: isFinished ? at : null,
    });
    const { rows } = await sql<{ watchlist_id: number }>`delete from track_request_lists
      where request_id = ${id} returning watchlist_id`.execute(tx);
    return rows.map(({ watchlist_id }) => watchlist_id);
  }
}

interface Change {
  leased_until: number;
  attempts?: number;
  failing_since?: number | null;
  repository_id?: number;
  failure?: FailureKind;
  finished_at?: number | null;
}

/** Changes a request unless another worker has claimed or ended it, after a lease that took too long. */
async function setClaimed(
  db: Tx | Database["write"],
  { id, leasedUntil }: ClaimedRequest,
  change: Change,
): Promise<void> {
  await db
    .updateTable("track_requests")
    .set(change)
    .where("id", "=", id)
    .where("leased_until", "=", leasedUntil)
    .where("finished_at", "is", null)
    .execute();
}
