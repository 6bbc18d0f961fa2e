/**
 * Compares suspected renames with known ones: `npm run -s build && node dist/bench/renames.js DATA_DIR [DAYS]`, where DATA_DIR has the
 * folder github-ranking. Imports day by day, as a running service would, and looks at the lists of each day.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { openDatabase } from "../src/database/database.js";
import { systemClock } from "../src/lib/clock.js";
import { createLog } from "../src/lib/log.js";
import { buildModules, type Modules } from "../src/modules.js";
import { describeEvidence, type Rename } from "../src/repositories/renames/read.js";
import { importFiles } from "../src/transfer/import.js";
import { readManifest } from "../src/transfer/transfer.js";

/** A name and the one under which it continues, in lower case, with the day of the first file with the later one. */
interface KnownRename {
  from: string;
  to: string;
  day: string;
}

/** What the lists of a day get wrong. */
interface Wrong {
  /** Ranks of names that continue under another. */
  ranks: number;
  /** Repositories that are listed under two names. */
  twice: number;
  /** Later names without growth in the file in which they begin. */
  withoutTrend: number;
}

const folder = join(process.argv[2] ?? "../shared/data", "github-ranking");
const most = Number(process.argv[3] ?? Number.POSITIVE_INFINITY);
const print = (line: string) => process.stdout.write(`${line}\n`);

function readKnown(): KnownRename[] {
  const rows: Record<string, string>[] = parse(readFileSync(join(folder, "inferred-renames.csv")), {
    columns: true,
  });
  const nameOf = (url = "") => url.replace("https://github.com/", "").toLowerCase();
  return rows
    .filter(({ kind }) => kind === "ren")
    .map((row) => ({
      from: nameOf(row.old_url),
      to: nameOf(row.new_url),
      day: row.first_seen_file_date ?? "",
    }));
}

function unpack(target: string): string[] {
  const daily = join(folder, "daily");
  for (const archive of readdirSync(daily).sort())
    execFileSync("tar", ["xJf", join(daily, archive), "-C", target]);
  return readdirSync(target)
    .sort()
    .slice(0, most)
    .map((file) => join(target, file));
}

async function allRenames({ catalog }: Modules): Promise<Rename[]> {
  return catalog.renames({ after: 0, limit: 10_000 });
}

const keyOf = ({ from, to }: Rename) => `${from.fullName} ${to.fullName}`.toLowerCase();

/** Looks at the lists of a day, with all renames that are known or suspected until then. */
async function lookAt(modules: Modules, day: string, known: readonly KnownRename[]): Promise<Wrong> {
  const wrong: Wrong = { ranks: 0, twice: 0, withoutTrend: 0 };
  const suspected = (await allRenames(modules)).map(({ from, to, evidence }) => ({
    from: from.fullName.toLowerCase(),
    to: to.fullName.toLowerCase(),
    day: new Date(evidence.to.at).toISOString().slice(0, 10),
  }));
  const begun = known.filter((one) => one.day <= day);
  const pairs = new Map([...begun, ...suspected].map((one) => [`${one.from} ${one.to}`, one]));
  const find = async (name: string) => (await modules.catalog.findByName("GITHUB", name))?.repository;
  for (const { from, to, day: firstDay } of pairs.values()) {
    const [earlier, later] = [await find(from), await find(to)];
    // A name that was given back continues itself.
    if (earlier === undefined || later === undefined) continue;
    if ((earlier.countedAt ?? 0) > (later.countedAt ?? 0)) continue;
    if (earlier.availability === "AVAILABLE" && later.availability === "AVAILABLE") wrong.twice++;
    wrong.ranks += (await modules.rankings.standing(earlier.id)).ranks.length;
    if (firstDay !== day) continue;
    const { trends } = await modules.rankings.standing(later.id);
    if (trends["24h"] === null && later.discoveredAt >= Date.parse(day)) wrong.withoutTrend++;
  }
  return wrong;
}

async function run(work: string): Promise<void> {
  const known = readKnown();
  const files = unpack(mkdtempSync(join(work, "files-")));
  const manifest = readManifest(readFileSync(join(folder, "manifest.csv"), "utf8"), Date.now());
  const dataDir = mkdtempSync(join(work, "db-"));
  const database = await openDatabase({ url: undefined, dataDir, pool: 1, log: createLog("silent") });
  const modules = buildModules(database, { clock: systemClock, log: createLog("silent") });
  let detectionMs = 0;
  let slowestMs = 0;
  const sum: Wrong = { ranks: 0, twice: 0, withoutTrend: 0 };
  for (const file of files) {
    await importFiles(modules.catalog, [file], { manifest });
    const began = performance.now();
    await modules.catalog.detectRenames();
    const ms = performance.now() - began;
    detectionMs += ms;
    slowestMs = Math.max(slowestMs, ms);
    await modules.rankings.update({ all: true });
    const day = file.slice(-14, -4);
    const wrong = await lookAt(modules, day, known);
    for (const name of ["ranks", "twice", "withoutTrend"] as const) sum[name] += wrong[name];
    if (wrong.ranks + wrong.twice + wrong.withoutTrend > 0) print(`${day}: ${JSON.stringify(wrong)}`);
  }
  await report(modules, { known, files });
  print(
    `detection: ${(detectionMs / 1_000).toFixed(1)} s for ${files.length} files, ${slowestMs.toFixed(0)} ms at most`,
  );
  print(`over all days: ${JSON.stringify(sum)}`);
  await database.close();
}

async function report(
  modules: Modules,
  { known, files }: { known: readonly KnownRename[]; files: readonly string[] },
): Promise<void> {
  const found = await allRenames(modules);
  const lastDay = files.at(-1)?.slice(-14, -4) ?? "";
  const expected = known.filter(({ day }) => day <= lastDay);
  const keys = new Set(found.map(keyOf));
  // Of a name and its return, the return stays.
  const isReturned = ({ from, to }: KnownRename) => keys.has(`${to} ${from}`);
  const missing = expected.filter((one) => !keys.has(`${one.from} ${one.to}`) && !isReturned(one));
  print(`${expected.length - missing.length} of ${expected.length} known renames are found`);
  for (const { from, to, day } of missing) print(`  missing: ${from} → ${to}, ${day}`);
  const extra = found.filter((rename) => !expected.some(({ from, to }) => `${from} ${to}` === keyOf(rename)));
  print(`${extra.length} more are suspected`);
  for (const { from, to, evidence } of extra)
    print(`  ${from.fullName} → ${to.fullName}: ${describeEvidence(evidence).join(", ")}`);
}

if (!existsSync(folder)) {
  print(`skipped: there is no folder ${folder}`);
} else {
  const work = mkdtempSync(join(tmpdir(), "sidereal-renames-"));
  try {
    await run(work);
  } finally {
    rmSync(work, { recursive: true });
  }
}
