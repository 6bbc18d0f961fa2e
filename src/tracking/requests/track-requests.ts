/**
 * Requests to track repositories that are not known yet. Owns the queue: who may request how much, which requests are open, what became
 * of each, and for how long that is kept. Contacts no forge: serving processes add requests and read them, and `tracking` works them
 * off.
 */

import { type Adding, DailyQuotas } from "../../accounts/accounts.js";
import type { TrackAccess } from "../../config/config.js";
import type { Database, Tx } from "../../database/database.js";
import type { Clock } from "../../lib/clock.js";
import { AppError, invalidParameter } from "../../lib/errors.js";
import { tokenPrefix } from "../../lib/tokens.js";
import type { Catalog, Repository } from "../../repositories/repositories.js";
import {
  type AddressedForge,
  type RepositoryAddress,
  readRepositoryAddress,
} from "../../repositories/repositories.js";
import { MAX_BATCH_OPEN, TrackLists } from "./lists.js";
import { countWaiting, findOpen, insertRequest, takeFromBatch } from "./open-requests.js";
import { estimatedSeconds, type Pace, requestOf, type TrackRequest } from "./request.js";

export { MAX_BATCH_OPEN, MAX_PASTED } from "./lists.js";
export { type OpenRequests, readOpenRequests, removeOldRequests } from "./open-requests.js";
export { type ClaimedRequest, TrackQueue } from "./queue.js";
export {
  type Pace,
  TRACK_FAILURES,
  TRACK_STATES,
  type TrackList,
  type TrackRequest,
  type TrackState,
} from "./request.js";

/** Who may request repositories, and of which forges. */
export interface TrackPolicy {
  access: TrackAccess;
  forges: readonly AddressedForge[];
}

/** Who sends a request. */
export interface Requester {
  hasAccount: boolean;
  /** For the daily quota; undefined where none is set. */
  adding: Adding<"tracked"> | undefined;
}

/** The outcome of a request: the repository, if it is known already, or the open request for it. */
export type Requested = { repository: Repository } | { request: TrackRequest };

/** Requests of people that wait per provider; with more, new ones are refused. */
export const MAX_OPEN = 1_000;
/** When to try again if the queue is full. */
const FULL_SECONDS = 600;

export interface TrackRequestsOptions {
  database: Database;
  catalog: Catalog;
  clock: Clock;
  watchlists: {
    /** Appends a repository to a list in a transaction, unless the list is full or deleted. */
    appendIn(tx: Tx, item: { id: number; repositoryId: number }): Promise<void>;
  };
  /** Returns the secret of the service, for hashing callers. */
  readSecret: () => Promise<string>;
}

export class TrackRequests {
  readonly lists: TrackLists;
  readonly #options: TrackRequestsOptions;
  readonly #quotas: DailyQuotas;

