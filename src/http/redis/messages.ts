import { createHmac, randomBytes } from "node:crypto";
import { within } from "../../lib/clock.js";
import { type ClientOptions, CONNECT_MS, messageOf, RETRY_MS, type RedisClient } from "./client.js";
import type { Attempt } from "./connections.js";
import { Throttle } from "./throttle.js";

/** What processes announce: that a key, a session or an account was revoked, or that the revision has changed. */
export type MessageKind = "revoked" | "revised";

/** What a process does when another one has announced something, or may have. */
export interface MessageHandlers {
  revoked(): void;
  revised(): void;
}

/** How often a process checks that it receives messages, and how long one may take to arrive. */
const ECHO_MS = 2_000;
const ARRIVAL_MS = 1_000;

/**
 * How often messages have an effect, whoever sends them: twenty revocations immediately and ten a second after that, as each
 * makes keys be read again; and four looks at the revision a second.
 */
const RATES = {
  revoked: { burst: 20, intervalMs: 100 },
  revised: { burst: 1, intervalMs: 250 },
} as const;

export interface MessagesOptions extends ClientOptions {
  client: RedisClient;
  /** The secret of the service; must be the same in all processes that share. */
  readSecret: () => Promise<string>;
}

/**
 * Messages between the processes of one service. A message has no content but its kind, so one that is forged or repeated only
 * makes a process read again what it has cached; how often is bounded. One that is lost is made up for: what could not be sent is
 * sent when Redis is back, and a process that could not receive takes everything for announced.
 */
export class Messages {
  readonly #options: MessagesOptions;
  /** The name of this process among the senders. */
  readonly #sender = randomBytes(9).toString("base64url");
  readonly #closing = new AbortController();
  readonly #unsent = new Set<MessageKind>();
  #channel: Promise<string> | undefined;
  #following: Promise<void> | undefined;
  /** Whether the log already says that none are received, and that none can be sent. */
  #isReported = false;
  #isRefusalReported = false;

  constructor(options: MessagesOptions) {
    this.#options = options;
    options.client.onBack(() => {
      const unsent = [...this.#unsent];
      this.#unsent.clear();
      for (const kind of unsent) void this.publish(kind);
    });
  }

  /**
   * Tells the other processes. Resolves when Redis has passed the message on, or while Redis is away: then it follows later. Never
   * throws.
   */
  async publish(kind: MessageKind): Promise<void> {
    await this.#options.client.open();
    const channel = await this.#channelName();
    if (channel === undefined) return;
    const outcome = await this.#send(channel, `${kind} ${this.#sender}`);
    if (outcome === undefined) this.#unsent.add(kind);
  }

  /** Undefined: Redis is away. A user who may not publish still shares limits, and others notice changes by themselves. */
  async #send(channel: string, text: string): Promise<"sent" | "refused" | undefined> {
    const { client, log } = this.#options;
    return client.run(async (connection) => {
      try {
        await connection.publish(channel, text);
      } catch (error) {
        const reason = messageOf(error);
        if (!reason.startsWith("NOPERM")) throw error;
        if (!this.#isRefusalReported)
          log.warn({ error: reason }, "messages to other processes cannot be sent");
        this.#isRefusalReported = true;
        return "refused";
      }
      this.#isRefusalReported = false;
      return "sent";
    });
  }

  /** Calls the handlers for what other processes announce, and once for each when messages may have been missed. */
  follow(handlers: MessageHandlers): void {
    const { clock } = this.#options;
    const { signal } = this.#closing;
    const revoked = new Throttle({ clock, signal, ...RATES.revoked, run: () => handlers.revoked() });
    const revised = new Throttle({ clock, signal, ...RATES.revised, run: () => handlers.revised() });
    this.#following ??= this.#receive({ revoked: () => revoked.request(), revised: () => revised.request() });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#following;
  }

  async #receive(handlers: MessageHandlers): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#closing;
    for (let number = 0; !signal.aborted; number++) {
      let reason: Error | undefined;
      const onError = (error: Error) => {
        reason ??= error;
      };
      try {
        await this.#receiveOnce(handlers, { number, onError });
      } catch (error) {
        if (!this.#isReported && !signal.aborted)
          log.warn({ error: messageOf(reason ?? error) }, "messages of other processes are not received");
        this.#isReported = true;
      }
      await clock.sleep(RETRY_MS, signal);
    }
  }

  /** Receives until the connection fails, which throws. */
  async #receiveOnce(handlers: MessageHandlers, attempt: Attempt): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#closing;
    const { newSubscriber } = await import("./connections.js");
    const channel = await this.#channelName();
    if (channel === undefined) throw new Error("the secret of the service cannot be read");
    const connection = await newSubscriber(this.#options, attempt);
    const echoes = `${channel}:${this.#sender}`;
    const ended = new AbortController();
    let arrive = () => {};
    connection.on("close", () => ended.abort());
    connection.on("message", (from: string, message: string) => {
      if (from === echoes) return arrive();
      const [kind, sender] = message.split(" ");
      if (kind === "revised") handlers.revised();
      else if (kind === "revoked" && sender !== this.#sender) handlers.revoked();
    });
    const close = () => connection.disconnect();
    signal.addEventListener("abort", close, { once: true });
    try {
      // Closed since this began, which no listener would hear of.
      signal.throwIfAborted();
      const subscribe = async () => {
        await connection.connect();
        await connection.subscribe(channel, echoes);
      };
      await within(clock, CONNECT_MS, subscribe());
      if (this.#isReported) log.info("messages of other processes are received again");
      this.#isReported = false;
      handlers.revoked();
      handlers.revised();
      for (;;) {
        await clock.sleep(ECHO_MS, ended.signal);
        if (ended.signal.aborted) throw new Error("the connection was closed");
        await within(clock, ARRIVAL_MS, connection.ping());
        // All the way, as a node that is cut off from its cluster, or was the master once, responds too.
        const arrived = new Promise<void>((resolve) => {
          arrive = resolve;
        });
        if ((await this.#send(echoes, "")) === "sent") await within(clock, ARRIVAL_MS, arrived);
      }
    } finally {
      signal.removeEventListener("abort", close);
      connection.disconnect();
    }
  }

  /** Others who use this Redis cannot guess it. Undefined if the secret cannot be read. */
  async #channelName(): Promise<string | undefined> {
    this.#channel ??= this.#options.readSecret().then((secret) => {
      const hash = createHmac("sha256", secret).update("channel of messages").digest("base64url");
      return `sidereal:messages:${hash.slice(0, 22)}`;
    });
    return this.#channel.catch(() => {
      this.#channel = undefined;
      return undefined;
    });
  }
}
