import { createHmac } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { Redis } from "ioredis";
import type { Clock } from "../clock.js";
import type { Logger } from "../log.js";
import { type AppliedLimit, type Level, levelOf } from "./rates.js";

/** Longest wait for a reply. */
const REPLY_MS = 100;
/** Longest wait for a connection and the commands that prepare it. */
const CONNECT_MS = 2_000;
/** A write sent when connecting, which expires in a millisecond: some Redis servers reply to reads but refuse writes. */
const PROBE = ["sidereal:limit:probe", "move", "1", String(1e6)];
/** Wait after a failure before connecting again. */
const RETRY_MS = 1_000;

/**
 * One atomic step for everything a request counts against. Each key holds the time at which nothing is owed any more, by the
 * store's clock, and expires then. KEYS: one per limit. ARGV: `take` to count if all fit, `look` to count nothing, `move` to count
 * in any case; then for each key its cost and capacity in microseconds. Returns whether all fit, then what is owed at each key.
 */
const SCRIPT = `
local mode = ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local owed, fits = {}, 1
for i, key in ipairs(KEYS) do
  local cost, capacity = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local clearAt = tonumber(redis.call('GET', key) or 0)
  owed[i] = math.max(0, math.min(clearAt - now, capacity))
  if cost > 0 and owed[i] + cost > capacity then fits = 0 end
end
if mode == 'move' or (mode == 'take' and fits == 1) then
  for i, key in ipairs(KEYS) do
    local cost, capacity = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
    local after = math.max(0, math.min(owed[i] + cost, capacity))
    if after == 0 then
      redis.call('DEL', key)
    elseif after ~= owed[i] then
      redis.call('SET', key, string.format('%.0f', now + after), 'PX', math.ceil(after / 1000))
    end
    owed[i] = after
  end
end
table.insert(owed, 1, fits)
return owed
`;

export interface RedisStoreOptions {
  /** `redis://` or `rediss://`, with name and password if needed. */
  url: string;
  /** Shared by all processes that count together; without it, keys do not reveal who was counted. */
  secret: string;
  clock: Clock;
  log: Logger;
}

/** A limit and the cost to count against it, in microseconds. */
export interface Charged {
  limit: AppliedLimit;
  time: number;
}

/**
 * Allowances in Redis or Valkey, shared by processes on several machines. While the store is unavailable it is not called and no
 * request waits for it; a second after a failure the next request starts a new connection in the background.
 */
export class RedisStore {
  readonly #options: RedisStoreOptions;
  readonly #hashKey: Buffer;
  /** Undefined while the store is unavailable. */
  #redis: Redis | undefined;
  #sha = "";
  #isConnecting = false;
  #isClosed = false;
  /** Whether the log already says that it is unavailable. */
  #isReported = false;
  /** Monotonic. */
  #retryAt = Number.NEGATIVE_INFINITY;

  constructor(options: RedisStoreOptions) {
    this.#options = options;
    this.#hashKey = createHmac("sha256", options.secret).update("names of allowances").digest();
  }

  /** Whether the store is used now. */
  get isAvailable(): boolean {
    return this.#redis !== undefined;
  }

