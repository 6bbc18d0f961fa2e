/** What becomes of rankings after a day on which a third of all counts reads zero. */
import { cpSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { Random } from "../synthetic/random.js";
import type { DayFile } from "./archive.js";
import { zeroThird } from "./damage.js";
import { keyOf, type Lists, readLists, TOP } from "./lists.js";
import { falsePlaces } from "./ranked.js";
import { type Row, Service } from "./service.js";
import { print } from "./text.js";

/** Days that are damaged, and after how many days the lists are compared. */
const DAYS = 3;
const COMPARED_AFTER = [0, 1, 7] as const;
/** Places of each kind that are printed. */
const EXAMPLES = 10;
/** Days before the first damaged one, for every window to have a trend. */
const FIRST = 32;

/** Places of the lists after a damaged day. */
interface Found {
  places: number;
  /** Those whose growth begins or ends with a reading that was made zero: list and name. */
  wrong: string[];
  /** Those that rest on true readings, but that the first hundred without the damage do not have. */
  other: string[];
}

export interface DamageSettings {
  checkout: string;
  manifest: string;
  seed: number;
  work: string;
}

export class DamagedRun {
  readonly #settings: DamageSettings;
  readonly #files: readonly DayFile[];
  /** Indexes of the files that are damaged. */
  readonly #days: readonly number[];
  readonly #copies = new Map<number, string>();
  /** The lists without any damage, by index of the newest file. */
  readonly #undamaged = new Map<number, Lists>();
  readonly #found = new Map<string, Found>();

  constructor(files: readonly DayFile[], settings: DamageSettings) {
    this.#files = files;
    this.#settings = settings;
    const random = new Random(settings.seed);
    const last = Math.max(...COMPARED_AFTER);
    const span = Math.floor((files.length - FIRST - last) / DAYS);
    this.#days = Array.from({ length: DAYS }, (_, i) => FIRST + i * span + random.between(0, span - 1));
  }

  /** Whether a copy of the data is needed as it is before this file. */
  isDamaged(index: number): boolean {
    return this.#days.includes(index);
  }

  /** Whether the lists after this file are compared. */
  isCompared(index: number): boolean {
    return this.#days.some((day) => COMPARED_AFTER.some((after) => day + after === index));
  }

  copyBefore(index: number, dataDir: string): void {
    const copy = join(this.#settings.work, `damaged-${index}`);
    cpSync(dataDir, copy, { recursive: true });
    this.#copies.set(index, copy);
  }

  keep(index: number, lists: Lists): void {
    this.#undamaged.set(index, lists);
  }

  /** Imports each damaged file instead of the undamaged one, and the files after it. */
  async run(): Promise<void> {
    for (const [index, dir] of this.#copies) await this.#runOne(index, dir);
  }

  async #runOne(index: number, dir: string): Promise<void> {
    const { checkout, manifest, seed } = this.#settings;
    const service = new Service(checkout, dir);
    const whole = this.#files[index]?.path ?? "";
    mkdirSync(`${dir}-files`);
    const damaged = join(`${dir}-files`, basename(whole));
    const names = zeroThird(whole, damaged, seed + index);
    const at = this.#files[index]?.capturedAt ?? Number.NaN;
    let next = index;
    for (const after of COMPARED_AFTER) {
      const paths = this.#files
        .slice(next, index + after + 1)
        .map(({ path }) => (path === whole ? damaged : path));
      next = index + after + 1;
      service.importFiles(paths, manifest);
      const lists = await service.serving(readLists);
      this.#compare(after, { lists, undamaged: this.#undamaged.get(index + after) }, { names, at });
    }
  }

  /** `names`, `at`: the repositories that read zero, and when. */
  #compare(
    after: number,
    { lists, undamaged }: { lists: Lists; undamaged: Lists | undefined },
    { names, at }: { names: ReadonlySet<string>; at: number },
  ): void {
    const moment = after === 0 ? "that day" : `after ${after} d`;
    const sum = this.#found.get(moment) ?? { places: 0, wrong: [], other: [] };
    this.#found.set(moment, sum);
    for (const [path, rows] of lists) {
      const top = rows.slice(0, TOP);
      const wrong = top.filter((row) => names.has(keyOf(row)) && restsOn(row, at)).map(keyOf);
      const unknown = falsePlaces(top.map(keyOf), (undamaged?.get(path) ?? []).map(keyOf));
      sum.places += top.length;
      const other = unknown.filter((name) => !wrong.includes(name));
      sum.wrong.push(...wrong.map((name) => `${path} ${name}`));
      sum.other.push(...other.map((name) => `${path} ${name}`));
    }
  }

  print(): void {
    print(`a third of all counts zero for a day, ${DAYS} days`);
    for (const [moment, { places, wrong, other }] of this.#found) {
      print(
        `  ${moment}: ${wrong.length} of ${places} places rest on a zero, ${other.length} others are not in the first hundred without it`,
      );
      for (const example of [...wrong.slice(0, EXAMPLES), ...other.slice(0, EXAMPLES)])
        print(`    ${example}`);
    }
  }
}

/** Whether the growth of a row begins or ends at a time. */
function restsOn({ trend }: Row, at: number): boolean {
  return trend !== null && [trend.from, trend.to].some((time) => Date.parse(time) === at);
}
