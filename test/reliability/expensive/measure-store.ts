import {
  copyStore,
  defaultFolder,
  openStore,
  prepareStore,
  type Store,
} from "../../../bench/support/stores.js";
import type { Route } from "../../../src/http/route.js";
import { HarnessFailure } from "../support/harness.js";
import { routeKey } from "../support/hostile-visits.js";
import { pathFor } from "./case-parts.js";
import { CASES, type ExpensiveCase, OTHER_CASES } from "./cases.js";
import { climb } from "./climb.js";
import { readFacts } from "./facts.js";
import { openRoutes } from "./routes.js";
import { MeasuredService } from "./server.js";

export type WantedStore = Pick<Store, "engine" | "size" | "days">;

/** What one case took: medians, in ms of CPU. */
export interface CaseResult {
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
export async function measureStore(wanted: WantedStore, options: Options): Promise<CaseResult[]> {
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
