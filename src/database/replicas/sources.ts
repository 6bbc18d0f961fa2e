import type { Clock } from "../../lib/clock.js";
import type { Logger } from "../../lib/log.js";
import type { FaultPool } from "../postgres-pool.js";
import { LagSamples } from "./lag.js";
import { type ServerFacts, ServerProbe } from "./probe.js";
import { PROBLEMS, ReplicaRefused, type ReplicaState, type ReplicaStatus } from "./status.js";

/** Time between two probes of a server. */
const PROBE_EVERY_MS = 1_000;
/** How long a replica must have been usable before it is read from again: each change of source discards caches. */
const REST_MS = 5_000;

/** A server that public reads can go to. */
export interface Source {
  name: string;
  url: string;
  pool: FaultPool;
}

interface Replica extends Source {
  probe: Probe;
  state: ReplicaState;
  lagMs: number | null;
  /** Since when it has been ready; monotonic. Negative infinity for one that has never failed. */
  readySince: number;
  /** What the log said last. */
  logged: string;
}

export interface SourcesOptions {
  primary: Source;
  /** In the order of preference. */
  replicas: readonly Source[];
  maxLagMs: number;
  clock: Clock;
  log: Logger;
  /** Examines a server. Default: over a connection. */
  probe?: (url: string) => Probe;
}

export type Probe = Pick<ServerProbe, "facts" | "close">;

/**
 * Decides from which server this process reads public data: from the first usable replica, otherwise from the primary. It is one
 * server at a time, for data and for the revision: a response from one replica must not be cached under the revision of
 * another. Each server is probed once a second; a failed statement ends the use of a replica without waiting for that.
 */
export class Sources {
  readonly primary: Source;
  readonly #replicas: readonly Replica[];
  readonly #options: SourcesOptions;
  readonly #primaryProbe: Probe;
  readonly #samples = new LagSamples();
  readonly #closing = new AbortController();
  #primaryFacts: ServerFacts | undefined;
  /** Whether the primary could not be examined last. */
  #isPrimaryUnknown = false;
  #current: Source;
  #generation = 0;

