import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { addKeys } from "../../bench/support/keys.js";
import type { ResultRow } from "../../bench/support/results.js";
import type { Store } from "../../bench/support/stores.js";
import { connectToServer } from "../support/engines.js";
import { createTestDatabase, dropTestDatabase } from "../support/postgres.js";
import { type Relay, startRelay } from "../support/relay.js";
import { assertHappened, type Harness, HarnessFailure, rowMaker } from "./support/harness.js";
import { countUsage, fillStore, MAIN, WrittenService } from "./support/written-service.js";

const SCALE = {
  short: { hangMs: 4_500, failMs: 1_000, burst: 100, keys: 300 },
  long: { hangMs: 60_000, failMs: 60_000, burst: 500, keys: 3_000 },
} as const;
/** From here on in a fault, cached responses must be marked. */
const MARKED_MS = 3_500;
/** Longest response during a fault, and longest time until everything works again after it. */
const RESPONSE_MS = 3_000;
const RECOVERY_MS = 5_000;

interface Fault {
  name: string;
  /** Whether it leaves requests without any response from the database. */
  hangs: boolean;
  begin(): void | Promise<void>;
  end(): void | Promise<void>;
  /** Kinds of request that must be refused as long as it lasts; any other is as usual. `some`: which may be refused. */
  refused: readonly VisitKind[];
  some?: boolean;
}

const NEED_READS: readonly VisitKind[] = [
  "cached, with a new key",
  "not cached",
  "watchlist",
  "write",
  "readiness",
];

