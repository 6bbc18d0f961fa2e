/** Imports the daily archive into a checkout, day by day, and looks at what it ranks. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { type DayFile, manifestOf, unpackArchive } from "./archive.js";
import { DamagedRun } from "./damaged-run.js";
import { keyOf, type Lists, PATHS, rankingOf, readGains, readLists, TOP } from "./lists.js";
import { COMPARED_PATHS, PublishedDays } from "./published-days.js";
import { addFaults, type Faults, faultsOf, NO_FAULTS, readSuccessions, type Succession } from "./ranked.js";
import { Service } from "./service.js";
import { print } from "./text.js";

export interface TrustSettings {
  data: string;
  checkout: string;
  /** Places are counted on every n-th day. */
  every: number;
  seed: number;
}

export class DailyRun {
  readonly #settings: TrustSettings;
  readonly #dataDir: string;
  readonly #service: Service;
  readonly #manifest: string;
  readonly #files: readonly DayFile[];
  readonly #published: PublishedDays;
  readonly #successions: readonly Succession[];
  readonly #damaged: DamagedRun;
  readonly #faults = new Map<string, Faults>();
  #waiting: string[] = [];
  #days = 0;

  /** `work`: a folder for the store and the unpacked files. */
  constructor(settings: TrustSettings, work: string) {
    const { data, checkout, seed } = settings;
    const folder = join(work, "daily-files");
    this.#settings = settings;
    this.#dataDir = join(work, "daily");
    for (const path of [folder, this.#dataDir]) mkdirSync(path);
    this.#service = new Service(checkout, this.#dataDir);
    this.#manifest = manifestOf(data, "daily");
    this.#files = unpackArchive(data, "daily", folder);
    this.#published = new PublishedDays(data);
    this.#successions = readSuccessions(
      readFileSync(join(data, "github-ranking/inferred-renames.csv"), "utf8"),
    );
    this.#damaged = new DamagedRun(this.#files, { checkout, manifest: this.#manifest, seed, work });
  }

  async run(): Promise<void> {
    for (const [i, file] of this.#files.entries()) {
      if (this.#damaged.isDamaged(i)) {
        this.#import();
        this.#damaged.copyBefore(i, this.#dataDir);
      }
      this.#waiting.push(file.path);
      // A single file has no growth.
      if (i > 0) await this.#look(i, file);
    }
    await this.#damaged.run();
  }

  #import(): void {
    if (this.#waiting.length > 0) this.#service.importFiles(this.#waiting, this.#manifest);
    this.#waiting = [];
  }

  /** Reads only what is judged after this file: an import and a start take most of the time. */
  async #look(index: number, file: DayFile): Promise<void> {
    const isCounted = index % this.#settings.every === 0;
    const isCompared = this.#damaged.isCompared(index);
    const isPublished = this.#published.has(file, this.#files[index - 1]);
    if (!isCounted && !isCompared && !isPublished) return;
    this.#import();
    process.stderr.write(`${file.date}\r`);
    const paths = isCounted || isCompared ? PATHS : COMPARED_PATHS;
    const { lists, gains } = await this.#service.serving(async (ask) => ({
      lists: await readLists(ask, paths),
      gains: isPublished ? await readGains(ask, "24h") : undefined,
    }));
    if (gains !== undefined) this.#published.add(file, this.#files[index - 1], { gains, lists });
    if (isCompared) this.#damaged.keep(index, lists);
    if (isCounted) this.#count(file, lists);
  }

  #count({ path, date, capturedAt }: DayFile, lists: Lists): void {
    this.#days++;
    const day = { date, present: namesIn(path), successions: this.#successions };
    for (const [list, rows] of lists) {
      const placed = rows.slice(0, TOP).map((row) => ({
        name: keyOf(row),
        to: row.trend === null ? null : Date.parse(row.trend.to),
      }));
      const ranking = rankingOf(list);
      const found = faultsOf(placed, day, capturedAt);
      this.#faults.set(ranking, addFaults(this.#faults.get(ranking) ?? NO_FAULTS, found));
    }
  }

  print(): void {
    print(`${this.#days} days, first ${TOP} of each ranking and window`);
    const all = [...this.#faults.values()].reduce(addFaults, NO_FAULTS);
    for (const [label, { places, stale, superseded, twice }] of [...this.#faults, ["all", all] as const])
      print(
        `  ${label}: ${places} places, ${stale} stale, ${superseded} of a name with a successor, ${twice} twice`,
      );
    this.#damaged.print();
    this.#published.print();
  }
}

/** The full names in a daily file, in lower case. */
function namesIn(path: string): Set<string> {
  const rows: { repo_url: string }[] = parse(readFileSync(path), { columns: true });
  return new Set(rows.map(({ repo_url }) => repo_url.replace(/^https:\/\/[^/]+\//, "").toLowerCase()));
}
