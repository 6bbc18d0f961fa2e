/**
 * The fuzzer: sends generated requests to a real server and holds every response against the OpenAPI document and the rules that
 * all responses keep. The same seed makes the same choices; secrets, such as tokens, differ from run to run.
 */
import type { ResultRow } from "../../../bench/support/results.js";
import { Random } from "../../../bench/synthetic/random.js";
import { collectGarbage } from "../../support/collect-garbage.js";
import type { Engine } from "../../support/engines.js";
import { HarnessFailure } from "../support/harness.js";
import { checkResponse } from "./check.js";
import { Connection, type RawResponse } from "./connection.js";
import { Generator } from "./generator.js";
import { nameOf, type Operation } from "./operations.js";
import { bytesOf, type FuzzRequest, shown } from "./request.js";
import type { FuzzService } from "./service.js";
import { keep, type Stock } from "./stock.js";

export interface FuzzRun {
  engine: Engine["name"];
  requests: number;
  seed: number;
  /** Whether the CPU time of the slowest requests is measured. */
  isTimed: boolean;
  report(line: string): void;
}

/** What a run found. */
export interface FuzzResult {
  requests: number;
  /** Responses by the first digit of their status. */
  statusClasses: ReadonlyMap<number, number>;
  operations: number;
  /** Responses that broke a rule, and errors that were logged; the first of each kind was reported with its request. */
  failed: number;
  /** New properties of built-in prototypes. */
  polluted: readonly string[];
  /** Reads of unchanged data that differ from those before the run. */
  changedReads: readonly string[];
  /** Growth of the heap over the second half of the run, in bytes. */
  heapGrowth: number;
  /** The requests that took the most CPU time, alone and without the response cache. */
  slowest: readonly Timed[];
}

/** A request and how long it took. */
interface Timed {
  ms: number;
  request: FuzzRequest;
}

const slowestFirst = (timed: Timed[]): Timed[] => timed.sort((a, b) => b.ms - a.ms);

const BATCH = 400;
/** Good requests after which an operation counts as out of reach, and operations after which the stock is refilled. */
const TRIES = 25;
const REFILL_EVERY = 10;
const CONNECTIONS = 8;
/** Most failures that are shown, one for each kind. */
const SHOWN_FAILURES = 40;
/** Candidates of each operation for the slowest requests, by elapsed time, which their neighbours influence. */
const CANDIDATES = 4;
/** How many of the slowest requests are reported, and how many of them for one operation. */
const SLOWEST = 20;
const SLOWEST_OF_ONE = 2;

/** Reads whose responses depend on nothing that requests can change. */
const FIXED_READS = [
  "/api/repos?sort=stars&limit=100",
  "/api/trending?window=7d",
  "/api/rising",
  "/api/repos?q=data&limit=50",
  "/api/home",
  "/api/stats/summary",
  "/api/facets/languages?limit=100",
  "/api/facets/topics?limit=100",
  "/api/repos/1/metrics?window=all",
  "/api/repos/2/ranks",
  "/api/openapi.json",
  "/explore",
  "/about",
];

const PROTOTYPES = { Object, Array, Function, String, Number, Map, Promise, Buffer, URLSearchParams };

/** The own properties of the prototypes that an attacker would want to change. */
function prototypeProperties(): string[] {
  return Object.entries(PROTOTYPES).flatMap(([name, type]) =>
    Reflect.ownKeys(type.prototype).map((key) => `${name}.prototype.${String(key)}`),
  );
}

function usedHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Sends the requests of a run to a service, which must have been started for it. */
export async function fuzz(
  service: FuzzService,
  { requests, seed, isTimed, report }: FuzzRun,
): Promise<FuzzResult> {
  const run = new Run(service, seed);
  const properties = new Set(prototypeProperties());
  await service.refill();
  const before = await readFixed(service);
  const polluted = new Set<string>();
  let halfway = usedHeap();
  const began = performance.now();
  await run.reachAll();
  for (let sent = 0; sent < requests; sent += BATCH) {
    await service.refill();
    await run.batch(Math.min(BATCH, requests - sent));
    for (const property of prototypeProperties()) if (!properties.has(property)) polluted.add(property);
    if (sent < requests / 2 && sent + BATCH >= requests / 2) halfway = usedHeap();
    if (Math.floor(sent / 20_000) !== Math.floor((sent + BATCH) / 20_000)) {
      const seconds = Math.round((performance.now() - began) / 1_000);
      report(`${sent + BATCH} requests, ${seconds} s, ${run.failed} failures, ${run.statusText()}`);
    }
  }
  const heapGrowth = usedHeap() - halfway;
  const after = await readFixed(service);
  for (const failure of [...run.failures.values(), ...service.loggedErrors.slice(0, 5)]) report(failure);
  const slowest = isTimed ? await run.slowest() : [];
  run.close();
  return {
    requests: run.sent,
    statusClasses: run.statusClasses,
    operations: service.operations.length,
    failed: run.failed + service.loggedErrors.length,
    polluted: [...polluted],
    changedReads: FIXED_READS.filter((_, i) => before[i] !== after[i]),
    heapGrowth,
    slowest,
  };
}

async function readFixed(service: FuzzService): Promise<string[]> {
  const texts: string[] = [];
  for (const target of FIXED_READS) {
    const { status, body } = await service.get(target);
    if (status !== 200) throw new HarnessFailure(`${target} responded ${status}`);
    texts.push(body.toString());
  }
  return texts;
}

/** Operations that no request made here can succeed with: no forge responds. */
const UNREACHED = [
  "GET /avatars/{version}",
  "GET /track/lists/{listId}",
  "POST /track/questions/{questionId}",
];

class Run {
  readonly statusClasses = new Map<number, number>();
  readonly failures = new Map<string, string>();
  sent = 0;
  failed = 0;
  readonly #service: FuzzService;
  readonly #seed: number;
  readonly #generator: Generator;
  readonly #connections: readonly Connection[];
  readonly #candidates = new Map<string, Timed[]>();

  constructor(service: FuzzService, seed: number) {
    this.#service = service;
    this.#seed = seed;
    this.#generator = new Generator(new Random(seed), service.operations);
    this.#connections = Array.from({ length: CONNECTIONS }, () => new Connection(service.port));
  }