  /** Connects and checks that counting works; a failure is logged once. */
  async open(): Promise<void> {
    this.#isConnecting = true;
    try {
      const redis = await this.#connect();
      if (this.#isClosed) return redis.disconnect();
      this.#redis = redis;
      redis.on("close", () => this.#lose(redis, "the connection was closed"));
      if (this.#isReported) this.#options.log.info("Redis is back: limits are shared again");
      this.#isReported = false;
    } catch (error) {
      this.#fail(messageOf(error));
    } finally {
      this.#isConnecting = false;
    }
  }

  /**
   * Runs the script, and resolves to the state of each limit. Undefined while the store is unavailable; a promise of undefined
   * when this call fails.
   */
  run(mode: "take" | "look" | "move", charged: readonly Charged[]): Promise<Level[] | undefined> | undefined {
    const redis = this.#redis;
    if (redis === undefined) {
      if (!this.#isConnecting && this.#options.clock.monotonic() >= this.#retryAt) void this.open();
      return undefined;
    }
    const args = [...charged.map(({ limit }) => this.#keyOf(limit)), mode];
    for (const { limit, time } of charged) args.push(String(time), String(limit.rate.capacity));
    return this.#within(REPLY_MS, this.#evaluate(redis, charged.length, args))
      .then((reply) => levelsOf(reply, charged, mode))
      .catch((error: unknown) => {
        this.#lose(redis, messageOf(error));
        return undefined;
      });
  }

  close(): void {
    this.#isClosed = true;
    this.#redis?.disconnect();
    this.#redis = undefined;
  }

  async #connect(): Promise<Redis> {
    const redis = new Redis(this.#options.url, {
      lazyConnect: true,
      // Commands fail immediately without a connection, and are never sent twice.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      retryStrategy: null,
      // The whole start has its own limit, by the injected clock.
      connectTimeout: 0,
      protocol: 2,
      connectionName: "sidereal-limits",
    });
    // Every command reports its own failure.
    redis.on("error", () => {});
    const prepare = async () => {
      await redis.connect();
      this.#sha = String(await redis.script("LOAD", SCRIPT));
      await this.#evaluate(redis, 1, PROBE);
    };
    try {
      await this.#within(CONNECT_MS, prepare());
    } catch (error) {
      redis.disconnect();
      throw error;
    }
    return redis;
  }

  async #evaluate(redis: Redis, names: number, args: readonly string[]): Promise<unknown> {
    try {
      return await redis.evalsha(this.#sha, names, ...args);
    } catch (error) {
      // The script cache was flushed.
      if (!messageOf(error).startsWith("NOSCRIPT")) throw error;
      return redis.eval(SCRIPT, names, ...args);
    }
  }

  /** Rejects if the promise takes longer. */
  async #within<T>(ms: number, promise: Promise<T>): Promise<T> {
    const settled = new AbortController();
    const late = this.#options.clock.sleep(ms, settled.signal).then(async () => {
      if (settled.signal.aborted) return promise;
      // The response may have arrived without this process having had time to read it.
      await setImmediate();
      throw new Error(`no reply within ${ms} ms`);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      settled.abort();
    }
  }

  #lose(redis: Redis, message: string): void {
    if (this.#redis !== redis) return;
    this.#redis = undefined;
    redis.disconnect();
    this.#fail(message);
  }

  #fail(error: string): void {
    this.#retryAt = this.#options.clock.monotonic() + RETRY_MS;
    if (this.#isReported || this.#isClosed) return;
    this.#isReported = true;
    // Only the message: the error object may contain the password.
    this.#options.log.warn({ error }, "Redis is away: each process limits for itself until it is back");
  }

  #keyOf({ rate, name }: AppliedLimit): string {
    const { bucket, limit, windowSeconds } = rate.policy;
    const hash = createHmac("sha256", this.#hashKey).update(name).digest("base64url").slice(0, 22);
    return `sidereal:limit:${bucket}:${limit}:${windowSeconds}:${hash}`;
  }
}

function levelsOf(reply: unknown, charged: readonly Charged[], mode: string): Level[] {
  const numbers = Array.isArray(reply) ? reply.map(Number) : [];
  if (numbers.length !== charged.length + 1 || !numbers.every(Number.isSafeInteger))
    throw new Error("unexpected reply of the script");
  const [fits, ...owed] = numbers;
  return charged.map(({ limit: { rate }, time }, i) => {
    const now = owed[i] ?? 0;
    const lacking = mode === "move" || fits === 1 || time <= 0 ? 0 : now + time - rate.capacity;
    return levelOf(rate, now, Math.max(0, lacking));
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
