/**
 * Compares with what a user would build otherwise, over the same repositories: Express with `pg` for lists, details, searches and
 * weak filters, and MiniSearch in memory for suggestions. The response cache is off. At peak, in interleaved rounds
 * after a warm-up.
 */
import { prepareExpressStore } from "./rivals/express-store.js";
import { GENEROUS_LIMITS } from "./support/keys.js";
import type { LoadRequest } from "./support/load.js";
import { mixOf } from "./support/mix.js";
import { type MeasuredServer, startScript, startSidereal } from "./support/processes.js";
import { type BenchContext, type ResultRow, ratioRow } from "./support/results.js";
import { runLoad } from "./support/run-load.js";
import { interleave } from "./support/statistics.js";
import { generatorOptions } from "./support/stores.js";

const CLIENTS = 8;
/** Filters that leave much to read: no order has an index for them. */
const WEAK =
  /[?&](maxStars|license|createdAfter|pushedAfter|archived|fork|provider|reliableOnly)=|language=.*&topic=/;

const GROUPS = [
  {
    name: "lists",
    isIn: ({ kind, path }: LoadRequest) => kind === "list" && !WEAK.test(path),
    atLeast: [3, 12],
  },
  { name: "details", isIn: ({ kind }: LoadRequest) => kind === "detail", atLeast: [1.5, 1.5] },
  { name: "searches", isIn: ({ kind }: LoadRequest) => kind === "search", atLeast: [5, 5] },
  {
    name: "lists with weak filters",
    isIn: ({ kind, path }: LoadRequest) => kind === "list" && WEAK.test(path),
    atLeast: [5, 5],
  },
] as const;

export async function measureOtherwise(context: BenchContext): Promise<ResultRow[]> {
  const mix = mixOf(generatorOptions(context.store));
  // Cursors and the first page as data have no counterpart.
  const requests = mix.filter(({ path, turns }) => turns === undefined && path !== "/api/home");
  const sidereal = await startSidereal(context.store, { ...GENEROUS_LIMITS, SIDEREAL_CACHE_MB: "0" });
  try {
    return [
      ...(await compareWithExpress(context, sidereal, requests)),
      ...(await compareWithMiniSearch(context, sidereal, requests)),
    ];
  } finally {
    await sidereal.stop();
  }
}

async function compareWithExpress(
  { store, rounds, seconds, postgresUrl, report }: BenchContext,
  sidereal: MeasuredServer,
  requests: readonly LoadRequest[],
): Promise<ResultRow[]> {
  const url = await prepareExpressStore(store, postgresUrl, report);
  const express = await startScript(new URL("./rivals/express.js", import.meta.url), [url]);
  const rows: ResultRow[] = [];
  try {
    for (const { name, isIn, atLeast } of GROUPS) {
      const group = requests.filter(isIn);
      const peak = (server: MeasuredServer) => async () =>
        (await runLoad(server, { requests: group }, { clients: CLIENTS, seconds })).perSecond;
      // In turn: together on one core, requests would wait so long that they are refused.
      for (const server of [sidereal, express]) await peak(server)();
      const values = await interleave(rounds, { sidereal: peak(sidereal), express: peak(express) });
      rows.push(
        ratioRow(
          {
            measure: `${name}, uncached, at peak`,
            unit: "requests/s",
            store,
            target: { atLeast: atLeast[store.size <= 10_000 ? 0 : 1] },
          },
          values.sidereal,
          { name: "Express and pg", values: values.express },
        ),
      );
      report(`${name} are compared with Express`);
    }
  } finally {
    await express.stop();
  }
  return rows;
}

async function compareWithMiniSearch(
  { store, rounds, seconds, report }: BenchContext,
  sidereal: MeasuredServer,
  requests: readonly LoadRequest[],
): Promise<ResultRow[]> {
  const script = new URL("./rivals/minisearch.js", import.meta.url);
  const flags = ["--max-old-space-size=12000"];
  const miniSearch = await startScript(script, [String(store.size), String(store.days)], flags);
  try {
    const group = requests.filter(({ kind }) => kind === "suggest");
    const peak = (server: MeasuredServer) => async () =>
      (await runLoad(server, { requests: group }, { clients: CLIENTS, seconds })).perSecond;
    await Promise.all([peak(sidereal)(), peak(miniSearch)()]);
    const values = await interleave(rounds, { sidereal: peak(sidereal), miniSearch: peak(miniSearch) });
    report("suggestions are compared with MiniSearch");
    const memory = [sidereal.residentBytes(), miniSearch.residentBytes()].map((bytes) => (bytes ?? 0) / 1e6);
    return [
      ratioRow(
        {
          measure: "suggestions while typing, uncached, at peak",
          unit: "requests/s",
          store,
          target: { atLeast: 1 },
        },
        values.sidereal,
        { name: "MiniSearch", values: values.miniSearch },
      ),
      ...(memory.includes(0)
        ? []
        : [
            ratioRow(
              {
                measure: "memory of the process that suggests",
                unit: "MB",
                store,
                target: { atMost: 0.1 },
                note: "of Sidereal, the whole service",
              },
              memory.slice(0, 1),
              { name: "MiniSearch", values: memory.slice(1) },
            ),
          ]),
    ];
  } finally {
    await miniSearch.stop();
  }
}
