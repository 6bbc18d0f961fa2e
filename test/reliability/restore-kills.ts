import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import type { ResultRow } from "../../bench/support/results.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { Catalog } from "../../src/repositories/repositories.js";
import { takeBackup } from "../../src/transfer/backup.js";
import { connectToServer } from "../support/engines.js";
import { createTestDatabase, dropTestDatabase } from "../support/postgres.js";
import { openAt } from "../support/stores.js";
import { daily, observation } from "../support/world.js";
import { hasProgram } from "./support/disk-faults.js";
import {
  assertHappened,
  countMaker,
  type Harness,
  type HarnessContext,
  HarnessFailure,
} from "./support/harness.js";
import { dumpStore, openStore } from "./support/open-store.js";

const PROCESS = fileURLToPath(new URL("./support/restore-process.js", import.meta.url));

/** System calls before which the process is killed: those that change files, and what is sent to the server. */
const CALLS = {
  long: {
    sqlite: ["openat", "write", "fsync", "link", "rename"],
    postgres: ["write", "writev"],
  },
  short: { sqlite: ["fsync", "rename"], postgres: ["write"] },
} as const;
/** A kill before every n-th of these calls, beginning with the first. */
const STRIDES = { long: { sqlite: 1, postgres: 3 }, short: { sqlite: 1, postgres: 80 } } as const;

type EngineName = keyof typeof CALLS.long;

