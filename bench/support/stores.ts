/**
 * The filled stores of the benchmark. Each is built once into a folder (SQLite) or a database (PostgreSQL) whose name contains the
 * size and a hash of the schema and of the generator, and reused until one of them changes.
 */
import { createHash } from "node:crypto";
import {
  constants,
  copyFileSync,
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
import pg from "pg";
import { openDatabase } from "../../src/database/database.js";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules, type Modules, updateDerived } from "../../src/modules.js";
import { fillWithSynthetic, type SyntheticOptions } from "../synthetic/synthetic.js";
import { realNames } from "./names.js";

export type EngineName = "sqlite" | "postgres";

/** A filled store. */
export interface Store {
  engine: EngineName;
  /** Number of repositories. */
  size: number;
  /** Days of history, one snapshot a day. */
  days: number;
  /** Address of the PostgreSQL database; undefined for SQLite. */
  url: string | undefined;
  /** Data folder of the SQLite file; an empty folder for PostgreSQL, which only holds what a service writes beside the store. */
  dataDir: string;
}

/** Where stores are kept. */
export interface StorePlace {
  /** The folder of SQLite files. */
  folder: string;
  /** Address of a PostgreSQL server, with the right to create databases. */
  postgresUrl: string | undefined;
}

/** The time of the newest snapshots of every store. */
export const STORE_END = Date.UTC(2026, 3, 30, 12);
const SEED = 1;
const COMPILED = fileURLToPath(new URL("../../", import.meta.url));
const log = createLog("error");

/** The folder of stores: `SIDEREAL_BENCH_DIR`, else one in the system's folder for temporary files. */
export const defaultFolder = (): string => process.env.SIDEREAL_BENCH_DIR ?? join(tmpdir(), "sidereal-bench");

let names: string[] | undefined;

/** The options with which the generator made a store, for what derives requests or files from it. */
export function generatorOptions({ size, days }: Pick<Store, "size" | "days">): SyntheticOptions {
  names ??= realNames() ?? [];
  return { repositories: size, days, seed: SEED, end: STORE_END, names };
}

/** A short hash of the compiled files in these folders. */
function hashOf(...folders: readonly string[]): string {
  const hash = createHash("sha256");
  for (const folder of folders)
    for (const file of readdirSync(join(COMPILED, folder), { recursive: true, encoding: "utf8" }).sort())
      if (file.endsWith(".js")) hash.update(readFileSync(join(COMPILED, folder, file)));
  return hash.digest("hex").slice(0, 10);
}

/** Opens the modules on a store. The caller closes `modules.database`. */
export async function openStore({ url, dataDir }: Pick<Store, "url" | "dataDir">): Promise<Modules> {
  return buildModules(await openDatabase({ url, dataDir, pool: 4, log }), { clock: systemClock, log });
}

/** Runs one statement on the maintenance database of a server. */
export async function onServer(postgresUrl: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: withDatabase(postgresUrl, "postgres") });
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

/** The address of another database of the same server. */
export function withDatabase(url: string, database: string): string {
  const parsed = new URL(url);
  parsed.pathname = `/${database}`;
  return parsed.href;
}

/**
 * The store of this size, built if it is missing. A store whose derived data were made by other code gets them derived again.
 */