  constructor(options: SourcesOptions) {
    const { primary, replicas, clock, probe = (url) => new ServerProbe(url, clock) } = options;
    this.#options = options;
    this.primary = primary;
    this.#current = primary;
    this.#primaryProbe = probe(primary.url);
    this.#replicas = replicas.map((source) => ({
      ...source,
      probe: probe(source.url),
      state: "starting",
      lagMs: null,
      readySince: Number.NEGATIVE_INFINITY,
      logged: "",
    }));
  }

  get current(): Source {
    return this.#current;
  }

  /** Grows whenever earlier reads may not fit later ones, so that their cached results must be discarded. */
  get generation(): number {
    return this.#generation;
  }

  get status(): ReplicaStatus[] {
    return this.#replicas.map((replica) => ({
      name: replica.name,
      state: replica.state,
      lagMs: replica.lagMs,
      isUsed: replica === this.#current,
    }));
  }

  /** Examines all servers and follows them from then on. Throws ReplicaRefused if one is a copy of another database. */
  async start(): Promise<void> {
    await this.#examinePrimary();
    await Promise.all(this.#replicas.map((replica) => this.#examine(replica)));
    const foreign = this.#replicas.find(({ state }) => state === "foreign");
    if (foreign !== undefined)
      throw new ReplicaRefused(
        `SIDEREAL_DATABASE_READ_URL: ${foreign.name} is not a replica of the database in SIDEREAL_DATABASE_URL: it belongs to another database or cluster.`,
      );
    void this.#follow(() => this.#examinePrimary());
    for (const replica of this.#replicas) void this.#follow(() => this.#examine(replica));
  }

  close(): void {
    this.#closing.abort();
    this.#primaryProbe.close();
    for (const { probe } of this.#replicas) probe.close();
  }

  /** Ends the use of a source whose statement has failed, until it has been usable again for a while. */
  leave(source: Source, error: unknown): void {
    const replica = this.#replicas.find((one) => one === source);
    if (replica !== undefined) this.#note(replica, "away", error);
  }

  async #follow(examine: () => Promise<void>): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#closing;
    for (;;) {
      await clock.sleep(PROBE_EVERY_MS, signal);
      if (signal.aborted) return;
      await examine();
    }
  }

  async #examinePrimary(): Promise<void> {
    const at = this.#options.clock.monotonic();
    let facts: ServerFacts;
    try {
      facts = await this.#primaryProbe.facts();
    } catch (error) {
      // Replicas that were usable are used nevertheless, see LagSamples.
      if (!this.#isPrimaryUnknown && !this.#closing.signal.aborted)
        this.#options.log.warn(
          causeOf(error),
          "the primary cannot be examined: the lag of replicas is not measured",
        );
      this.#isPrimaryUnknown = true;
      return;
    }
    this.#isPrimaryUnknown = false;
    // A standby behind the address of the primary, about to be promoted.
    if (facts.isReplica) return;
    const { system, timeline } = this.#primaryFacts ?? facts;
    this.#primaryFacts = facts;
    if (system !== facts.system || timeline !== facts.timeline) {
      // Commits may have been lost with the previous primary, and their revisions are given again.
      this.#samples.clear();
      this.#generation++;
      this.#options.log.warn({ timeline: facts.timeline }, "another server has become the primary");
    }
    this.#samples.record(facts.position, at);
  }

  async #examine(replica: Replica): Promise<void> {
    let facts: ServerFacts;
    try {
      facts = await replica.probe.facts();
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#note(replica, "away", error);
      return;
    }
    replica.lagMs = facts.isReplica ? this.#samples.lagAt(facts.position) : null;
    this.#note(replica, this.#judge(replica, facts));
  }

  #judge({ lagMs }: Replica, facts: ServerFacts): ReplicaState {
    const primary = this.#primaryFacts;
    if (primary === undefined) return "starting";
    const { system, database, schema } = primary;
    if (facts.system !== system || facts.database !== database || facts.schema !== schema) return "foreign";
    // It may be the new primary, which the address of the primary then leads to, or one that has gone its own way.
    if (!facts.isReplica) return "promoted";
    if (facts.timeline !== primary.timeline) return "diverged";
    return lagMs === null || lagMs > this.#options.maxLagMs ? "lagging" : "ready";
  }

  #note(replica: Replica, state: ReplicaState, error?: unknown): void {
    const { clock } = this.#options;
    const isNew = state !== replica.state;
    if (state !== "ready") replica.readySince = Number.POSITIVE_INFINITY;
    else if (replica.readySince === Number.POSITIVE_INFINITY) replica.readySince = clock.monotonic();
    if (state === "away") replica.lagMs = null;
    replica.state = state;
    if (isNew) this.#report(replica, error);
    this.#choose();
  }

  #choose(): void {
    const now = this.#options.clock.monotonic();
    const chosen = this.#replicas.find((replica) =>
      replica === this.#current ? replica.state === "ready" : now - replica.readySince >= REST_MS,
    );
    const next = chosen ?? this.primary;
    if (next === this.#current) return;
    const from = this.#current.name;
    this.#current = next;
    this.#generation++;
    const { log } = this.#options;
    if (next === this.primary) log.warn({ from }, "public reads go to the primary: no replica is usable");
    else log.info({ from, to: next.name }, "public reads go to a replica");
  }

  #report({ name, state, lagMs }: Replica, error: unknown): void {
    const { log } = this.#options;
    const about = { replica: name, ...(lagMs !== null && { lagMs: Math.round(lagMs) }) };
    if (state === "ready") log.info(about, "the replica is usable");
    else if (state !== "starting") log.warn({ ...about, ...causeOf(error) }, PROBLEMS[state]);
  }
}

/** Only the message: the error object may contain the address. */
function causeOf(error: unknown): { error?: string } {
  return error instanceof Error ? { error: error.message } : {};
}
