import { createHmac, randomBytes } from "node:crypto";
import type { Redis } from "ioredis";
import type { Bucket, CallerKind, Limits } from "../config/config.js";
import { type Clock, within } from "../lib/clock.js";
import type { Logger } from "../lib/log.js";
import {
  type Allowances,
  type AppliedLimit,
  after,
  type Caller,
  type Decision,
  decisionOf,
  type Level,
  Limiter,
  levelOf,
  MOST_OWED,
  tighter,
  timeOf,
} from "./limiter.js";

/** Longest wait for a reply, and time between two attempts to connect. */
const REPLY_MS = 100;
const RETRY_MS = 1_000;
const CONNECT_MS = 2_000;

/**
 * Redis or Valkey, through which the `serve` processes of one service share rate limits and revocations. While it is unavailable no
 * request waits for it: each process limits for itself, and a revocation reaches the others when their cached keys and sessions
 * expires, within five seconds.
 */
export class SharedRedis {
  readonly #RedisClient: typeof Redis;
  readonly #options: SharedRedisOptions;
  readonly #sender = randomBytes(9).toString("base64url");
  readonly #hashKey: Buffer;
  readonly #channel: string;
  readonly #closing = new AbortController();
  /** Undefined while Redis is unavailable. */
  #commands: Connection | undefined;
  #isReported = false;

  constructor(RedisClient: typeof Redis, options: SharedRedisOptions) {
    const { secret } = options;
    this.#RedisClient = RedisClient;
    this.#options = options;
    this.#hashKey = createHmac("sha256", secret).update("names of allowances").digest();
    const channel = createHmac("sha256", secret).update("channel of messages").digest("base64url");
    this.#channel = `sidereal:messages:${channel.slice(0, 22)}`;
  }