export const databaseAway: Harness = {
  name: "database-away",
  proves:
    "While the database is stopped, cut off or locked, cached responses are served and marked, all others are refused in time, and everything works again soon after.",
  async run({ scale, report }) {
    const rows: ResultRow[] = [];
    const folder = mkdtempSync(join(tmpdir(), "sidereal-away-"));
    try {
      const sqlite = { engine: "sqlite", url: undefined, dataDir: join(folder, "sqlite") } as const;
      rows.push(...(await attack(sqlite, () => [lockedBy(sqlite.dataDir)], { ...SCALE[scale], report })));
      const server = await connectToServer();
      const url = await createTestDatabase(server.port);
      const relay = await startRelay(server.port);
      try {
        const postgres = { engine: "postgres", url, dataDir: join(folder, "postgres") } as const;
        const options = { ...SCALE[scale], report, port: relay.port };
        rows.push(...(await attack(postgres, () => networkFaults(relay), options)));
      } finally {
        await relay.close();
        await dropTestDatabase(url);
        await server.stop();
      }
      return rows.map((row) => (scale === "short" && row.unit === "ms" ? untimed(row) : row));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** The short form runs beside other tests, whose load its times depend on. */
function untimed({ target, ...row }: ResultRow): ResultRow {
  return row;
}

/** Another process that does not end its transaction. */
function lockedBy(dataDir: string): Fault {
  let other: DatabaseSync | undefined;
  return {
    name: "locked",
    hangs: true,
    begin() {
      other = new DatabaseSync(join(dataDir, "sidereal.db"), { timeout: 5_000 });
      other.exec("begin immediate");
    },
    end: () => other?.close(),
    refused: ["write"],
  };
}

function networkFaults(relay: Relay): Fault[] {
  let cutting: NodeJS.Timeout | undefined;
  return [
    { name: "stopped", hangs: false, begin: relay.close, end: relay.open, refused: NEED_READS },
    {
      name: "cut ten times a second",
      hangs: false,
      begin() {
        cutting = setInterval(relay.cut, 100);
      },
      end: () => clearInterval(cutting),
      refused: [...NEED_READS, "cached, with a key"],
      some: true,
    },
  ];
}

interface AttackOptions {
  /** How long faults last in which the database hangs, and all others. */
  hangMs: number;
  failMs: number;
  burst: number;
  keys: number;
  /** Where the service finds PostgreSQL. */
  port?: number;
  report(line: string): void;
}

async function attack(
  store: Pick<Store, "engine" | "url" | "dataDir">,
  faultsOf: () => Fault[],
  { hangMs, failMs, burst, keys: count, port, report }: AttackOptions,
): Promise<ResultRow[]> {
  const { engine } = store;
  await fillStore(store);
  const keys = await addKeys({ ...store }, count);
  const url = store.url === undefined ? undefined : throughPort(store.url, port);
  const settings = { SIDEREAL_TRUSTED_PROXIES: "127.0.0.1" };
  const service = await WrittenService.start([MAIN, "serve"], { url, dataDir: store.dataDir }, settings);
  const visitors = new Visitors(service.url, keys);
  try {
    await warm(visitors);
    await visitors.send("write");
    visitors.start();
    const rows: ResultRow[] = [];
    for (const fault of faultsOf()) {
      await warm(visitors);
      const faultMs = fault.hangs ? hangMs : failMs;
      const beganAt = performance.now();
      await fault.begin();
      await setTimeout(faultMs / 2);
      const kind = fault.refused.includes("not cached") ? "not cached" : "write";
      const sent = Array.from({ length: burst }, () => visitors.send(kind));
      await setTimeout(faultMs / 2);
      const endedAt = performance.now();
      await fault.end();
      const recoveryMs = await recover(visitors, endedAt);
      await Promise.all(sent);
      const during = visitors.visits.filter(
        ({ sentAt, durationMs }) => sentAt > beganAt && sentAt + durationMs < endedAt,
      );
      const hanging = visitors.visits.filter(
        ({ sentAt, durationMs }) => sentAt > beganAt && sentAt < endedAt && durationMs > RESPONSE_MS,
      );
      rows.push(...rowsOf(engine, fault, { during, hanging: hanging.length, beganAt, recoveryMs }));
      const first = during.find((one) => !isExpected(fault, one, beganAt));
      if (first !== undefined) report(`unexpected: ${JSON.stringify(first)}`);
      report(`${engine}, ${fault.name}: ${during.length} responses, back after ${Math.round(recoveryMs)} ms`);
    }
    await visitors.stop();
    const lost = await countLost(visitors);
    assertHappened(visitors.tokens.length, "acknowledged writes", 2);
    const code = await service.stop();
    const isKeyed = ({ kind, status }: Visit) => kind.includes("with a") && status === 200;
    const uncounted = visitors.visits.filter(isKeyed).length - (await countUsage(store));
    const row = (measure: string, value: number): ResultRow => ({
      measure,
      engine,
      value,
      unit: "",
      target: { atMost: 0 },
    });
    return [
      ...rows,
      row(`acknowledged writes lost, of ${visitors.tokens.length}`, lost),
      row("requests of keys that were not counted, or counted twice", Math.abs(uncounted)),
      row("exit codes other than 0", Number(code !== 0)),
    ];
  } finally {
    await service.kill();
  }
}

function throughPort(url: string, port: number | undefined): string {
  const through = new URL(url);
  through.port = String(port);
  return through.href;
}

/** Requests all that is cached until it is: a list is refused until the catalogue is loaded, which a fault would prevent. */
async function warm(visitors: Visitors): Promise<void> {
  for (const kind of ["cached", "cached page", "cached, with a key"] as const)
    while ((await visitors.send(kind)).status !== 200) await setTimeout(50);
}

/** Milliseconds until reads and writes work again, and cached responses are current. */
async function recover(visitors: Visitors, since: number): Promise<number> {
  for (;;) {
    const visits = await Promise.all(
      (["not cached", "write", "cached", "cached, with a new key", "readiness"] as const).map((kind) =>
        visitors.send(kind),
      ),
    );
    const isUsual = visits.every(({ kind, status, isStale }) => status === usual(kind) && !isStale);
    if (isUsual) return performance.now() - since;
    if (performance.now() - since > 60_000)
      throw new HarnessFailure(`the service did not recover in a minute: ${JSON.stringify(visits)}`);
    await setTimeout(100);
  }
}

function usual(kind: VisitKind): number {
  return kind === "write" ? 201 : kind === "not cached" ? 404 : 200;
}

/** Watchlists that are gone although their creation was acknowledged. */
async function countLost(visitors: Visitors): Promise<number> {
  let lost = 0;
  for (const token of visitors.tokens)
    lost += Number((await visitors.send("watchlist", token)).status !== 200);
  return lost;
}

interface Outcome {
  during: readonly Visit[];
  /** Requests sent during the fault that took longer than they may, or had no response. */
  hanging: number;
  beganAt: number;
  recoveryMs: number;
}

/** Whether a request was sent when the service may not know yet that the database is away. */
const isFirst = ({ sentAt }: Visit, beganAt: number) => sentAt - beganAt < MARKED_MS;

function isExpected({ refused, some }: Fault, visit: Visit, beganAt: number): boolean {
  const { kind, status, hasRetryAfter } = visit;
  const isUsual = status === usual(kind);
  if (refused.includes(kind)) return status === 503 ? hasRetryAfter : isUsual && some === true;
  // A key is known for five seconds.
  return isUsual || (kind === "cached, with a key" && status === 503 && !isFirst(visit, beganAt));
}

function rowsOf(engine: Store["engine"], fault: Fault, outcome: Outcome): ResultRow[] {
  const { during, hanging, beganAt, recoveryMs } = outcome;
  const refused = during.filter(({ status }) => status === 503);
  assertHappened(refused.length, `requests refused while ${fault.name}`);
  const isUnmarked = (visit: Visit) =>
    visit.kind.startsWith("cached") && visit.status === 200 && !visit.isStale && !isFirst(visit, beganAt);
  const isHard = fault.some !== true && fault.refused.includes("not cached");
  const row = rowMaker({ engine }, (what) => `${fault.name}: ${what}`);
  const none = { atMost: 0 };
  const slowest = during.reduce((most, { durationMs }) => Math.max(most, durationMs), 0);
  return [
    row("responses", during.length, ""),
    row("refused with 503", refused.length, ""),
    row(
      "unexpected statuses, or 503 without Retry-After",
      during.filter((one) => !isExpected(fault, one, beganAt)).length,
      "",
      none,
    ),
    row(`requests without a response after ${RESPONSE_MS} ms`, hanging, "", none),
    ...(isHard
      ? [row("cached responses that are not marked", during.filter(isUnmarked).length, "", none)]
      : []),
    row("slowest response", slowest, "ms", { atMost: RESPONSE_MS }),
    row("until everything works again", recoveryMs, "ms", { atMost: RECOVERY_MS }),
  ];
}

/** What a request needs of the database. */
type VisitKind =
  | "cached"
  | "cached page"
  | "cached, with a key"
  | "cached, with a new key"
  | "not cached"
  | "watchlist"
  | "write"
  | "readiness"
  | "health";

interface Visit {
  kind: VisitKind;
  /** When it was sent; milliseconds of `performance.now()`. */
  sentAt: number;
  durationMs: number;
  /** 0: no response. */
  status: number;
  isStale: boolean;
  hasRetryAfter: boolean;
}

/** Time between two requests of a kind. */
const EVERY_MS = 250;
/** When a request counts as one without a response. */
const GIVE_UP_MS = 10_000;

const KINDS: readonly VisitKind[] = [
  "cached",
  "cached page",
  "cached, with a key",
  "cached, with a new key",
  "not cached",
  "watchlist",
  "write",
  "readiness",
  "health",
];

/** Sends requests until it is stopped. */
class Visitors {
  readonly visits: Visit[] = [];
  /** Tokens of the watchlists whose creation was acknowledged. */
  readonly tokens: string[] = [];
  readonly #url: string;
  readonly #keys: readonly string[];
  readonly #stopping = new AbortController();
  readonly #loops: Promise<void>[] = [];
  #serial = 0;
  #keysUsed = 0;

  /** `keys`: the first is used all the time, the others one after the other. */
  constructor(url: string, keys: readonly string[]) {
    this.#url = url;
    this.#keys = keys;
  }

  start(): void {
    for (const kind of KINDS) this.#loops.push(this.#loop(kind));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#loops);
  }

  /** Sends one request now, beside the others. `token`: of the watchlist to read. */
  async send(kind: VisitKind, token = this.tokens[0]): Promise<Visit> {
    const { path, ...init } = this.#requestOf(kind, token);
    const sentAt = performance.now();
    const visit: Visit = { kind, sentAt, durationMs: 0, status: 0, isStale: false, hasRetryAfter: false };
    try {
      const signal = AbortSignal.timeout(GIVE_UP_MS);
      const response = await fetch(new URL(path, this.#url), {
        ...init,
        // Each kind has an address of its own: what waits for one caller delays no other.
        headers: { ...init.headers, "X-Forwarded-For": `192.0.2.${1 + KINDS.indexOf(kind)}` },
        signal,
        redirect: "manual",
      });
      const text = await response.text();
      visit.status = response.status;
      visit.isStale = response.headers.get("cache-status") !== null;
      visit.hasRetryAfter = response.headers.get("retry-after") !== null;
      if (kind === "write" && response.status === 201) this.tokens.push(JSON.parse(text).data.token);
    } catch {
      // Its status says so.
    }
    visit.durationMs = performance.now() - sentAt;
    this.visits.push(visit);
    return visit;
  }

  async #loop(kind: VisitKind): Promise<void> {
    const { signal } = this.#stopping;
    const sent: Promise<unknown>[] = [];
    while (!signal.aborted) {
      sent.push(this.send(kind));
      await setTimeout(EVERY_MS, undefined, { signal }).catch(() => {});
    }
    await Promise.all(sent);
  }

  #requestOf(kind: VisitKind, token = ""): RequestInit & { path: string } {
    const list = "/api/repos?sort=stars&limit=5";
    const withKey = (key = "") => ({ path: list, headers: { Authorization: `Bearer ${key}` } });
    switch (kind) {
      case "cached":
        return { path: list };
      case "cached page":
        return { path: "/explore?sort=stars", headers: { Accept: "text/html" } };
      case "cached, with a key":
        return withKey(this.#keys[0]);
      case "cached, with a new key":
        return withKey(this.#keys[1 + (this.#keysUsed++ % (this.#keys.length - 1))]);
      case "not cached":
        return { path: `/api/repos/github/nobody/nothing-${this.#serial++}` };
      case "watchlist":
        return { path: `/api/watchlists/${token}` };
      case "write":
        return {
          path: "/api/watchlists",
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: "{}",
        };
      case "readiness":
        return { path: "/readyz" };
      case "health":
        return { path: "/healthz" };
    }
  }
}
