import { Socket } from "node:net";
import pg from "pg";
import { type Clock, within } from "../../lib/clock.js";
import { connectionOf } from "../postgres-url.js";

/** How long a server may take to respond to a probe, connecting included. */
const PROBE_MS = 2_000;

/** What a server says of itself. */
export interface ServerFacts {
  /** Whether it follows another server. */
  isReplica: boolean;
  /** Bytes of the log that it has written, or replayed as a replica. */
  position: number;
  /** The same for a primary and its replicas; differs for all others. */
  system: string;
  /** Grows with each promotion in the history of the server. */
  timeline: number;
  database: string;
  schema: string;
}

/**
 * A primary names the timeline of the file that it writes. A replica has several sources: each of them may be behind, and the
 * connection to its primary is only visible to roles that may read statistics.
 */
const FACTS = `select pg_is_in_recovery() as "isReplica",
  (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end - '0/0')::float8 as position,
  (select system_identifier::text from pg_control_system()) as system,
  case when pg_is_in_recovery() then greatest(
      (select timeline_id from pg_control_checkpoint()),
      (select min_recovery_end_timeline from pg_control_recovery()),
      (select max(received_tli) from pg_stat_wal_receiver))
    else ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline,
  current_database()::text as database, current_schema()::text as schema`;

/** Examines one server over a connection of its own, which it opens again when it was lost. */
export class ServerProbe {
  readonly #url: string;
  readonly #clock: Clock;
  #connection: { client: pg.Client; socket: Socket } | undefined;

  constructor(url: string, clock: Clock) {
    this.#url = url;
    this.#clock = clock;
  }

  /** Throws if the server does not respond within two seconds, or with an error. One call at a time. */
  async facts(): Promise<ServerFacts> {
    try {
      return await within(this.#clock, PROBE_MS, this.#ask());
    } catch (error) {
      this.#drop();
      throw error;
    }
  }

  close(): void {
    this.#drop();
  }

  async #ask(): Promise<ServerFacts> {
    const client = this.#connection?.client ?? (await this.#connect());
    const { rows } = await client.query<ServerFacts>(FACTS);
    const [facts] = rows;
    if (facts === undefined) throw new Error("the server returned nothing");
    return facts;
  }

  async #connect(): Promise<pg.Client> {
    const socket = new Socket();
    const client = new pg.Client({ ...connectionOf(this.#url), stream: () => socket });
    const connection = { client, socket };
    client.on("error", () => {
      if (this.#connection === connection) this.#drop();
    });
    socket.on("error", () => {});
    this.#connection = connection;
    await client.connect();
    return client;
  }

  #drop(): void {
    this.#connection?.socket.destroy();
    this.#connection = undefined;
  }
}
