import { setTimeout } from "node:timers/promises";
import { Agent, request as send } from "undici";
import { type MeasuredServer, startSidereal } from "../../bench/support/processes.js";
import type { ResultRow } from "../../bench/support/results.js";
import { quantile } from "../../bench/support/statistics.js";
import { copyStore, defaultFolder, openStore, prepareStore, type Store } from "../../bench/support/stores.js";
import { prepareWorst, type WorstRequest, worstRequests } from "../../bench/support/worst.js";
import { loadConfig } from "../../src/config/config.js";
import { systemClock } from "../../src/lib/clock.js";
import { assertHappened, type Harness, type HarnessContext, HarnessFailure } from "./support/harness.js";
import { type Attacker, accountHolder, anonymous } from "./support/limit-attackers.js";
import { countAdmitted } from "./support/limits-here.js";

const SIZE = 100_000;
/** Of a core. */
const MOST_SHARE = 0.2;
const IDLE_MS = 5_000;
/** Time for the list index. */
const START_MS = 10_000;
const MINUTE_MS = 60_000;
const PATTERN_MS = 5_000;
/** Before a pattern is measured alone, it uses up what came back while others were sent. */
const DRAIN_MS = 3_000;
/** Requests of a pattern in flight. */
const SENDERS = 3;
const PROBE_MS = 50;
const SECRET = "s".repeat(40);

/** The worst patterns of each bucket, sent together and each alone. */
const WORST: readonly string[] = [
  "list, 100 rows, deep",
  "search, default",
  "chart.svg, 6 old",
  "card.png",
  "page: explore, 100 rows",
  "page: compare, 6 old",
  "page: watchlist by token",
  "page with unknown parameters",
  "unknown key",
  "unknown session",
  "304 of a cached list",
  "304 of a watchlist",
  "metrics, all, CSV",
  "watchlist series",
  "create watchlist, 500",
];

/** Without limits the same patterns must take more than this, or the attack proves nothing. */
const UNLIMITED_SHARE = 0.5;

export const limits: Harness = {
  name: "limits",
  proves: "No pattern of allowed requests from one address or one account takes more than a fifth of a core.",
  run: (context) => (context.scale === "short" ? countAdmitted() : measure(context)),
};

async function measure({ report }: HarnessContext): Promise<ResultRow[]> {
  const place = { folder: defaultFolder(), postgresUrl: undefined };
  const store = await copyStore(await prepareStore({ engine: "sqlite", size: SIZE, days: 7 }, place, report));
  const dispatcher = new Agent({ connections: 60 });
  try {
    const modules = await openStore(store);
    const config = loadConfig({ SIDEREAL_DATA_DIR: store.dataDir, SIDEREAL_AUTH_SECRET: SECRET });
    const subject = await prepareWorst(modules);
    const holder = await accountHolder("203.0.113.2", { modules, config, clock: systemClock });
    await modules.database.close();
    const known: Pattern[] = [
      ...worstRequests(subject),
      { name: "304 of a cached list", path: () => "/api/repos?sort=stars", hasTag: true },
      {
        name: "304 of a watchlist",
        path: () => `/api/watchlists/${subject.token}/repositories?limit=100`,
        hasTag: true,
      },
      { name: "page with unknown parameters", path: (i) => `/explore?unknown=${i}` },
    ];
    const patterns = known.filter(({ name }) => WORST.includes(name));
    assertHappened(patterns.length, "patterns", WORST.length);
    const rows: ResultRow[] = [];
    for (const attacker of [anonymous("203.0.113.1"), holder])
      rows.push(...(await measureAttacker({ store, attacker, patterns, dispatcher, report })));
    await checkAttack({ store, attacker: anonymous("203.0.113.9"), patterns, dispatcher, report });
    return rows;
  } finally {
    await dispatcher.close();
    await store.remove();
  }
}

interface Pattern extends WorstRequest {
  /** Sent with the tag of the response before. */
  hasTag?: true;
}

interface Attack {
  store: Store;
  attacker: Attacker;
  patterns: readonly Pattern[];
  dispatcher: Agent;
  report: (line: string) => void;
}

async function withServer<T>(
  { store }: Attack,
  settings: Readonly<Record<string, string>>,
  use: (server: MeasuredServer) => Promise<T>,
): Promise<T> {
  const server = await startSidereal(store, {
    SIDEREAL_TRUSTED_PROXIES: "127.0.0.1",
    SIDEREAL_AUTH_SECRET: SECRET,
    ...settings,
  });
  try {
    await setTimeout(START_MS);
    return await use(server);
  } finally {
    await server.stop();
  }
}

