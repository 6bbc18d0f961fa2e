/**
 * Dumps: dated folders with the public catalogue as Parquet files, for everybody to download. One is complete from the moment it
 * has its name, never changes, and has repositories, their names and snapshots, and nothing of people. Which files there are is
 * read from manifests, never from a request. How they are sent is up to the API.
 */
import { join } from "node:path";
import { type Clock, DAY_MS, HOUR_MS } from "../clock.js";
import { type Dump, readDumps } from "./read.js";

export { sumsOf } from "../transfer/transfer.js";
export type { Dump } from "./read.js";
export { type DumpOptions, writeDump } from "./write.js";

/** A file of a dump. */
export interface DumpFile {
  /** On this machine. */
  location: string;
  /** Below the folder of the dump. */
  path: string;
  bytes: number;
  /** In hex. */
  sha256: string;
}

/** How long the list of dumps is remembered. */
const REMEMBERED_MS = 2_000;

/** The dumps in a folder. */
export class Dumps {
  readonly #folder: string;
  readonly #clock: Clock;
  #last: { at: number; dumps: Promise<Dump[]> } | undefined;
  /** Those that were listed last. */
  #known: readonly Dump[] = [];

  constructor(folder: string, clock: Clock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  /** All complete dumps, newest first, at most 100. A new one is listed within two seconds. */
  list(): Promise<Dump[]> {
    const now = this.#clock.monotonic();
    if (this.#last === undefined || now - this.#last.at >= REMEMBERED_MS)
      this.#last = { at: now, dumps: this.#read() };
    return this.#last.dumps;
  }

  async #read(): Promise<Dump[]> {
    const dumps = await readDumps(this.#folder, this.#known);
    this.#known = dumps;
    return dumps;
  }

  /** A file by the name of its dump and its path; undefined if no manifest has it. */
  async find(name: string, path: string): Promise<DumpFile | undefined> {
    const dump = (await this.list()).find((one) => one.name === name);
    const file = dump?.files.find((one) => one.path === path);
    if (dump === undefined || file === undefined) return undefined;
    return { ...file, location: join(this.#folder, dump.name, file.path) };
  }
}

/** Whether the newest dump in a folder is so old that another one is due. */
export async function isDumpDue(
  folder: string,
  { now, everyDays }: { now: number; everyDays: number },
): Promise<boolean> {
  const [newest] = await readDumps(folder);
  // An hour less, so that a dump a day does not come later each day.
  return newest === undefined || now - Date.parse(newest.asOf) >= everyDays * DAY_MS - HOUR_MS;
}
