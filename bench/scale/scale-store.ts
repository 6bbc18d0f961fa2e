/**
 * Stores of one size on SQLite and PostgreSQL with the same rows: the store of SQLite is made by the generator and the program, that of
 * PostgreSQL is a copy of its rows.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { updateDerived } from "../../src/modules.js";
import { onServer, openStore, prepareStore, type Store, withDatabase } from "../support/stores.js";
import { copyToPostgres } from "./copy-to-postgres.js";
import { multiplyStore } from "./multiply.js";

export const SCALE_ENGINES = ["sqlite", "postgres"] as const;
export type ScaleEngine = (typeof SCALE_ENGINES)[number];

export interface ScaleStore extends Store {
  name: ScaleEngine;
}

export interface ScalePlace {
  folder: string;
  /** Address of the PostgreSQL server. */
  postgresUrl: string;
  /** Prints a line of progress. */
  report: (line: string) => void;
}

/** Exists in the folder of a multiplied store that has all its rows. */
const FILLED = "filled";

export interface ScaleSize {
  repositories: number;
  days: number;
  /** The store is this many copies of one with a part of the repositories; see multiply.ts. 1: it is made by the generator. */
  times: number;
}

/** The store of this size on one engine, built if it is missing, from that of the engine before it. */
export async function scaleStore(name: ScaleEngine, size: ScaleSize, place: ScalePlace): Promise<ScaleStore> {
  if (name === "sqlite") return { name, ...(await sqliteStore(size, place)) };
  const database = `sidereal_scale_${size.repositories}_${size.days}_${name}`;
  const dataDir = join(place.folder, database);
  const url = withDatabase(place.postgresUrl, database);
  const store: ScaleStore = {
    name,
    engine: "postgres",
    size: size.repositories,
    days: size.days,
    url,
    dataDir,
  };
  const ready = join(dataDir, "ready.json");
  if (existsSync(ready)) return store;
  mkdirSync(dataDir, { recursive: true });
  const before = await scaleStore("sqlite", size, place);
  const { report } = place;
  const began = performance.now();
  const secondsSoFar = () => Math.round((performance.now() - began) / 1_000);
  await onServer(url, `drop database if exists ${database} with (force)`);
  await onServer(url, `create database ${database} template template0 encoding 'UTF8'`);
  await copyToPostgres(before.dataDir, url);
  report(`postgres: copied in ${secondsSoFar()} s`);
  writeFileSync(ready, JSON.stringify({ seconds: secondsSoFar() }));
  return store;
}

async function sqliteStore(
  { repositories: size, days, times }: ScaleSize,
  place: ScalePlace,
): Promise<Store> {
  const { report } = place;
  const source = await prepareStore(
    { engine: "sqlite", size: size / times, days },
    { ...place, postgresUrl: undefined },
    report,
  );
  if (times === 1) return source;
  const dataDir = `${source.dataDir}_${times}`;
  const store: Store = { engine: "sqlite", size, days, url: undefined, dataDir };
  const ready = join(dataDir, "ready.json");
  if (existsSync(ready)) return store;
  // Filled, but what was derived was interrupted, or is to be derived again.
  if (!existsSync(join(dataDir, FILLED))) {
    await multiplyStore(source.dataDir, { dataDir, times, report });
    writeFileSync(join(dataDir, FILLED), "");
  }
  const modules = await openStore(store);
  const lap = (what: string) => {
    const { user, system } = process.cpuUsage();
    const seconds = Math.round((user + system) / 1e6);
    report(
      `sqlite: ${what}; CPU time so far ${seconds} s, memory ${Math.round(process.memoryUsage.rss() / 1e6)} MB`,
    );
  };
  await updateDerived(modules, (step, done) => {
    if (done % 500_000 === 0) lap(`${step} of ${done}`);
  });
  lap("everything is derived");
  await modules.database.close();
  writeFileSync(ready, "{}");
  return store;
}
