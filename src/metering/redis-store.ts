import { createHmac } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { Redis } from "ioredis";
import type { Clock } from "../clock.js";
import type { Logger } from "../log.js";
import { type Claim, type Decision, decision, tighter } from "./rates.js";

/** An answer that takes longer is not waited for. */
const ANSWER_MS = 100;
/** Time for a connection, with what is said at its beginning. */
const CONNECT_MS = 2_000;
/** Counted at the beginning, so little that it is gone in a millisecond: a Redis may answer and not take what is written. */
const PROBE = ["sidereal:limit:probe", "move", "1", String(1e6)];
/** How long it is left alone once it has failed. */
const REST_MS = 1_000;

/**
 * One step for all that a request counts against. Of each name the time is kept at which nothing is owed any more, by the
 * clock of the store; it goes by itself then. KEYS: the names. ARGV: `take` to count if all fit, `look` to count nothing,
 * `move` to count in any case; then, for each name, what is asked and what may be owed at most, in microseconds. Returns
 * whether all fit, and what is owed.
 */
const SCRIPT = `
local mode = ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local owed, fits = {}, 1
for i, key in ipairs(KEYS) do
  local asked, capacity = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local clearAt = tonumber(redis.call('GET', key) or 0)
  owed[i] = math.max(0, math.min(clearAt - now, capacity))
  if asked > 0 and owed[i] + asked > capacity then fits = 0 end
end
if mode == 'move' or (mode == 'take' and fits == 1) then
  for i, key in ipairs(KEYS) do
    local asked, capacity = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
    local after = math.max(0, math.min(owed[i] + asked, capacity))
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
  /** `redis://` or `rediss://`, with name and password where it asks for them. */
  url: string;
  /** The same for all that count together; without it nobody can tell from the keys who was counted. */
  secret: string;
  clock: Clock;
  log: Logger;
}

/** What a claim asks for, in microseconds. */
export interface Asked {
  claim: Claim;
  time: number;
}

/**
 * Allowances in Redis or Valkey, for processes of several machines. It may be away at any time: then it is not asked, nobody
 * waits for it, and a second later it is tried again, beside the requests.
 */
export class RedisStore {
  readonly #options: RedisStoreOptions;
  readonly #hashKey: Buffer;
  /** Undefined while it is away. */
  #redis: Redis | undefined;
  #sha = "";
  #isConnecting = false;
  #isClosed = false;
  /** Whether it was told that it is away. */
  #isMissed = false;
  /** Monotonic. */
  #restsUntil = Number.NEGATIVE_INFINITY;

  constructor(options: RedisStoreOptions) {
    this.#options = options;
    this.#hashKey = createHmac("sha256", options.secret).update("names of allowances").digest();
  }

  /** Whether it is asked now. */
  get isThere(): boolean {
    return this.#redis !== undefined;
  }

  /** Tries to connect and to count, and tells the log if that fails. */
  async open(): Promise<void> {
    this.#isConnecting = true;
    try {
      const redis = await this.#connect();
      if (this.#isClosed) return redis.disconnect();
      this.#redis = redis;
      redis.on("close", () => this.#lose(redis, "the connection was closed"));
      if (this.#isMissed) this.#options.log.info("Redis is back: limits are shared again");
      this.#isMissed = false;
    } catch (error) {
      this.#rest(messageOf(error));
    } finally {
      this.#isConnecting = false;
    }
  }

  /**
   * What holds after a step of the script, for all that is asked together. Undefined at once while the store is away; a
   * promise of undefined where it has just been found to be.
   */
  ask(mode: "take" | "look" | "move", asked: readonly Asked[]): Promise<Decision | undefined> | undefined {
    const redis = this.#redis;
    if (redis === undefined) {
      if (!this.#isConnecting && this.#options.clock.monotonic() >= this.#restsUntil) void this.open();
      return undefined;
    }
    const args = [...asked.map(({ claim }) => this.#keyOf(claim)), mode];
    for (const { claim, time } of asked) args.push(String(time), String(claim.rate.capacity));
    return this.#within(ANSWER_MS, this.#run(redis, asked.length, args))
      .then((reply) => decisionOf(reply, asked, mode))
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
      // What cannot be sent now fails now, and nothing is sent twice.
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      retryStrategy: null,
      // The whole start has its own limit, by the injected clock.
      connectTimeout: 0,
      protocol: 2,
      connectionName: "sidereal-limits",
    });
    // Each failure is seen by who asked.
    redis.on("error", () => {});
    const begin = async () => {
      await redis.connect();
      this.#sha = String(await redis.script("LOAD", SCRIPT));
      await this.#run(redis, 1, PROBE);
    };
    try {
      await this.#within(CONNECT_MS, begin());
    } catch (error) {
      redis.disconnect();
      throw error;
    }
    return redis;
  }

  async #run(redis: Redis, names: number, args: readonly string[]): Promise<unknown> {
    try {
      return await redis.evalsha(this.#sha, names, ...args);
    } catch (error) {
      // Somebody has emptied its memory for scripts.
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
      throw new Error(`no answer within ${ms} ms`);
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
    this.#rest(message);
  }

  #rest(error: string): void {
    this.#restsUntil = this.#options.clock.monotonic() + REST_MS;
    if (this.#isMissed || this.#isClosed) return;
    this.#isMissed = true;
    // The message alone: what comes with it may hold the password.
    this.#options.log.warn({ error }, "Redis is away: each process limits for itself until it is back");
  }

  #keyOf({ rate, name }: Claim): string {
    const { bucket, limit, windowSeconds } = rate.policy;
    const hash = createHmac("sha256", this.#hashKey).update(name).digest("base64url").slice(0, 22);
    return `sidereal:limit:${bucket}:${limit}:${windowSeconds}:${hash}`;
  }
}

function decisionOf(reply: unknown, asked: readonly Asked[], mode: string): Decision {
  const numbers = Array.isArray(reply) ? reply.map(Number) : [];
  if (numbers.length !== asked.length + 1 || !numbers.every(Number.isSafeInteger))
    throw new Error("the answer is not that of the script");
  const [fits, ...owed] = numbers;
  const decisions = asked.map(({ claim: { rate }, time }, i) => {
    const now = owed[i] ?? 0;
    const lacking = mode === "move" || fits === 1 || time <= 0 ? 0 : now + time - rate.capacity;
    return decision(rate, now, Math.max(0, lacking));
  });
  return decisions.reduce(tighter);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
