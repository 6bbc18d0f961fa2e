import type { Config } from "../config/config.js";
import type { Clock } from "../lib/clock.js";
import { AppError } from "../lib/errors.js";
import type { Modules } from "../modules.js";
import { listParts } from "./list-parts.js";
import { ListStream, type ListStreams, type PartSource, type StreamedList } from "./list-stream.js";
import { StreamMaker } from "./stream-maker.js";

export interface ListStreamerOptions {
  modules: Pick<Modules, "database" | "lists">;
  config: Pick<Config, "logLevel">;
  clock: Clock;
}

/** Time that streams get to end when the service stops; few do. */
const STOP_MS = 1_500;
/** How long the thread is kept without a stream. */
const IDLE_MS = 30_000;

/**
 * Makes whole lists for clients, in one thread beside the one that serves, which has a connection of its own and shares the list
 * index. The thread starts with the first stream and ends half a minute after the last. Where public reads move to another server, the
 * next stream gets a thread that reads there; a stream that has begun stays with its server, and is cut short if that goes away. Lists
 * of a database in memory, which no other thread can read, are made here.
 */
export class ListStreamer implements ListStreams {
  readonly #options: ListStreamerOptions;
  /** The threads of the open streams; undefined: made here. */
  readonly #open = new Map<ListStream, StreamMaker | undefined>();
  readonly #stopping = new AbortController();
  #maker: StreamMaker | undefined;
  /** Where it reads. */
  #url: string | undefined;
  #idle = new AbortController();
  #onEmpty: () => void = () => {};

  constructor(options: ListStreamerOptions) {
    this.#options = options;
  }

  open(list: StreamedList): ListStream {
    if (this.#stopping.signal.aborted) throw stopped();
    const maker = this.#makerNow();
    const source = maker?.open(list) ?? partsHere(this.#options.modules, list);
    const stream = new ListStream(source, () => this.#leave(stream));
    this.#open.set(stream, maker);
    this.#idle.abort();
    return stream;
  }

  /** Refuses further streams, lets the present ones end for a moment, and ends the thread. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#idle.abort();
    if (this.#open.size > 0) {
      const patience = new AbortController();
      this.#onEmpty = () => patience.abort();
      await this.#options.clock.sleep(STOP_MS, patience.signal);
    }
    const makers = new Set([this.#maker, ...this.#open.values()]);
    for (const stream of this.#open.keys()) stream.end(stopped());
    await Promise.all([...makers].map((maker) => maker?.stop()));
  }

  /** The thread that reads where public reads go now; undefined for a database in memory. */
  #makerNow(): StreamMaker | undefined {
    const { modules, config } = this.#options;
    const { location, publicReads } = modules.database;
    if (location === undefined) return undefined;
    const source = publicReads?.location() ?? location;
    if (this.#maker !== undefined && !this.#maker.hasEnded && this.#url === source.url) return this.#maker;
    const previous = this.#maker;
    this.#maker = new StreamMaker({ location, source, logLevel: config.logLevel });
    this.#url = source.url;
    this.#endUnused(previous);
    return this.#maker;
  }

  /** Ends a thread that was replaced, unless a stream needs it. */
  #endUnused(maker: StreamMaker | undefined): void {
    if (maker !== this.#maker && ![...this.#open.values()].includes(maker)) void maker?.stop();
  }

  #leave(stream: ListStream): void {
    const maker = this.#open.get(stream);
    this.#open.delete(stream);
    this.#endUnused(maker);
    if (this.#open.size > 0) return;
    this.#onEmpty();
    if (!this.#stopping.signal.aborted) void this.#endIdle();
  }

  async #endIdle(): Promise<void> {
    const idle = new AbortController();
    this.#idle = idle;
    await this.#options.clock.sleep(IDLE_MS, idle.signal);
    if (idle.signal.aborted) return;
    const maker = this.#maker;
    this.#maker = undefined;
    await maker?.stop();
  }
}

function stopped(): AppError {
  return new AppError("UNAVAILABLE", "The service is stopping; try again.");
}

function partsHere({ lists }: Pick<Modules, "lists">, list: StreamedList): PartSource {
  const parts = listParts(lists, list);
  return {
    next: async () => (await parts.next()).value,
    close: () => void parts.return(undefined),
  };
}
