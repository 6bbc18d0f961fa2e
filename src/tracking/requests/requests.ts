/**
 * Requests of people and operators to forges: repositories to track, and answers to which repositories an owner has, or have a name. Owns the
 * quotas of requests, open requests, their outcome, and how long they are kept. Contacts no forge: serving processes add rows and
 * read them, and the worker works them off.
 */

import { sql } from "kysely";
import type { Adding, DailyQuotas } from "../../accounts/accounts.js";
import type { TrackAccess } from "../../config/config.js";
import type { Database, Tx } from "../../database/database.js";
import { type Clock, HOUR_MS } from "../../lib/clock.js";
import { AppError, invalidParameter } from "../../lib/errors.js";
import { repositoryKey } from "../../lib/page-addresses.js";
import { createToken, tokenPrefix } from "../../lib/tokens.js";
import {
  type AddressedForge,
  addressReader,
  type Catalog,
  fullNameKey,
  parseAsked,
  type Repository,
  type RepositoryAddress,
} from "../../repositories/repositories.js";
import { readReport } from "../report.js";
import {
  answerOf,
  countsText,
  estimatedSeconds,
  type ForgePace,
  listOf,
  type Question,
  requestOf,
  type TrackList,
  type TrackRequest,
  waitOf,
} from "./request.js";
import {
  countAhead,
  countFirstPages,
  countOpen,
  findRequest,
  insertWanted,
  type Wanted,
  wantRepositories,
} from "./wanted.js";

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

/** The requester, and the rules that apply. */
export interface Asker {
  policy: TrackPolicy;
  requester: Requester;
}

/** Throws FORBIDDEN if nobody but operators may ask for repositories, and with `requester` UNAUTHENTICATED if that one may not yet. */
function checkMayAsk({ access, forges }: TrackPolicy, requester?: Requester): void {
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
type Requested = { kind: "repository"; repository: Repository } | { kind: "request"; request: TrackRequest };

/** The outcome of a text. */
export type AskOutcome =
  | Requested
  /** Several repositories, or those that a README links to; see `findList`. */
  | { kind: "list"; id: string }
  | { kind: "question"; id: string }
  /** A README: the repository itself, or its links. Nothing was requested. */
  | ({ kind: "choice" } & RepositoryAddress);

/** Maximum numbers of repositories in pasted links and in a README. */
export const MAX_PASTED = 300;
const MAX_LINKED = 5_000;
/** Words that a list says it cannot read. */
const MAX_WRONG = 20;
/** Maximum number of waiting READMEs of a forge, as each takes a request, and of questions to it. */
const MAX_UNREAD = 20;
const MAX_QUESTIONS = 100;
/** When to try again if the queue is full, or too many of the others wait. */
const FULL_SECONDS = 600;
const UNREAD_SECONDS = 60;
const TOGETHER = 100;
/** A worker reports more often. */
const RECENT_MS = 60_000;
/** How long a request that has ended is still the progress of its repository. */
const RECENTLY_MS = 10 * 60_000;
/** How long the answer to a question serves others who ask the same. */
const SHARED_MS = HOUR_MS;

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
    /** Whether a repository of this provider is tracked only on request, whatever else is known of it. */
    isOnDemand(provider: string): boolean;
  };
}

type Transact = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/** Who adds repositories: a person who waits, with a daily quota or without, or nobody who waits. */
type Adder = { isBatch: true } | { isBatch: false; adding: Adding<"tracked"> | undefined };

interface AddOptions {
  /** The list that new requests belong to. */
  listId?: number;
  /** A watchlist to add the repositories to, once they are recorded. */
  watchlistId?: number | undefined;
  /** Runs each of several short transactions. */
  transact?: Transact;
}

export class TrackRequests {
  readonly #options: TrackRequestsOptions;

  constructor(options: TrackRequestsOptions) {
    this.#options = options;
  }

  readonly #durably: Transact = (work) => this.#options.database.durable.transaction().execute(work);

