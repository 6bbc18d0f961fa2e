/** Search and suggestions without HTTP: CPU time of a fixed mix of names and words. */
import { setTimeout } from "node:timers/promises";
import { sql } from "kysely";
import type { Suggestions } from "../src/discovery/rankings.js";
import { absoluteRow, atMost, type BenchPart, type ResultRow } from "./support/results.js";
import { interleave, quantile } from "./support/statistics.js";
import { openStore } from "./support/stores.js";

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
/** What the first page of a list reads. */
const PAGE = 26;
const SUGGESTED = 8;

export const searchPart: BenchPart = async ({ store, rounds, report }) => {
  const rows: ResultRow[] = [];
  const { database, live, search } = await openStore(store);
  while ((await live.ifLoaded()) === undefined) await setTimeout(10);
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
      Record<"search" | "suggest", (text: string) => Promise<readonly number[] | Suggestions>>
    > = {
      search: (text) => search.find(text, PAGE),
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
        absoluteRow(
          {
            measure: `${kind}, CPU of the process, p99`,
            unit: "ms",
            store,
            target: atMost(store, kind === "search" ? [0.7, 0.7, 5] : [0.5, 0.5, 3]),
          },
          values.p99,
        ),
      );
    }
  } finally {
    await database.close();
  }
  return rows;
};
