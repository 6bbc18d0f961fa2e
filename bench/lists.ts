/**
 * Part "lists": the time of the serving thread to find and read a page of a list, without the front. 2,000 lists as people
 * request them, and 10,000 of any combination of filters and sorts; first pages and pages by cursor, some of them deep. Each is
 * read in three passes, and its shortest time counts: CPU time is not known precisely enough for one list, and other times
 * include interruptions. The catalogue is loaded first, which is measured too.
 */
import { setTimeout } from "node:timers/promises";
import { type ListQuery, listQuery, listSpec } from "../src/discovery/query.js";
import type { Modules } from "../src/modules.js";
import { listMixOf, type MixList, randomListsOf } from "./support/mix.js";
import { absoluteRow, atMost, type BenchPart, type ResultRow, type Target } from "./support/results.js";
import { quantile } from "./support/statistics.js";
import { generatorOptions, openStore, type Store } from "./support/stores.js";

const RANDOM_LISTS = 10_000;
/** Lists read before the measurement, so that the code is compiled. */
const WARM_UP = 1_000;
const PASSES = 3;
/** Lists that are reported. */
const SLOWEST = 5;
/** Rows of a page that is turned. */
const TURNED = 100;

export const measureLists: BenchPart = async ({ store, report }) => {
  const modules = await openStore(store);
  try {
    const rows = await loadRows(store, modules, report);
    const options = generatorOptions(store);
    const mix = await resolve(modules, listMixOf(options));
    const random = await resolve(modules, randomListsOf(options, RANDOM_LISTS));
    await timesOf(modules, random.slice(0, WARM_UP), 1);
    for (const [measure, queries, bounds] of [
      ["list of the mix", mix, [0.8, 0.8, 3]],
      ["list of random filters and sorts", random, [1, 1, 9]],
    ] as const) {
      const timed = await timesOf(modules, queries);
      for (const { ms, query } of timed.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST))
        report(`${measure}, slow: ${ms.toFixed(2)} ms, ${JSON.stringify(query)}`);
      rows.push(...rowsOf({ measure, store, bounds }, timed));
    }
    return rows;
  } finally {
    await modules.database.close();
  }
};

/** Loads the catalogue. */
async function loadRows(
  store: Store,
  { live }: Modules,
  report: (line: string) => void,
): Promise<ResultRow[]> {
  const [began, before] = [performance.now(), process.cpuUsage()];
  while ((await live.ifLoaded()) === undefined) await setTimeout(10);
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.cpuUsage(before);
  const { arrayBuffers } = process.memoryUsage();
  report(`load: ${seconds.toFixed(1)} s, ${((user + system) / 1e6).toFixed(1)} s of CPU time`);
  return [
    absoluteRow({ measure: "catalogue in memory: loading it", unit: "s", store }, [seconds]),
    absoluteRow({ measure: "catalogue in memory: arrays", unit: "MB", store }, [arrayBuffers / 1e6]),
  ];
}

/** The queries, with cursors where pages are turned. */
async function resolve({ lists }: Modules, mix: readonly MixList[]): Promise<ListQuery[]> {
  const queries: ListQuery[] = [];
  for (const { query, turns = 0 } of mix) {
    const parsed = listQuery.parse(fieldsOf(query));
    let cursor: string | undefined;
    for (let turn = 0; turn < turns; turn++) {
      const page = await lists.read(listSpec({ ...parsed, cursor, limit: TURNED }));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    queries.push({ ...parsed, cursor });
  }
  return queries;
}

function fieldsOf(query: string): Record<string, string | string[]> {
  const fields = new URLSearchParams(query);
  return Object.fromEntries(
    [...new Set(fields.keys())].map((name) => {
      const all = fields.getAll(name);
      return [name, name === "topic" || name === "language" ? all : all.join()];
    }),
  );
}

interface Timed {
  ms: number;
  query: ListQuery;
}

async function timesOf({ lists }: Modules, queries: readonly ListQuery[], passes = PASSES): Promise<Timed[]> {
  const timed = queries.map((query): Timed => ({ ms: Number.POSITIVE_INFINITY, query }));
  for (let pass = 0; pass < passes; pass++) {
    for (const one of timed) {
      const began = performance.now();
      await lists.read(listSpec(one.query));
      one.ms = Math.min(one.ms, performance.now() - began);
    }
  }
  return timed;
}

interface Measured {
  measure: string;
  store: Store;
  bounds: readonly [number, number, number];
}

function rowsOf({ measure, store, bounds }: Measured, timed: readonly Timed[]): ResultRow[] {
  const ms = timed.map((one) => one.ms);
  const row = (name: string, part: number, target?: Target): ResultRow =>
    absoluteRow({ measure: `${measure}, ${name}`, unit: "ms", store, ...(target && { target }) }, [
      quantile(ms, part),
    ]);
  return [row("median", 0.5), row("p99", 0.99, atMost(store, bounds)), row("longest", 1)];
}
