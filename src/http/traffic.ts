import type { Durations, Metrics } from "../lib/metrics.js";
import type { RouteName } from "./route.js";

/** Bounds of the durations that are counted, in seconds. A cached response takes less than the first. */
const BOUNDS_S = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** The responses of one route to one method. */
interface Tally {
  labels: { method: string; route: string };
  readonly statuses: Map<number, number>;
  readonly counts: Float64Array;
  seconds: number;
}

/** Counts responses by route, status and duration. A response costs two look-ups: labels are made when the metrics are read. */
export class Traffic {
  readonly #routes = new Map<string, Map<string | null, Tally>>();

  /** Counts a response that was sent `ms` after its request was received. */
  note({ method, route }: RouteName, status: number, ms: number): void {
    const tally = this.#routes.get(route)?.get(method) ?? this.#add(method, route);
    tally.statuses.set(status, (tally.statuses.get(status) ?? 0) + 1);
    const seconds = ms / 1_000;
    let index = 0;
    while (index < BOUNDS_S.length && seconds > (BOUNDS_S[index] ?? 0)) index++;
    tally.counts[index] = (tally.counts[index] ?? 0) + 1;
    tally.seconds += seconds;
  }

  #add(method: string | null, route: string): Tally {
    const tally: Tally = {
      labels: { method: method ?? "any", route },
      statuses: new Map(),
      counts: new Float64Array(BOUNDS_S.length + 1),
      seconds: 0,
    };
    const methods = this.#routes.get(route) ?? new Map<string | null, Tally>();
    this.#routes.set(route, methods.set(method, tally));
    return tally;
  }

  *#tallies(): Iterable<Tally> {
    for (const methods of this.#routes.values()) yield* methods.values();
  }

  *statuses(): Iterable<readonly [number, Record<string, string>]> {
    for (const { labels, statuses } of this.#tallies())
      for (const [status, count] of statuses) yield [count, { ...labels, status: String(status) }];
  }

  *durations(): Iterable<Durations> {
    for (const { labels, counts, seconds } of this.#tallies()) yield { labels, counts, sum: seconds };
  }
}

/** Adds the metrics of responses. */
export function addTraffic(metrics: Metrics, traffic: Traffic): void {
  metrics.add("http_requests_total", "Responses sent, by route and status.", () => traffic.statuses());
  const help = "Time from the request to its response, by route. A stream counts until its end.";
  metrics.addHistogram("http_request_duration_seconds", help, {
    bounds: BOUNDS_S,
    read: () => traffic.durations(),
  });
}