function measureAttacker(attack: Attack): Promise<ResultRow[]> {
  const { attacker, patterns, report } = attack;
  return withServer(attack, {}, async (server) => {
    const idle = await shareDuring(server, () => setTimeout(IDLE_MS));
    report(`${attacker.name}: ${idle.toFixed(3)} of a core when idle`);
    const share = async (chosen: readonly Pattern[], ms: number): Promise<number> => {
      const counts = { admitted: 0, refused: 0 };
      const found = await shareDuring(server, () =>
        sendAll(server, { ...attack, patterns: chosen, ms, counts }),
      );
      // A pattern that costs much may have nothing left for some seconds.
      assertHappened(counts.admitted + counts.refused, `requests of ${attacker.name}`);
      if (ms === MINUTE_MS) {
        assertHappened(counts.admitted, `admitted requests of ${attacker.name}`);
        assertHappened(counts.refused, `refused requests of ${attacker.name}`);
      }
      return found - idle;
    };
    const probe = new Probe(server);
    const first = await share(patterns, MINUTE_MS);
    report(`${attacker.name}: ${first.toFixed(3)} in the first minute`);
    const together = await share(patterns, MINUTE_MS);
    report(`${attacker.name}: ${together.toFixed(3)} in the second minute`);
    const health = await probe.end();
    const alone: { name: string; share: number }[] = [];
    for (const pattern of patterns) {
      await share([pattern], DRAIN_MS);
      alone.push({ name: pattern.name, share: await share([pattern], PATTERN_MS) });
      report(`${attacker.name}, ${pattern.name}: ${alone.at(-1)?.share.toFixed(3)}`);
    }
    const worst = alone.reduce((a, b) => (b.share > a.share ? b : a));
    const head = { size: SIZE, engine: "sqlite", unit: "of a core" } as const;
    const target = { atMost: MOST_SHARE };
    return [
      {
        ...head,
        measure: `The worst patterns of ${attacker.name} together, lasting`,
        value: together,
        target,
      },
      {
        ...head,
        measure: `The worst patterns of ${attacker.name} together, first minute`,
        value: first,
        target,
        note: "with its bursts",
      },
      {
        ...head,
        measure: `The worst single pattern of ${attacker.name}`,
        value: worst.share,
        target,
        note: worst.name,
      },
      { ...head, measure: `p99 of /healthz, ${attacker.name}`, value: quantile(health, 0.99), unit: "ms" },
    ];
  });
}

/** Throws where the same patterns would not even occupy a service without limits. */
async function checkAttack(attack: Attack): Promise<void> {
  await withServer(attack, { SIDEREAL_LIMITS: "false" }, async (server) => {
    const counts = { admitted: 0, refused: 0 };
    const found = await shareDuring(server, () => sendAll(server, { ...attack, ms: PATTERN_MS, counts }));
    attack.report(`without limits: ${found.toFixed(3)}`);
    if (found < UNLIMITED_SHARE)
      throw new HarnessFailure(`the attack takes only ${found} of a core without limits`);
  });
}

/** CPU time of the server while something goes on, as a share of one core. */
async function shareDuring(server: MeasuredServer, action: () => Promise<unknown>): Promise<number> {
  const [began, before] = [performance.now(), server.threadCpuMs()];
  await action();
  const after = server.threadCpuMs();
  if (before === undefined || after === undefined)
    throw new HarnessFailure("the system does not tell CPU times");
  return (after - before) / (performance.now() - began);
}

interface Counts {
  admitted: number;
  refused: number;
}

/** Sends all patterns at the same time, each as fast as its limits allow. */
async function sendAll(
  server: MeasuredServer,
  attack: Attack & { ms: number; counts: Counts },
): Promise<void> {
  const { patterns, attacker, dispatcher, ms, counts } = attack;
  const end = performance.now() + ms;
  const sender = async (pattern: Pattern) => {
    let [i, tag] = [Math.floor(Math.random() * 1e6), ""];
    while (performance.now() < end) {
      i++;
      const { method = "GET", path, headers, body, hasTag } = pattern;
      const response = await send(server.url + path(i), {
        method,
        dispatcher,
        headers: {
          "Accept-Encoding": "br",
          ...attacker.headersOf(pattern, i),
          ...headers?.(i),
          ...(hasTag && tag !== "" ? { "If-None-Match": tag } : {}),
        },
        ...(body === undefined ? {} : { body: body(i) }),
      });
      await response.body.dump({ limit: 2 ** 30 });
      const etag = response.headers.etag;
      if (typeof etag === "string") tag = etag;
      if (response.statusCode !== 429) counts.admitted++;
      else {
        counts.refused++;
        const wait = Number(response.headers["retry-after"] ?? 1) * 1_000;
        await setTimeout(Math.max(0, Math.min(wait, end - performance.now())));
      }
    }
  };
  await Promise.all(patterns.flatMap((pattern) => Array.from({ length: SENDERS }, () => sender(pattern))));
}

/** Asks for the health of a server again and again, as somebody else. */
class Probe {
  readonly #stopped = new AbortController();
  readonly #latencies: number[] = [];
  readonly #running: Promise<void>;

  constructor(server: MeasuredServer) {
    this.#running = this.#run(server);
  }

  /** Latencies in ms. */
  async end(): Promise<number[]> {
    this.#stopped.abort();
    await this.#running;
    assertHappened(this.#latencies.length, "probes", 100);
    return this.#latencies;
  }

  async #run({ url }: MeasuredServer): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const began = performance.now();
      const { statusCode, body } = await send(`${url}/healthz`);
      await body.dump();
      if (statusCode !== 200) throw new HarnessFailure(`/healthz returned ${statusCode}`);
      this.#latencies.push(performance.now() - began);
      await setTimeout(PROBE_MS);
    }
  }
}
