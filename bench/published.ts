/**
 * Compares measured gains with published ones: `npm run -s build && node dist/bench/published.js DATA_DIR`, where DATA_DIR has the
 * folders github-ranking, awesome-go and trending. Imports day by day, as a running service would.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { openDatabase } from "../src/database/database.js";
import type { Window } from "../src/growth/definitions.js";
import { systemClock } from "../src/lib/clock.js";
import { createLog } from "../src/lib/log.js";
import { buildModules, type Modules, updateDerived } from "../src/modules.js";
import { median } from "../src/repositories/series.js";
import { importFiles } from "../src/transfer/import.js";
import { readManifest } from "../src/transfer/transfer.js";
import { correlation } from "./judge/ranked.js";

const data = process.argv[2] ?? "../shared/data";
const work = mkdtempSync(join(tmpdir(), "sidereal-published-"));
const print = (line: string) => process.stdout.write(`${line}\n`);

function unpack(folder: string, prefix: string): string {
  const target = mkdtempSync(join(work, "files-"));
  for (const archive of readdirSync(join(data, folder)).filter(
    (name) => name.startsWith(prefix) && name.endsWith(".tar.xz"),
  )) {
    execFileSync("tar", ["xJf", join(data, folder, archive), "-C", target]);
  }
  return target;
}

async function openFresh(): Promise<Modules> {
  const dataDir = mkdtempSync(join(work, "db-"));
  return buildModules(await openDatabase({ url: undefined, dataDir, pool: 1, log: createLog("silent") }), {
    clock: systemClock,
    log: createLog("silent"),
  });
}

function ranks(values: readonly number[]): number[] {
  const order = values.map((value, i) => ({ value, i })).sort((a, b) => a.value - b.value);
  const result: number[] = [];
  for (const [rank, { i }] of order.entries()) result[i] = rank;
  return result;
}

/** The current gains of the named repositories in a window. */
async function gainsOf(
  { database, rankings }: Modules,
  names: readonly string[],
  window: Window,
): Promise<Map<string, number>> {
  const rows = await database.read
    .selectFrom("repositories")
    .select(["id", "name_key"])
    .where("provider", "=", "GITHUB")
    .where("name_key", "in", [...new Set(names.map((name) => name.toLowerCase()))])
    .execute();
  const trends = await rankings.trends(
    rows.map((row) => row.id),
    window,
  );
  return new Map(
    rows.flatMap(({ id, name_key }) => {
      const trend = trends.get(id);
      return trend === undefined || name_key === null ? [] : [[name_key, trend.starsDelta] as const];
    }),
  );
}

/** The published lists by date: full name → stars gained today. */
function publishedTrending(): Map<string, Map<string, number>> {
  const byDate = new Map<string, Map<string, number>>();
  const november = JSON.parse(
    execFileSync("xz", ["-dc", join(data, "trending/outslept-github-trending/2025-11.json.xz")], {
      maxBuffer: 1e9,
    }).toString(),
  );
  for (const [day, lists] of Object.entries(
    november.days as Record<string, { repos: { repo: string; today: number }[] }[]>,
  )) {
    byDate.set(
      `2025-11-${day.padStart(2, "0")}`,
      new Map(
        lists.flatMap(({ repos }) =>
          repos.map(({ repo, today }) => [repo.toLowerCase(), Number(today)] as const),
        ),
      ),
    );
  }
  const december = unpack("trending/bhwa233-github-trending", "daily");
  for (const file of readdirSync(december, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".json"),
  )) {
    const content = JSON.parse(readFileSync(join(december, file), "utf8"));
    const list: { fullName: string; todayStars: number }[] = content.repos;
    const date = file.match(/\d{4}-\d{2}-\d{2}/)?.[0] ?? "";
    byDate.set(
      date,
      new Map(list.map(({ fullName, todayStars }) => [fullName.toLowerCase(), Number(todayStars)])),
    );
  }
  return byDate;
}

