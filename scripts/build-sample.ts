/**
 * Builds the bundled sample from an archive of EvanLi/Github-Ranking:
 *
 *   npm run -s build && node dist/scripts/build-sample.js <folder> <metadata> [output]
 *
 * The folder contains `manifest.csv` (columns file, source_commit_time), `daily/*.tar.xz` with one CSV file a day, and
 * optionally `inferred-renames.csv` (columns first_seen_file_date, old_url, new_url). Unpacking needs `tar` and `xz`.
 * The folder of metadata contains records of GitHub's API with topics and creation dates: `records.jsonl.gz` of
 * 3ziye/github-trending and `repo_info.csv.gz` of michbaum/githubGraph. The same input gives the same file.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { constants, gunzipSync, zstdCompressSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { DAY_MS, isoTime } from "../src/lib/clock.js";
import { type SampleFile, type SampleRepository, VERSION } from "../src/transfer/sample-file.js";

const FIRST_DAY = "2026-01-01";
/** Readings are daily for this many days before the newest, and every STEP_DAYS before that. */
const DAILY_DAYS = 45;
const STEP_DAYS = 3;
const REPOSITORIES = 2_000;
/** Number of those chosen by stars and by stars gained in the last 30 days; the rest are the top of each language. */
const TOP = 150;
const FASTEST = 350;

interface Reading {
  at: number;
  stars: number;
  forks: number;
  openIssues: number;
  language: string;
  pushedAt: string;
  description: string;
}

/** Topics and creation date of a repository. */
interface Metadata {
  topics: string[];
  createdAt: string;
}

/** GitHub shows this many characters of a description. */
const DESCRIPTION_LENGTH = 350;

/** The readings of one repository by file date. */
type History = Map<string, Reading>;

interface Rename {
  date: string;
  old: string;
  new: string;
}

interface Previous {
  fullName: string;
  until: number;
}

const rowsOf = (csv: Buffer): Record<string, string>[] =>
  parse(csv, { columns: true, relax_column_count: true });
