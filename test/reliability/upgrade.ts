import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import type { ResultRow } from "../../bench/support/results.js";
import { openDatabase } from "../../src/database/database.js";
import { createLog } from "../../src/lib/log.js";
import { connectToServer } from "../support/engines.js";
import { createTestDatabase, dropTestDatabase } from "../support/postgres.js";
import { assertHappened, type Harness, type HarnessContext } from "./support/harness.js";
import {
  counting,
  dumpStore,
  fillOldStore,
  migrateTo,
  NEWEST,
  type OldStore,
  versionOf,
} from "./support/old-stores.js";
import { openOldStore } from "./support/open-old-store.js";

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

async function using<T>(place: string, work: (store: OldStore) => Promise<T>): Promise<T> {
  const { close, ...store } = openOldStore(place);
  try {
    return await work(store);
  } finally {
    await close();
  }
}

const dump = (place: string) => using(place, dumpStore);

/** Migrates a store by one version, and fills it after the first. */
const step = (place: string, version: number) =>
  using(place, async (store) => {
    await migrateTo(store, version + 1);
    if (version === 0) await fillOldStore(store);
  });

async function upgradeAll(
  engine: "sqlite" | "postgres",
  newPlace: () => Promise<string>,
  { scale, report }: HarnessContext,
): Promise<ResultRow[]> {
  const reference = await newPlace();
  await step(reference, 0);
  await using(reference, (store) => migrateTo(store, NEWEST));
  const expected = await dump(reference);

  const stride = scale === "long" ? 1 : SHORT_STRIDE[engine];
  const failing = await newPlace();
  let [failures, changed] = [0, 0];
  const statements: number[] = [];
  for (let version = 0; version < NEWEST; version++) {
    const before = await dump(failing);
    let fatal = FIRST;
    let count = await failAt(failing, version, fatal);
    for (; count === undefined; count = await failAt(failing, version, fatal)) {
      failures++;
      changed += Number(!isDeepStrictEqual(await dump(failing), before));
      fatal += stride;
    }
    assertHappened(Number(!isDeepStrictEqual(await dump(failing), before)), "changes by a migration");
    statements.push(count);
    if (version === 0) await using(failing, fillOldStore);
  }
  const afterFailures = Number(!isDeepStrictEqual(await dump(failing), expected));
  report(
    `${engine}: ${failures} failures at the statements of ${NEWEST} migrations: ${statements.join(", ")}`,
  );

  const killing = await newPlace();
  let [kills, damaged] = [0, 0];
  for (const [version, count] of statements.entries()) {
    const before = await dump(killing);
    const all = Array.from({ length: count - FIRST + 1 }, (_, i) => FIRST + i);
    for (const statement of scale === "long" ? all : all.slice(-1)) {
      await killAt(killing, statement);
      kills++;
      damaged += Number(!isDeepStrictEqual(await dump(killing), before));
    }
    await step(killing, version);
  }
  const afterKills = Number(!isDeepStrictEqual(await dump(killing), expected));
  for (const place of [failing, killing]) await openNormally(place);
  const row = (what: string, value: number, target?: ResultRow["target"]): ResultRow => ({
    measure: what,
    engine,
    value,
    unit: "",
    ...(target && { target }),
  });
  const none = { atMost: 0 };
  return [
    row("migrations", NEWEST),
    row("statements that failed, one per attempt", failures, { atLeast: NEWEST }),
    row("attempts that left something behind", changed, none),
    row("stores that differ in the end from one without failures", afterFailures, none),
    row("processes killed before a statement", kills, { atLeast: NEWEST }),
    row("kills that left something behind", damaged, none),
    row("stores that differ in the end from one without kills", afterKills, none),
  ];
}

/** Migrates a store by one version with an error instead of a statement. Returns the number of statements once there are fewer. */
function failAt(place: string, version: number, statement: number): Promise<number | undefined> {
  return using(place, async ({ db, dialect }) => {
    let last = 0;
    const plugin = counting((count) => {
      last = count;
      if (count === statement) throw new Error("the statement fails");
    });
    await migrateTo({ db: db.withPlugin(plugin), dialect }, version + 1).catch(() => {});
    return last < statement ? last : undefined;
  });
}

/** Starts the migration to the newest version in a process that is killed before one of its statements. */
async function killAt(place: string, statement: number): Promise<void> {
  const child = spawn(process.execPath, [PROCESS, place, String(NEWEST), String(statement)], {
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
    assertHappened(await versionOf(database.read), "as its version", NEWEST);
    if (!isFile) return;
    const checked = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(database.read);
    assertHappened(Number(checked.rows[0]?.integrity_check === "ok"), "intact files");
    const broken = await sql`pragma foreign_key_check`.execute(database.read);
    assertHappened(Number(broken.rows.length === 0), "files whose references hold");
  } finally {
    await database.close();
  }
}
