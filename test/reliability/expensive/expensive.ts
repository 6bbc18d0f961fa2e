/**
 * The most expensive requests. Every route that needs no account has cases in the worst form that its authors could think of, and a
 * seeded search over its declared parameters looks for worse ones. The long form measures each alone on large stores, without the
 * response cache: CPU time of the thread that serves. The short form counts their work on a small one.
 */
import type { ResultRow } from "../../../bench/support/results.js";
import { openDatabase } from "../../../src/database/database.js";
import { createLog } from "../../../src/lib/log.js";
import { assertHappened, type Harness, type HarnessContext } from "../support/harness.js";
import { type CountedWork, countWork } from "./count-work.js";
import { type CaseResult, measureStore, type WantedStore } from "./measure-store.js";

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
/** Five for each repository of a list, and its page. */
const MOST_ROWS = 2_600;
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
