/** The metrics of one process, in the text format of Prometheus, and the port at which they are served. */
import { once } from "node:events";
import { createServer } from "node:http";
import { collectDefaultMetrics, Gauge, type MetricObjectWithValues, Registry } from "prom-client";
import { errorCode } from "./errors.js";
import type { Logger } from "./log.js";

export type MetricValue = readonly [value: number, labels: Readonly<Record<string, string>>];

/** Counts of durations: `counts` has one for each of the bounds (seconds), and one for longer ones; `sum` is in seconds. */
export interface Durations {
  labels: Readonly<Record<string, string>>;
  counts: ArrayLike<number>;
  sum: number;
}

type Row = MetricObjectWithValues<{ value: number; labels: Record<string, string>; metricName?: string }>;

/** A metric that is made when it is read, so that the measured code only counts in memory of its own. */
class ReadMetric extends Gauge {
  readonly #type: string;
  readonly #read: () => Row["values"];

  constructor(name: string, help: string, { type, read }: { type: string; read: () => Row["values"] }) {
    super({ name, help, registers: [] });
    this.#type = type;
    this.#read = read;
  }

  override async get(): Promise<Row> {
    // The library types each kind of metric, and only writes the word.
    const type = this.#type as unknown as Row["type"];
    return { ...(await super.get()), type, values: this.#read() };
  }
}

/** Gauges of the library whose names end like those of counters, which tools reject. */
const MISNAMED = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
];

/** The metrics of this process: those of Node.js, such as memory and the delay of the event loop, and those that are added. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #updates: (() => Promise<void>)[] = [];

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
  }

  /** Adds `sidereal_<name>`: a counter if the name ends in `_total`, otherwise a gauge. `read`: its values now; null: none. */
  add(name: string, help: string, read: () => number | null | Iterable<MetricValue>): void {
    const type = name.endsWith("_total") ? "counter" : "gauge";
    const values = () => {
      const found = read();
      const all: Iterable<MetricValue> = typeof found === "number" ? [[found, {}]] : (found ?? []);
      return Array.from(all, ([value, labels]) => ({ value, labels }));
    };
    this.#registry.registerMetric(new ReadMetric(`sidereal_${name}`, help, { type, read: values }));
  }

  /** Adds the histogram `sidereal_<name>` with these bounds, in seconds. */
  addHistogram(
    name: string,
    help: string,
    { bounds, read }: { bounds: readonly number[]; read: () => Iterable<Durations> },
  ): void {
    const full = `sidereal_${name}`;
    const values = () =>
      Array.from(read(), ({ labels, counts, sum }) => {
        let count = 0;
        const buckets = [...bounds.map(String), "+Inf"].map((le, i) => {
          count += counts[i] ?? 0;
          return { value: count, labels: { ...labels, le }, metricName: `${full}_bucket` };
        });
        return [
          ...buckets,
          { value: sum, labels, metricName: `${full}_sum` },
          { value: count, labels, metricName: `${full}_count` },
        ];
      }).flat();
    this.#registry.registerMetric(new ReadMetric(full, help, { type: "histogram", read: values }));
  }

  /** Runs before the metrics are read. A failure does not keep the others from being read. */
  beforeRead(update: () => Promise<void>): void {
    this.#updates.push(update);
  }

  async text(): Promise<string> {
    await Promise.allSettled(this.#updates.map((update) => update()));
    return this.#registry.metrics();
  }

  get contentType(): string {
    return this.#registry.contentType;
  }
}

export interface MetricsServer {
  port: number;
  close(): Promise<void>;
}

/** Serves `GET /metrics` on the first free one of some ports, and logs which one that is. 0: any. Throws the error of `listen` if none is free. */
export async function serveMetrics(
  metrics: Metrics,
  { host, ports, log }: { host: string; ports: readonly number[]; log: Logger },
): Promise<MetricsServer> {
  const [first = 0] = ports;
  for (let i = 0; ; i++) {
    const server = createServer((request, response) => {
      const isRead = request.method === "GET" || request.method === "HEAD";
      if (!isRead || request.url?.split("?", 1)[0] !== "/metrics") {
        response.writeHead(404, { "Content-Type": "text/plain" }).end("see /metrics\n");
        return;
      }
      metrics.text().then(
        (text) => response.writeHead(200, { "Content-Type": metrics.contentType }).end(text),
        (err: unknown) => {
          log.error({ err }, "the metrics cannot be read");
          response.writeHead(500, { "Content-Type": "text/plain" }).end("the metrics cannot be read\n");
        },
      );
    });
    try {
      server.listen(ports[i] ?? 0, host);
      await once(server, "listening");
    } catch (error) {
      if (errorCode(error) === "EADDRINUSE" && i + 1 < ports.length) continue;
      throw error;
    }
    const address = server.address();
    const open = typeof address === "object" && address !== null ? address.port : first;
    log.info({ host, port: open, ...(i > 0 ? { taken: first } : {}) }, "metrics are served at /metrics");
    return {
      port: open,
      close: async () => {
        server.close();
        server.closeAllConnections();
        await once(server, "close");
      },
    };
  }
}