  /**
   * Requests repositories, and joins open requests for them, which costs no quota. Returns the request of each, undefined if the queue has
   * no room for it. Throws RATE_LIMITED beyond the daily quota of a person.
   */
  async add(
    addresses: readonly RepositoryAddress[],
    by: Adder,
    { listId, watchlistId, transact = this.#durably }: AddOptions = {},
  ): Promise<(Wanted | undefined)[]> {
    const { database, clock, watchlists, quotas } = this.#options;
    const { isBatch } = by;
    const count = await quotas.counterOf(by.isBatch ? undefined : by.adding);
    const all: (Wanted | undefined)[] = [];
    for (let from = 0; from < addresses.length; from += TOGETHER) {
      const part = addresses.slice(from, from + TOGETHER);
      const now = clock.now();
      const wanted = { addresses: part, isBatch, listId: listId ?? null, watchlistId, now };
      const rows = await transact(async (tx) => {
        const result = await wantRepositories(tx, database.dialect, wanted);
        await count(tx, { kind: "tracked", amount: result.added, now });
        for (const { repository_id: repositoryId } of result.rows.filter((row) => row !== undefined))
          if (watchlistId !== undefined && repositoryId !== null)
            await watchlists.appendIn(tx, { id: watchlistId, repositoryId });
        return result.rows;
      });
      all.push(...rows);
    }
    return all;
  }

  /** Requests a repository for a person. Throws RATE_LIMITED, and UNAVAILABLE while the queue is full. */
  async open(address: RepositoryAddress, adding?: Adding<"tracked">): Promise<TrackRequest> {
    const [row] = await this.add([address], { isBatch: false, adding });
    if (row === undefined)
      throw unavailable("Too many requests are waiting for this forge. Try again later.", FULL_SECONDS);
    return this.#withProgress(row);
  }

  /** Requests a repository by an address as people paste it. Throws as `ask` does. */
  async request(text: string, by: Asker): Promise<Requested> {
    checkMayAsk(by.policy);
    const address = addressReader(by.policy.forges)(text);
    if ("problem" in address) throw invalidAddress(address);
    return this.#requestOne(address, by);
  }

  async #requestOne(address: RepositoryAddress, { policy, requester }: Asker): Promise<Requested> {
    const repository = await this.known(address);
    if (repository !== undefined) return { kind: "repository", repository };
    checkMayAsk(policy, requester);
    return { kind: "request", request: await this.open(address, requester.adding) };
  }

