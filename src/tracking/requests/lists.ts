/** Lists: requests for several repositories at a time, pasted or linked from a README. */
import { sql, type Updateable } from "kysely";
import type { Adding, DailyQuotas } from "../../accounts/accounts.js";
import type { Database, TrackListTable, Tx } from "../../database/database.js";
import type { FailureKind } from "../../forges/forges.js";
import type { Clock } from "../../lib/clock.js";
import { AppError } from "../../lib/errors.js";
import { createToken } from "../../lib/tokens.js";
import type { RepositoryAddress } from "../../repositories/repositories.js";
import { countWaiting, insertRequests } from "./open-requests.js";
import { findList, type TrackList } from "./request.js";

/** A claimed list, whose README is read next. */
export interface ClaimedList {
  id: number;
  fullName: string;
  attempts: number;
  /** End of the lease, which identifies the claim: writes under an earlier lease change nothing. */
  leasedUntil: number;
}

/** Maximum numbers of repositories in pasted links and in a README. */
export const MAX_PASTED = 300;
export const MAX_LINKED = 5_000;
/** Maximum number of requests that wait for one forge from lists and the command line together. */
export const MAX_BATCH_OPEN = 10_000;
/** Maximum number of READMEs that wait to be read; each takes a request. */
const MAX_UNREAD = 20;
/** Requests per transaction. */
const TOGETHER = 100;

export interface TrackListsOptions {
  database: Database;
  clock: Clock;
  quotas: DailyQuotas;
}

/** Requests of lists come after those of people who wait, in the order of the links. */
export class TrackLists {
  readonly #options: TrackListsOptions;

  constructor(options: TrackListsOptions) {
    this.#options = options;
  }

  /** Requests the repositories of at most `MAX_PASTED` links. Unknown ones count for the quota. Returns the id. Throws RATE_LIMITED. */
  async addPasted(
    addresses: readonly RepositoryAddress[],
    adding: Adding<"tracked"> | undefined,
  ): Promise<string> {
    const { database, quotas, clock } = this.#options;
    const count = await quotas.counterOf(adding);
    const unknown = await this.#unknownOf(addresses);
    const list = await database.durable.transaction().execute(async (tx) => {
      await count(tx, { kind: "tracked", amount: unknown.length, now: clock.now() });
      return this.#insert(tx, null);
    });
    await this.#record({ id: list.id, leasedUntil: 0 }, { addresses, unknown });
    return list.publicId;
  }

