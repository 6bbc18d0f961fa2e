/**
 * CPU time of requests that no cache answers, without the network: `node dist/bench/uncached.js --data DIR` or `--url ADDRESS`,
 * of a catalogue that exists and is only read. The response cache is off; limits and all other steps of the front are on.
 * Each route is compared with a bare handler measured in alternation: one statement of the kind that people write, objects,
 * JSON.stringify.
 */
import { IncomingMessage, type RequestListener, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Writable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { parseArgs } from "node:util";
import { buildFront } from "../src/app/service.js";
import { loadConfig } from "../src/config/config.js";
import { type Database, openDatabase } from "../src/database/database.js";
import { buildIndex } from "../src/discovery/lists/index/build.js";
import type { IndexMessage } from "../src/discovery/lists/index/list-index.js";
import { systemClock } from "../src/lib/clock.js";
import { createLog } from "../src/lib/log.js";
import { buildModules } from "../src/modules.js";
import type { Repository } from "../src/repositories/repository.js";
import { limits } from "../test/support/limits.js";
import { bareHandler } from "./bare.js";
import type { BenchPart, ResultRow } from "./support/results.js";

/** One measured route. Times are medians over the rounds, in microseconds of CPU time of this process per request. */
export interface UncachedRow {
  engine: string;
  repositories: number;
  route: string;
  microseconds: number;
  /** The bare handler over the same data; undefined where there is none. */
  bare: number | undefined;
}

export interface UncachedOptions {
  /** Folder of the SQLite file, or the address of a PostgreSQL database. */
  store: { dataDir: string } | { url: string };
  rounds?: number;
  /** Requests per round and route. */
  requests?: number;
  /** Only routes whose name contains this. */
  only?: string;
}

/** Requests in flight, as with several clients. */
const CONCURRENCY = 8;

/** Measures all routes. The catalogue must have been filled before. */
export async function measureUncached({
  store,
  rounds = 9,
  requests = 200,
  only = "",
}: UncachedOptions): Promise<UncachedRow[]> {
  const log = createLog("error");
  const database = await openDatabase({ url: undefined, dataDir: "", pool: 4, log, ...store });
  try {
    const handler = await serving(database);
    const sample = await sampleOf(database);
    const bare = await bareHandler(store);
    const rows: UncachedRow[] = [];
    for (const { route, path, bareRoute } of routesOf(sample).filter(({ route }) => route.includes(only))) {
      const ours: number[] = [];
      const theirs: number[] = [];
      await cpuOf(handler, path, requests);
      for (let round = 0; round < rounds; round++) {
        ours.push(await cpuOf(handler, path, requests));
        if (bareRoute !== undefined) theirs.push(await cpuOf(bare.handlers[bareRoute], path, requests));
      }
      rows.push({
        engine: database.dialect.engine,
        repositories: sample.total,
        route,
        microseconds: medianOf(ours),
        bare: bareRoute === undefined ? undefined : medianOf(theirs),
      });
    }
    await bare.close();
    return rows;
  } finally {
    await database.close();
  }
}

/** The same as rows of the table. */
export const uncachedPart: BenchPart = async ({ store, rounds }) => {
  const { url, dataDir, size, engine } = store;
  const measured = await measureUncached({ store: url === undefined ? { dataDir } : { url }, rounds });
  return measured.map(({ route, microseconds, bare }): ResultRow => {
    const baseline = bare === undefined ? undefined : { name: "bare handler", value: bare / 1_000 };
    return {
      measure: `${route}, CPU of the process per response, cache off`,
      unit: "ms",
      size,
      engine,
      value: microseconds / 1_000,
      ...(baseline === undefined ? {} : { baseline, ratio: microseconds / 1_000 / baseline.value }),
    };
  });
};

/** The service over this database with its list index, and with limits that no measurement reaches. */
async function serving(database: Database): Promise<RequestListener> {
  const log = createLog("error");
  const config = loadConfig({
    SIDEREAL_CACHE_MB: "0",
    ...limits(),
  });
  const modules = buildModules(database, { clock: systemClock, log });
  const send = (message: IndexMessage) => modules.listIndex.accept(message);
  await buildIndex({ source: database, maxBytes: 1e9, clock: systemClock, send });
  const front = buildFront({ config, clock: systemClock, log }, modules);
  return (request, response) => void front.handle(request, response);
}

interface Sample {
  total: number;
  repositories: Repository[];
}

async function sampleOf(database: Database): Promise<Sample> {
  const { catalog } = buildModules(database, { clock: systemClock, log: createLog("silent") });
  const newest = await database.read
    .selectFrom("repositories")
    .select("id")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirstOrThrow();
  const total = newest.id;
  const ids = Array.from({ length: 500 }, (_, i) => 1 + ((i * 7_919) % total));
  return { total, repositories: await catalog.findMany(ids) };
}

interface MeasuredRoute {
  route: string;
  path: (round: number) => string;
  bareRoute?: keyof Awaited<ReturnType<typeof bareHandler>>["handlers"];
}

function routesOf({ repositories }: Sample): MeasuredRoute[] {
  const one = (round: number): Repository => {
    const found = repositories[round % repositories.length];
    if (found === undefined) throw new Error("the catalogue is empty");
    return found;
  };
  const fullName = (round: number) => {
    const { provider, fullName } = one(round);
    return [provider.toLowerCase(), ...fullName.split("/")].map(encodeURIComponent).join("/");
  };
  return [
    { route: "list by stars", path: () => "/api/repos?sort=stars", bareRoute: "list" },
    { route: "list by 24 h gains", path: () => "/api/repos?sort=stars-gained" },
    { route: "trending", path: () => "/api/trending?window=7d" },
    { route: "list of a language", path: () => "/api/repos?sort=stars&language=python" },
    { route: "list as CSV", path: () => "/api/repos?sort=stars&format=csv" },
    {
      route: "detail",
      path: (round) => {
        const { provider, owner, name } = one(round);
        return `/api/repos/${provider}/${encodeURIComponent(owner)}/${name}`;
      },
      bareRoute: "detail",
    },
    { route: "series", path: (round) => `/api/repos/${one(round).id}/metrics?window=30d` },
    {
      route: "suggest",
      path: (round) => `/api/search/suggest?q=${["com", "wil", "lan", "sta"][round % 4]}`,
    },
    { route: "summary", path: () => "/api/stats/summary" },
    { route: "languages", path: () => "/api/facets/languages" },
    { route: "home as data", path: () => "/api/home" },
    { route: "feed", path: () => "/api/feeds/trending.atom?window=7d" },
    { route: "page: home", path: () => "/" },
    { route: "page: explore", path: () => "/explore" },
    { route: "page: repository", path: (round) => `/repos/${fullName(round)}` },
    { route: "page: a language", path: () => "/languages/Rust" },
  ];
}

/** Takes everything and keeps nothing. */
class Sink extends Writable {
  override _write(_chunk: Buffer, _encoding: string, done: () => void): void {
    done();
  }
}

/** CPU time of one request, in microseconds, over `requests` of them. */
async function cpuOf(
  handler: RequestListener,
  path: (round: number) => string,
  requests: number,
): Promise<number> {
  let next = 0;
  const client = async () => {
    while (next < requests) {
      await send(handler, path(next++));
      // Requests of a server arrive in turns of the event loop.
      await setImmediate();
    }
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: CONCURRENCY }, client));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}

