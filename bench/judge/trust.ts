/**
 * Whether ranks can be trusted, for a built checkout of any version: `npm run -s build &&
 * node dist/bench/judge/trust.js DATA_DIR [CHECKOUT] [--every 5] [--seed 1]`, where DATA_DIR has the folders github-ranking, awesome-go
 * and trending, and CHECKOUT is this one by default. Imports day by day with the command line and reads the lists that the API
 * gives; one day in five is looked at, and every day of November and December for the published lists.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { parse } from "csv-parse/sync";
import { median } from "../../src/catalog/catalog.js";
import { Random } from "../../src/demo/random.js";
import { type DayFile, manifestOf, requireData, unpackArchive } from "./archive.js";
import { zeroThird } from "./damage.js";
import { type PublishedList, publishedByLanguage, publishedOverall } from "./published-lists.js";
import {
  addFaults,
  correlation,
  type Faults,
  falsePlaces,
  faultsOf,
  medianError,
  NO_FAULTS,
  type Pair,
  readSuccessions,
  shared,
} from "./ranked.js";
import { type Ask, allRows, firstRows, type Row, Service } from "./service.js";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    every: { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
  },
});
const data = requireData(positionals[0], "daily");
const checkout = resolve(positionals[1] ?? ".");
const every = Number(values.every);
const work = mkdtempSync(join(tmpdir(), "sidereal-trust-"));
const print = (line = "") => process.stdout.write(`${line}\n`);
const keyOf = ({ fullName }: Row) => fullName.toLowerCase();

const WINDOWS = ["24h", "7d", "30d"] as const;
const SORTS = ["trending", "rising", "new_hot", "stars_gained", "forks_gained"] as const;
const PATHS: readonly string[] = [
  ...WINDOWS.flatMap((window) => SORTS.map((sort) => `/api/repos?sort=${sort}&window=${window}`)),
  ...WINDOWS.map((window) => `/api/fork-growth?window=${window}`),
  "/api/repos?sort=stars",
];
const TOP = 25;
/** Days that are damaged, and after how many days their lists are compared. */
const DAMAGED_DAYS = 3;
const COMPARED_AFTER = [0, 1, 7] as const;
/** Until then every day is looked at, for the published lists. */
const DAILY_UNTIL = "2026-01-01";

/** The first hundred of every list, by path. */
type Lists = Map<string, Row[]>;

async function readLists(ask: Ask): Promise<Lists> {
  const lists: Lists = new Map();
  for (const path of PATHS) lists.set(path, await firstRows(ask, path));
  return lists;
}