export async function prepareStore(
  wanted: Pick<Store, "engine" | "size" | "days">,
  place: StorePlace,
  report: (line: string) => void,
): Promise<Store> {
  const hasRealNames = (generatorOptions(wanted).names ?? []).length > 0;
  const code = hashOf("src/database/schema", "bench/synthetic");
  const name = `sidereal_bench_${wanted.size}_${wanted.days}_${code}${hasRealNames ? "" : "_made"}`;
  const derivedBy = hashOf("src/growth", "src/discovery", "src/repositories");
  const dataDir = join(place.folder, `${name}_${wanted.engine}`);
  const ready = join(dataDir, "ready.json");
  const store: Store = { ...wanted, url: undefined, dataDir };
  if (wanted.engine === "postgres") {
    if (place.postgresUrl === undefined) throw new Error("there is no address of a PostgreSQL server");
    store.url = withDatabase(place.postgresUrl, name);
    const found = await onServer(place.postgresUrl, `select 1 from pg_database where datname = '${name}'`);
    if (found.rowCount === 0) rmSync(ready, { force: true });
    if (!existsSync(ready)) {
      await onServer(place.postgresUrl, `drop database if exists ${name} with (force)`);
      await onServer(place.postgresUrl, `create database ${name} template template0 encoding 'UTF8'`);
    }
  }
  const made: Partial<Readiness> = existsSync(ready) ? JSON.parse(readFileSync(ready, "utf8")) : {};
  const { derivedBy: madeBy } = made;
  if (madeBy === derivedBy) return store;
  if (madeBy === undefined) {
    rmSync(dataDir, { recursive: true, force: true });
    mkdirSync(dataDir, { recursive: true });
  }
  await build(store, { isFilled: madeBy !== undefined, report });
  writeFileSync(ready, JSON.stringify({ derivedBy } satisfies Readiness));
  return store;
}

/** What is noted of a store when it is ready. */
interface Readiness {
  /** Hash of the code that made the derived data. */
  derivedBy: string;
}

/** Fills a store and derives its data. */
async function build(
  store: Store,
  { isFilled, report }: { isFilled: boolean; report: (line: string) => void },
): Promise<void> {
  const modules = await openStore(store);
  const began = performance.now();
  const secondsSince = (from: number) => (performance.now() - from) / 1_000;
  try {
    if (!isFilled)
      await fillWithSynthetic(modules.catalog, generatorOptions(store), (done) => {
        if (done % 100_000 === 0)
          report(`${store.engine}: ${done} of ${store.size} stored, ${secondsSince(began).toFixed(0)} s`);
      });
    await updateDerived(modules);
    report(`${store.engine}: ${store.size} repositories are ready, ${secondsSince(began).toFixed(0)} s`);
  } finally {
    await modules.database.close();
  }
}

/** A copy that may be changed, and `remove`, which deletes it. */
export interface StoreCopy extends Store {
  remove(): Promise<void>;
}

/** Copies a store that no process has open. */
export async function copyStore(store: Store): Promise<StoreCopy> {
  const dataDir = mkdtempSync(`${store.dataDir}_copy_`);
  const { url } = store;
  if (url === undefined) {
    for (const file of readdirSync(store.dataDir).filter((file) => file.startsWith("sidereal.db")))
      copyFileSync(join(store.dataDir, file), join(dataDir, file), constants.COPYFILE_FICLONE);
    return {
      ...store,
      dataDir,
      remove: async () => rmSync(dataDir, { recursive: true, force: true }),
    };
  }
  const source = new URL(url).pathname.slice(1);
  const name = `${source}_copy_${process.pid}_${Date.now() % 1e6}`;
  await onServer(url, `create database ${name} template ${source} strategy file_copy`);
  return {
    ...store,
    dataDir,
    url: withDatabase(url, name),
    remove: async () => {
      await onServer(url, `drop database if exists ${name} with (force)`);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** An empty store beside another one: the tables, and no repository. */
export async function emptyStore({ engine, url, dataDir }: Store): Promise<StoreCopy> {
  const empty = mkdtempSync(`${dataDir}_empty_`);
  const name = `sidereal_bench_empty_${process.pid}_${Date.now() % 1e6}`;
  if (url !== undefined) await onServer(url, `create database ${name} template template0 encoding 'UTF8'`);
  return {
    engine,
    size: 0,
    days: 0,
    dataDir: empty,
    url: url === undefined ? undefined : withDatabase(url, name),
    remove: async () => {
      if (url !== undefined) await onServer(url, `drop database if exists ${name} with (force)`);
      rmSync(empty, { recursive: true, force: true });
    },
  };
}