const read = (path: string) => rowsOf(readFileSync(path));
const nameOf = (url: string): string => url.replace(/^https:\/\/github\.com\//, "");

function readArchive(folder: string): { days: string[]; histories: Map<string, History> } {
  const times = new Map(
    read(join(folder, "manifest.csv")).map((row) => [
      row.file ?? "",
      Date.parse(row.source_commit_time ?? ""),
    ]),
  );
  const histories = new Map<string, History>();
  const days: string[] = [];
  const directory = mkdtempSync(join(tmpdir(), "sidereal-sample-"));
  try {
    for (const archive of readdirSync(join(folder, "daily")).sort()) {
      if (/\d{4}-\d{2}/.exec(archive)?.[0] === undefined) continue;
      if ((/\d{4}-\d{2}/.exec(archive)?.[0] ?? "") < FIRST_DAY.slice(0, 7)) continue;
      execFileSync("tar", ["-xJf", join(folder, "daily", archive), "-C", directory]);
    }
    for (const file of readdirSync(directory).sort()) {
      const day = /\d{4}-\d{2}-\d{2}/.exec(file)?.[0];
      const at = times.get(file);
      if (day === undefined || at === undefined || day < FIRST_DAY) continue;
      days.push(day);
      for (const row of read(join(directory, file))) {
        const name = nameOf(row.repo_url ?? "");
        const history = histories.get(name) ?? new Map<string, Reading>();
        histories.set(name, history);
        // A repository is in several lists of one file; the first one counts.
        if (history.has(day)) continue;
        history.set(day, {
          at,
          stars: Number(row.stars),
          forks: Number(row.forks),
          openIssues: Number(row.issues),
          language: row.language ?? "",
          pushedAt: row.last_commit ?? "",
          description: row.description ?? "",
        });
      }
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
  return { days, histories };
}

/** The metadata by lower-case name. Newer records, which are in the first file, replace older ones. */
function readMetadata(folder: string): Map<string, Metadata> {
  const found = new Map<string, Metadata>();
  const unpacked = (name: string) => gunzipSync(readFileSync(join(folder, name)));
  for (const { url = "", topics = "", created_at: createdAt = "" } of rowsOf(unpacked("repo_info.csv.gz")))
    found.set(url.slice(1).toLowerCase(), {
      topics: [...topics.matchAll(/'([^']+)'/g)].map(([, topic = ""]) => topic),
      createdAt: isoTime(Date.parse(createdAt)),
    });
  for (const line of unpacked("records.jsonl.gz").toString("utf8").split("\n")) {
    if (line === "") continue;
    const { basic_info: basic, tech_info: tech } = JSON.parse(line);
    found.set(basic.full_name.toLowerCase(), {
      topics: tech.topics,
      createdAt: isoTime(Date.parse(basic.created_at)),
    });
  }
  return found;
}

/**
 * Joins a renamed repository's readings under its new name. A pair counts as a rename only if the old name has no reading
 * from that day on, the new one none before, and their stars differ by at most 2 % (or 50). Any other pair stays apart.
 */
function joinRenames(folder: string, histories: Map<string, History>): Map<string, Previous[]> {
  const previous = new Map<string, Previous[]>();
  const path = join(folder, "inferred-renames.csv");
  if (!existsSync(path)) return previous;
  const renames: Rename[] = read(path)
    .map((row) => ({
      date: row.first_seen_file_date ?? "",
      old: nameOf(row.old_url ?? ""),
      new: nameOf(row.new_url ?? ""),
    }))
    .sort((a, b) => a.date.localeCompare(b.date));
  for (const rename of renames) {
    const [before, after] = [histories.get(rename.old), histories.get(rename.new)];
    if (before === undefined || after === undefined) continue;
    const last = [...before].at(-1);
    const first = [...after].find(([day]) => day >= rename.date);
    const earlier = [...after].filter(([day]) => day < rename.date).map(([day]) => day);
    if (last === undefined || first === undefined || last[0] >= rename.date) continue;
    // A name that was dropped and reused later has readings before and after those of the other name.
    if (earlier.some((day) => before.has(day))) continue;
    if (Math.abs(first[1].stars - last[1].stars) > Math.max(50, last[1].stars * 0.02)) continue;
    const joined = new Map([...before, ...after].sort(([a], [b]) => a.localeCompare(b)));
    histories.set(rename.new, joined);
    histories.delete(rename.old);
    const names = [...(previous.get(rename.old) ?? []), { fullName: rename.old, until: last[1].at }];
    previous.set(
      rename.new,
      names.filter(({ fullName }) => fullName !== rename.new),
    );
    previous.delete(rename.old);
  }
  return previous;
}

/** The names to keep: of those with a reading on the last day, the largest, the fastest growing, and the top of each language. */
function choose(histories: ReadonlyMap<string, History>, days: readonly string[]): string[] {
  const lastDay = days.at(-1) ?? "";
  const monthAgo = days.at(-31) ?? "";
  const current = [...histories].flatMap(([name, history]) => {
    const reading = history.get(lastDay);
    const before = history.get(monthAgo) ?? [...history.values()][0];
    return reading === undefined || before === undefined
      ? []
      : [{ name, stars: reading.stars, gained: reading.stars - before.stars, language: reading.language }];
  });
  const byStars = current.toSorted((a, b) => b.stars - a.stars || a.name.localeCompare(b.name));
  const byGain = current.toSorted((a, b) => b.gained - a.gained || a.name.localeCompare(b.name));
  const chosen = new Set([...byStars.slice(0, TOP), ...byGain.slice(0, FASTEST)].map(({ name }) => name));
  const languages = [...Map.groupBy(byStars, ({ language }) => language).values()];
  for (let rank = 0; chosen.size < REPOSITORIES && languages.some((list) => rank < list.length); rank++) {
    for (const list of languages) {
      const candidate = list[rank];
      if (candidate !== undefined && chosen.size < REPOSITORIES) chosen.add(candidate.name);
    }
  }
  return byStars.flatMap(({ name }) => (chosen.has(name) ? [name] : []));
}

/** Differences from the last known value; null if there is no reading. */
function differences(values: readonly (number | undefined)[]): (number | null)[] {
  let last = 0;
  return values.map((value) => {
    if (value === undefined) return null;
    const difference = value - last;
    last = value;
    return difference;
  });
}

function build(folder: string, metadataFolder: string): SampleFile {
  const metadata = readMetadata(metadataFolder);
  const { days, histories } = readArchive(folder);
  const previous = joinRenames(folder, histories);
  const names = choose(histories, days);
  const kept = days.filter((_, i) => {
    const age = days.length - 1 - i;
    return age < DAILY_DAYS || age % STEP_DAYS === 0;
  });
  const times = kept.map((day) => {
    const at = names.map((name) => histories.get(name)?.get(day)?.at).find((time) => time !== undefined);
    if (at === undefined) throw new Error(`no reading on ${day}`);
    return at;
  });
  const repositories = names.map((name): SampleRepository => {
    const history = histories.get(name) ?? new Map<string, Reading>();
    const readings = kept.map((day) => history.get(day));
    const newest = readings.at(-1);
    const names = previous.get(name) ?? [];
    const known = [name, ...names.map(({ fullName }) => fullName)]
      .map((one) => metadata.get(one.toLowerCase()))
      .find((one) => one !== undefined);
    const description = newest?.description.trim().slice(0, DESCRIPTION_LENGTH) ?? "";
    return {
      fullName: name,
      description: description === "" ? null : description,
      topics: known?.topics ?? [],
      createdAt: known?.createdAt ?? null,
      language: newest?.language === "" ? null : (newest?.language ?? null),
      pushedAt: newest?.pushedAt === "" ? null : (newest?.pushedAt ?? null),
      ...(names.length === 0
        ? {}
        : { previousNames: names.map(({ fullName, until }) => ({ fullName, until: isoTime(until) })) }),
      stars: differences(readings.map((reading) => reading?.stars)),
      forks: differences(readings.map((reading) => reading?.forks)),
      openIssues: differences(readings.map((reading) => reading?.openIssues)),
    };
  });
  return { format: "sidereal-sample", version: VERSION, times: times.map(isoTime), repositories };
}

const [folder, metadata, output = "sample/github-ranking.json.zst"] = process.argv.slice(2);
if (folder === undefined || metadata === undefined) {
  process.stderr.write(
    "usage: node dist/scripts/build-sample.js <folder of the archive> <folder of the metadata> [output]\n",
  );
  process.exit(2);
}
const sample = build(folder, metadata);
const packed = zstdCompressSync(JSON.stringify(sample), {
  params: { [constants.ZSTD_c_compressionLevel]: 19, [constants.ZSTD_c_windowLog]: 24 },
});
writeFileSync(output, packed);
const spanDays = Math.round(
  (Date.parse(sample.times.at(-1) ?? "") - Date.parse(sample.times[0] ?? "")) / DAY_MS,
);
const snapshots = sample.repositories.reduce(
  (sum, { stars }) => sum + stars.filter((value) => value !== null).length,
  0,
);
process.stdout.write(
  `${output}: ${sample.repositories.length} repositories, ${snapshots} snapshots over ${spanDays} days, ${packed.length} bytes\n`,
);