  async batch(count: number): Promise<void> {
    const { stock } = this.#service;
    const requests = Array.from({ length: count }, () => this.#generator.next(stock));
    await Promise.all(
      this.#connections.map(async (connection, lane) => {
        for (let i = lane; i < requests.length; i += CONNECTIONS) {
          const request = requests[i];
          if (request !== undefined) await this.#one(connection, request);
        }
      }),
    );
  }

  /** Returns the status of the response; 0 without one. */
  async #one(connection: Connection, request: FuzzRequest): Promise<number> {
    const began = performance.now();
    this.sent++;
    try {
      const response = await connection.send(bytesOf(request), request.method);
      this.#note({ ms: performance.now() - began, request });
      const { status } = response;
      const digit = Math.floor(status / 100);
      this.statusClasses.set(digit, (this.statusClasses.get(digit) ?? 0) + 1);
      const text = checkResponse(request, response, this.#service.stock.origin);
      learn(this.#service.stock, request, response, text);
      return status;
    } catch (error) {
      this.#fail(request, error);
      return 0;
    }
  }

  #note(timed: Timed): void {
    const { operation } = timed.request;
    const known = this.#candidates.get(operation) ?? [];
    if (known.length === CANDIDATES && timed.ms <= (known.at(-1)?.ms ?? 0)) return;
    known.push(timed);
    this.#candidates.set(operation, slowestFirst(known).slice(0, CANDIDATES));
  }

  #fail(request: FuzzRequest, error: unknown): void {
    this.failed++;
    const message = (error instanceof Error ? error.message : String(error)).slice(0, 500);
    const kind = `${request.operation} ${message.replaceAll(/\d+/g, "0").slice(0, 60)}`;
    if (this.failures.has(kind) || this.failures.size >= SHOWN_FAILURES) return;
    this.failures.set(kind, `seed ${this.#seed}, ${request.operation}: ${message}\n  ${shown(request)}`);
  }

  statusText(): string {
    return [...this.statusClasses]
      .sort()
      .map(([digit, count]) => `${digit}xx: ${count}`)
      .join(", ");
  }

  /** Sends good requests to each operation until one succeeds: a run that never got there would not have tested it. */
  async reachAll(): Promise<void> {
    const [connection] = this.#connections;
    if (connection === undefined) throw new HarnessFailure("there is no connection");
    const missed: string[] = [];
    for (const [i, operation] of this.#service.operations.entries()) {
      if (UNREACHED.includes(nameOf(operation))) continue;
      // Some of them use up members and links.
      if (i % REFILL_EVERY === 0) await this.#service.refill();
      if (!(await this.#reach(connection, operation))) missed.push(nameOf(operation));
    }
    if (missed.length > 0) throw new HarnessFailure(`these never succeeded: ${missed.join(", ")}`);
  }

  async #reach(connection: Connection, operation: Operation): Promise<boolean> {
    const { successes } = operation;
    for (let tries = 0; tries < TRIES; tries++) {
      const status = await this.#one(
        connection,
        this.#generator.make(operation, "valid", this.#service.stock),
      );
      if (successes.length > 0 ? successes.includes(status) : status >= 200 && status < 400) return true;
    }
    return false;
  }

  /** Sends the candidates again, alone and without the response cache, and measures their CPU time. */
  async slowest(): Promise<Timed[]> {
    const { port, close } = await this.#service.openUncached();
    const connection = new Connection(port);
    const measure = async (request: FuzzRequest): Promise<number> => {
      const times: number[] = [];
      for (let i = 0; i < 3; i++) {
        const begun = process.cpuUsage();
        await connection.send(bytesOf(request), request.method);
        const { user, system } = process.cpuUsage(begun);
        times.push((user + system) / 1_000);
      }
      return Math.min(...times);
    };
    const measured: Timed[] = [];
    for (const candidates of this.#candidates.values()) {
      const times: Timed[] = [];
      for (const { request } of candidates) times.push({ ms: await measure(request), request });
      measured.push(...slowestFirst(times).slice(0, SLOWEST_OF_ONE));
    }
    connection.close();
    await close();
    return slowestFirst(measured).slice(0, SLOWEST);
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}

/** Keeps what later requests can use. */
function learn(stock: Stock, { target }: FuzzRequest, { status, headers }: RawResponse, text: string): void {
  if (status !== 200) return;
  const etag = headers.get("etag");
  if (etag !== undefined) keep(stock.etags, etag);
  const next = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
  if (next !== undefined) keep(stock.targets, next.slice(stock.origin.length));
  if (target.startsWith("/api/")) {
    const cursor = /"nextCursor":"([^"]+)"/.exec(text)?.[1];
    if (cursor !== undefined) keep(stock.cursors, cursor);
  }
}

const MEGABYTE = 1024 * 1024;
/** Most heap that the second half of a run may add, in MB. */
const MAX_HEAP_GROWTH = 64;

/** The rows of a result. */
export function fuzzRows(run: Pick<FuzzRun, "engine">, result: FuzzResult): ResultRow[] {
  const engine = run.engine;
  const row = (measure: string, value: number, unit: string): ResultRow => ({ measure, value, unit, engine });
  const none = (measure: string, value: number, unit: string): ResultRow => ({
    ...row(measure, value, unit),
    target: { atMost: 0 },
  });
  return [
    row("generated requests", result.requests, "requests"),
    ...[...result.statusClasses]
      .sort()
      .map(([digit, count]) => row(`responses ${digit}xx`, count, "responses")),
    row("operations, pages and forms that succeeded", result.operations, "routes"),
    none("server errors", result.statusClasses.get(5) ?? 0, "responses"),
    none("responses outside their contract", result.failed, "responses"),
    none("changes of built-in prototypes", result.polluted.length, "properties"),
    none("reads of unchanged data that differ afterwards", result.changedReads.length, "reads"),
    {
      ...row("heap added in the second half", result.heapGrowth / MEGABYTE, "MB"),
      target: { atMost: MAX_HEAP_GROWTH },
    },
    ...result.slowest
      .slice(0, 1)
      .map(({ ms }) => row("slowest request, CPU time without the cache", ms, "ms")),
  ];
}