function present(path: string): Set<string> {
  const rows: { repo_url: string }[] = parse(readFileSync(path), { columns: true });
  return new Set(rows.map(({ repo_url }) => repo_url.replace(/^https:\/\/[^/]+\//, "").toLowerCase()));
}

/** What the published lists of a day are compared with. */
class Published {
  readonly #byLanguage = publishedByLanguage(data);
  readonly #overall = publishedOverall(data);
  readonly #pairs: Record<"same" | "next", Pair[]> = { same: [], next: [] };
  readonly #shares = new Map<string, number[]>();

  add(
    file: DayFile,
    before: DayFile | undefined,
    { gains, lists }: { gains: Map<string, number>; lists: Lists },
  ): void {
    for (const published of [this.#byLanguage, this.#overall]) {
      this.#addPairs("same", published.get(file.date), gains);
      this.#addPairs("next", published.get(before?.date ?? ""), gains);
    }
    const byLanguage = this.#byLanguage.get(file.date);
    // The list over all languages is scraped at the end of its date, hours before the file of the next one.
    this.#addShares(
      "first 25 by stars today, 19 languages, November",
      byLanguage && firstOf(byLanguage, TOP),
      { gains, lists },
    );
    this.#addShares("list of all languages, 17 to 31 December", this.#overall.get(before?.date ?? ""), {
      gains,
      lists,
    });
  }

  #addPairs(key: "same" | "next", list: PublishedList | undefined, gains: Map<string, number>): void {
    for (const [name, today] of list ?? []) {
      const gained = gains.get(name);
      if (gained !== undefined) this.#pairs[key].push([gained, today]);
    }
  }

  #addShares(
    label: string,
    list: PublishedList | undefined,
    { gains, lists }: { gains: Map<string, number>; lists: Lists },
  ): void {
    if (list === undefined) return;
    // Only what the files hold can be ranked.
    const names = new Set([...list.keys()].filter((name) => gains.has(name)));
    if (names.size === 0) return;
    for (const sort of ["trending", "stars_gained"] as const) {
      const ours = (lists.get(`/api/repos?sort=${sort}&window=24h`) ?? []).map(keyOf);
      for (const first of [TOP, 2 * TOP]) {
        const key = `${label}: in the first ${first} of ${sort}`;
        this.#shares.set(key, [...(this.#shares.get(key) ?? []), shared(ours, names, first) / names.size]);
      }
    }
  }

  print(): void {
    for (const [key, pairs] of Object.entries(this.#pairs))
      print(
        `published gains, file of the ${key} date: ${pairs.length} pairs, r ${correlation(pairs).toFixed(4)}, median error ${medianError(pairs)}`,
      );
    for (const [key, shares] of this.#shares) {
      const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
      print(`published ${key}: ${(100 * mean).toFixed(1)} % (${shares.length} days)`);
    }
  }
}

function firstOf(list: PublishedList, count: number): PublishedList {
  return new Map([...list].sort(([, a], [, b]) => b - a).slice(0, count));
}

async function gainsOf(ask: Ask, window: string): Promise<Map<string, number>> {
  const rows = await allRows(ask, `/api/repos?sort=stars&window=${window}`);
  return new Map(
    rows.flatMap((row) => (row.trend === null ? [] : [[keyOf(row), row.trend.starsDelta] as const])),
  );
}

class DailyRun {
  readonly #dir = join(work, "daily");
  readonly #service: Service;
  readonly #manifest = manifestOf(data, "daily");
  readonly #published = new Published();
  readonly #successions = readSuccessions(
    readFileSync(join(data, "github-ranking/inferred-renames.csv"), "utf8"),
  );
  readonly #faults = new Map<string, Faults>();
  readonly #undamaged = new Map<string, Lists>();
  readonly #falseByMoment = new Map<string, { places: number; wrong: number; examples: string[] }>();
  #days = 0;

  constructor() {
    mkdirSync(this.#dir);
    this.#service = new Service(checkout, this.#dir);
  }

  async run(): Promise<void> {
    const folder = join(work, "daily-files");
    mkdirSync(folder);
    const files = unpackArchive(data, "daily", folder);
    const damaged = damagedDays(files.length);
    const compared = new Set(damaged.flatMap((day) => COMPARED_AFTER.map((after) => day + after)));
    let waiting: string[] = [];
    const copies = new Map<number, string>();
    for (const [i, file] of files.entries()) {
      if (damaged.includes(i)) {
        this.#import(waiting);
        waiting = [];
        const copy = join(work, `damaged-${i}`);
        cpSync(this.#dir, copy, { recursive: true });
        copies.set(i, copy);
      }
      waiting.push(file.path);
      if (i === 0 || (i % every !== 0 && !compared.has(i) && file.date > DAILY_UNTIL)) continue;
      this.#import(waiting);
      waiting = [];
      await this.#look(file, files[i - 1], { isCompared: compared.has(i), isCounted: i % every === 0 });
    }
    for (const [i, dir] of copies) await this.#damage(files, i, dir);
  }

  #import(paths: readonly string[]): void {
    if (paths.length > 0) this.#service.importFiles(paths, this.#manifest);
  }

  async #look(
    file: DayFile,
    before: DayFile | undefined,
    { isCompared, isCounted }: { isCompared: boolean; isCounted: boolean },
  ): Promise<void> {
    const { lists, gains } = await this.#service.serving(async (ask) => ({
      lists: await readLists(ask),
      gains: file.date <= DAILY_UNTIL ? await gainsOf(ask, "24h") : undefined,
    }));
    if (gains !== undefined) this.#published.add(file, before, { gains, lists });
    if (isCompared) this.#undamaged.set(file.path, lists);
    process.stderr.write(`${file.date}\r`);
    if (!isCounted) return;
    this.#days++;
    const day = { date: file.date, present: present(file.path), successions: this.#successions };
    for (const [path, rows] of lists) {
      const placed = rows.slice(0, TOP).map((row) => ({
        name: keyOf(row),
        to: row.trend === null ? null : Date.parse(row.trend.to),
      }));
      const { pathname, searchParams } = new URL(path, "http://localhost");
      const label = searchParams.get("sort") ?? pathname;
      const found = faultsOf(placed, day, file.capturedAt);
      this.#faults.set(label, addFaults(this.#faults.get(label) ?? NO_FAULTS, found));
    }
  }

  /** The lists after a damaged file and the undamaged ones after it. */
  async #damage(files: readonly DayFile[], damagedDay: number, dir: string): Promise<void> {
    const service = new Service(checkout, dir);
    const first = files[damagedDay];
    if (first === undefined) return;
    mkdirSync(`${dir}-files`);
    const path = join(`${dir}-files`, basename(first.path));
    zeroThird(first.path, path, Number(values.seed) + damagedDay);
    let done = damagedDay;
    for (const after of COMPARED_AFTER) {
      const day = damagedDay + after;
      const paths = files.slice(done, day + 1).map((file) => (file === first ? path : file.path));
      service.importFiles(paths, this.#manifest);
      done = day + 1;
      const lists = await service.serving(readLists);
      const undamaged = this.#undamaged.get(files[day]?.path ?? "");
      const moment = after === 0 ? "that day" : `after ${after} d`;
      const sum = this.#falseByMoment.get(moment) ?? { places: 0, wrong: 0, examples: [] };
      for (const [list, rows] of lists) {
        const names = rows.slice(0, TOP).map(keyOf);
        const wrong = falsePlaces(names, (undamaged?.get(list) ?? []).map(keyOf));
        sum.places += names.length;
        sum.wrong += wrong.length;
        for (const name of wrong.slice(0, 1)) sum.examples.push(`${list} ${name}`);
      }
      this.#falseByMoment.set(moment, sum);
    }
  }

  print(): void {
    print(`${this.#days} days, first ${TOP} of each ranking and window`);
    let all = NO_FAULTS;
    for (const [label, faults] of this.#faults) {
      const { places, stale, superseded, twice } = faults;
      print(
        `  ${label}: ${places} places, ${stale} stale, ${superseded} of a name with a successor, ${twice} twice`,
      );
      all = addFaults(all, faults);
    }
    print(
      `  all: ${all.places} places, ${all.stale} stale, ${all.superseded} of a name with a successor, ${all.twice} twice`,
    );
    print(`a third of all counts zero for a day, ${DAMAGED_DAYS} days`);
    for (const [moment, { places, wrong, examples }] of this.#falseByMoment)
      print(`  ${moment}: ${wrong} of ${places} places false ${examples.slice(0, 3).join("; ")}`);
    this.#published.print();
  }
}

