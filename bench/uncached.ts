/**
 * CPU time of requests that no cache answers, without the network. The response cache is off; limits and all other steps of the
 * front are on.
 * The detail is compared with a bare handler measured in alternation; a list has none, as without the catalogue in memory it is a
 * scan of the table.
 */
import { IncomingMessage, type RequestListener, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { Writable } from "node:stream";
import { setImmediate, setTimeout } from "node:timers/promises";
import { buildFront } from "../src/app/service.js";
import { loadConfig } from "../src/config/config.js";
import { type Database, openDatabase } from "../src/database/database.js";
import { systemClock } from "../src/lib/clock.js";
import { createLog } from "../src/lib/log.js";
import { buildModules } from "../src/modules.js";
import type { Repository } from "../src/repositories/repository.js";
import { limits } from "../test/support/limits.js";
import { bareHandler } from "./bare.js";
import type { BenchPart, ResultRow } from "./support/results.js";
import { quantile } from "./support/statistics.js";

/** Requests per round and route. */
const REQUESTS = 200;
/** Requests in flight, as with several clients. */
const CONCURRENCY = 8;

/** CPU time of this process per request of each route: the median of the rounds. */
export const uncachedPart: BenchPart = async ({ store, rounds }) => {
  const { url, dataDir, size, engine } = store;
  const database = await openDatabase({ url, dataDir, pool: 4, log: createLog("error") });
  try {
    const handler = await serving(database);
    const bare = await bareHandler(url === undefined ? { dataDir } : { url });
    const rows: ResultRow[] = [];
    for (const { route, path, hasBare } of routesOf(await sampleOf(database))) {
      const ours: number[] = [];
      const theirs: number[] = [];
      await cpuOf(handler, path);
      for (let round = 0; round < rounds; round++) {
        ours.push(await cpuOf(handler, path));
        if (hasBare) theirs.push(await cpuOf(bare.handle, path));
      }
      const value = quantile(ours, 0.5) / 1_000;
      const bareValue = hasBare ? quantile(theirs, 0.5) / 1_000 : undefined;
      rows.push({
        measure: `${route}, CPU of the process per response, cache off`,
        unit: "ms",
        size,
        engine,
        value,
        ...(bareValue === undefined
          ? {}
          : { baseline: { name: "bare handler", value: bareValue }, ratio: value / bareValue }),
      });
    }
    await bare.close();
    return rows;
  } finally {
    await database.close();
  }
};

/** The service over this database with its catalogue in memory, and with limits that no measurement reaches. */
async function serving(database: Database): Promise<RequestListener> {
  const log = createLog("error");
  const config = loadConfig({
    SIDEREAL_CACHE_MB: "0",
    ...limits(),
  });
  const modules = buildModules(database, { clock: systemClock, log });
  while ((await modules.live.ifLoaded()) === undefined) await setTimeout(10);
  const front = buildFront({ config, clock: systemClock, log }, modules);
  return (request, response) => void front.handle(request, response);
}

async function sampleOf(database: Database): Promise<Repository[]> {
  const { catalog } = buildModules(database, { clock: systemClock, log: createLog("silent") });
  const newest = await database.read
    .selectFrom("repositories")
    .select("id")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirstOrThrow();
  return catalog.findMany(Array.from({ length: 500 }, (_, i) => 1 + ((i * 7_919) % newest.id)));
}

interface MeasuredRoute {
  route: string;
  path: (round: number) => string;
  /** Whether the bare handler serves it. */
  hasBare?: boolean;
}

function routesOf(repositories: readonly Repository[]): MeasuredRoute[] {
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
    { route: "list by stars", path: () => "/api/repos?sort=stars" },
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
      hasBare: true,
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

/** CPU time of one request, in microseconds, over `REQUESTS` of them. */
async function cpuOf(handler: RequestListener, path: (round: number) => string): Promise<number> {
  let next = 0;
  const client = async () => {
    while (next < REQUESTS) {
      await send(handler, path(next++));
      // Requests of a server arrive in turns of the event loop.
      await setImmediate();
    }
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: CONCURRENCY }, client));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / REQUESTS;
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
