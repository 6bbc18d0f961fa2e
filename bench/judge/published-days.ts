/** Compares measured gains and lists with published ones, day by day. */
import type { DayFile } from "./archive.js";
import { keyOf, type Lists, TOP } from "./lists.js";
import { type PublishedList, publishedByLanguage, publishedOverall } from "./published-lists.js";
import { correlation, medianError, type Pair, shared } from "./ranked.js";
import { print } from "./text.js";

/** The lists that `add` compares. */
export const COMPARED_PATHS: readonly string[] = ["trending", "stars-gained"].map(pathOf);

/** What the published lists of a day are compared with. */
export class PublishedDays {
  readonly #byLanguage: ReadonlyMap<string, PublishedList>;
  readonly #overall: ReadonlyMap<string, PublishedList>;
  readonly #pairs: Record<"same" | "next", Pair[]> = { same: [], next: [] };
  readonly #shares = new Map<string, number[]>();

  constructor(data: string) {
    this.#byLanguage = publishedByLanguage(data);
    this.#overall = publishedOverall(data);
  }

  /** Whether `add` has anything to compare after a file. */
  has(file: DayFile, before: DayFile | undefined): boolean {
    return [this.#byLanguage, this.#overall].some(
      (published) => published.has(file.date) || published.has(before?.date ?? ""),
    );
  }

  /** `lists`: at least those of COMPARED_PATHS. */
  add(
    file: DayFile,
    before: DayFile | undefined,
    { gains, lists }: { gains: ReadonlyMap<string, number>; lists: Lists },
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

  #addPairs(key: "same" | "next", list: PublishedList | undefined, gains: ReadonlyMap<string, number>): void {
    for (const [name, today] of list ?? []) {
      const gained = gains.get(name);
      if (gained !== undefined) this.#pairs[key].push([gained, today]);
    }
  }

  #addShares(
    label: string,
    list: PublishedList | undefined,
    { gains, lists }: { gains: ReadonlyMap<string, number>; lists: Lists },
  ): void {
    if (list === undefined) return;
    // Only what the files hold can be ranked.
    const names = new Set([...list.keys()].filter((name) => gains.has(name)));
    if (names.size === 0) return;
    for (const sort of ["trending", "stars-gained"] as const) {
      const ours = (lists.get(pathOf(sort)) ?? []).map(keyOf);
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

function pathOf(sort: string): string {
  return `/api/repos?sort=${sort}&window=24h`;
}

function firstOf(list: PublishedList, count: number): PublishedList {
  return new Map([...list].sort(([, a], [, b]) => b - a).slice(0, count));
}
