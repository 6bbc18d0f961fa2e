/** The harness `fuzz`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../../src/database/database.js";
import { createLog } from "../../../src/lib/log.js";
import { connectToServer } from "../../support/engines.js";
import { createTestDatabase, dropTestDatabase } from "../../support/postgres.js";
import type { Harness, HarnessContext } from "../support/harness.js";
import { type FuzzRun, fuzz, fuzzRows } from "./fuzz.js";
import { shown } from "./request.js";
import { FuzzService } from "./service.js";

const log = createLog("silent");

/** The seed of a run; a failure is repeated with the one it names. */
const SEED = Number(process.env.FUZZ_SEED ?? 1);
/** How many requests each engine gets. */
const REQUESTS = {
  short: { sqlite: 1_200, postgres: 600 },
  long: {
    sqlite: Number(process.env.FUZZ_SQLITE ?? 1_000_000),
    postgres: Number(process.env.FUZZ_POSTGRES ?? 50_000),
  },
} as const;

export const fuzzHarness: Harness = {
  name: "fuzz",
  proves:
    "No generated request leads to a server error, to a response outside its contract, or changes what others see.",
  async run(context) {
    const { sqlite, postgres } = REQUESTS[context.scale];
    return [
      ...(sqlite > 0 ? await onSqlite(context) : []),
      ...(postgres > 0 ? await onPostgres(context) : []),
    ];
  },
};

async function onSqlite(context: HarnessContext) {
  const dataDir = mkdtempSync(join(tmpdir(), "sidereal-fuzz-"));
  try {
    const database = await openDatabase({ url: undefined, dataDir, pool: 4, log });
    return await runOn(context, "sqlite", { database, databaseUrl: undefined, dataDir });
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function onPostgres(context: HarnessContext) {
  const server = await connectToServer();
  try {
    const url = await createTestDatabase(server.port);
    const database = await openDatabase({ url, dataDir: "", pool: 4, log });
    const rows = await runOn(context, "postgres", { database, databaseUrl: url, dataDir: "" });
    await dropTestDatabase(url);
    return rows;
  } finally {
    await server.stop();
  }
}

type Location = Pick<Parameters<typeof FuzzService.start>[0], "database" | "databaseUrl" | "dataDir">;

async function runOn({ scale, report }: HarnessContext, engine: FuzzRun["engine"], location: Location) {
  const repositories = scale === "long" ? 2_000 : 200;
  const service = await FuzzService.start({ ...location, repositories });
  try {
    const run = { engine, requests: REQUESTS[scale][engine], seed: SEED, isTimed: scale === "long", report };
    const result = await fuzz(service, run);
    for (const failure of [...result.polluted, ...result.changedReads]) report(failure);
    for (const { ms, request } of result.slowest)
      report(`${ms.toFixed(1)} ms ${shown(request).slice(0, 300)}`);
    return fuzzRows(run, result);
  } finally {
    await service.stop();
  }
}
