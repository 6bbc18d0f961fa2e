/** Search and suggestions without HTTP: CPU time of a fixed mix of names and words, and the first index of a whole store. */
import { sql } from "kysely";
import type { Found, Suggestions } from "../src/discovery/search/search.js";
import { absoluteRow, type BenchPart, type ResultRow } from "./support/results.js";
import { interleave, quantile } from "./support/statistics.js";
import { copyStore, openStore } from "./support/stores.js";

/** Texts that are no names: common words, prefixes, typing errors, and words that are each common but never occur together. */
const WORDS = [
  ..."library python rust web parser a s c++ c# go js machine framework tensorflw kuberentes reactt qzxv".split(
    " ",
  ),
  "web framework",
  "vs code",
  "machine learning python",
  "server for api in python library engine client",
  "a b c d e f g h",
  "https://github.com/rust-lang/rust",
];
const NAMES = 60;
/** What the first page of a list reads and counts, and what filters and other orders choose from. */
const PAGE = { limit: 26, counted: 10_001 };
const ALL = { limit: 10_001 };
const SUGGESTED = 8;

export const searchPart: BenchPart = async ({ store, rounds, report }) => {
  const rows: ResultRow[] = [];
  const { database, search } = await openStore(store);
  try {
    const { rows: sample } = await sql<{ owner: string; name: string }>`select owner, name from repositories
      where availability = 'AVAILABLE' order by coalesce(stars, -1) desc, id desc limit ${NAMES}`.execute(
      database.read,
    );
    const texts = [
      ...WORDS,
      ...sample.flatMap(({ owner, name }) => [
        name,
        name.slice(0, 3),
        `${owner}/${name.slice(0, 2)}`,
        `${owner} ${name}`,
      ]),
    ];
    const kinds: Readonly<
      Record<"search" | "search to filter" | "suggest", (text: string) => Promise<Found | Suggestions>>
    > = {
      search: (text) => search.find(text, PAGE),
      "search to filter": (text) => search.find(text, ALL),
      suggest: (text) => search.suggest(text.slice(0, 64), SUGGESTED),
    };
    for (const [kind, run] of Object.entries(kinds)) {
      report(`${kind}: ${texts.length} texts`);
      const measured = async (part: number): Promise<number> => {
        const times: number[] = [];
        for (const text of texts) {
          const before = process.cpuUsage();
          await run(text);
          const { user, system } = process.cpuUsage(before);
          times.push((user + system) / 1_000);
        }
        return quantile(times, part);
      };
      await measured(0.5);
      const values = await interleave(rounds, { median: () => measured(0.5), p99: () => measured(0.99) });
      rows.push(
        absoluteRow({ measure: `${kind}, CPU of the process, median`, unit: "ms", store }, values.median),
        absoluteRow({ measure: `${kind}, CPU of the process, p99`, unit: "ms", store }, values.p99),
      );
    }
  } finally {
    await database.close();
  }
  rows.push(await firstIndex({ store, report }));
  return rows;
};

/** Builds the index of a copy of the store from nothing. */
async function firstIndex({
  store,
  report,
}: Pick<Parameters<BenchPart>[0], "store" | "report">): Promise<ResultRow> {
  report("first search index");
  const copy = await copyStore(store);
  try {
    const { database, search } = await openStore(copy);
    try {
      await sql`update search_state set first_block = null`.execute(database.write);
      const before = process.cpuUsage();
      await search.update();
      const { user, system } = process.cpuUsage(before);
      return absoluteRow(
        { measure: "first search index, CPU of the process", unit: "s", store, target: { atMost: 30 } },
        [(user + system) / 1e6],
      );
    } finally {
      await database.close();
    }
  } finally {
    await copy.remove();
  }
}