  /** Requests the repositories that a README links to. Returns the id. Throws UNAVAILABLE while many lists wait. */
  async addReadme(source: RepositoryAddress): Promise<string> {
    return this.#options.database.durable.transaction().execute(async (tx) => {
      const { unread } = await tx
        .selectFrom("track_lists")
        .select(({ fn }) => fn.countAll<number>().as("unread"))
        .where("read_at", "is", null)
        .executeTakeFirstOrThrow();
      if (Number(unread) >= MAX_UNREAD)
        throw new AppError("UNAVAILABLE", "Too many lists wait to be read. Try again later.", {
          headers: { "Retry-After": "60" },
        });
      return (await this.#insert(tx, source)).publicId;
    });
  }

  /** The list with this id. Undefined for any other text, and after it has been removed. */
  find(publicId: string): Promise<TrackList | undefined> {
    return findList(this.#options.database.read, publicId);
  }

  /** Claims the next list of a provider with an unread README. Reads an index that is usually empty. */
  async claim(
    provider: string,
    { now, leasedUntil }: { now: number; leasedUntil: number },
  ): Promise<ClaimedList | undefined> {
    const { read, write, dialect } = this.#options.database;
    const isFree = sql`t.provider = ${provider} and t.read_at is null and t.leased_until <= ${now}`;
    const any = await sql`select 1 from track_lists t where ${isFree} limit 1`.execute(read);
    if (any.rows.length === 0) return undefined;
    return write.transaction().execute(async (tx) => {
      const { rows } = await sql<{ id: number; full_name: string; attempts: number }>`
        select t.id, t.full_name, t.attempts from track_lists t where ${isFree}
        order by t.id limit 1 ${dialect.lockFree("t")}`.execute(tx);
      const [row] = rows;
      if (row === undefined) return undefined;
      await tx
        .updateTable("track_lists")
        .set({ leased_until: leasedUntil, attempts: row.attempts + 1 })
        .where("id", "=", row.id)
        .execute();
      return { id: row.id, fullName: row.full_name, attempts: row.attempts + 1, leasedUntil };
    });
  }

  /** Requests the repositories that a README links to. Returns how many were added. */
  async record(claim: ClaimedList, addresses: readonly RepositoryAddress[]): Promise<number> {
    const some = addresses.slice(0, MAX_LINKED);
    return this.#record(claim, {
      addresses: some,
      unknown: await this.#unknownOf(some),
      leftOut: addresses.length - some.length,
    });
  }

  /** Releases a list until a time. */
  async postpone(claim: ClaimedList, until: number): Promise<void> {
    await this.#set(claim, { leased_until: until });
  }

  async fail(claim: ClaimedList, failure: FailureKind): Promise<void> {
    await this.#set(claim, { failure, read_at: this.#options.clock.now() });
  }

  async #set(
    { id, leasedUntil }: Pick<ClaimedList, "id" | "leasedUntil">,
    change: Updateable<TrackListTable>,
  ): Promise<void> {
    await this.#options.database.write
      .updateTable("track_lists")
      .set(change)
      .where("id", "=", id)
      .where("leased_until", "=", leasedUntil)
      .execute();
  }

  /** Whether no other worker has claimed the list since; none can before the transaction ends. */
  async #isClaimed(tx: Tx, { id, leasedUntil }: Pick<ClaimedList, "id" | "leasedUntil">): Promise<boolean> {
    const { rows } = await sql`select 1 from track_lists where id = ${id} and leased_until = ${leasedUntil}
      ${this.#options.database.dialect.lockRow}`.execute(tx);
    return rows.length > 0;
  }

  /** Repositories that are not tracked yet. One statement for each forge. */
  async #unknownOf(addresses: readonly RepositoryAddress[]): Promise<RepositoryAddress[]> {
    const { read, dialect } = this.#options.database;
    const known = new Set<string>();
    for (const [provider, keys] of keysByProvider(addresses)) {
      const { rows } = await sql<{ name_key: string }>`select name_key from repositories
        where provider = ${provider} and availability = 'AVAILABLE'
          and ${dialect.among(sql.ref("name_key"), keys)}`.execute(read);
      for (const row of rows) known.add(`${provider} ${row.name_key}`);
    }
    return addresses.filter((address) => !known.has(keyOf(address)));
  }

  async #insert(tx: Tx, source: RepositoryAddress | null): Promise<{ id: number; publicId: string }> {
    const now = this.#options.clock.now();
    const publicId = createToken("sidt");
    const { id } = await tx
      .insertInto("track_lists")
      .values({
        public_id: publicId,
        provider: source?.provider ?? null,
        full_name: source?.fullName ?? null,
        requested_at: now,
        leased_until: 0,
        attempts: 0,
        found: 0,
        known: 0,
        left_out: 0,
        failure: null,
        // Pasted links are added next; a crash in between leaves a list without requests.
        read_at: source === null ? now : null,
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    return { id, publicId };
  }

  /** Adds the requests in short transactions, then the counts. */
  async #record(
    claim: Pick<ClaimedList, "id" | "leasedUntil">,
    {
      addresses,
      unknown,
      leftOut = 0,
    }: { addresses: readonly RepositoryAddress[]; unknown: readonly RepositoryAddress[]; leftOut?: number },
  ): Promise<number> {
    const { database, clock } = this.#options;
    let added = 0;
    let full = 0;
    for (let from = 0; from < unknown.length; from += TOGETHER) {
      const results = await database.durable
        .transaction()
        .execute(async (tx) =>
          (await this.#isClaimed(tx, claim))
            ? this.#addSome(tx, unknown.slice(from, from + TOGETHER), claim.id)
            : { added: 0, full: 0 },
        );
      added += results.added;
      full += results.full;
    }
    await this.#set(claim, {
      found: addresses.length + leftOut,
      known: addresses.length - unknown.length,
      left_out: leftOut + full,
      read_at: clock.now(),
    });
    return added;
  }

  /** Open requests are joined, and count for the list that added them. */
  async #addSome(
    tx: Tx,
    addresses: readonly RepositoryAddress[],
    listId: number,
  ): Promise<{ added: number; full: number }> {
    const { clock, database } = this.#options;
    const now = clock.now();
    let [added, full] = [0, 0];
    for (const [provider, keys] of keysByProvider(addresses)) {
      const room = Math.max(0, MAX_BATCH_OPEN - (await countWaiting(tx, provider, 1)));
      const { rows } = await sql<{ name_key: string }>`select name_key from track_requests
        where provider = ${provider} and finished_at is null
          and ${database.dialect.among(sql.ref("name_key"), keys)}`.execute(tx);
      const open = new Set(rows.map((row) => `${provider} ${row.name_key}`));
      const wanted = addresses.filter((one) => one.provider === provider && !open.has(keyOf(one)));
      full += Math.max(0, wanted.length - room);
      added += await insertRequests(tx, wanted.slice(0, room), { now, listId });
    }
    return { added, full };
  }
}

function keyOf({ provider, fullName }: RepositoryAddress): string {
  return `${provider} ${fullName.toLowerCase()}`;
}

/** The keys of names, by provider. */
function keysByProvider(addresses: readonly RepositoryAddress[]): Map<string, string[]> {
  const byProvider = Map.groupBy(addresses, ({ provider }) => provider);
  return new Map(
    [...byProvider].map(([provider, own]) => [provider, own.map(({ fullName }) => fullName.toLowerCase())]),
  );
}
