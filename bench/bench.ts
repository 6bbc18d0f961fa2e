/**
 * Measures the service on a synthetic catalogue: `npm run bench -- --repositories 100000 --days 7`. Since machines differ and are
 * noisy, the time of each request is also reported as a multiple of a baseline measured in the same run: reading one repository
 * by id. Requests bypass only the network; the response cache is off.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildFront } from "../src/app.js";
import { systemClock } from "../src/clock.js";
import { loadConfig } from "../src/config.js";
import { openDatabase } from "../src/database/database.js";
import { fillWithDemo, syntheticRepository } from "../src/demo/demo.js";
import { createLog } from "../src/log.js";
import { buildModules, updateDerived } from "../src/modules.js";
import { inject } from "../test/support/inject.js";

const { values } = parseArgs({
  options: {
    repositories: { type: "string", default: "100000" },
    days: { type: "string", default: "7" },
    seed: { type: "string", default: "1" },
    url: { type: "string" },
    rounds: { type: "string", default: "200" },
  },
});
const repositories = Number(values.repositories);
const options = {
  repositories,
  days: Number(values.days),
  seed: Number(values.seed),
  end: Date.UTC(2026, 3, 30, 12),
};
const log = createLog("error");
const dataDir = mkdtempSync(join(tmpdir(), "sidereal-bench-"));

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1_000;
}

/** Median and 99th percentile in milliseconds. */
async function measure(
  rounds: number,
  work: (round: number) => Promise<unknown>,
): Promise<{ median: number; p99: number }> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) times.push((await seconds(() => work(round))) * 1_000);
  times.sort((a, b) => a - b);
  return { median: times[Math.floor(rounds / 2)] ?? 0, p99: times[Math.ceil(rounds * 0.99) - 1] ?? 0 };
}

