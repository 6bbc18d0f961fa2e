/**
 * The most expensive requests. Every route that needs no account has cases in the worst form that its authors could think of, and a
 * seeded search over its declared parameters looks for worse ones. The long form measures each alone on large stores, without the
 * response cache: CPU time of the thread that serves. The short form counts their work on a small one.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type MeasuredServer, startSidereal } from "../../../bench/support/processes.js";
import type { ResultRow } from "../../../bench/support/results.js";
import {
  copyStore,
  defaultFolder,
  openStore,
  prepareStore,
  type Store,
} from "../../../bench/support/stores.js";
import { Random } from "../../../bench/synthetic/random.js";
import { openDatabase } from "../../../src/database/database.js";
import type { Route } from "../../../src/http/route.js";
import { createLog } from "../../../src/lib/log.js";
import { plantDump } from "../../support/dumps.js";
import { assertHappened, type Harness, type HarnessContext, HarnessFailure } from "../support/harness.js";
import { routeKey } from "../support/hostile-visits.js";
import { address, jsonHeaders, pathFor } from "./case-parts.js";
import { CASES, type CaseContext, type ExpensiveCase, OTHER_CASES, type Sent } from "./cases.js";
import { type CountedWork, countWork } from "./count-work.js";
import { type CatalogueFacts, readFacts } from "./facts.js";
import { queryChoices } from "./parameters.js";
import { openRoutes } from "./routes.js";

/** CPU time of the serving thread that a single request may take, in ms. */
const MOST_MS = 25;
/** One with many repositories, one with long histories. */
const STORES: readonly WantedStore[] = [
  { engine: "sqlite", size: 100_000, days: 7 },
  { engine: "sqlite", size: 20_000, days: 90 },
];
const SHOWN = 30;

/** Work that a single request may cause, for a list of 500 repositories with a page of 50 rows, or a deep page of 100 rows. */
const MOST_STATEMENTS = 40;
/** Six for each repository of a list, and its page. */
const MOST_ROWS = 3_100;
/** The OpenAPI document, which is made once, is the largest. */
const MOST_BYTES = 1_100_000;

async function runLong({ report }: HarnessContext): Promise<ResultRow[]> {
  const rows: ResultRow[] = [];
  for (const store of STORES) {
    const results = await measureStore(store, { mostMs: MOST_MS, report });
    assertHappened(results.length, "requests measured", 100);
    results.sort((a, b) => b.serving - a.serving);
    rows.push(...results.slice(0, SHOWN).map((result) => measuredRow(store, result)));
  }
  return rows;
}

function measuredRow({ engine, size, days }: WantedStore, { name, serving, others }: CaseResult): ResultRow {
  return {
    measure: name.slice(0, 200),
    size,
    engine,
    value: serving,
    unit: "ms of the serving thread",
    target: { atMost: MOST_MS },
    note: `${days} days, other threads ${others.toFixed(1)} ms`,
  };
}

async function runShort(): Promise<ResultRow[]> {
  const log = createLog("silent");
  const database = await openDatabase({ url: undefined, dataDir: ":memory:", pool: 1, log });
  try {
    return workRows(await countWork(database));
  } finally {
    await database.close();
  }
}

/** What was counted, against its bounds. */
export function workRows({ uncovered, unknownParameters, wrong, cases }: CountedWork): ResultRow[] {
  assertHappened(cases.length, "requests counted", 100);
  const none = (measure: string, found: readonly string[]): ResultRow => ({
    measure: `${measure}${found.length === 0 ? "" : `: ${found.join("; ")}`}`,
    value: found.length,
    unit: "",
    target: { atMost: 0 },
  });
  const most = (unit: "statements" | "rows" | "bytes", atMost: number): ResultRow => {
    const [worst] = cases.toSorted((a, b) => b[unit] - a[unit]);
    return { measure: `most ${unit}, ${worst?.name}`, value: worst?.[unit] ?? 0, unit, target: { atMost } };
  };
  return [
    none("routes without a case, or cases without a route", uncovered),
    none("parameters that the search does not know", unknownParameters),
    none("unexpected responses", wrong),
    most("statements", MOST_STATEMENTS),
    most("rows", MOST_ROWS),
    most("bytes", MOST_BYTES),
  ];
}

export const expensive: Harness = {
  name: "expensive",
  proves: `No request that needs no account takes more than ${MOST_MS} ms of the serving thread at 100,000 repositories.`,
  run: (context) => (context.scale === "long" ? runLong(context) : runShort()),
};

type WantedStore = Pick<Store, "engine" | "size" | "days">;

/** What one case took: medians, in ms of CPU. */
interface CaseResult {
  name: string;
  serving: number;
  others: number;
}

