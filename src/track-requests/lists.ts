import { sql } from "kysely";
import type { Clock } from "../clock.js";
import type { Adding, DailyQuotas } from "../daily-quota.js";
import type { Database, Tx } from "../database/database.js";
import { AppError } from "../errors.js";
import type { FailureKind } from "../providers/providers.js";
import type { RepositoryAddress } from "../repository-addresses/repository-addresses.js";
import { createToken, tokenPrefix } from "../tokens.js";
import { countWaiting, insertRequests } from "./open-requests.js";
import { failureOf, type TrackFailure } from "./request.js";

/** Repositories that were requested together, and what has become of them. Times in ms since 1970. */
export interface TrackList {
  /** Names the list in URLs; nobody can guess it. */
  id: string;
  /** The repository whose README has the links; null: they were pasted. */
  source: RepositoryAddress | null;
  requestedAt: number;
  /** Whether the links are known. Not yet where a README is to be read. */
  isRead: boolean;
  /** Why the README could not be read. */
  failure: TrackFailure | null;
  /** Repositories that it links to, those of them that were tracked already, and those for which there was no room. */
  found: number;
  known: number;
  leftOut: number;
  /** Of the rest: waiting to be looked up, recorded, and not found and so on. */
  waiting: number;
  recorded: number;
  failed: number;
  /** Those that failed, at most 20. */
  failures: { fullName: string; message: string }[];
}

/** A list whose README is to be read. */
export interface ClaimedList {
  id: number;
  fullName: string;
  attempts: number;
  /** End of the lease, which no other claim of it has. What is written under an earlier one changes nothing. */
  leasedUntil: number;
}

/** Most repositories that are pasted together, and most in a README. */
export const MAX_PASTED = 300;
export const MAX_LINKED = 5_000;
/** Most requests of lists that wait for one forge, together with those of the command line. */
export const MAX_BATCH_OPEN = 10_000;
/** READMEs that wait to be read; a list takes a request. */
const MAX_UNREAD = 20;
/** Requests that are added in one transaction. */
const TOGETHER = 100;
const SHOWN_FAILURES = 20;

export interface TrackListsOptions {
  database: Database;
  clock: Clock;
  quotas: DailyQuotas;
}

/** Requests for several repositories at a time: after those of people who wait, in the order of the links. */
export class TrackLists {
  readonly #options: TrackListsOptions;

  constructor(options: TrackListsOptions) {
    this.#options = options;
  }

  /**
   * Requests the repositories of pasted links, at most `MAX_PASTED`. All that are not known count for the quota. Returns the id.
   * Throws RATE_LIMITED.
   */
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

  /** Requests what the README of a repository links to. Returns the id. Throws UNAVAILABLE while many wait. */
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
  async find(publicId: string): Promise<TrackList | undefined> {
    if (tokenPrefix(publicId) !== "sidt") return undefined;
    const { read } = this.#options.database;
    const row = await read
      .selectFrom("track_lists")
      .selectAll()
      .where("public_id", "=", publicId)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const { rows } = await sql<{
      waiting: number | null;
      recorded: number | null;
      failed: number | null;
    }>`select
        sum(case when failure is null and repository_id is null and finished_at is null then 1 else 0 end) as waiting,
        sum(case when repository_id is not null then 1 else 0 end) as recorded,
        sum(case when failure is not null then 1 else 0 end) as failed
      from track_requests where list_id = ${row.id}`.execute(read);
    const failures = await read
      .selectFrom("track_requests")
      .select(["full_name", "failure"])
      .where("list_id", "=", row.id)
      .where("failure", "is not", null)
      .orderBy("id")
      .limit(SHOWN_FAILURES)
      .execute();
    const [counts] = rows;
    const { provider, full_name: fullName } = row;
    return {
      id: row.public_id,
      source: provider === null || fullName === null ? null : { provider, fullName },
      requestedAt: Number(row.requested_at),
      isRead: row.read_at !== null,
      failure: row.failure === null ? null : failureOf(row.failure),
      found: row.found,
      known: row.known,
      leftOut: row.left_out,
      waiting: Number(counts?.waiting ?? 0),
      recorded: Number(counts?.recorded ?? 0),
      failed: Number(counts?.failed ?? 0),
      failures: failures.map((one) => ({
        fullName: one.full_name,
        message: failureOf(one.failure ?? "").message,
      })),
    };
  }

  /** The next list of a provider whose README is to be read, under a lease. Reads an index that is usually empty. */
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

  /** Gives a list back, to be claimed again at a time. */
  async postpone(claim: ClaimedList, until: number): Promise<void> {
    await this.#set(claim, { leased_until: until });
  }

  async fail(claim: ClaimedList, failure: FailureKind): Promise<void> {
    await this.#set(claim, { failure, read_at: this.#options.clock.now() });
  }

  async #set(
    { id, leasedUntil }: Pick<ClaimedList, "id" | "leasedUntil">,
    change: {
      leased_until?: number;
      failure?: string;
      read_at?: number;
      found?: number;
      known?: number;
      left_out?: number;
    },
  ): Promise<void> {
    await this.#options.database.write
      .updateTable("track_lists")
      .set(change)
      .where("id", "=", id)
      .where("leased_until", "=", leasedUntil)
      .execute();
  }

  /** Whether nobody else has claimed the list since; until the transaction ends, nobody can. */
  async #isClaimed(tx: Tx, { id, leasedUntil }: Pick<ClaimedList, "id" | "leasedUntil">): Promise<boolean> {
    const { rows } = await sql`select 1 from track_lists where id = ${id} and leased_until = ${leasedUntil}
      ${this.#options.database.dialect.lockRow}`.execute(tx);
    return rows.length > 0;
  }

  /** Those that are not tracked, by one statement for each forge. */
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
        // What was pasted is added next; a crash in between leaves a list that says so.
        read_at: source === null ? now : null,
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    return { id, publicId };
  }

  /** Adds the requests some at a time, so that no transaction is long, and then the counts. */
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

  /** Those that somebody has requested before are joined: they count for the list that came first. */
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
  const keys = new Map<string, string[]>();
  for (const { provider, fullName } of addresses)
    if (keys.get(provider)?.push(fullName.toLowerCase()) === undefined)
      keys.set(provider, [fullName.toLowerCase()]);
  return keys;
}

/** Removes lists that were requested a week ago. */
export async function removeOldLists({ write }: Pick<Database, "write">, before: number): Promise<void> {
  await write.deleteFrom("track_lists").where("requested_at", "<", before).execute();
}
