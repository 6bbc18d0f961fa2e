import { createHash, createHmac } from "node:crypto";
import type { RedisClient } from "../redis/client.js";
import type { Commands } from "../redis/connections.js";
import { type AppliedLimit, type Level, levelOf } from "./rates.js";

/**
 * Writes sent when connecting, which expire in a millisecond: some servers reply to reads but refuse writes. In a cluster they
 * reach each of a handful of nodes.
 */
const PROBES_IN_CLUSTER = 64;

type Mode = "take" | "look" | "move";

/**
 * One atomic step for everything a request counts against. Each key holds the time at which nothing is owed any more, by the
 * store's clock, and expires then. KEYS: one per limit. ARGV: `take` to count if all fit, `look` to count nothing, `move` to count
 * in any case; then for each key its cost and capacity in microseconds. Returns whether all fit, then what is owed at each key.
 *
 * Nobody owes more than the capacity. A time beyond that means that the store's clock was set back, or that another server with
 * another clock has taken over: it is brought forward, or callers would be refused until the clock has caught up.
 */
const SCRIPT = `
local mode = ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local owed, fits = {}, 1
for i, key in ipairs(KEYS) do
  local cost, capacity = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local clearAt = tonumber(redis.call('GET', key) or 0)
  if clearAt > now + capacity then
    clearAt = now + capacity
    redis.call('SET', key, string.format('%.0f', clearAt), 'PX', math.ceil(capacity / 1000))
  end
  owed[i] = math.max(0, clearAt - now)
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
const SHA = createHash("sha1").update(SCRIPT).digest("hex");

/** A limit and the cost to count against it, in microseconds. */
export interface Charged {
  limit: AppliedLimit;
  time: number;
}

/**
 * Allowances in Redis or Valkey, shared by processes on several machines. While the store is unavailable it is not called and no
 * request waits for it.
 */
export class RedisStore {
  readonly #client: RedisClient;
  readonly #hashKey: Buffer;

  /** `secret`: shared by all processes that count together; without it, keys do not reveal who was counted. */
  constructor(client: RedisClient, secret: string) {
    this.#client = client;
    this.#hashKey = createHmac("sha256", secret).update("names of allowances").digest();
    client.prepareWith((connection) => this.#prepare(connection));
  }

  /**
   * Runs the script, and resolves to the state of each limit. Undefined while the store is unavailable; a promise of undefined
   * when this call fails.
   */
  run(mode: Mode, charged: readonly Charged[]): Promise<Level[] | undefined> | undefined {
    return this.#client.run((connection) => {
      const args = [...this.#keysOf(charged), mode];
      for (const { limit, time } of charged) args.push(String(time), String(limit.rate.capacity));
      return this.#evaluate(connection, charged.length, args).then((reply) => levelsOf(reply, charged, mode));
    });
  }

  async #prepare(connection: Commands): Promise<void> {
    const probes = "slots" in connection ? PROBES_IN_CLUSTER : 1;
    await Promise.all(
      Array.from({ length: probes }, (_, i) =>
        this.#evaluate(connection, 1, [`sidereal:limit:{probe ${i}}`, "move", "1", String(1e6)]),
      ),
    );
  }

  async #evaluate(connection: Commands, names: number, args: readonly string[]): Promise<unknown> {
    try {
      return await connection.evalsha(SHA, names, ...args);
    } catch (error) {
      // This server does not have the script yet, or not any more.
      if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
      return connection.eval(SCRIPT, names, ...args);
    }
  }

  /**
   * The names of one request share what is in braces, so that all are on the same node of a cluster. Everything that counts
   * against an account, or a network, is counted with it.
   */
  #keysOf(charged: readonly Charged[]): string[] {
    const hashes = charged.map(({ limit: { name } }) => this.#hash(name));
    return charged.map(({ limit: { rate } }, i) => {
      const { bucket, limit, windowSeconds } = rate.policy;
      return `sidereal:limit:{${hashes.at(-1)}}:${bucket}:${limit}:${windowSeconds}:${hashes[i]}`;
    });
  }

  #hash(name: string): string {
    return createHmac("sha256", this.#hashKey).update(name).digest("base64url").slice(0, 22);
  }
}

function levelsOf(reply: unknown, charged: readonly Charged[], mode: Mode): Level[] {
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