  /**
   * Requests the repositories of a text. `as`: of a README, the repository or its links. Throws FORBIDDEN while requests are off,
   * VALIDATION_FAILED, UNAUTHENTICATED, RATE_LIMITED beyond the daily quota, and UNAVAILABLE while the queue is full.
   */
  async ask(text: string, by: Asker, as?: "repository" | "links"): Promise<AskOutcome> {
    const { policy, requester } = by;
    checkMayAsk(policy);
    const asked = parseAsked(text, policy.forges);
    switch (asked.kind) {
      case "problem":
        throw invalidAddress(asked);
      case "repositories": {
        const [first, ...others] = asked.addresses;
        if (first !== undefined && others.length + asked.wrong.length === 0)
          return as === "links" ? this.#requestReadme(first, by, as) : this.#requestOne(first, by);
        checkMayAsk(policy, requester);
        return { kind: "list", id: await this.addPasted(asked.addresses, requester.adding, asked) };
      }
      case "readme":
        return this.#requestReadme(asked, by, as);
      case "owner":
        return this.#question("owner", asked.owner, [asked.provider], by);
      case "name":
        return this.#question(
          "name",
          asked.name,
          policy.forges.map(({ name }) => name),
          by,
        );
    }
  }

  /** For requesters who may not read lists, a README means its repository. */
  async #requestReadme(
    { provider, fullName }: RepositoryAddress,
    by: Asker,
    as: "repository" | "links" | undefined,
  ): Promise<AskOutcome> {
    const address = { provider, fullName };
    if (as === "repository" || by.requester.mayReadLists !== true) return this.#requestOne(address, by);
    if (as === undefined) return { kind: "choice", ...address };
    return { kind: "list", id: await this.addReadme(address) };
  }

  async #question(
    kind: "owner" | "name",
    text: string,
    providers: readonly string[],
    { policy, requester }: Asker,
  ): Promise<AskOutcome> {
    checkMayAsk(policy, requester);
    const { database, clock, quotas } = this.#options;
    const now = clock.now();
    const same = await database.read
      .selectFrom("wanted")
      .select("public_id")
      .where("provider", "=", providers[0] ?? "")
      .where("kind", "=", kind)
      .where("text_key", "=", fullNameKey(text))
      .where("text", "=", text)
      .where("requested_at", ">", now - SHARED_MS)
      .where("failure", "is", null)
      .orderBy("id", "desc")
      .limit(1)
      .executeTakeFirst();
    if (same !== undefined) return { kind: "question", id: same.public_id };
    const count = await quotas.counterOf(requester.adding);
    const public_id = createToken("sidt");
    await this.#durably(async (tx) => {
      for (const provider of providers)
        if ((await countOpen(tx, provider, "questions")) >= MAX_QUESTIONS)
          throw unavailable("Too many questions wait for this forge. Try again later.", UNREAD_SECONDS);
      await count(tx, { kind: "tracked", amount: 1, now });
      await insertWanted(
        tx,
        providers.map((provider) => ({ kind, provider, text, public_id, requested_at: now })),
      );
    });
    return { kind: "question", id: public_id };
  }

  /**
   * The repository with this name, if it is tracked and available. A previous name does not count: another one may use it now. Nor does
   * one of the sample or of an import on a forge that is tracked on demand.
   */
  async known(address: RepositoryAddress): Promise<Repository | undefined> {
    const [id] = (await this.#knownIds([address])).values();
    return id === undefined ? undefined : this.#options.catalog.find(id);
  }

  /** The ids of those repositories that `known` finds, by `keyOf`. */
  async #knownIds(addresses: readonly RepositoryAddress[]): Promise<Map<string, number>> {
    const { database, forges } = this.#options;
    const { read, dialect } = database;
    const known = new Map<string, number>();
    for (const [provider, own] of Map.groupBy(addresses, (address) => address.provider)) {
      const keys = own.map(({ fullName }) => fullNameKey(fullName));
      const { rows } = await sql<{ id: number; name_key: string }>`select id, name_key from repositories
        where provider = ${provider} and availability = 'AVAILABLE'
          ${forges.isOnDemand(provider) ? sql`and next_refresh_at is not null` : sql``}
          and ${dialect.among(sql.ref("name_key"), keys)}`.execute(read);
      for (const { id, name_key } of rows) known.set(`${provider} ${name_key}`, Number(id));
    }
    return known;
  }

  async #unknownOf(addresses: readonly RepositoryAddress[]): Promise<RepositoryAddress[]> {
    const known = await this.#knownIds(addresses);
    return addresses.filter((one) => !known.has(`${one.provider} ${fullNameKey(one.fullName)}`));
  }

  /** The rows with a public id, in order; none for any other text, and after they have been removed. */
  async #rowsOf(publicId: string): Promise<Wanted[]> {
    if (tokenPrefix(publicId) !== "sidt") return [];
    const { read } = this.#options.database;
    return read.selectFrom("wanted").selectAll().where("public_id", "=", publicId).orderBy("id").execute();
  }

  /** The request with this id; undefined without one. */
  async find(publicId: string): Promise<TrackRequest | undefined> {
    const [row] = await this.#rowsOf(publicId);
    return row?.kind === "repository" ? this.#withProgress(row) : undefined;
  }

  /** Whether a repository is being read for the first time: it waits for its turn, or its history is being read. */
  async isBeingRead(address: RepositoryAddress): Promise<boolean> {
    return (await findRequest(this.#options.database.read, address)) !== undefined;
  }

  /** The request for a repository that is open, or else the last that ended within RECENTLY_MS; undefined without either. */
  async progress(address: RepositoryAddress): Promise<TrackRequest | undefined> {
    const { database, clock } = this.#options;
    const row = await findRequest(database.read, address, clock.now() - RECENTLY_MS);
    return row && this.#withProgress(row);
  }

  async #withProgress(row: Wanted): Promise<TrackRequest> {
    const { database, catalog, clock } = this.#options;
    const now = clock.now();
    const isOpen = row.finished_at === null;
    const pace = isOpen ? await this.#pace(row.provider, now) : undefined;
    if (row.repository_id !== null) {
      const { snapshots, firstSnapshotAt } = await catalog.snapshotRange(row.repository_id);
      const wait = waitOf(pace, pace?.historyAt, now);
      return requestOf(row, { ...wait, points: snapshots, pointsFrom: firstSnapshotAt });
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

  /** The last report of the worker; undefined while none runs. */
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

  /** The question with this id; undefined without one. */
  async findQuestion(publicId: string): Promise<Question | undefined> {
    const rows = await this.#rowsOf(publicId);
    const [first] = rows;
    if (first?.kind !== "owner" && first?.kind !== "name") return undefined;
    const now = this.#options.clock.now();
    const answers = [];
    for (const row of rows) {
      const pace = row.finished_at === null ? await this.#pace(row.provider, now) : undefined;
      answers.push(answerOf(row, waitOf(pace, pace?.searchAt, now)));
    }
    return {
      id: publicId,
      kind: first.kind,
      text: first.text,
      askedAt: first.requested_at,
      isAnswered: answers.every(({ state }) => state !== "WAITING"),
      answers,
    };
  }

  /** Requests the `most` repositories of an owner with most stars. Returns the id of a list. Throws NOT_FOUND without an answer. */
  async trackAnswer(publicId: string, most: number, { policy, requester }: Asker): Promise<string> {
    checkMayAsk(policy);
    const question = await this.findQuestion(publicId);
    const found = question?.kind === "owner" ? (question.answers[0]?.candidates ?? []) : [];
    if (found.length === 0) throw new AppError("NOT_FOUND", "This question has no answer.");
    if (!Number.isSafeInteger(most) || most < 1 || most > found.length)
      throw invalidParameter("most", `must be a whole number from 1 to ${found.length}`);
    checkMayAsk(policy, requester);
    return this.addPasted(found.slice(0, most), requester.adding);
  }

  /**
   * Requests the repositories of the first MAX_PASTED links, and of the unknown ones, which count for the quota, as many as fit. Returns the
   * id of the list, which names the others and the `wrong` words among them. Throws RATE_LIMITED if none fits.
   */
  async addPasted(
    addresses: readonly RepositoryAddress[],
    adding: Adding<"tracked"> | undefined,
    { wrong = [], watchlistId }: { wrong?: readonly string[]; watchlistId?: number } = {},
  ): Promise<string> {
    const now = this.#options.clock.now();
    const count = await this.#options.quotas.counterOf(adding);
    const unknown = await this.#unknownOf(addresses.slice(0, MAX_PASTED));
    const amount = unknown.length;
    const { list, fits } = await this.#durably(async (tx) => {
      const fits = await count(tx, { kind: "tracked", amount, least: Math.min(1, amount), now });
      // The requests are added next; a crash in between leaves a list without any.
      const row = { kind: "links", provider: "", text: "", requested_at: now, finished_at: now };
      const [list] = await insertWanted(tx, [row]);
      return { list, fits };
    });
    if (list === undefined) throw new Error("a list of links was not added");
    const leftOut = [...unknown.slice(fits), ...addresses.slice(MAX_PASTED)];
    const lists = { all: addresses, wanted: unknown.slice(0, fits), leftOut };
    await this.#fill(list.id, lists, { wrong: wrong.slice(0, MAX_WRONG), watchlistId });
    return list.public_id;
  }

  /** Requests the repositories that a README links to, once the worker has read it. Returns the id. Throws UNAVAILABLE while many wait. */
  async addReadme({ provider, fullName }: RepositoryAddress): Promise<string> {
    const row = { kind: "readme", provider, text: fullName, requested_at: this.#options.clock.now() };
    return this.#durably(async (tx) => {
      if ((await countOpen(tx, provider, "readmes")) >= MAX_UNREAD)
        throw unavailable("Too many lists wait to be read. Try again later.", UNREAD_SECONDS);
      const [list] = await insertWanted(tx, [row]);
      return list?.public_id ?? "";
    });
  }

  /**
   * Requests the repositories of a list, at most MAX_LINKED, then notes the counts. A kill in between repeats it: an open row is
   * not added again.
   */
  async fillList(listId: number, all: readonly RepositoryAddress[], transact: Transact): Promise<void> {
    const wanted = await this.#unknownOf(all.slice(0, MAX_LINKED));
    await this.#fill(listId, { all, wanted, leftOut: all.slice(MAX_LINKED) }, { transact });
  }

  async #fill(
    listId: number,
    { all, wanted, leftOut }: Record<"all" | "wanted" | "leftOut", readonly RepositoryAddress[]>,
    { wrong = [], watchlistId, transact = this.#durably }: Omit<AddOptions, "listId"> & { wrong?: string[] },
  ): Promise<void> {
    const rows = await this.add(wanted, { isBatch: true }, { listId, watchlistId, transact });
    const left = [...wanted.filter((_, i) => rows[i] === undefined), ...leftOut].map(repositoryKey);
    const known = all.length - wanted.length - leftOut.length;
    const answer = countsText({ found: all.length, known, wrong }, left);
    const change = { answer, finished_at: this.#options.clock.now() };
    await transact((tx) => tx.updateTable("wanted").set(change).where("id", "=", listId).execute());
  }

  /** The list with this id; undefined without one. */
  async findList(publicId: string): Promise<TrackList | undefined> {
    const [row] = await this.#rowsOf(publicId);
    if (row?.kind !== "readme" && row?.kind !== "links") return undefined;
    const { read } = this.#options.database;
    const requests = read.selectFrom("wanted").selectAll().where("list_id", "=", row.id).orderBy("id");
    return listOf(row, await requests.execute());
  }
}

function invalidAddress({ problem, allowed }: { problem: string; allowed?: readonly string[] | undefined }) {
  return invalidParameter("repository", problem, allowed === undefined ? {} : { allowed });
}

/** The error of something that may be possible after `retrySeconds`. */
function unavailable(message: string, retrySeconds: number): AppError {
  return new AppError("UNAVAILABLE", message, { headers: { "Retry-After": String(retrySeconds) } });
}
