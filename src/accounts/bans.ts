import { sql } from "kysely";
import { deleteOld } from "../database/database.js";
import { isoTime } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import { addressBits, type Network, overlaps, readNetwork } from "../lib/host-names.js";
import type { Logger } from "../lib/log.js";
import type { AccountsContext } from "./context.js";
import { refuseOperator } from "./operators.js";
import { endSessions } from "./sessions.js";

/** How often bans by other processes are read. */
const FOLLOWED_MS = 2_000;
/** Networks that may be banned at a time: a proxy or firewall in front of the service can do more. */
const MAX_NETWORKS = 1_000;
/** Bits of the widest network that may be banned. */
const WIDEST = { ipv4: 8, ipv6: 16 };

export const MAX_BAN_REASON = 200;
/** The networks that may be banned, for messages. */
const NETWORK_FORMS =
  "an address, or a network from /8 (IPv4), or from /16 to /64 (IPv6), such as 203.0.113.0/24 or 2001:db8::/48";

/** Who is banned: an account by its id, or a network. */
export type BanTarget = { accountId: string; email: string } | { network: string };

export interface Ban {
  accountId: string | null;
  network: string | null;
  reason: string;
  bannedAt: number;
  /** null: until it is lifted. */
  endsAt: number | null;
}

/** A banned network, and the response to its requests: always the same object, so that a refusal costs little. */
interface BannedNetwork extends Pick<Ban, "endsAt"> {
  error: AppError;
}

/**
 * Bans of accounts and of networks. Requests are compared with a copy in memory, which follows those of other processes within two
 * seconds, or as soon as they announce a revocation. A ban ends by itself.
 */
export class Bans {
  /** Reads of the store that have begun, and the latest one that was taken. */
  #loads = { begun: 0, taken: 0 };
  #accounts = new Map<string, Ban>();
  /** By prefix. */
  #networks = new Map<string, BannedNetwork>();
  /** The different lengths of the prefixes. */
  #lengths: number[] = [];

  constructor(
    private readonly context: Pick<AccountsContext, "database" | "config" | "clock" | "revocations">,
  ) {}

  /** Whether an account is banned now. */
  hasAccount(id: string): boolean {
    const ban = this.#accounts.get(id);
    return ban !== undefined && this.#isInForce(ban);
  }