  constructor(options: TrackRequestsOptions) {
    this.#options = options;
    this.#quotas = new DailyQuotas(options.readSecret);
    this.lists = new TrackLists({ ...options, quotas: this.#quotas });
  }

  /**
   * Requests a repository by an address as people paste it. Joins an open request of a person for the same repository, without counting
   * it. Throws FORBIDDEN while requests are off, VALIDATION_FAILED, UNAUTHENTICATED, RATE_LIMITED beyond the daily quota, and UNAVAILABLE
   * while the queue is full.
   */
  async request(text: string, policy: TrackPolicy, { hasAccount, adding }: Requester): Promise<Requested> {
    const { access, forges } = policy;
    if (access === "off" || forges.length === 0)
      throw new AppError("FORBIDDEN", "Repositories cannot be requested here; its operator chooses them.");
    const address = readRepositoryAddress(text, forges);
    if ("problem" in address) throw invalidParameter("repository", address.problem, allowedOf(address));
    const known = await this.known(address);
    if (known !== undefined) return { repository: known };
    if (access === "accounts" && !hasAccount)
      throw new AppError("UNAUTHENTICATED", "Sign in, or send an API key, to request a repository.", {
        headers: { "WWW-Authenticate": 'Bearer realm="sidereal"' },
      });
    const publicId = await this.#open(address, adding);
    const request = await this.find(publicId);
    if (request === undefined) throw new AppError("UNAVAILABLE", "The request could not be read back.");
    return { request };
  }

  /** The repository with this name, if it is known and available. A previous name does not count: another one may use it now. */
  async known({ provider, fullName }: RepositoryAddress): Promise<Repository | undefined> {
    const found = await this.#options.catalog.findByName(provider, fullName);
    if (found === undefined || found.isPreviousName) return undefined;
    return found.repository.availability === "AVAILABLE" ? found.repository : undefined;
  }

  /** The request with this id. Undefined for any other text, and after it has been removed. */
  async find(publicId: string): Promise<TrackRequest | undefined> {
    if (tokenPrefix(publicId) !== "sidt") return undefined;
    const { database, clock } = this.#options;
    const { read } = database;
    const row = await read
      .selectFrom("track_requests")
      .selectAll()
      .where("public_id", "=", publicId)
      .executeTakeFirst();
    if (row === undefined || row.finished_at !== null || row.repository_id !== null)
      return row && requestOf(row);
    const ahead = await read
      .selectFrom("track_requests")
      .select(({ fn }) => fn.countAll<number>().as("requests"))
      .where("provider", "=", row.provider)
      .where("finished_at", "is", null)
      .where("repository_id", "is", null)
      .where((where) =>
        where.or([
          where("is_batch", "<", row.is_batch),
          where.and([where("is_batch", "=", row.is_batch), where("id", "<", row.id)]),
        ]),
      )
      .executeTakeFirstOrThrow();
    const position = Number(ahead.requests) + 1;
    const pace = await this.#pace(row.provider);
    return requestOf(row, { position, estimatedSeconds: estimatedSeconds(position, pace, clock.now()) });
  }

  /**
   * Queues repositories after the requests of people, without a quota, and joins open requests for them. At most `MAX_BATCH_OPEN` of a
   * provider wait; the rest is left out. `watchlistId`: a list to add them to once they are recorded. Returns the ids of the requests,
   * in the same order; undefined: left out.
   */
  async queue(
    addresses: readonly RepositoryAddress[],
    watchlistId: number | null,
  ): Promise<(string | undefined)[]> {
    const ids: (string | undefined)[] = [];
    for (const address of addresses)
      ids.push(
        await this.#options.database.durable
          .transaction()
          .execute((tx) => this.#queueOne(tx, address, watchlistId)),
      );
    return ids;
  }

  async #queueOne(
    tx: Tx,
    address: RepositoryAddress,
    watchlistId: number | null,
  ): Promise<string | undefined> {
    const { database, clock, watchlists } = this.#options;
    const { dialect } = database;
    let request = await findOpen(tx, address, dialect);
    if (request === undefined) {
      if ((await countWaiting(tx, address.provider, 1)) >= MAX_BATCH_OPEN) return undefined;
      request = await insertRequest(tx, address, { isBatch: true, now: clock.now() });
      // Another process may have inserted one in between.
      request ??= await findOpen(tx, address, dialect);
    }
    if (request === undefined || watchlistId === null) return request?.publicId;
    const { id, publicId, repositoryId } = request;
    if (repositoryId !== null) await watchlists.appendIn(tx, { id: watchlistId, repositoryId });
    else
      await tx
        .insertInto("track_request_lists")
        .values({ request_id: id, watchlist_id: watchlistId })
        .onConflict((conflict) => conflict.columns(["request_id", "watchlist_id"]).doNothing())
        .execute();
    return publicId;
  }

  /** The id of the open request of people for a repository, a new one if there is no such request. */
  async #open(address: RepositoryAddress, adding: Adding<"tracked"> | undefined): Promise<string> {
    const { database, clock } = this.#options;
    const joined = await findOpen(database.read, address);
    if (joined?.isBatch === false) return joined.publicId;
    const count = await this.#quotas.counterOf(adding);
    return database.durable.transaction().execute(async (tx) => {
      if ((await countWaiting(tx, address.provider, 0)) >= MAX_OPEN)
        throw new AppError("UNAVAILABLE", "Too many requests are waiting for this forge. Try again later.", {
          headers: { "Retry-After": String(FULL_SECONDS) },
        });
      const now = clock.now();
      const added =
        (await takeFromBatch(tx, address)) ??
        (await insertRequest(tx, address, { isBatch: false, now }))?.publicId;
      // Another process inserted one in between, and may have finished it by now.
      const id = added ?? (await findOpen(tx, address))?.publicId;
      if (id === undefined)
        throw new AppError("UNAVAILABLE", "The request collided with another. Try again.");
      if (added !== undefined) await count(tx, { kind: "tracked", amount: 1, now });
      return id;
    });
  }

  async #pace(provider: string): Promise<Pace | undefined> {
    const row = await this.#options.database.read
      .selectFrom("track_lanes")
      .selectAll()
      .where("provider", "=", provider)
      .executeTakeFirst();
    return (
      row && {
        at: row.at,
        readyAt: row.ready_at,
        remaining: row.remaining,
        quota: row.quota,
        resetAt: row.reset_at,
      }
    );
  }
}

function allowedOf({ allowed }: { allowed?: readonly string[] }): { allowed?: readonly string[] } {
  return allowed === undefined ? {} : { allowed };
}