  /** Makes the first attempt to connect. A failure is logged once, and tried again in the background. */
  async open(): Promise<this> {
    await this.#connect("sidereal", (connection) => {
      this.#commands = connection;
    });
    return this;
  }

  limiter(limits: Limits): SharedLimiter {
    return new SharedLimiter({ limits, clock: this.#options.clock, redis: this });
  }

  get isConnected(): boolean {
    return this.#commands !== undefined;
  }

  /** Runs commands. Undefined while Redis is unavailable; a promise of undefined if this fails. */
  run<T>(commands: (redis: Redis) => Promise<T>): Promise<T | undefined> | undefined {
    const connection = this.#commands;
    if (connection === undefined) return undefined;
    const { clock, log } = this.#options;
    return within(clock, REPLY_MS, commands(connection.redis)).then(
      (result) => {
        if (this.#isReported) log.info("Redis available; rate limits shared again");
        this.#isReported = false;
        return result;
      },
      (error: unknown) => {
        connection.lose(error instanceof Error ? error.message : String(error));
        return undefined;
      },
    );
  }

  /** Announces to the other processes that a key, a session or an account was revoked. Never throws. */
  async announceRevocation(): Promise<void> {
    await this.run((redis) => redis.publish(this.#channel, this.#sender));
  }

  /** Calls the listener for revocations by other processes, and whenever some may have been missed. */
  onRevocation(listener: () => void): void {
    void this.#connect("sidereal-messages", ({ redis, lose }) => {
      redis.on("message", (_, sender: string) => {
        if (sender !== this.#sender) listener();
      });
      redis.subscribe(this.#channel).then(listener, (error: Error) => lose(error.message));
    });
  }

  /** The name under which an allowance is stored, which does not reveal who was counted. */
  nameOf({ name, policy: { bucket, limit, windowSeconds } }: AppliedLimit): string {
    const hash = createHmac("sha256", this.#hashKey).update(name).digest("base64url").slice(0, 22);
    return `sidereal:limit:${bucket}:${limit}:${windowSeconds}:${hash}`;
  }

  close(): void {
    this.#closing.abort();
  }

  /** Keeps a connection open. Each is new, as one that hangs cannot be closed. `use` gets each that is ready. */
  async #connect(connectionName: string, use: (connection: Connection) => void): Promise<void> {
    const { url, clock } = this.#options;
    const { signal } = this.#closing;
    if (signal.aborted) return;
    const redis = new this.#RedisClient(url, { ...SETTINGS, connectionName });
    let isLost = false;
    const lose = (error: string) => {
      if (isLost) return;
      isLost = true;
      signal.removeEventListener("abort", close);
      if (this.#commands?.redis === redis) this.#commands = undefined;
      redis.disconnect();
      if (signal.aborted) return;
      this.#report(error);
      void clock.sleep(RETRY_MS, signal).then(() => this.#connect(connectionName, use));
    };
    const close = () => lose("closed");
    signal.addEventListener("abort", close);
    // Only the message: the error object may contain the password.
    redis.on("error", (error: Error) => lose(error.message));
    redis.on("end", () => lose("the connection was closed"));
    await redis.connect().then(
      () => use({ redis, lose }),
      (error: Error) => lose(error.message),
    );
  }

  #report(error: string): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#options.log.warn({ error }, "Redis unavailable; falling back to per-process rate limits");
  }
}

/** A connection that is ready, and the function that ends it. */
interface Connection {
  redis: Redis;
  lose(error: string): void;
}

/** Commands fail immediately without a connection, and are never sent twice. Reconnecting follows the injected clock. */
const SETTINGS = {
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  connectTimeout: CONNECT_MS,
  retryStrategy: null,
} as const;

/** Loads the library only here: it makes every request a third slower, even without using it. */
export async function openRedis(options: SharedRedisOptions): Promise<SharedRedis> {
  // Bundled, it has a default export alone.
  const { default: library } = await import("ioredis");
  return new SharedRedis(library.Redis, options).open();
}

interface SharedRedisOptions {
  /** `redis://` or `rediss://`. */
  url: string;
  /** The secret of the service, which all its processes have. */
  secret: string;
  clock: Clock;
  log: Logger;
}

/**
 * One atomic step for everything a request counts against. Each key holds the time at which nothing is owed any more, by the store's
 * clock, and expires then. ARGV: `take` to count if all fit, `look` to count nothing, `move` to count in any case; then for each key its
 * cost and capacity in microseconds. Returns whether all fit, then the debt of each key. Nobody owes more than MOST_OWED
 * times the capacity, also after the clock was set back.
 */
const SCRIPT = `
local mode = ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local owed, fits = {}, 1
for i, key in ipairs(KEYS) do
  local cost, capacity = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  owed[i] = math.max(0, tonumber(redis.call('GET', key) or 0) - now)
  local most = ${MOST_OWED} * capacity
  if owed[i] > most then
    owed[i] = most
    redis.call('SET', key, string.format('%.0f', now + most), 'PX', math.ceil(most / 1000))
  end
  if cost > 0 and owed[i] + cost > capacity then fits = 0 end
end
if mode == 'move' or (mode == 'take' and fits == 1) then
  for i, key in ipairs(KEYS) do
    local cost, capacity = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
    owed[i] = math.max(0, math.min(owed[i] + cost, ${MOST_OWED} * capacity))
    if owed[i] == 0 then redis.call('DEL', key)
    else redis.call('SET', key, string.format('%.0f', now + owed[i]), 'PX', math.ceil(owed[i] / 1000)) end
  end
end
table.insert(owed, 1, fits)
return owed
`;

type Mode = "take" | "look" | "move";

/**
 * Limits shared by all processes that use the same store. Each process also counts for itself, and a request must be allowed
 * by both. So the requests this process allowed stay counted while the store is unavailable, and nobody starts over when it
 * comes back empty.
 */
class SharedLimiter implements Allowances {
  readonly isImmediate = false;
  readonly #local: Limiter;
  readonly #redis: SharedRedis;

  constructor({ limits, clock, redis }: { limits: Limits; clock: Clock; redis: SharedRedis }) {
    this.#local = new Limiter({ limits, clock });
    this.#redis = redis;
  }

  has(kind: CallerKind, bucket: Bucket): boolean {
    return this.#local.has(kind, bucket);
  }

  decide(caller: Caller, bucket: Bucket, cost: number): Decision | Promise<Decision> {
    return after(this.#take(caller, bucket, cost), decisionOf);
  }

  peek(caller: Caller, bucket: Bucket, cost: number): Decision {
    return this.#local.peek(caller, bucket, cost);
  }

  levels(caller: Caller, bucket: Bucket): Level[] | Promise<Level[]> {
    return this.#take(caller, bucket, 0);
  }

  adjust(caller: Caller, bucket: Bucket, cost: number): Decision | Promise<Decision> {
    const limits = this.#local.limitsOf(caller, bucket);
    const local = this.#local.move(limits, cost);
    const moving = this.#run("move", limits, cost);
    if (moving === undefined) return decisionOf(local);
    return moving.then((shared) => decisionOf(shared === undefined ? local : merge(local, shared)));
  }

  #take(caller: Caller, bucket: Bucket, cost: number): Level[] | Promise<Level[]> {
    const limits = this.#local.limitsOf(caller, bucket);
    const local = this.#local.take(limits, cost);
    const isAllowed = local.every(({ allowed }) => allowed);
    // A request refused here is not counted there, but both report how long to wait.
    const running = this.#run(isAllowed ? "take" : "look", limits, cost);
    if (running === undefined) return local;
    return running.then((shared) => {
      if (shared === undefined) return local;
      const isShared = shared.every(({ allowed }) => allowed);
      return merge(isAllowed && !isShared ? this.#local.move(limits, -cost) : local, shared);
    });
  }

  #run(mode: Mode, limits: readonly AppliedLimit[], cost: number): Promise<Level[] | undefined> | undefined {
    const charged = limits.flatMap((limit) => [String(timeOf(limit, cost)), String(limit.capacity)]);
    const names = limits.map((limit) => this.#redis.nameOf(limit));
    return this.#redis.run(async (redis) => {
      const reply: unknown = await redis.eval(SCRIPT, names.length, ...names, mode, ...charged);
      const [fits, ...owed] = Array.isArray(reply) ? reply.map(Number) : [];
      return limits.map((limit, i) => {
        const owes = owed[i] ?? 0;
        const isCounted = mode === "move" || fits === 1 || cost <= 0;
        return levelOf(limit, owes, isCounted ? 0 : Math.max(0, owes + timeOf(limit, cost) - limit.capacity));
      });
    });
  }
}

function merge(local: readonly Level[], shared: readonly Level[]): Level[] {
  return local.map((level, i) => tighter(level, shared[i] ?? level));
}