  /** Why requests of a caller are refused, by an address or the name of its network of 64 bits; undefined: they are not. */
  refusalOf(address: string): AppError | undefined {
    if (this.#networks.size === 0 || !/^[0-9a-f]+[.:]/.test(address)) return undefined;
    const bits = addressBits(address);
    for (const length of this.#lengths) {
      const ban = this.#networks.get(bits.slice(0, length));
      if (ban !== undefined && this.#isInForce(ban)) return ban.error;
    }
    return undefined;
  }

  /** Those in force, latest first. */
  async list(): Promise<Ban[]> {
    const rows = await this.context.database.read
      .selectFrom("bans")
      .select(["account_id as accountId", "network", "reason"])
      .select(["banned_at as bannedAt", "ends_at as endsAt"])
      .orderBy("id", "desc")
      .execute();
    return rows.filter((ban) => this.#isInForce(ban));
  }

  /** Bans an account, whose sessions end and whose keys are refused, or a network, instead of an earlier ban. Throws LIMIT_REACHED, and FORBIDDEN for an operator. */
  async ban(target: BanTarget, { reason, endsAt }: Pick<Ban, "reason" | "endsAt">): Promise<void> {
    const { database, config, clock } = this.context;
    if ("accountId" in target) refuseOperator(config, target.email);
    const [accountId, network] = "network" in target ? [null, target.network] : [target.accountId, null];
    await database.durable.transaction().execute(async (tx) => {
      const row = { account_id: accountId, network, reason, banned_at: clock.now(), ends_at: endsAt };
      const { count } = await tx
        .selectFrom("bans")
        .select(({ fn }) => fn.countAll<number | bigint | string>().as("count"))
        .where("network", "is not", null)
        .executeTakeFirstOrThrow();
      if (network !== null && Number(count) >= MAX_NETWORKS)
        throw new AppError("LIMIT_REACHED", `At most ${MAX_NETWORKS} networks may be banned at a time.`);
      await tx
        .insertInto("bans")
        .values(row)
        .onConflict((conflict) =>
          conflict.column(network === null ? "account_id" : "network").doUpdateSet(row),
        )
        .execute();
      if (accountId !== null) await endSessions(tx, sql`account_id = ${accountId}`);
    });
    await this.#changed();
  }

  /** Lifts the ban of an account or a network. Returns false if it is not banned. */
  async lift(target: { accountId: string } | { network: string }): Promise<boolean> {
    const [column, value] =
      "network" in target
        ? (["network", target.network] as const)
        : (["account_id", target.accountId] as const);
    const lifted = await this.context.database.durable
      .deleteFrom("bans")
      .where(column, "=", value)
      .executeTakeFirstOrThrow();
    await this.#changed();
    return lifted.numDeletedRows > 0n;
  }

  /** Deletes bans that have ended at the time `now`. Returns their number. */
  removeEnded(now: number): Promise<number> {
    return deleteOld(this.context.database.durable, { table: "bans", column: "ends_at", before: now });
  }

  /** Parses what may be banned. Throws VALIDATION_FAILED for another text, and for a network with this machine or its proxies in it. */
  readNetwork(text: string): Network {
    const network = readNetwork(text);
    const widest = network?.prefix.startsWith("6") ? WIDEST.ipv6 : WIDEST.ipv4;
    if (network === undefined || network.prefix.length <= widest)
      throw invalid(text, `must be ${NETWORK_FORMS}`);
    for (const needed of ["127.0.0.0/8", "::/64", ...this.context.config.trustedProxies])
      if (overlaps(network, readNetwork(needed)))
        throw invalid(text, `must not have addresses of this machine or its proxies in it (${needed})`);
    return network;
  }

  /** Reads all bans. */
  async load(): Promise<void> {
    const load = ++this.#loads.begun;
    const rows = await this.list();
    // One that began later knows more.
    if (load < this.#loads.taken) return;
    this.#loads.taken = load;
    this.#accounts = new Map(rows.flatMap((ban) => (ban.accountId === null ? [] : [[ban.accountId, ban]])));
    this.#networks = new Map(rows.flatMap((ban) => bannedNetwork(ban)));
    this.#lengths = [...new Set([...this.#networks.keys()].map((prefix) => prefix.length))];
  }

  /** Follows the bans by other processes. While the database is unavailable the last ones hold. */
  async follow(log: Logger, signal: AbortSignal): Promise<void> {
    for (; !signal.aborted; await this.context.clock.sleep(FOLLOWED_MS, signal))
      await this.load().catch((error: unknown) => log.debug({ err: error }, "bans cannot be read"));
  }

  async #changed(): Promise<void> {
    await this.load();
    await this.context.revocations.announce();
  }

  #isInForce({ endsAt }: Pick<Ban, "endsAt">): boolean {
    return endsAt === null || endsAt > this.context.clock.now();
  }
}

function bannedNetwork({ network, endsAt }: Ban): [string, BannedNetwork][] {
  const prefix = network === null ? undefined : readNetwork(network)?.prefix;
  if (prefix === undefined) return [];
  const until = endsAt === null ? "" : ` until ${isoTime(endsAt).slice(0, 16).replace("T", " ")} UTC`;
  const error = new AppError("FORBIDDEN", `Requests from your network are refused${until}.`);
  return [[prefix, { endsAt, error }]];
}

function invalid(text: string, words: string): AppError {
  return new AppError("VALIDATION_FAILED", `${text.slice(0, 60)}: ${words}.`);
}
