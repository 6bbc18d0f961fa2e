import { chargeOf } from "../../../bench/support/charges.js";
import type { ResultRow } from "../../../bench/support/results.js";
import { prepareWorst, type WorstRequest, worstRequests } from "../../../bench/support/worst.js";
import { buildFront } from "../../../src/app/service.js";
import { loadConfig } from "../../../src/config/config.js";
import { BUCKETS, type Bucket } from "../../../src/config/limits.js";
import { type Database, openDatabase } from "../../../src/database/database.js";
import type { Front } from "../../../src/http/front.js";
import { accountCeiling } from "../../../src/http/limiter.js";
import { createLog } from "../../../src/lib/log.js";
import { buildModules } from "../../../src/modules.js";
import { inject } from "../../support/inject.js";
import { ManualClock } from "../../support/manual-clock.js";
import { daily, NOW, observation } from "../../support/world.js";
import { assertHappened, HarnessFailure } from "./harness.js";
import { type Attacker, accountHolder, anonymous } from "./limit-attackers.js";

/** Units a minute: of an address, and of a key. A fraction of the defaults, so that this takes seconds. */
const LIMITS: Readonly<Record<Bucket, { address: number; key?: number }>> = {
  default: { address: 24, key: 80 },
  search: { address: 12, key: 50 },
  heavy: { address: 6, key: 12 },
  write: { address: 6, key: 8 },
  embed: { address: 30 },
  auth: { address: 2 },
  lookup: { address: 6 },
  free: { address: 40 },
};
/** Refused requests in a row after which a pattern ends: as many as an account has keys and sessions, and some. */
const REFUSED = 20;
/** Most requests of a pattern in a burst. */
const MOST = 500;
const MINUTES = 2;
const GUESSES = 200;

/**
 * Sends all patterns to a service in this process whose clock only moves between bursts, each until it is refused, and counts the
 * units that were admitted; then guesses keys, and counts how many were read.
 */
export async function countAdmitted(): Promise<ResultRow[]> {
  const clock = new ManualClock(NOW);
  const log = createLog("silent");
  const list = BUCKETS.flatMap((bucket) => {
    const { address, key } = LIMITS[bucket];
    return [`${bucket}=${address}`, ...(key === undefined ? [] : [`${bucket}.account=${key}`])];
  });
  const config = loadConfig({
    SIDEREAL_LIMITS: list.join(),
    SIDEREAL_DATA_DIR: ":memory:",
    SIDEREAL_TRUSTED_PROXIES: "127.0.0.1",
    SIDEREAL_AUTH_SECRET: "s".repeat(40),
  });
  const database = await openDatabase({ url: undefined, dataDir: ":memory:", pool: 1, log });
  try {
    const modules = buildModules(database, { clock, log });
    await modules.catalog.record(
      Array.from({ length: 30 }, (_, i) => observation(`acme/kite-${i}`, daily(1, 2 + i))),
    );
    const worst = worstRequests(await prepareWorst(modules, 20));
    // Guesses and malformed requests count by address, whoever sends them.
    const requests = worst.filter(({ name }) => !/^(?:unknown|malformed)/.test(name));
    const guess = worst.find(({ name }) => name === "unknown key");
    if (guess === undefined) throw new HarnessFailure("no pattern guesses keys");
    const guesser = anonymous("203.0.113.3");
    const holder = await accountHolder("203.0.113.2", { modules, config, clock });
    const reads = countReads(database);
    const front = buildFront({ config, clock, log }, modules);
    const rows: ResultRow[] = [];
    for (const attacker of [anonymous("203.0.113.1"), holder]) {
      const admitted = new Map<Bucket, number>();
      for (let minute = 0; minute < MINUTES; minute++) {
        for (const request of requests) await burst(front, { attacker, request, admitted });
        clock.advance(60_000);
      }
      for (const bucket of BUCKETS.filter((one) => one !== "lookup" && one !== "auth")) {
        const units = admitted.get(bucket) ?? 0;
        const { address, key } = LIMITS[bucket];
        assertHappened(units, `units of ${bucket} that ${attacker.name} was given`);
        rows.push({
          measure: `Units of ${bucket} a minute, ${attacker.name}`,
          value: units / MINUTES,
          unit: "units",
          // OPTIONS counts against the address, whoever sends it.
          target: { atMost: address + (attacker === holder && key !== undefined ? accountCeiling(key) : 0) },
        });
      }
    }
    const before = reads();
    for (let i = 0; i < GUESSES; i++) await send(front, { attacker: guesser, request: guess, i });
    const found = reads() - before;
    assertHappened(found, "reads of keys");
    const measure = `Reads for ${GUESSES} guessed keys`;
    rows.push({ measure, value: found, unit: "reads", target: { atMost: LIMITS.lookup.address } });
    return rows;
  } finally {
    await database.close();
  }
}

/** Counts the reads of keys from now on. */
function countReads({ read }: Database): () => number {
  const executor = read.getExecutor();
  const execute = executor.executeQuery.bind(executor);
  let reads = 0;
  executor.executeQuery = (query) => {
    if (query.sql.includes('from "api_keys"')) reads++;
    return execute(query);
  };
  return () => reads;
}

interface Sent {
  attacker: Attacker;
  request: WorstRequest;
  i: number;
}

async function send(front: Front, { attacker, request, i }: Sent): Promise<Response> {
  const { method = "GET", path, headers, body } = request;
  const message = new Request(new URL(path(i), "http://localhost"), {
    method,
    // A refusal drawn as a picture would have the status 200.
    headers: { Accept: "application/json", ...attacker.headersOf(request, i), ...headers?.(i) },
    ...(body === undefined ? {} : { body: body(i) }),
  });
  return inject((incoming, response) => front.handle(incoming, response), message, "127.0.0.1");
}

/** Sends a pattern until it is refused, and adds the units that were admitted. */
async function burst(
  front: Front,
  { attacker, request, admitted }: Omit<Sent, "i"> & { admitted: Map<Bucket, number> },
): Promise<void> {
  for (let i = 0, refused = 0; i < MOST && refused < REFUSED; i++) {
    const { status, headers } = await send(front, { attacker, request, i });
    refused = status === 429 ? refused + 1 : 0;
    if (status === 429) continue;
    const resource = headers.get("x-ratelimit-resource")?.replace("_account", "");
    const bucket = BUCKETS.find((one) => one === resource);
    if (bucket === undefined) throw new HarnessFailure(`${request.name} names no bucket`);
    const { units } = chargeOf(request, request.path(i));
    admitted.set(bucket, (admitted.get(bucket) ?? 0) + units);
  }
}