export const restoreKills: Harness = {
  name: "restore-kills",
  proves:
    "A restore that is killed leaves the old store whole or the new one, with its secret, and the next restore completes.",
  async run(context: HarnessContext): Promise<ResultRow[]> {
    if (!hasProgram("strace")) throw new HarnessFailure("strace is not installed");
    const folder = mkdtempSync(join(tmpdir(), "sidereal-restore-"));
    const server = await connectToServer();
    const urls: string[] = [];
    try {
      const rows: ResultRow[] = [];
      for (const engine of ["sqlite", "postgres"] as const) {
        const newPlace = async (name: string): Promise<Place> => {
          const dataDir = join(folder, `${engine}-${name}`);
          mkdirSync(dataDir);
          if (engine === "sqlite") return { dataDir, url: undefined };
          const url = await createTestDatabase(server.port);
          urls.push(url);
          return { dataDir, url };
        };
        rows.push(...(await killAll(engine, { folder, newPlace, ...context })));
      }
      return rows;
    } finally {
      for (const url of urls) await dropTestDatabase(url);
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

interface Place {
  dataDir: string;
  url: string | undefined;
}

interface Stored {
  rows: Record<string, unknown>;
  /** Undefined in PostgreSQL, where it is among the rows. */
  secret: string | undefined;
}

interface Options extends HarnessContext {
  folder: string;
  newPlace: (name: string) => Promise<Place>;
}

async function killAll(
  engine: EngineName,
  { folder, newPlace, scale, report }: Options,
): Promise<ResultRow[]> {
  const [before, after] = [await newPlace("old"), await newPlace("new")];
  const backups = { before: join(folder, `${engine}.old`), after: join(folder, `${engine}.new`) };
  await fill(before, { name: "old", file: backups.before });
  await fill(after, { name: "new", file: backups.after });
  for (const name of ["before", "after"] as const) {
    const place = { before, after }[name];
    if (engine === "sqlite") emptyFolder(place);
    await restoreWhole(backups[name], place);
  }
  const expected = { before: await read(before), after: await read(after) };
  if (isDeepStrictEqual(expected.before, expected.after))
    throw new HarnessFailure("the two stores are equal");

  const counts = { kills: 0, old: 0, new: 0, broken: 0, unrepeated: 0 };
  for (const call of CALLS[scale][engine]) {
    for (let at = 1; ; at += STRIDES[scale][engine]) {
      const place = before;
      if (engine === "sqlite") emptyFolder(place);
      await restoreWhole(backups.before, place);
      if (!(await restoreKilled(backups.after, place, { call, at }))) break;
      counts.kills++;
      const left = await read(place);
      if (isDeepStrictEqual(left, expected.after)) counts.new++;
      else if (isDeepStrictEqual(left, expected.before) || hasKept(place, left, expected.before))
        counts.old++;
      else {
        counts.broken++;
        report(`${engine}: neither old nor new after a kill before ${call} ${at}`);
      }
      await restoreWhole(backups.after, place);
      const leftOver = readdirSync(place.dataDir).filter((name) => name.endsWith(".restoring"));
      if (leftOver.length > 0 || !isDeepStrictEqual(await read(place), expected.after)) {
        counts.unrepeated++;
        report(`${engine}: the next restore did not complete after a kill before ${call} ${at}`);
      }
    }
    report(`${engine}: ${call}: ${counts.kills} kills so far`);
  }
  assertHappened(counts.old, "kills before the new store was there");
  // The last calls are few of those to a server.
  if (scale === "long") assertHappened(counts.new, "kills after the new store was there");
  const row = countMaker({ engine });
  return [
    row("restores killed", counts.kills, { atLeast: 2 }),
    row("of these, with the old store after it", counts.old),
    row("of these, with the new store after it", counts.new),
    row("kills that left neither", counts.broken, { atMost: 0 }),
    row("repeated restores that did not complete", counts.unrepeated, { atMost: 0 }),
  ];
}

/** Makes a store, and takes a backup of it. */
async function fill({ dataDir, url }: Place, { name, file }: { name: string; file: string }): Promise<void> {
  const database = await openAt({ dataDir, url });
  try {
    const batch = Array.from({ length: 60 }, (_, i) => observation(`${name}/r${i}`, daily(1, 2 + i, 9)));
    await new Catalog(database, systemClock).record(batch);
    await sql`insert into marks (name, value) values ('of this store', ${name})`.execute(database.durable);
  } finally {
    await database.close();
  }
  const secretFile = url === undefined ? join(dataDir, "auth-secret") : undefined;
  if (secretFile !== undefined) writeFileSync(secretFile, `${name} secret`.padEnd(43, "-"));
  const place = { location: { url, dataDir }, secretFile, clock: systemClock, log: createLog("silent") };
  await takeBackup(file, place, () => {});
}

async function read({ dataDir, url }: Place): Promise<Stored> {
  const { close, ...store } = openStore(url ?? join(dataDir, "sidereal.db"));
  try {
    const secret = url === undefined ? readFileSync(join(dataDir, "auth-secret"), "utf8") : undefined;
    // The revision, what it notes and the times of migrations are those of the restore.
    const { revision: _, changes: __, schema_version: ___, ...rows } = await dumpStore(store);
    return { rows, secret };
  } finally {
    await close();
  }
}

/** Whether the old store is there with the new secret, and the old one beside it: between the last two steps. */
function hasKept({ dataDir }: Place, left: Stored, before: Stored): boolean {
  const kept = readdirSync(dataDir).filter((name) => name.startsWith("auth-secret.replaced-"));
  return (
    isDeepStrictEqual(left.rows, before.rows) &&
    kept.some((name) => readFileSync(join(dataDir, name), "utf8") === before.secret)
  );
}

function emptyFolder({ dataDir }: Place): void {
  for (const name of existsSync(dataDir) ? readdirSync(dataDir) : []) rmSync(join(dataDir, name));
}

/** Restores by a process of its own, as an operator does. */
async function restoreWhole(file: string, { dataDir, url }: Place): Promise<void> {
  const [code] = await run([process.execPath, PROCESS, file, dataDir, ...(url === undefined ? [] : [url])]);
  if (code !== 0) throw new HarnessFailure("a restore without a kill failed");
}

/** Returns false if the restore ended before it made this call so often. */
async function restoreKilled(
  file: string,
  { dataDir, url }: Place,
  { call, at }: { call: string; at: number },
): Promise<boolean> {
  const paths = ["sidereal.db", "auth-secret"].flatMap((name) => [name, `${name}.restoring`]);
  const [code, signal] = await run([
    ...["strace", "-f", "-qq", "-o", join(dataDir, "..", "strace.log")],
    ...(url === undefined ? [dataDir, ...paths.map((name) => join(dataDir, name))] : []).flatMap((path) => [
      "-P",
      path,
    ]),
    ...["-e", `trace=${call}`, "-e", `inject=${call}:signal=KILL:when=${at}`],
    ...[process.execPath, PROCESS, file, dataDir, ...(url === undefined ? [] : [url])],
  ]);
  if (code !== 0 && signal !== "SIGKILL") throw new HarnessFailure(`a restore ended with ${code}`);
  return signal === "SIGKILL";
}

async function run([program = "", ...args]: string[]): Promise<[code: number | null, signal: string | null]> {
  // Calls are counted by thread.
  const env = { ...process.env, UV_THREADPOOL_SIZE: "1" };
  const child = spawn(program, args, { stdio: ["ignore", "inherit", "inherit"], env });
  const [code, signal] = await once(child, "exit");
  return [code, signal];
}
