/**
 * Requests to track repositories that are not known yet. Owns the queue: who may request how much, which requests are open, what became
 * of each, and for how long that is kept. Contacts no forge: serving processes add requests and read them, and the worker works them off.
 */

import { sql } from "kysely";
import type { Adding, DailyQuotas } from "../../accounts/accounts.js";
import type { TrackAccess } from "../../config/config.js";
import { type Database, readNumber, type Tx } from "../../database/database.js";
import type { Clock } from "../../lib/clock.js";
import { AppError, invalidParameter } from "../../lib/errors.js";
import { repositoryKey } from "../../lib/page-addresses.js";
import { createToken, tokenPrefix } from "../../lib/tokens.js";
import {
  type AddressedForge,
  addressReader,
  type Catalog,
  fullNameKey,
  type Repository,
  type RepositoryAddress,
} from "../../repositories/repositories.js";
import { readReport } from "../report.js";
import {
  countAhead,
  countFirstPages,
  countWaiting,
  findEnded,
  findOpen,
  insertRequests,
  type OpenRequest,
  queueBatch,
  takeFromBatch,
} from "./queue.js";
import {
  estimatedSeconds,
  type ForgePace,
  failureOf,
  requestOf,
  type TrackList,
  type TrackRequest,
  type Wait,
  waitOf,
} from "./request.js";

export interface TrackPolicy {
  access: TrackAccess;
  forges: readonly AddressedForge[];
}

export interface Requester {
  hasAccount: boolean;
  /** For the daily quota; undefined if none is set. */
  adding: Adding<"tracked"> | undefined;
  /** Whether the links in a README may be requested; absent: no. */
  mayReadLists?: boolean;
}

/** Throws FORBIDDEN if nobody but operators may ask for repositories, and with `requester` UNAUTHENTICATED if that one may not yet. */
export function checkMayAsk({ access, forges }: TrackPolicy, requester?: Requester): void {
  if (access === "off" || forges.length === 0)
    throw new AppError(
      "FORBIDDEN",
      "Only operators may request repositories here. This needs the session that begins with the address which the start of the service or sidereal operator-key prints (programs send its cookie and Origin), or an API key of an account in SIDEREAL_OPERATORS. With SIDEREAL_TRACK=accounts or everyone, others may request too.",
    );
  if (access === "accounts" && requester?.hasAccount === false)
    throw new AppError("UNAUTHENTICATED", "Sign in, or send an API key, to request a repository.", {
      headers: { "WWW-Authenticate": 'Bearer realm="sidereal"' },
    });
}

/** The outcome of a request: the repository, if it is known already, or the open request for it. */
type Requested = { repository: Repository } | { request: TrackRequest };

/** Requests of people that wait per provider; with more, new ones are refused. */
export const MAX_OPEN = 1_000;
/** Maximum numbers of repositories in pasted links and in a README. */
export const MAX_PASTED = 300;
const MAX_LINKED = 5_000;
/** Maximum number of READMEs that wait to be read; each takes a request. */
const MAX_UNREAD = 20;
/** When to try again if the queue is full, or too many READMEs wait. */
const FULL_SECONDS = 600;
const UNREAD_SECONDS = 60;
const TOGETHER = 100;
/** Repositories left out of a list that it names. */
const MAX_NAMED = 1_000;
/** A worker reports more often. */
const RECENT_MS = 60_000;
/** How long a request that has ended is still the progress of its repository. */
const RECENTLY_MS = 10 * 60_000;
const SHOWN_FAILURES = 20;

interface TrackRequestsOptions {
  database: Database;
  catalog: Catalog;
  clock: Clock;
  watchlists: {
    /** Appends a repository to a list in a transaction, unless the list is full or deleted. */
    appendIn(tx: Tx, item: { id: number; repositoryId: number }): Promise<void>;
  };
  quotas: DailyQuotas;
  forges: {
    /** Whether a repository of this provider is tracked only if somebody asks for it, whatever else is known of it. */
    isOnDemand(provider: string): boolean;
  };
}

type Transact = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

export interface UnreadList {
  id: number;
  fullName: string;
  attempts: number;
}

export class TrackRequests {
  readonly #options: TrackRequestsOptions;

  constructor(options: TrackRequestsOptions) {
    this.#options = options;
  }

  /**
   * Requests a repository by an address as people paste it. Joins an open request of a person for the same repository, without counting
   * it. Throws FORBIDDEN while requests are off, VALIDATION_FAILED, UNAUTHENTICATED, RATE_LIMITED beyond the daily quota, and UNAVAILABLE
   * while the queue is full.
   */
  async request(text: string, policy: TrackPolicy, requester: Requester): Promise<Requested> {
    checkMayAsk(policy);
    const address = addressReader(policy.forges)(text);
    if ("problem" in address)
      throw invalidParameter(
        "repository",
        address.problem,
        address.allowed ? { allowed: address.allowed } : {},
      );
    return this.requestAddress(address, policy, requester);
  }

