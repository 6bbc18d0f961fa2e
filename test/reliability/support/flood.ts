/** Clients that send as much as they can over connections of their own, and wait for nothing that they are asked to wait for. */
import { createConnection, type Socket } from "node:net";

/** How a client treats what is sent to it. `slowly`: it reads one chunk a second, at most 64 kB. */
export type Reading = "all" | "slowly" | "nothing";

export interface FloodJob {
  host: string;
  port: number;
  /** Addresses of this machine that the connections come from. */
  addresses: readonly string[];
  connections: number;
  /** Requests of a connection whose responses have not come. */
  depth: number;
  /** Whole requests as they are sent, in the order in which all connections together send them. */
  requests: readonly string[];
  reading: Reading;
  /** Responses after which a client closes its connection and opens another one; undefined: it keeps it. */
  perConnection?: number;
  /** Requests in all; undefined: as many as there is time for. */
  most?: number;
}

export interface FloodReport {
  sent: number;
  /** Responses by status. */
  statuses: Record<string, number>;
  opened: number;
  /** Connections that the server has closed. */
  closed: number;
}

/** Connections opened at a time, so that the system does not refuse them for the server. */
const OPENED_TOGETHER = 50;
const OPEN_EVERY_MS = 20;
/** Time before another connection follows one that the server has closed. */
const AGAIN_MS = 20;
const STATUS = /HTTP\/1\.1 (\d{3}) /g;
/** As long as the text before the end of a status. */
const CARRY = 12;

/** One run of such clients. */
export class Flood {
  readonly report: FloodReport = { sent: 0, statuses: {}, opened: 0, closed: 0 };
  readonly #job: FloodJob;
  readonly #open = new Set<Socket>();
  readonly #due: { index: number; at: number }[];
  #timer: NodeJS.Timeout | undefined;
  #onEnd: () => void = () => {};

  constructor(job: FloodJob) {
    this.#job = job;
    this.#due = Array.from({ length: job.connections }, (_, index) => ({ index, at: 0 }));
  }

  /** Begins. Resolves when `most` responses have come, or after `stop`. */
  run(): Promise<void> {
    this.#timer = setInterval(() => this.#openDue(), OPEN_EVERY_MS);
    return new Promise((resolve) => {
      this.#onEnd = resolve;
    });
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const socket of this.#open) socket.destroy();
    this.#onEnd();
  }

  #openDue(): void {
    for (let opened = 0; opened < OPENED_TOGETHER; opened++) {
      const next = this.#due[0];
      if (next === undefined || next.at > performance.now()) return;
      this.#due.shift();
      this.#openOne(next.index);
    }
  }

  #openOne(index: number): void {
    const { host, port, addresses, reading, depth, perConnection } = this.#job;
    const localAddress = addresses[index % addresses.length] ?? host;
    const isSlow = reading === "slowly";
    const socket = createConnection({ host, port, localAddress });
    let [carry, answered, isOwnEnd] = ["", 0, false];
    this.#open.add(socket);
    socket.once("connect", () => {
      this.report.opened++;
      if (reading === "nothing") socket.pause();
      this.#send(socket, Math.min(depth, perConnection ?? depth));
    });
    socket.on("data", (chunk: Buffer) => {
      const text = carry + chunk.toString("latin1");
      let count = 0;
      for (const [, status = ""] of text.matchAll(STATUS)) {
        this.report.statuses[status] = (this.report.statuses[status] ?? 0) + 1;
        count++;
      }
      // Without a whole status, so that none counts twice.
      carry = text.slice(-CARRY);
      if (/HTTP\/1\.1 \d{3} /.test(carry)) carry = "";
      answered += count;
      if (isSlow) socket.pause();
      if (perConnection !== undefined && answered >= perConnection) {
        isOwnEnd = true;
        socket.destroy();
      } else if (count > 0) this.#send(socket, count);
      if (this.#isOver()) this.stop();
    });
    const timer = isSlow ? setInterval(() => socket.resume(), 1_000) : undefined;
    socket.on("error", () => {});
    socket.once("close", () => {
      clearInterval(timer);
      this.#open.delete(socket);
      if (!isOwnEnd) this.report.closed++;
      this.#due.push({ index, at: performance.now() + (isOwnEnd ? 0 : AGAIN_MS) });
    });
  }

  #send(socket: Socket, count: number): void {
    const { requests, most = Number.POSITIVE_INFINITY } = this.#job;
    let text = "";
    for (let i = 0; i < count && this.report.sent < most; i++)
      text += requests[this.report.sent++ % requests.length] ?? "";
    if (text !== "") socket.write(text, "latin1");
  }

  #isOver(): boolean {
    const { most } = this.#job;
    const responses = Object.values(this.report.statuses).reduce((sum, count) => sum + count, 0);
    return most !== undefined && responses >= most;
  }
}
