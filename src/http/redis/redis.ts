/**
 * Redis or Valkey, which the processes of one service share: a server, the master behind Sentinels, or a cluster. It owns the
 * connections: one for commands, and in processes that serve one for messages. While Redis is away nothing waits for it, and it
 * is found again by itself. What is stored in it is up to other modules.
 */
import { type ClientOptions, RedisClient } from "./client.js";
import { Messages } from "./messages.js";

export type { RedisClient } from "./client.js";
export type { Commands } from "./connections.js";
export type { MessageHandlers, MessageKind, Messages } from "./messages.js";

/** What one process has of Redis. Nothing is connected before it is used. */
export interface SharedRedis {
  client: RedisClient;
  messages: Messages;
  close(): Promise<void>;
}

export function openRedis(options: ClientOptions & { readSecret: () => Promise<string> }): SharedRedis {
  const client = new RedisClient(options);
  const messages = new Messages({ ...options, client });
  return {
    client,
    messages,
    async close() {
      await messages.close();
      client.close();
    },
  };
}