  /** The same for an address that is parsed. */
  async requestAddress(
    address: RepositoryAddress,
    policy: TrackPolicy,
    requester: Requester,
  ): Promise<Requested> {
    const known = await this.known(address);
    if (known !== undefined) return { repository: known };
    checkMayAsk(policy, requester);
    const request = await this.find(await this.open(address, requester.adding));
    if (request === undefined) throw new AppError("UNAVAILABLE", "The request could not be read back.");
    return { request };
  }

  /**
   * The repository with this name, if it is tracked and available. A previous name does not count: another one may use it now. Nor does
   * one of the sample or of an import on a forge that is tracked on demand.
   */
  async known({ provider, fullName }: RepositoryAddress): Promise<Repository | undefined> {
    const found = await this.#options.catalog.findByName(provider, fullName);
    if (found === undefined || found.isPreviousName) return undefined;
    const { availability, nextRefreshAt } = found.repository;
    const isTracked = nextRefreshAt !== null || !this.#options.forges.isOnDemand(provider);
    return availability === "AVAILABLE" && isTracked ? found.repository : undefined;
  }

  /**
   * The id of the open request of people for a repository, a new one if there is no such request. `adding`: for the daily quota;
   * undefined: none. Throws RATE_LIMITED, and UNAVAILABLE while the queue is full.
   */
  async open(address: RepositoryAddress, adding: Adding<"tracked"> | undefined): Promise<string> {
    const { database, clock } = this.#options;
    const joined = await findOpen(database.read, address);
    if (joined?.is_batch === 0) return joined.public_id;
    const count = await this.#options.quotas.counterOf(adding);
    return database.durable.transaction().execute(async (tx) => {
      if ((await countWaiting(tx, address.provider, false)) >= MAX_OPEN)
        throw unavailable("Too many requests are waiting for this forge. Try again later.", FULL_SECONDS);
      const now = clock.now();
      const added =
        (await takeFromBatch(tx, address)) ??
        (await insertRequests(tx, [address], { isBatch: false, now }))[0];
      // Another process inserted one in between, and may have finished it by now.
      const id = added ?? (await findOpen(tx, address))?.public_id;
      if (id === undefined)
        throw new AppError("UNAVAILABLE", "The request collided with another. Try again.");
      if (added !== undefined) await count(tx, { kind: "tracked", amount: 1, now });
      return id;
    });
  }

  /** The request with this id. Undefined for any other text, and after it has been removed. */
  async find(publicId: string): Promise<TrackRequest | undefined> {
    if (tokenPrefix(publicId) !== "sidt") return undefined;
    const row = await this.#options.database.read
      .selectFrom("track_requests")
      .selectAll()
      .where("public_id", "=", publicId)
      .executeTakeFirst();
    return row && this.#withProgress(row);
  }

