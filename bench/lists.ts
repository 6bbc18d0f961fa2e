/**
 * Part "lists": the time of the serving thread to find and read a page of a list, without the front. 2,000 lists as people
 * request them, and 10,000 of any combination of filters and sorts; first pages and pages by cursor, some of them deep. Each is
 * read in three passes, and its shortest time counts: CPU time is not known precisely enough for one list, and other times
 * include interruptions. The list index is built first, as its thread does, and measured too.
 */

import { openBackgroundReader } from "../src/database/database.js";
import { buildIndex } from "../src/discovery/lists/index/build.js";
import { type ListQuery, listQuery, listSpec } from "../src/discovery/lists/query.js";
import { systemClock } from "../src/lib/clock.js";
import { createLog } from "../src/lib/log.js";
import type { Modules } from "../src/modules.js";
import { listMixOf, type MixList, randomListsOf } from "./support/mix.js";
import { absoluteRow, type BenchPart, type ResultRow, type Target } from "./support/results.js";
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
    const rows = await buildRows(store, modules, report);
    const options = generatorOptions(store);
    const mix = await resolve(modules, listMixOf(options));
    const random = await resolve(modules, randomListsOf(options, RANDOM_LISTS));
    await timesOf(modules, random.slice(0, WARM_UP), 1);
    for (const [measure, queries, targets] of [
      ["list of the mix", mix, { p99: 2 }],
      ["list of random filters and sorts", random, { max: 25 }],
    ] as const) {
      const timed = await timesOf(modules, queries);
      for (const { ms, query } of timed.toSorted((a, b) => b.ms - a.ms).slice(0, SLOWEST))
        report(`${measure}, slow: ${ms.toFixed(2)} ms, ${JSON.stringify(query)}`);
      rows.push(...rowsOf({ measure, store, targets }, timed));
    }
    return rows;
  } finally {
    await modules.database.close();
  }
};

/** Builds the index into the modules. */
async function buildRows(
  store: Store,
  { listIndex }: Modules,
  report: (line: string) => void,
): Promise<ResultRow[]> {
  const log = createLog("error");
  const source = openBackgroundReader({ url: store.url, dataDir: store.dataDir, log });
  const before = process.cpuUsage();
  const built = await buildIndex({
    source,
    maxBytes: Number.POSITIVE_INFINITY,
    clock: systemClock,
    send: (message) => listIndex.accept(message),
  });
  const { user, system } = process.cpuUsage(before);
  const seconds = (user + system) / 1e6;
  await source.close();
  if (built.problem !== undefined) throw new Error(built.problem);
  report(`index: ${seconds.toFixed(1)} s of CPU time, ${(built.bytes / 1e6).toFixed(0)} MB`);
  return [
    absoluteRow({ measure: "list index: building it, CPU time", unit: "s", store }, [seconds]),
    absoluteRow({ measure: "list index: memory", unit: "MB", store }, [built.bytes / 1e6]),
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
  plan: string;
  query: ListQuery;
}

async function timesOf({ lists }: Modules, queries: readonly ListQuery[], passes = PASSES): Promise<Timed[]> {
  const timed = queries.map((query): Timed => ({ ms: Number.POSITIVE_INFINITY, plan: "", query }));
  for (let pass = 0; pass < passes; pass++) {
    for (const one of timed) {
      const began = performance.now();
      const { plan } = await lists.read(listSpec(one.query));
      one.ms = Math.min(one.ms, performance.now() - began);
      one.plan = plan.plan;
    }
  }
  return timed;
}

function rowsOf(
  { measure, store, targets }: { measure: string; store: Store; targets: { p99?: number; max?: number } },
  timed: readonly Timed[],
): ResultRow[] {
  const ms = timed.map((one) => one.ms);
  const withIndex = timed.filter(({ plan }) => plan === "index").length;
  const note = `${Math.round((100 * withIndex) / timed.length)} % with the index`;
  const row = (name: string, part: number, most: number | undefined): ResultRow => {
    const target: { target?: Target } = most === undefined ? {} : { target: { atMost: most } };
    return absoluteRow({ measure: `${measure}, ${name}`, unit: "ms", store, note, ...target }, [
      quantile(ms, part),
    ]);
  };
  return [row("median", 0.5, undefined), row("p99", 0.99, targets.p99), row("longest", 1, targets.max)];
}
