import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, request } from "undici";
import type { ResultRow } from "../../bench/support/results.js";
import { quantile } from "../../bench/support/statistics.js";
import { Random } from "../../bench/synthetic/random.js";
import { ApiKeys } from "../../src/accounts/api-keys.js";
import { startService } from "../../src/app/service.js";
import { loadConfig } from "../../src/config/config.js";
import { type Database, openDatabase } from "../../src/database/database.js";
import { type Clock, systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { createToken, hashToken } from "../../src/lib/tokens.js";
import { buildModules } from "../../src/modules.js";
import { accountsContext, addAccount } from "../support/accounts.js";
import { countStatements } from "../support/statements.js";
import { assertHappened, type Harness, type HarnessContext } from "./support/harness.js";
import { Sample, welchT } from "./support/welch.js";

/** Looks at each kind of key, in this process and over HTTP. */
const LOOKS = 100_000;
/** Each with a key of its own, as the service remembers them for a while. */
const HTTP_LOOKS = 20_000;
const SHORT_KEYS = 20;
/** Beyond this the means of two kinds differ. */
const MOST_T = 4.5;
/** Slower ones are interruptions, which say nothing about a key. */
const CROPPED = 0.95;

const log = createLog("silent");

export const keyTiming: Harness = {
  name: "key-timing",
  proves: "How long an API key takes to be refused does not tell whether it ever existed.",
  run: (context) =>
    withDatabase((database) => (context.scale === "short" ? count(database) : measure(database, context))),
};

async function withDatabase<T>(use: (database: Database, dataDir: string) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), "sidereal-keys-"));
  const database = await openDatabase({ url: undefined, dataDir, pool: 1, log });
  try {
    return await use(database, dataDir);
  } finally {
    await database.close().catch(() => {});
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Without time: the work of each kind. */
async function count(opened: Database): Promise<ResultRow[]> {
  const { database, statements, rows } = countStatements(opened);
  const clock = new ForgetfulClock();
  const kinds = await storeKeys(database, { count: SHORT_KEYS, now: clock.now() });
  const keys = new ApiKeys(accountsContext(database, clock));
  const work: Record<string, string> = {};
  for (const kind of KINDS) {
    const before = { statements: statements(), rows: rows() };
    let found = 0;
    for (const key of kinds[kind]) if ((await keys.find(key)) !== undefined) found++;
    assertHappened(
      kind === "known" ? found : SHORT_KEYS - found,
      `keys found as ${kind} ones are`,
      SHORT_KEYS,
    );
    work[kind] = `${statements() - before.statements} statements, ${rows() - before.rows} rows`;
  }
  const row = (measure: string, isMet: boolean): ResultRow => ({
    measure,
    value: isMet ? 0 : 1,
    unit: "differences",
    target: { atMost: 0 },
  });
  return [
    row("a revoked key takes the statements and rows of an unknown one", work.revoked === work.unknown),
    row("a malformed key takes none", work.malformed === "0 statements, 0 rows"),
  ];
}

/** Times looks at keys of all kinds in random order. Returns the times of each kind in microseconds. */
async function timeKinds(
  kinds: Readonly<Record<Kind, readonly string[]>>,
  chosen: readonly Kind[],
  { looks, look }: { looks: number; look: (key: string) => Promise<unknown> },
): Promise<Record<string, Float64Array>> {
  const random = new Random(1);
  const times = Object.fromEntries(chosen.map((kind) => [kind, new Float64Array(looks)]));
  const taken = Object.fromEntries(chosen.map((kind) => [kind, 0]));
  const open = [...chosen];
  while (open.length > 0) {
    const kind = open[Math.floor(random.next() * open.length)] ?? "unknown";
    const nth = taken[kind] ?? 0;
    const key = kinds[kind][nth % kinds[kind].length] ?? "";
    const from = process.hrtime.bigint();
    await look(key);
    const micros = Number(process.hrtime.bigint() - from) / 1_000;
    const ofKind = times[kind];
    if (ofKind !== undefined) ofKind[nth] = micros;
    taken[kind] = nth + 1;
    if (nth + 1 === looks) open.splice(open.indexOf(kind), 1);
  }
  return times;
}

/** The t between two kinds, without what is slower than most of both. */
function compare(
  times: Readonly<Record<string, Float64Array>>,
  a: Kind,
  b: Kind,
): { t: number; nanos: number } {
  const [first = new Float64Array(), second = new Float64Array()] = [times[a], times[b]];
  const most = quantile(Float64Array.from([...first, ...second]), CROPPED);
  const sampleOf = (values: Float64Array) => {
    const sample = new Sample();
    for (const value of values) if (value <= most) sample.add(value);
    return sample;
  };
  const [sampleA, sampleB] = [sampleOf(first), sampleOf(second)];
  return { t: welchT(sampleA, sampleB), nanos: (sampleA.mean - sampleB.mean) * 1_000 };
}

function rowsOf(where: string, times: Readonly<Record<string, Float64Array>>): ResultRow[] {
  const row = (a: Kind, b: Kind, more: Partial<ResultRow>): ResultRow => {
    const { t, nanos } = compare(times, a, b);
    const value = Math.abs(t);
    return {
      measure: `${where}: ${a} and ${b} keys`,
      value,
      unit: "t",
      note: `${nanos.toFixed(0)} ns`,
      ...more,
    };
  };
  return [
    row("revoked", "unknown", { target: { atMost: MOST_T } }),
    // The response tells these apart anyway.
    row("known", "unknown", {}),
  ];
}

async function measure(database: Database, { report }: HarnessContext): Promise<ResultRow[]> {
  const clock = new ForgetfulClock();
  const kinds = await storeKeys(database, { count: HTTP_LOOKS, now: clock.now() });
  const keys = new ApiKeys(accountsContext(database, clock));
  const look = (key: string) => keys.find(key);
  await timeKinds(kinds, KINDS, { looks: 5_000, look });
  report(`${LOOKS} looks at each kind of key in this process`);
  const here = await timeKinds(kinds, KINDS, { looks: LOOKS, look });
  // What is refused without a read must show, or nothing would.
  const control = Math.abs(compare(here, "malformed", "unknown").t);
  assertHappened(control, "t of a difference that exists", MOST_T);
  const modules = buildModules(database, { clock: systemClock, log });
  const config = loadConfig({
    SIDEREAL_PORT: "0",
    SIDEREAL_LIMITS: "false",
    SIDEREAL_LOG_LEVEL: "silent",
    SIDEREAL_DATA_DIR: ":memory:",
  });
  const service = await startService({ config, clock: systemClock, log }, modules);
  const dispatcher = new Agent({ connections: 1, pipelining: 1 });
  try {
    const send = async (key: string) => {
      const { statusCode, body } = await request(`${service.url}/api/limits`, {
        headers: { "X-API-Key": key },
        dispatcher,
      });
      await body.dump();
      if (statusCode !== 401 && statusCode !== 200) throw new Error(`a status of ${statusCode}`);
    };
    report(`${HTTP_LOOKS} requests with each kind of key`);
    const sent = await timeKinds(kinds, KINDS, { looks: HTTP_LOOKS, look: send });
    return [...rowsOf("in process", here), ...rowsOf("over HTTP", sent)];
  } finally {
    await dispatcher.close();
    await service.stop();
  }
}

/** Kinds of keys that a caller may send. */
const KINDS = ["known", "revoked", "unknown", "malformed"] as const;
type Kind = (typeof KINDS)[number];

/** Keys of every kind, of which those that must be are in the database. */
async function storeKeys(
  database: Database,
  { count, now }: { count: number; now: number },
): Promise<Record<Kind, string[]>> {
  const tokens = () => Array.from({ length: count }, () => createToken("sid"));
  const kinds = { known: tokens(), revoked: tokens(), unknown: tokens(), malformed: tokens() };
  kinds.malformed = kinds.malformed.map((token) => `${token.slice(0, -1)}${token.endsWith("0") ? "1" : "0"}`);
  const accountId = await addAccount(database, "keys@example.org");
  const rowOf = (token: string) => ({
    account_id: accountId,
    name: "key",
    hash: hashToken(token),
    hint: token.slice(-4),
    created_at: now,
    last_used_at: now,
    revoked_at: null,
  });
  const rows = kinds.known.flatMap((known, i) => [rowOf(known), rowOf(kinds.revoked[i] ?? "")]);
  for (let i = 0; i < rows.length; i += 500)
    await database.durable
      .insertInto("api_keys")
      .values(rows.slice(i, i + 500))
      .execute();
  const keys = new ApiKeys(accountsContext(database, new ForgetfulClock()));
  const stored = await database.read.selectFrom("api_keys").select(["id", "hash"]).execute();
  const idOf = new Map(stored.map(({ id, hash }) => [hash, id]));
  for (const token of kinds.revoked) await keys.revoke(accountId, idOf.get(hashToken(token)) ?? 0);
  return kinds;
}

/** A clock on which nothing cached lasts until the next look, while the time of day stands still. */
class ForgetfulClock implements Clock {
  #monotonic = 0;
  readonly #now = Date.UTC(2026, 3, 30, 12);

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    this.#monotonic += 100_000;
    return this.#monotonic;
  }

  sleep(): Promise<void> {
    return Promise.resolve();
  }
}