async function send(handler: RequestListener, url: string): Promise<void> {
  const socket = new Socket();
  Object.defineProperty(socket, "remoteAddress", { value: "127.0.0.1" });
  const message = new IncomingMessage(socket);
  Object.assign(message, {
    method: "GET",
    url,
    httpVersion: "1.1",
    httpVersionMajor: 1,
    httpVersionMinor: 1,
    rawHeaders: ["host", "localhost"],
    headers: { host: "localhost" },
    complete: true,
  });
  const response = new ServerResponse(message);
  const finished = new Promise((resolve) => response.once("finish", resolve));
  response.assignSocket(new Sink() as unknown as Socket);
  handler(message, response);
  await finished;
  if (response.statusCode !== 200) throw new Error(`${url} returned ${response.statusCode}`);
}

function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

if (process.argv[1]?.endsWith("uncached.js")) {
  const { values } = parseArgs({
    options: {
      data: { type: "string" },
      url: { type: "string" },
      rounds: { type: "string", default: "9" },
      requests: { type: "string", default: "200" },
      only: { type: "string", default: "" },
    },
  });
  const rows = await measureUncached({
    store: values.url === undefined ? { dataDir: values.data ?? "data" } : { url: values.url },
    rounds: Number(values.rounds),
    requests: Number(values.requests),
    only: values.only,
  });
  for (const { engine, repositories, route, microseconds, bare } of rows)
    process.stdout.write(
      `${engine} ${repositories} ${route.padEnd(22)} ${microseconds.toFixed(0).padStart(7)} µs${bare === undefined ? "" : `  bare ${bare.toFixed(0).padStart(6)} µs, ${(bare / microseconds).toFixed(2)} ×`}\n`,
    );
}