  /** Whether a repository is being read for the first time: it waits for its turn, or its history is being read. */
  async isBeingRead(address: RepositoryAddress): Promise<boolean> {
    return (await findOpen(this.#options.database.read, address)) !== undefined;
  }

  /** The request for a repository that is open, or else the last that ended within RECENTLY_MS; undefined without either. */
  async progress(address: RepositoryAddress): Promise<TrackRequest | undefined> {
    const { read } = this.#options.database;
    const row =
      (await findOpen(read, address)) ??
      (await findEnded(read, address, this.#options.clock.now() - RECENTLY_MS));
    return row && this.#withProgress(row);
  }

  async #withProgress(row: OpenRequest): Promise<TrackRequest> {
    const { database, catalog, clock } = this.#options;
    const now = clock.now();
    const isOpen = row.finished_at === null;
    const pace = isOpen ? await this.#pace(row.provider, now) : undefined;
    if (row.repository_id !== null) {
      const points = await catalog.snapshotsBetween(row.repository_id, { from: 0, until: now });
      const pointsFrom = points.length === 0 ? null : points.at(0);
      return requestOf(row, { ...waitOf(pace, pace?.historyAt, now), points: points.length, pointsFrom });
    }
    if (!isOpen) return requestOf(row, {});
    const isSearched = pace?.isSearched === true && row.attempts === 0;
    const kind = isSearched ? "untried" : pace?.isSearched === true ? "triedLookups" : "lookups";
    const position = (await countAhead(database.read, row, kind)) + 1;
    const isAfterPages = !isSearched && row.is_batch === 1;
    const pages = isAfterPages ? await countFirstPages(database.read, row.provider) : 0;
    // The quota of lookups does not limit searches.
    const own = pace && (isSearched ? { ...pace, readyAt: pace.searchAt ?? now, remaining: null } : pace);
    return requestOf(row, {
      position,
      estimatedSeconds: own === undefined ? null : estimatedSeconds(position + pages, own, now),
      ...waitOf(pace, own?.readyAt, now),
    });
  }

  /** How long a search of a forge waits: see `TrackRequest`. */
  async searchWait(provider: string): Promise<Wait> {
    const now = this.#options.clock.now();
    const pace = await this.#pace(provider, now);
    return waitOf(pace, pace?.searchAt, now);
  }

  /** What the worker last reported; undefined while none does. */
  async #pace(provider: string, now: number): Promise<ForgePace | undefined> {
    const row = await this.#options.database.read
      .selectFrom("worker_reports")
      .select("body")
      .where("provider", "=", provider)
      .where("at", ">=", now - RECENT_MS)
      .executeTakeFirst();
    const { lookups = null, failing = null } = row === undefined ? {} : readReport(row.body);
    return lookups === null
      ? undefined
      : { ...lookups, isUnreachable: failing !== null || lookups.isResting === true };
  }

  /**
   * Queues repositories after the requests of people, without a quota, and joins open requests for them. What is too much for the queue
   * is left out. `watchlistId`: a list to add them to once they are recorded. Returns the ids of the requests, in the same order;
   * undefined: left out.
   */
  async queue(
    addresses: readonly RepositoryAddress[],
    watchlistId: number | null,
  ): Promise<(string | undefined)[]> {
    const { database, clock, watchlists } = this.#options;
    const ids: (string | undefined)[] = [];
    for (let from = 0; from < addresses.length; from += TOGETHER)
      await database.durable.transaction().execute(async (tx) => {
        const some = addresses.slice(from, from + TOGETHER);
        const batch = { addresses: some, now: clock.now(), listId: null };
        for (const result of await queueBatch(tx, database.dialect, batch)) {
          ids.push(result?.public_id);
          if (result === undefined || watchlistId === null) continue;
          const { id, repository_id: repositoryId } = result;
          if (repositoryId !== null) await watchlists.appendIn(tx, { id: watchlistId, repositoryId });
          else
            await tx
              .insertInto("track_request_lists")
              .values({ request_id: id, watchlist_id: watchlistId })
              .onConflict((conflict) => conflict.columns(["request_id", "watchlist_id"]).doNothing())
              .execute();
        }
      });
    return ids;
  }

  /**
   * Requests the repositories of the first MAX_PASTED links, and of the unknown ones, which count for the quota, as many as fit. Returns the
   * id of the list, which names the others. Throws RATE_LIMITED if none fits.
   */
  async addPasted(
    addresses: readonly RepositoryAddress[],
    adding: Adding<"tracked"> | undefined,
  ): Promise<string> {
    const { database, clock } = this.#options;
    const count = await this.#options.quotas.counterOf(adding);
    const unknown = await this.#unknownOf(addresses.slice(0, MAX_PASTED));
    const transact: Transact = (work) => database.durable.transaction().execute(work);
    const { list, fits } = await transact(async (tx) => {
      const fits = await count(tx, {
        kind: "tracked",
        amount: unknown.length,
        least: Math.min(1, unknown.length),
        now: clock.now(),
      });
      return { list: await this.#insertList(tx, null), fits };
    });
    const leftOut = [...unknown.slice(fits), ...addresses.slice(MAX_PASTED)];
    const known = addresses.length - leftOut.length - fits;
    await this.#fill(list.id, { wanted: unknown.slice(0, fits), known, leftOut }, transact);
    return list.public_id;
  }

  /** Requests the repositories that a README links to, once the worker has read it. Returns the id. Throws UNAVAILABLE while many wait. */
  async addReadme(source: RepositoryAddress): Promise<string> {
    return this.#options.database.durable.transaction().execute(async (tx) => {
      const unread = sql`select count(*) from track_lists where read_at is null`;
      if ((await readNumber(tx, unread)) >= MAX_UNREAD)
        throw unavailable("Too many lists wait to be read. Try again later.", UNREAD_SECONDS);
      return (await this.#insertList(tx, source)).public_id;
    });
  }

  /** The next list of a provider with an unread README. Reads an index that is usually empty. */
  async nextReadme(provider: string, now: number): Promise<UnreadList | undefined> {
    const row = await this.#options.database.read
      .selectFrom("track_lists")
      .select(["id", "full_name", "attempts"])
      .where("provider", "=", provider)
      .where("read_at", "is", null)
      .where("retry_at", "<=", now)
      .orderBy("id")
      .limit(1)
      .executeTakeFirst();
    return row && { id: row.id, fullName: row.full_name ?? "", attempts: row.attempts };
  }

  /**
   * Requests the repositories of a list, at most MAX_LINKED, then notes the counts. `transact` runs each of several short transactions. A
   * kill in between repeats it: what is open already is not added again.
   */
  async fillList(listId: number, all: readonly RepositoryAddress[], transact: Transact): Promise<void> {
    const addresses = all.slice(0, MAX_LINKED);
    const wanted = await this.#unknownOf(addresses);
    const known = addresses.length - wanted.length;
    await this.#fill(listId, { wanted, known, leftOut: all.slice(MAX_LINKED) }, transact);
  }

  async #fill(
    listId: number,
    { wanted, known, leftOut }: { wanted: RepositoryAddress[]; known: number; leftOut: RepositoryAddress[] },
    transact: Transact,
  ): Promise<void> {
    const { database, clock } = this.#options;
    const noRoom: RepositoryAddress[] = [];
    for (let from = 0; from < wanted.length; from += TOGETHER) {
      const batch = { addresses: wanted.slice(from, from + TOGETHER), now: clock.now(), listId };
      const results = await transact((tx) => queueBatch(tx, database.dialect, batch));
      noRoom.push(...batch.addresses.filter((_, i) => results[i] === undefined));
    }
    const left = [...noRoom, ...leftOut];
    const names = left.slice(0, MAX_NAMED).map(repositoryKey);
    const counts = {
      found: wanted.length + known + leftOut.length,
      known,
      left_out: left.length,
      left_out_names: names.length === 0 ? null : JSON.stringify(names),
      read_at: clock.now(),
    };
    await transact((tx) => tx.updateTable("track_lists").set(counts).where("id", "=", listId).execute());
  }

  /** The list with this id. Undefined for any other text, and after it has been removed. */
  async findList(publicId: string): Promise<TrackList | undefined> {
    if (tokenPrefix(publicId) !== "sidt") return undefined;
    const { read } = this.#options.database;
    const row = await read
      .selectFrom("track_lists")
      .selectAll()
      .where("public_id", "=", publicId)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const requests = await read
      .selectFrom("track_requests")
      .select(["full_name", "failure", "repository_id", "finished_at"])
      .where("list_id", "=", row.id)
      .orderBy("id")
      .execute();
    const { provider, full_name: fullName, failure } = row;
    const failures = requests.flatMap((one) =>
      one.failure === null ? [] : [{ fullName: one.full_name, message: failureOf(one.failure).message }],
    );
    return {
      id: row.public_id,
      source: provider === null || fullName === null ? null : { provider, fullName },
      requestedAt: row.requested_at,
      isRead: row.read_at !== null,
      failure: failure === null ? null : failureOf(failure),
      found: row.found,
      known: row.known,
      leftOut: row.left_out,
      leftOutNames: row.left_out_names === null ? [] : JSON.parse(row.left_out_names),
      waiting: requests.filter((one) => one.finished_at === null && one.repository_id === null).length,
      recorded: requests.filter(({ repository_id }) => repository_id !== null).length,
      failed: failures.length,
      failures: failures.slice(0, SHOWN_FAILURES),
    };
  }

  async #unknownOf(addresses: readonly RepositoryAddress[]): Promise<RepositoryAddress[]> {
    const { database, forges } = this.#options;
    const { read, dialect } = database;
    const keyOf = (provider: string, fullName: string) => `${provider} ${fullNameKey(fullName)}`;
    const known = new Set<string>();
    for (const [provider, own] of Map.groupBy(addresses, (address) => address.provider)) {
      const keys = own.map(({ fullName }) => fullNameKey(fullName));
      const { rows } = await sql<{ name_key: string }>`select name_key from repositories
        where provider = ${provider} and availability = 'AVAILABLE'
          ${forges.isOnDemand(provider) ? sql`and next_refresh_at is not null` : sql``}
          and ${dialect.among(sql.ref("name_key"), keys)}`.execute(read);
      for (const row of rows) known.add(keyOf(provider, row.name_key));
    }
    return addresses.filter(({ provider, fullName }) => !known.has(keyOf(provider, fullName)));
  }

  #insertList(tx: Tx, source: RepositoryAddress | null): Promise<{ id: number; public_id: string }> {
    const now = this.#options.clock.now();
    return tx
      .insertInto("track_lists")
      .values({
        public_id: createToken("sidt"),
        provider: source?.provider ?? null,
        full_name: source?.fullName ?? null,
        requested_at: now,
        retry_at: 0,
        attempts: 0,
        found: 0,
        known: 0,
        left_out: 0,
        left_out_names: null,
        failure: null,
        // Pasted links are added next; a crash in between leaves a list without requests.
        read_at: source === null ? now : null,
      })
      .returning(["id", "public_id"])
      .executeTakeFirstOrThrow();
  }
}

/** The error of something that may be possible after `retrySeconds`. */
export function unavailable(message: string, retrySeconds: number): AppError {
  return new AppError("UNAVAILABLE", message, { headers: { "Retry-After": String(retrySeconds) } });
}