interface Options {
  /** What costs more is reported as it is found. */
  mostMs: number;
  report(line: string): void;
}

const ROUNDS = 7;
/** Searches per route with parameters, and requests per search. */
const CLIMBS = 2;
const STEPS = 80;

/** Measures all cases, and what a search finds, on a copy of a store. Throws HarnessFailure for unexpected responses. */
async function measureStore(wanted: WantedStore, options: Options): Promise<CaseResult[]> {
  const place = { folder: defaultFolder(), postgresUrl: undefined };
  const copy = await copyStore(await prepareStore(wanted, place, options.report));
  try {
    const modules = await openStore(copy);
    const facts = await readFacts(modules);
    const routes = openRoutes(modules);
    await modules.database.close();
    const service = await MeasuredService.start(copy, facts);
    try {
      return await measureRoutes(service, routes, options);
    } finally {
      await service.stop();
    }
  } finally {
    await copy.remove();
  }
}

async function measureRoutes(
  service: MeasuredService,
  routes: readonly Route[],
  { mostMs, report }: Options,
): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  const wrong: string[] = [];
  const add = (result: CaseResult) => {
    results.push(result);
    if (result.serving > mostMs) report(`${result.name}: ${result.serving.toFixed(1)} ms`);
  };
  const measure = async (route: string, one: ExpensiveCase) => {
    const name = `${route}: ${one.name}`;
    // Compiles what the case runs; rounds count on, so that nothing that was remembered helps.
    await service.measureCase(one, ROUNDS, 0);
    const { serving, others, status } = await service.measureCase(one, ROUNDS, ROUNDS);
    if (status !== one.status) wrong.push(`${name}: ${status} instead of ${one.status}`);
    add({ name, serving, others });
  };
  for (const route of routes) {
    const key = routeKey(route);
    for (const one of CASES[key] ?? []) await measure(key, one);
    const isSearched = route.method === "GET" && route.query.length > 0;
    for (let seed = 1; isSearched && seed <= CLIMBS; seed++) add(await searchRoute(service, route, seed));
  }
  for (const one of OTHER_CASES) await measure("before a route", one);
  if (wrong.length > 0) throw new HarnessFailure(`unexpected responses:\n${wrong.join("\n")}`);
  return results;
}

/** The most expensive parameters that a search finds, and what they take. */
async function searchRoute(service: MeasuredService, route: Route, seed: number): Promise<CaseResult> {
  const start = pathFor(route.path, service.context);
  const { facts } = service.context;
  const measure = (path: string) =>
    service.measure({ method: "GET", path, headers: { accept: "text/html" } });
  const { path } = await climb(
    { path: start, query: route.query, facts, seed, steps: STEPS },
    async (one) => (await measure(one)).serving,
  );
  const again = [];
  for (let round = 0; round < ROUNDS; round++)
    again.push(await measure(path.replace(/minStars=\d+/, `minStars=${51 + round}`)));
  again.sort((a, b) => a.serving - b.serving);
  const { serving = 0, others = 0 } = again[ROUNDS >> 1] ?? {};
  return { name: `${routeKey(route)}: found by search ${seed}: ${path}`, serving, others };
}

/** A request found by searching, and what it took. */
interface Climbed {
  path: string;
  cost: number;
}

type State = Map<string, readonly string[]>;

/**
 * Searches for expensive values of the declared parameters of a route: starts at random, changes one or two at a time, and keeps
 * what costs more. The same seed tries the same first requests everywhere.
 */
async function climb(
  {
    path,
    query,
    facts,
    seed,
    steps,
  }: {
    path: string;
    query: readonly string[];
    facts: CatalogueFacts;
    seed: number;
    steps: number;
  },
  costOf: (path: string) => Promise<number>,
): Promise<Climbed> {
  const random = new Random(seed);
  const choices = queryChoices(facts);
  const change = (state: State, name: string): void => {
    state.set(name, random.pick(choices[name] ?? [[]]));
  };
  const pathOf = (state: State): string => address(path, Object.fromEntries(state));
  let state: State = new Map();
  for (const name of query) if (random.chance(0.4)) change(state, name);
  let best = { path: pathOf(state), cost: await costOf(pathOf(state)) };
  for (let step = 0; step < steps; step++) {
    const next = new Map(state);
    for (let changes = random.between(1, 3); changes > 0; changes--) change(next, random.pick(query));
    // The same request again may find its total remembered.
    if (query.includes("minStars") && random.chance(0.8)) next.set("minStars", [String(step % 50)]);
    const cost = await costOf(pathOf(next));
    if (cost <= best.cost) continue;
    state = next;
    best = { path: pathOf(next), cost };
  }
  return best;
}

/** What one request took, in ms of CPU. */
interface Measured {
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
class MeasuredService {
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