/** Days after at least a month and before the last week, spread over the series by chance. */
function damagedDays(files: number): number[] {
  const random = new Random(Number(values.seed));
  const span = Math.floor((files - 40) / DAMAGED_DAYS);
  return Array.from({ length: DAMAGED_DAYS }, (_, i) => 32 + i * span + random.between(0, span - 9));
}

const PUBLISHED_COLUMNS = {
  "24h": "new-stars-last-24H",
  "7d": "new-stars-last-7d",
  "30d": "new-stars-last-30d",
} as const;

async function runAwesomeGo(): Promise<void> {
  const dir = join(work, "awesome-go");
  const folder = join(work, "awesome-go-files");
  mkdirSync(dir);
  mkdirSync(folder);
  const service = new Service(checkout, dir);
  const files = unpackArchive(data, "awesome-go", folder);
  const pairs = { "24h": [] as Pair[], "7d": [] as Pair[], "30d": [] as Pair[] };
  const tops = { "24h": [] as number[], "7d": [] as number[], "30d": [] as number[] };
  let waiting: string[] = [];
  for (const [i, file] of files.entries()) {
    waiting.push(file.path);
    if (i < 40 || i % (2 * every) !== 0) continue;
    service.importFiles(waiting, manifestOf(data, "awesome-go"));
    waiting = [];
    const rows: Record<string, string>[] = parse(readFileSync(file.path), {
      columns: true,
      relax_column_count: true,
    });
    await service.serving(async (ask) => {
      for (const window of WINDOWS) {
        const gains = await gainsOf(ask, window);
        const both = rows.flatMap((row) => {
          const name = (row.repo ?? "").toLowerCase();
          const ours = gains.get(name);
          return ours === undefined || row.stars === "0"
            ? []
            : [{ name, ours, theirs: Number(row[PUBLISHED_COLUMNS[window]]) }];
        });
        const top = (key: "ours" | "theirs") =>
          new Set(
            both
              .toSorted((a, b) => b[key] - a[key] || (a.name < b.name ? -1 : 1))
              .slice(0, 20)
              .map(({ name }) => name),
          );
        tops[window].push(top("ours").intersection(top("theirs")).size);
        pairs[window].push(...both.map(({ ours, theirs }) => [ours, theirs] as const));
      }
    });
  }
  for (const window of WINDOWS) {
    const equal = pairs[window].filter(([ours, theirs]) => ours === theirs).length;
    const mean = tops[window].reduce((sum, value) => sum + value, 0) / tops[window].length;
    print(
      `awesome-go ${window}: ${pairs[window].length} pairs, r ${correlation(pairs[window]).toFixed(4)}, median error ${medianError(pairs[window])}, equal ${((100 * equal) / pairs[window].length).toFixed(1)} %, first 20 shared ${mean.toFixed(1)} (median ${median(tops[window])})`,
    );
  }
}

try {
  print(`checkout ${checkout}`);
  const daily = new DailyRun();
  await daily.run();
  daily.print();
  await runAwesomeGo();
} finally {
  rmSync(work, { recursive: true, force: true });
}
