import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import type { ResultRow } from "../../bench/support/results.js";
import { currentVersion, LATEST_VERSION, openDatabase } from "../../src/database/database.js";
import { FIRST_VERSION, migrate, migrateIn } from "../../src/database/migrate.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { connectToServer } from "../support/engines.js";
import { createTestDatabase, dropTestDatabase } from "../support/postgres.js";
import { assertHappened, countMaker, type Harness, type HarnessContext } from "./support/harness.js";
import { counting, dumpStore, type OpenStore, openStore } from "./support/open-store.js";

const PROCESS = fileURLToPath(new URL("./support/upgrade-process.js", import.meta.url));

const FILE = "sidereal.db";
/** The first statement that changes something; the one before it reads the version. */
const FIRST = 2;
/** Of how many statements the short form lets one fail. */
const SHORT_STRIDE = { sqlite: 3, postgres: 9 };

export const upgrade: Harness = {
  name: "upgrade",
  proves:
    "A migration that fails or is killed at any statement leaves the old store whole, and the next start completes it.",
  async run(context: HarnessContext): Promise<ResultRow[]> {
    const folder = mkdtempSync(join(tmpdir(), "sidereal-upgrade-"));
    const server = await connectToServer();
    const urls: string[] = [];
    let files = 0;
    try {
      const newFile = async () => {
        const dataDir = join(folder, String(files++));
        mkdirSync(dataDir);
        return join(dataDir, FILE);
      };
      const newDatabase = async () => {
        const url = await createTestDatabase(server.port);
        urls.push(url);
        await using(url, async ({ db }) => {
          await sql`drop schema public cascade`.execute(db);
          await sql`create schema public`.execute(db);
        });
        return url;
      };
      return [
        ...(await upgradeAll("sqlite", newFile, context)),
        ...(await upgradeAll("postgres", newDatabase, context)),
      ];
    } finally {
      for (const url of urls) await dropTestDatabase(url);
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function using<T>(place: string, work: (store: OpenStore) => Promise<T>): Promise<T> {
  const { close, ...store } = openStore(place);
  try {
    return await work(store);
  } finally {
    await close();
  }
}

const dump = (place: string) => using(place, dumpStore);

/** Stores that a start creates or brings up to date. */
const ORIGINS = {
  "an empty database": async () => {},
  "the first version": ({ db, dialect }: OpenStore) =>
    dialect.exclusively(db, "migrate", (tx) =>
      migrateIn(tx, dialect, { clock: systemClock, to: FIRST_VERSION }),
    ),
} as const;

const upgradeFully = ({ db, dialect }: OpenStore) => migrate(db, dialect, { clock: systemClock });

async function upgradeAll(
  engine: "sqlite" | "postgres",
  newPlace: () => Promise<string>,
  { scale, report }: HarnessContext,
): Promise<ResultRow[]> {
  const stride = scale === "long" ? 1 : SHORT_STRIDE[engine];
  let [failures, kills, changed, different] = [0, 0, 0, 0];
  for (const [origin, make] of Object.entries(ORIGINS)) {
    const newStore = async () => {
      const place = await newPlace();
      await using(place, make);
      return place;
    };
    const reference = await newStore();
    await using(reference, upgradeFully);
    const expected = await dump(reference);

    const failing = await newStore();
    const before = await dump(failing);
    let fatal = FIRST;
    let count = await failAt(failing, fatal);
    for (; count === undefined; count = await failAt(failing, fatal)) {
      failures++;
      changed += Number(!isDeepStrictEqual(await dump(failing), before));
      fatal += stride;
    }
    report(`${engine}: from ${origin} with ${count} statements`);

    const killing = await newStore();
    const all = Array.from({ length: count - FIRST + 1 }, (_, i) => FIRST + i);
    for (const statement of scale === "long" ? all : [all[0] ?? FIRST, ...all.slice(-1)]) {
      await killAt(killing, statement);
      kills++;
      changed += Number(!isDeepStrictEqual(await dump(killing), before));
    }
    await using(killing, upgradeFully);
    for (const place of [failing, killing]) {
      different += Number(!isDeepStrictEqual(await dump(place), expected));
      await openNormally(place);
    }
  }
  const row = countMaker({ engine });
  const none = { atMost: 0 };
  return [
    row("statements that failed, one per attempt", failures, { atLeast: 10 }),
    row("processes killed before a statement", kills, { atLeast: 2 }),
    row("failures and kills that left something behind", changed, none),
    row("stores that differ in the end from one without failures and kills", different, none),
  ];
}

/** Migrates a store with an error instead of a statement. Returns the number of statements once there are fewer. */
function failAt(place: string, statement: number): Promise<number | undefined> {
  return using(place, async ({ db, dialect }) => {
    let last = 0;
    const plugin = counting((count) => {
      last = count;
      if (count === statement) throw new Error("the statement fails");
    });
    await upgradeFully({ db: db.withPlugin(plugin), dialect }).catch(() => {});
    return last < statement ? last : undefined;
  });
}

/** Starts the migration in a process that is killed before one of its statements. */
async function killAt(place: string, statement: number): Promise<void> {
  const child = spawn(process.execPath, [PROCESS, place, String(statement)], {
    stdio: "inherit",
  });
  const [, signal] = await once(child, "exit");
  assertHappened(Number(signal === "SIGKILL"), `processes killed before statement ${statement}`);
}

/** Opens a store as the program does, and looks at its integrity. */
async function openNormally(place: string): Promise<void> {
  const isFile = !place.startsWith("postgres:");
  const database = await openDatabase({
    url: isFile ? undefined : place,
    dataDir: isFile ? dirname(place) : "",
    pool: 1,
    log: createLog("silent"),
  });
  try {
    assertHappened(await currentVersion(database.read), "as its version", LATEST_VERSION);
    if (!isFile) return;
    const checked = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(database.read);
    assertHappened(Number(checked.rows[0]?.integrity_check === "ok"), "intact files");
    const broken = await sql`pragma foreign_key_check`.execute(database.read);
    assertHappened(Number(broken.rows.length === 0), "files whose references hold");
  } finally {
    await database.close();
  }
}
