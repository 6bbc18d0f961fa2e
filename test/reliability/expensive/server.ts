import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type MeasuredServer, startSidereal } from "../../../bench/support/processes.js";
import type { Store } from "../../../bench/support/stores.js";
import { plantDump } from "../../support/dumps.js";
import { HarnessFailure } from "../support/harness.js";
import { jsonHeaders } from "./case-parts.js";
import type { CaseContext, ExpensiveCase, Sent } from "./cases.js";
import type { CatalogueFacts } from "./facts.js";

/** What one request took, in ms of CPU. */
export interface Measured {
  status: number;
  bytes: number;
  /** Of the thread that serves. */
  serving: number;
  /** Of all other threads of the process. */
  others: number;
}

/** What the first unit of a download pays for. */
const DUMP_BYTES = 4 * 2 ** 20;

/** Sends requests to a server and measures each of them alone. */
export class MeasuredService {
  readonly #server: MeasuredServer;
  readonly #dumps: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  context: CaseContext;

  private constructor(server: MeasuredServer, context: CaseContext, dumps: string) {
    this.#server = server;
    this.#dumps = dumps;
    this.context = context;
  }

  /** Starts a server without a response cache and without limits on a store that may be changed, and waits for its list index. */
  static async start(store: Store, facts: CatalogueFacts): Promise<MeasuredService> {
    const dumps = mkdtempSync(join(tmpdir(), "sidereal-dumps-"));
    plantDump(dumps, DUMP_BYTES, { isSparse: true });
    const server = await startSidereal(store, {
      SIDEREAL_DUMPS_DIR: dumps,
      // A name, as no browser has passkeys for an address.
      SIDEREAL_BASE_URL: "http://localhost:0",
      SIDEREAL_CACHE_MB: "0",
      SIDEREAL_LIMITS: "false",
      SIDEREAL_PROVIDERS: "github",
      SIDEREAL_TRACK: "everyone",
      // The pages of operators are for nobody, as in the counted work.
      SIDEREAL_TRUSTED_PROXIES: "192.0.2.0/24",
      SIDEREAL_LOG_LEVEL: "fatal",
      SIDEREAL_AUTH_GITHUB_ID: "client",
      SIDEREAL_AUTH_GITHUB_SECRET: "secret",
    });
    const context = { facts, origin: server.url, token: "", shareToken: "", newList: async () => "" };
    const service = new MeasuredService(server, context, dumps);
    const create = async () => {
      const ids = facts.repositories.map(({ id }) => String(id));
      const { status, text } = await service.send({
        method: "POST",
        path: "/api/watchlists",
        headers: { ...jsonHeaders(), "accept-encoding": "identity" },
        body: JSON.stringify({ ids }),
      });
      if (status !== 201) throw new HarnessFailure(`a list could not be created: ${status} ${text}`);
      return JSON.parse(text).data;
    };
    const { token, shareToken } = await create();
    service.context = { ...context, token, shareToken, newList: async () => (await create()).token };
    await service.#settle();
    return service;
  }

  /** Waits until the server has nothing to do: its list index is built then. */
  async #settle(): Promise<void> {
    for (let quiet = 0; quiet < 5; ) {
      const before = this.#server.threadCpuMs() ?? 0;
      await sleep(300);
      quiet = (this.#server.threadCpuMs() ?? 0) - before < 30 ? quiet + 1 : 0;
    }
  }

  send({ method, path, headers, body }: Sent): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const sent = httpRequest(
        `${this.#server.url}${path}`,
        {
          method,
          agent: this.#agent,
          headers: {
            "accept-encoding": "gzip",
            ...headers,
            ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () =>
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("latin1") }),
          );
          response.on("error", reject);
        },
      );
      sent.on("error", reject);
      sent.end(body);
    });
  }

  /** One request and what it took. */
  async measure(sent: Sent): Promise<Measured> {
    const before = this.#times();
    const { status, text } = await this.send(sent);
    // What follows the response, such as compression for the next one, belongs to it.
    await sleep(2);
    const after = this.#times();
    const serving = after.main - before.main;
    return { status, bytes: text.length, serving, others: after.all - before.all - serving };
  }

  /** The median of several rounds of a case. */
  async measureCase(one: ExpensiveCase, rounds: number, firstRound: number): Promise<Measured> {
    const found: Measured[] = [];
    for (let round = firstRound; round < firstRound + rounds; round++) {
      found.push(await this.measure(await one.send(this.context, round)));
    }
    found.sort((a, b) => a.serving - b.serving);
    const median = found[found.length >> 1];
    if (median === undefined) throw new HarnessFailure("nothing was measured");
    return median;
  }

  #times(): { main: number; all: number } {
    const main = this.#server.mainThreadCpuMs();
    const all = this.#server.threadCpuMs();
    if (main === undefined || all === undefined)
      throw new HarnessFailure("this system does not report the CPU time of threads");
    return { main, all };
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    await this.#server.stop();
    rmSync(this.#dumps, { recursive: true, force: true });
  }
}