async function compareTrending(): Promise<void> {
  const published = publishedTrending();
  const folder = unpack("github-ranking/daily", "github-ranking-daily");
  const manifest = readManifest(readFileSync(join(data, "github-ranking/manifest.csv"), "utf8"), Date.now());
  const modules = await openFresh();
  const same: [number, number][] = [];
  const after: [number, number][] = [];
  let yesterday: Map<string, number> | undefined;
  for (const file of readdirSync(folder).sort()) {
    const date = file.match(/\d{4}-\d{2}-\d{2}/)?.[0] ?? "";
    if (date > "2026-01-02") break;
    await importFiles(modules.catalog, [join(folder, file)], { manifest });
    await updateDerived(modules);
    for (const [list, pairs] of [
      [published.get(date), same],
      [yesterday, after],
    ] as const) {
      if (list === undefined) continue;
      const gains = await gainsOf(modules, [...list.keys()], "24h");
      for (const [name, today] of list) {
        const gained = gains.get(name);
        if (gained !== undefined) pairs.push([gained, today]);
      }
    }
    yesterday = published.get(date);
  }
  await modules.database.close();
  for (const [label, pairs] of [
    ["file of the same date", same],
    ["file of the next date", after],
  ] as const) {
    const spearman = correlation(
      ranks(pairs.map(([x]) => x)).map((rank, i) => [rank, ranks(pairs.map(([, y]) => y))[i] ?? 0] as const),
    );
    const differences = pairs.map(([gained, today]) => gained - today);
    const relative = pairs.map(([gained, today]) => Math.abs(gained - today) / Math.max(1, today));
    print(
      `trending, ${label}: ${pairs.length} pairs, Pearson ${correlation(pairs).toFixed(3)}, Spearman ${spearman.toFixed(3)}, median difference ${median(differences)}, median relative ${(100 * median(relative)).toFixed(1)} %`,
    );
  }
}

async function compareAwesomeGo(): Promise<void> {
  const folder = unpack("awesome-go", "analysis");
  const manifest = readManifest(readFileSync(join(data, "awesome-go/manifest.csv"), "utf8"), Date.now());
  const modules = await openFresh();
  const windows = {
    "24h": "new-stars-last-24H",
    "7d": "new-stars-last-7d",
    "30d": "new-stars-last-30d",
  } as const;
  const shared: Record<Window, number[]> = { "24h": [], "7d": [], "30d": [] };
  const equal: Record<Window, [number, number]> = { "24h": [0, 0], "7d": [0, 0], "30d": [0, 0] };
  for (const file of readdirSync(folder).sort()) {
    await importFiles(modules.catalog, [join(folder, file)], { manifest });
    await updateDerived(modules);
    const rows: Record<string, string>[] = parse(readFileSync(join(folder, file)), {
      columns: true,
      relax_column_count: true,
    });
    for (const window of ["24h", "7d", "30d"] as const) {
      const gains = await gainsOf(
        modules,
        rows.map((row) => row.repo ?? ""),
        window,
      );
      if (gains.size < 1_000) continue;
      const both = rows.flatMap((row) => {
        const name = (row.repo ?? "").toLowerCase();
        const ours = gains.get(name);
        return ours === undefined || row.stars === "0"
          ? []
          : [{ name, ours, theirs: Number(row[windows[window]]) }];
      });
      const top = (key: "ours" | "theirs") =>
        new Set(
          both
            .toSorted((a, b) => b[key] - a[key] || (a.name < b.name ? -1 : 1))
            .slice(0, 20)
            .map(({ name }) => name),
        );
      shared[window].push(top("ours").intersection(top("theirs")).size);
      equal[window][0] += both.filter(({ ours, theirs }) => ours === theirs).length;
      equal[window][1] += both.length;
    }
  }
  await modules.database.close();
  for (const window of ["24h", "7d", "30d"] as const) {
    const mean = shared[window].reduce((sum, value) => sum + value, 0) / shared[window].length;
    print(
      `awesome-go, ${window}: ${shared[window].length} days, of the top 20 by gain ${mean.toFixed(1)} shared on average (least ${Math.min(...shared[window])}); gains equal for ${((100 * equal[window][0]) / equal[window][1]).toFixed(1)} % of rows`,
    );
  }
}

try {
  await compareTrending();
  await compareAwesomeGo();
} finally {
  rmSync(work, { recursive: true, force: true });
}