const print = (line: string) => process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const database = await openDatabase({ url: values.url, dataDir, pool: 4, log });
  const modules = buildModules(database, systemClock, log);
  print(`${repositories} repositories, ${options.days} days, ${database.dialect.engine}`);

  const filling = await seconds(() => fillWithDemo(modules.catalog, options));
  print(`fill: ${filling.toFixed(1)} s, ${Math.round((repositories * options.days) / filling)} snapshots/s`);
  print(
    `growth, ranks and facets of all: ${(await seconds(() => modules.rankings.update({ all: true }))).toFixed(1)} s`,
  );
  print(
    `search index and statistics: ${(await seconds(() => updateDerived(modules))).toFixed(1)} s (includes the update above, with nothing changed)`,
  );
  const changed = Math.min(10_000, repositories);
  for (let from = 0; from < changed; from += 1_000) {
    const batch = Array.from({ length: Math.min(1_000, changed - from) }, (_, i) => {
      const repository = syntheticRepository(from + i, options);
      const last = [...repository.snapshots].at(-1);
      const at = options.end + 3_600_000;
      return {
        ...repository,
        at,
        snapshots: last === undefined ? [] : [{ ...last, capturedAt: at, stars: last.stars + 1 }],
      };
    });
    await modules.catalog.record(batch);
  }
  print(
    `growth, ranks and facets after ${changed} changed: ${(await seconds(() => modules.rankings.update())).toFixed(2)} s`,
  );
  print(`database: ${((await database.dialect.size(database.read)) / 1e6).toFixed(0)} MB`);

  const front = buildFront(
    { config: loadConfig({ SIDEREAL_CACHE_MB: "0", SIDEREAL_LIMITS: "false" }), clock: systemClock, log },
    modules,
  );
  const rounds = Number(values.rounds);
  const baseline = await measure(rounds * 5, (round) =>
    modules.catalog.find(1 + ((round * 7_919) % repositories)),
  );
  print(`baseline (one repository by id): median ${(baseline.median * 1_000).toFixed(0)} µs\n`);
  const samples = await modules.catalog.findMany(
    Array.from({ length: rounds }, (_, i) => 1 + ((i * 7_919) % repositories)),
  );
  const sample = (round: number) => {
    const found = samples[round % samples.length];
    if (found === undefined) throw new Error("the catalogue is empty");
    return found;
  };
  /** A repository in addresses: `provider/owner/name` in paths, `provider:owner/name` in queries. */
  const name = (round: number): string => {
    const { provider, fullName } = sample(round);
    return [provider.toLowerCase(), ...fullName.split("/")].map(encodeURIComponent).join("/");
  };
  const key = (round: number): string => {
    const { provider, fullName } = sample(round);
    return encodeURIComponent(`${provider.toLowerCase()}:${fullName}`);
  };
  const requests: [string, (round: number) => string][] = [
    [
      "detail",
      (round) => {
        const { provider, owner, name } = sample(round);
        return `/api/repos/${provider}/${encodeURIComponent(owner)}/${name}`;
      },
    ],
    ["list, stars", () => "/api/repos?sort=stars"],
    ["list, 24h gains", () => "/api/repos?sort=stars_gained"],
    ["list, 30d gains, page 40", () => "/api/repos?sort=stars_gained&window=30d&page=40"],
    ["list, a common language", () => "/api/repos?sort=stars&language=python"],
    ["list, a rare language, gains", () => "/api/repos?sort=stars_gained&language=haskell"],
    ["list, language and topic", () => "/api/repos?sort=stars&language=rust&topic=web"],
    ["list, created lately, by stars", () => "/api/repos?sort=stars&createdAfter=2026-04-20"],
    ["list, archived forks by creation", () => "/api/repos?sort=created&archived=true&fork=true"],
    ["list, few stars by forks", () => "/api/repos?sort=forks&maxStars=20"],
    ["search, a common word", () => "/api/repos?q=library"],
    ["search, a rare word", (round) => `/api/repos?q=${(1_000 + round).toString(36)}`],
    ["search, three words", () => "/api/repos?q=quick%20parser%20go"],
    ["search, by gains", () => "/api/repos?q=parser&sort=stars_gained"],
    ["suggest, one letter", (round) => `/api/search/suggest?q=${"abcdefghij"[round % 10]}`],
    ["suggest, three letters", (round) => `/api/search/suggest?q=${["com", "wil", "lan", "sta"][round % 4]}`],
    ["series", (round) => `/api/repos/${1 + ((round * 7_919) % repositories)}/metrics?window=all`],
    ["summary", () => "/api/stats/summary"],
    ["topics", () => "/api/facets/topics"],
    ["home, as data", () => "/api/home"],
    ["page: home", () => "/"],
    ["page: explore", () => "/explore"],
    ["page: explore, filtered", () => "/explore?language=Rust&minStars=50&sort=stars_gained&window=7d"],
    ["page: explore, searched", () => "/explore?q=parser"],
    ["page: repository", (round) => `/repos/${name(round)}`],
    ["page: compare", (round) => `/compare?repo=${key(round)}&repo=${key(round + 1)}&repo=${key(round + 2)}`],
    ["page: languages", () => "/languages"],
    ["page: a language", () => "/languages/Rust"],
    ["page: a topic", () => "/topics/web"],
    ["embed: chart", (round) => `/api/embed/chart.svg?repo=${key(round)}`],
    ["feed", () => "/api/feeds/trending.atom?window=7d"],
  ];
  for (const [title, path] of requests) {
    const ask = async (round: number) => {
      const request = new Request(`http://localhost${path(round)}`);
      const response = await inject(
        (message, reply) => void front.handle(message, reply),
        request,
        "127.0.0.1",
      );
      if (response.status !== 200) throw new Error(`${path(round)} returned ${response.status}`);
      await response.arrayBuffer();
    };
    await measure(5, ask);
    const { median, p99 } = await measure(rounds, ask);
    const ratio = (median / baseline.median).toFixed(1);
    print(
      `${title.padEnd(34)} median ${median.toFixed(2).padStart(8)} ms  p99 ${p99.toFixed(2).padStart(8)} ms  ${ratio.padStart(7)} × baseline`,
    );
  }
  await database.close();
}

await main().finally(() => rmSync(dataDir, { recursive: true, force: true }));
