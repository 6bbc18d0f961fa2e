/**
 * Measures how many cached responses `serve` sends per second, against a bare `node:http` server that sends the same bytes with the
 * same head. Both run on one core, `wrk` on another, in turns. Needs `wrk`. As other work on a machine disturbs rates more than CPU
 * time, the CPU time for each response is a row of its own. Alone: `npm run -s build && node dist/bench/peak.js`, with
 * `--only NAME` for one kind of request.
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { BARE, recordResponse, startBare } from "./support/bare-http.js";
import { addKeys, GENEROUS_LIMITS } from "./support/keys.js";
import { LOAD_CORE, type MeasuredServer, spawnPinned, startSidereal } from "./support/processes.js";
import { type BenchContext, type ResultRow, ratioRow, resultTable } from "./support/results.js";
import { copyStore, defaultFolder, prepareStore } from "./support/stores.js";

const CONNECTIONS = "32";

interface Kind {
  name: string;
  path: string;
  headers: Record<string, string>;
  /** Responses per second, ours to bare. */
  atLeast: number;
  /** Sent with If-None-Match, so that it gets a 304. */
  isKnown?: boolean;
}

function kindsOf(key: string): Kind[] {
  const authorized = { Authorization: `Bearer ${key}` };
  const list = { path: "/api/repos?sort=stars", atLeast: 0.85 };
  return [
    { name: "cached list", headers: {}, ...list },
    { name: "cached list with key, limits and usage", headers: authorized, ...list },
    { name: "cached list with key, brotli", headers: { ...authorized, "Accept-Encoding": "br" }, ...list },
    { name: "cached list with key, 304", headers: authorized, isKnown: true, ...list },
    { name: "cached summary with key", path: "/api/stats/summary", headers: authorized, atLeast: 0.85 },
    { name: "cached first page", path: "/", headers: { Accept: "text/html" }, atLeast: 0.8 },
  ];
}

/** Rows for each kind of request, or for those whose names contain `only`. Throws where `wrk` is missing or a request is refused. */
export async function measurePeak(context: BenchContext, only = ""): Promise<ResultRow[]> {
  if (spawnSync("wrk", ["-v"]).error !== undefined)
    throw new Error("wrk is missing: install the package wrk, which sends the requests.");
  const store = await copyStore(context.store);
  try {
    const [key = ""] = await addKeys(store, 1);
    const rows: ResultRow[] = [];
    for (const kind of kindsOf(key)) {
      if (!kind.name.includes(only)) continue;
      context.report(kind.name);
      // A fast machine sends more than the highest limit allows in a minute, which a new server has not counted.
      const ours = await startSidereal(store, GENEROUS_LIMITS);
      try {
        rows.push(...(await compare(kind, ours, context)));
      } finally {
        await ours.stop();
      }
    }
    return rows;
  } finally {
    await store.remove();
  }
}

async function compare(
  kind: Kind,
  ours: MeasuredServer,
  { rounds, seconds, store }: BenchContext,
): Promise<ResultRow[]> {
  const headers = { ...kind.headers };
  const first = await recordResponse(ours, kind.path, headers);
  if (kind.isKnown) headers["If-None-Match"] = first.headers[first.headers.indexOf("ETag") + 1] ?? "";
  const recorded = await recordResponse(ours, kind.path, headers);
  const expected = kind.isKnown ? 304 : 200;
  if (recorded.status !== expected) throw new Error(`${kind.path} returned ${recorded.status}`);
  const bare = await startBare(recorded);
  const rates = { ours: [] as Rate[], bare: [] as Rate[] };
  try {
    // The first round warms up the compiler.
    for (let round = -1; round < rounds; round++) {
      const pair = {
        ours: await load(ours, { ...kind, headers }, seconds),
        bare: await load(bare, { ...kind, headers }, seconds),
      };
      if (round < 0) continue;
      rates.ours.push(pair.ours);
      rates.bare.push(pair.bare);
    }
  } finally {
    await bare.stop();
  }
  const { name, atLeast } = kind;
  const note = `${Buffer.from(recorded.body, "base64").byteLength} bytes`;
  const rowOf = (unit: string, of: (rate: Rate) => number, target: ResultRow["target"]) =>
    ratioRow({ measure: name, unit, note, store, ...(target && { target }) }, rates.ours.map(of), {
      name: BARE,
      values: rates.bare.map(of),
    });
  return [
    rowOf("requests/s", ({ perSecond }) => perSecond, { atLeast }),
    rowOf("CPU µs/request", ({ micros }) => micros, { atMost: 1 / atLeast }),
  ];
}

interface Rate {
  perSecond: number;
  /** CPU time of the server for each response; NaN where the system does not tell. */
  micros: number;
}

/** Sends as many requests as the server takes. Throws if any is refused. */
async function load(
  server: MeasuredServer,
  { path, headers }: Pick<Kind, "path" | "headers">,
  seconds: number,
): Promise<Rate> {
  const fields = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const args = ["-t1", `-c${CONNECTIONS}`, `-d${seconds}s`, ...fields, server.url + path];
  const before = server.cpuSeconds() ?? Number.NaN;
  const client = spawnPinned("wrk", args, { core: LOAD_CORE });
  let output = "";
  client.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  await once(client, "close");
  if (/Non-2xx|Socket errors/.test(output)) throw new Error(`${path}: ${output}`);
  const requests = Number(/(\d+) requests in/.exec(output)?.[1]);
  return {
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]),
    micros: (((server.cpuSeconds() ?? Number.NaN) - before) * 1e6) / requests,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      only: { type: "string", default: "" },
      rounds: { type: "string", default: "9" },
      seconds: { type: "string", default: "1" },
      data: { type: "string" },
    },
  });
  const report = (line: string) => process.stderr.write(`${line}\n`);
  const place = { folder: defaultFolder(), postgresUrl: undefined };
  const store = await prepareStore({ engine: "sqlite", size: 10_000, days: 7 }, place, report);
  const context = {
    store,
    postgresUrl: "",
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    report,
  };
  process.stdout.write(resultTable(await measurePeak(context, values.only)));
}
