/**
 * Sends requests at a constant rate without coordinated omission: every request has a scheduled time, is sent then whether or not
 * earlier ones have been responded to, and its latency counts from that time. Or as fast as a number of connections allows.
 */
import { quantile } from "./statistics.js";

/** A request as the load sends it. */
export interface LoadRequest {
  kind: string;
  path: string;
  /** In addition to those of the load. */
  headers?: Readonly<Record<string, string>>;
}

/** The time of a load, in milliseconds. */
export interface LoadClock {
  now(): number;
  /** Resolves at this time or as soon as possible after it. */
  reach(ms: number): Promise<void>;
}

/** How to send a request: resolves with the status of the response when its body has arrived, and rejects if there is none. */
export type Send = (request: LoadRequest) => Promise<number>;

export interface Load {
  requests: readonly LoadRequest[];
  seconds: number;
  send: Send;
  clock: LoadClock;
}

/** Latencies in milliseconds. */
export interface Latencies {
  count: number;
  p50: number;
  p99: number;
  p999: number;
  max: number;
}

/** Requests of one kind. */
export interface Timely {
  count: number;
  /** Responses with a status below 400 within a second of the scheduled time. */
  inTime: number;
  /** Responses with 503. */
  refused: number;
  /** 99th percentile of the responses in time, in ms; 0 without any. */
  p99: number;
}

export interface LoadReport {
  /** Responses per second, of status below 400. */
  perSecond: number;
  /** Requests without a response, or with an error status; the first of them are named. */
  failed: number;
  failures: string[];
  all: Latencies;
  kinds: Record<string, Latencies>;
  timely: Record<string, Timely>;
  /** 99th percentile of the time between schedule and sending, in ms: if it is large, the sender was too slow, not the server. */
  lateMs: number;
}

/** A response that comes later is of no use. */
const DEADLINE_MS = 1_000;

/** Collects outcomes. */
class Tally {
  readonly #latencies = new Map<string, number[]>();
  readonly #inTime = new Map<string, number[]>();
  readonly #refused = new Map<string, number>();
  readonly #late: number[] = [];
  readonly failures: string[] = [];
  failed = 0;

  /** Sends a request and notes its latency since `from`. */
  async send({ send, clock }: Load, request: LoadRequest, from: number): Promise<void> {
    this.#late.push(clock.now() - from);
    let problem: string | undefined;
    try {
      const status = await send(request);
      if (status >= 400) problem = String(status);
      if (status === 503) this.#refused.set(request.kind, (this.#refused.get(request.kind) ?? 0) + 1);
    } catch (error) {
      problem = String(error);
    }
    const latency = clock.now() - from;
    add(this.#latencies, request.kind, latency);
    if (problem === undefined) {
      if (latency <= DEADLINE_MS) add(this.#inTime, request.kind, latency);
      return;
    }
    this.failed++;
    if (this.failures.length < 5) this.failures.push(`${request.path}: ${problem}`);
  }

  /** Throws if nothing was sent. */
  report(seconds: number): LoadReport {
    const all = [...this.#latencies.values()].flat();
    const kinds = [...this.#latencies].map(([kind, values]) => [kind, latenciesOf(values)] as const);
    const timely = [...this.#latencies].map(([kind, { length: count }]) => {
      const times = this.#inTime.get(kind) ?? [];
      const p99 = times.length === 0 ? 0 : quantile(times, 0.99);
      return [kind, { count, inTime: times.length, refused: this.#refused.get(kind) ?? 0, p99 }] as const;
    });
    return {
      perSecond: (all.length - this.failed) / seconds,
      failed: this.failed,
      failures: this.failures,
      all: latenciesOf(all),
      kinds: Object.fromEntries(kinds),
      timely: Object.fromEntries(timely),
      lateMs: quantile(this.#late, 0.99),
    };
  }
}

function add(groups: Map<string, number[]>, kind: string, value: number): void {
  const group = groups.get(kind);
  if (group === undefined) groups.set(kind, [value]);
  else group.push(value);
}

function latenciesOf(values: readonly number[]): Latencies {
  const sorted = Float64Array.from(values).sort();
  const at = (part: number) => quantile(sorted, part);
  return { count: values.length, p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1) };
}

function requestAt({ requests }: Load, index: number): LoadRequest {
  const request = requests[index % requests.length];
  if (request === undefined) throw new Error("there is no request to send");
  return request;
}

/** Sends `rate` requests per second, in order and from the beginning again. Throws if that is none. */
export async function sendAtRate(load: Load, rate: number): Promise<LoadReport> {
  const { clock, seconds } = load;
  const tally = new Tally();
  const began = clock.now();
  const sent: Promise<void>[] = [];
  for (let index = 0; index < rate * seconds; index++) {
    const scheduled = began + (index * 1_000) / rate;
    await clock.reach(scheduled);
    sent.push(tally.send(load, requestAt(load, index), scheduled));
  }
  await Promise.all(sent);
  return tally.report(seconds);
}

/** Sends as fast as this number of clients can, each of which waits for its response. Throws if nothing was sent. */
export async function sendAtPeak(load: Load, clients: number): Promise<LoadReport> {
  const { clock, seconds } = load;
  const tally = new Tally();
  const began = clock.now();
  let index = 0;
  const client = async () => {
    while (clock.now() - began < seconds * 1_000)
      await tally.send(load, requestAt(load, index++), clock.now());
  };
  await Promise.all(Array.from({ length: clients }, client));
  return tally.report((clock.now() - began) / 1_000);
}
