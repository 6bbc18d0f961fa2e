/** The formats of files, and the layouts of CSV archives: their columns, and the observation in a row. */

import { providerOfHost } from "../config/config.js";
import { type Clock, DAY_MS, isoTime } from "../lib/clock.js";
import type { Observation, Snapshot } from "../repositories/repositories.js";
import { splitFullName } from "../repositories/repositories.js";
import { brief, count, label, optionalCount, Refusal, text, time, truth } from "./values.js";

export const FORMATS = [
  "ndjson",
  "github-ranking",
  "awesome-go",
  "awesome-selfhosted",
  "star-history",
  "daily-stars-explorer",
] as const;
export type FormatName = (typeof FORMATS)[number];

/** The facts of a file besides its content. */
export interface FileFacts {
  /** Its name without folders and without the ending of its compression. */
  name: string;
  /** When its snapshots were taken; undefined if unknown. */
  capturedAt: number | undefined;
  /** Decides which times in it are in the future. */
  clock: Clock;
}

/** A valid row that is not recorded: why, and the time that it is about. */
interface SkippedRow {
  skipped: string;
  at: number;
}

/** A CSV file with a known header. */
export interface CsvLayout {
  name: FormatName;
  /** Required columns; others are ignored. */
  columns: readonly string[];
  /** Whether rows have no time of their own, but the time of the file. */
  timeOfFile: boolean;
  /** Whether its files belong to an archive, whose newest file says which repositories it still has. */
  isArchive: boolean;
  /** The observation in a row (`cell`: a column of it), or why it is skipped. Throws Refusal for an invalid row. */
  read(cell: (column: string) => string | undefined, facts: FileFacts): Observation | SkippedRow;
}

const FAILED_FETCH = "0 stars: in this layout that is a failed fetch, not a count";

interface Address {
  provider: string;
  owner: string;
  name: string;
  url: string;
}

/** Cache of parsed URLs: a daily archive repeats the same ones in every file. */
const addresses = new Map<string, Address>();
const MAX_ADDRESSES = 20_000;
const MAX_URL = 1_000;

/** Whether a provider can have a repository with this name: only GitLab nests groups, and it reserves `-` for its own pages. */
function isName(provider: string, { owner }: { owner: string }): boolean {
  return provider === "GITLAB" ? !owner.split("/").includes("-") : !owner.includes("/");
}

/** The provider and name that a URL points to. */
function fromUrl(url: string | undefined, column: string): Address {
  const known = addresses.get(url ?? "");
  if (known !== undefined) return known;
  const match =
    (url ?? "").length > MAX_URL ? null : /^https?:\/\/([^/?#]+)\/([^?#]+?)(?:\.git)?\/*$/.exec(url ?? "");
  const provider = providerOfHost(match?.[1] ?? "");
  const parts = splitFullName(match?.[2] ?? "");
  if (match === null || parts === undefined)
    throw new Refusal(`${column}: "${brief(url)}" is not the URL of a repository`);
  if (provider === undefined)
    throw new Refusal(`${column}: unknown provider for the host "${brief(match[1])}"`);
  if (!isName(provider, parts))
    throw new Refusal(`${column}: "${brief(url)}" is not the URL of a repository`);
  const host = (match[1] ?? "").toLowerCase();
  const address = { provider, ...parts, url: `https://${host}/${parts.owner}/${parts.name}` };
  if (addresses.size >= MAX_ADDRESSES) addresses.clear();
  addresses.set(url ?? "", address);
  return address;
}

function timeOf(facts: FileFacts): number {
  if (facts.capturedAt === undefined) throw new Refusal("the capture time of the file is unknown");
  return facts.capturedAt;
}

/** The counts of a row as a snapshot; counts the layout does not have are null. */
function imported(capturedAt: number, stars: number, more: Partial<Snapshot> = {}): Snapshot {
  return { capturedAt, stars, forks: null, openIssues: null, watchers: null, source: "IMPORTED", ...more };
}

/** Daily CSV of the Github-Ranking archive: top lists by stars, forks and language, so repositories are repeated. */
const githubRanking: CsvLayout = {
  name: "github-ranking",
  columns: ["item", "stars", "forks", "language", "repo_url", "issues", "last_commit", "description"],
  timeOfFile: true,
  isArchive: true,
  read(cell, facts): Observation {
    const at = timeOf(facts);
    const { provider, owner, name, url } = fromUrl(cell("repo_url"), "repo_url");
    const stars = count(cell("stars"), "stars");
    const forks = count(cell("forks"), "forks");
    const openIssues = optionalCount(cell("issues"), "issues");
    const pushed = cell("last_commit");
    return {
      provider,
      owner,
      name,
      at,
      facts: {
        url,
        description: text(cell("description")),
        language: label(cell("language"), "language"),
        stars,
        forks,
        openIssues,
        pushedAt:
          pushed === undefined || pushed === "" ? null : time(pushed, "last_commit", facts.clock.now()),
        availability: "AVAILABLE",
      },
      snapshots: [imported(at, stars, { forks, openIssues })],
      source: "github-ranking",
    };
  },
};

/** Daily CSV of awesome-go-repo-stats. A failed fetch has 0 stars. */
const awesomeGo: CsvLayout = {
  name: "awesome-go",
  columns: ["repo", "stars", "new-stars-last-24H", "language", "archived"],
  timeOfFile: true,
  isArchive: true,
  read(cell, facts): Observation | SkippedRow {
    const at = timeOf(facts);
    const parts = splitFullName(cell("repo") ?? "");
    if (parts === undefined || !isName("GITHUB", parts))
      throw new Refusal(`repo: "${brief(cell("repo"))}" is not of the form owner/name`);
    const stars = count(cell("stars"), "stars");
    if (stars === 0) return { skipped: FAILED_FETCH, at };
    const age = optionalCount(cell("days-since-creation"), "days-since-creation");
    return {
      provider: "GITHUB",
      ...parts,
      at,
      facts: {
        url: `https://github.com/${parts.owner}/${parts.name}`,
        language: label(cell("language"), "language"),
        // The source reports whole days, so this is the start of the day of creation.
        ...(age === null ? {} : { createdAt: (Math.floor(at / DAY_MS) - age) * DAY_MS }),
        archived: truth(cell("archived"), "archived"),
        stars,
        availability: "AVAILABLE",
      },
      snapshots: [imported(at, stars)],
      source: "awesome-go",
    };
  },
};

/** The awesome-selfhosted series: a date in every row, several forges, failed fetches as 0 stars. */
const awesomeSelfhosted: CsvLayout = {
  name: "awesome-selfhosted",
  columns: ["date", "slug", "source_code_url", "stargazers_count", "archived"],
  timeOfFile: false,
  isArchive: true,
  read(cell, { clock }): Observation | SkippedRow {
    const at = time(cell("date"), "date", clock.now());
    const { provider, owner, name, url } = fromUrl(cell("source_code_url"), "source_code_url");
    const stars = count(cell("stargazers_count"), "stargazers_count");
    if (stars === 0) return { skipped: FAILED_FETCH, at };
    return {
      provider,
      owner,
      name,
      at,
      facts: { url, archived: truth(cell("archived"), "archived"), stars, availability: "AVAILABLE" },
      snapshots: [imported(at, stars)],
      source: "awesome-selfhosted",
    };
  },
};

/**
 * A repository on GitHub with the stars that it held at a time. Both sites read who had starred it when, so stars that were withdrawn
 * before are missing.
 */
function heldStars(
  [column, fullName]: readonly [column: string, fullName: string | undefined],
  at: number,
  stars: number,
): Observation {
  const parts = splitFullName(fullName ?? "");
  if (parts === undefined || !isName("GITHUB", parts))
    throw new Refusal(`${column}: "${brief(fullName)}" is not of the form owner/name`);
  const url = `https://github.com/${parts.owner}/${parts.name}`;
  const snapshot = imported(at, stars, { source: "BACKFILLED" });
  return { provider: "GITHUB", ...parts, at, facts: { url, stars }, snapshots: [snapshot] };
}

/** A time as browsers write it, such as `Tue Dec 07 2021 20:50:22 GMT+0400 (Gulf Standard Time)`. */
const BROWSER_TIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} \d{2} \d{4} \d{2}:\d{2}:\d{2} GMT[+-]\d{4}(?= \(|$)/;

/** The CSV file of star-history.com. */
const starHistory: CsvLayout = {
  name: "star-history",
  columns: ["Repository", "Date", "Stars"],
  timeOfFile: false,
  isArchive: false,
  read(cell, { clock }): Observation {
    const written = Date.parse(BROWSER_TIME.exec(cell("Date") ?? "")?.[0] ?? "");
    const at = time(Number.isNaN(written) ? cell("Date") : isoTime(written), "Date", clock.now());
    return heldStars(["Repository", cell("Repository")], at, count(cell("Stars"), "Stars"));
  },
};

/** The CSV file of daily-stars-explorer: one row a day, and the repository in the name of the file. */
const dailyStarsExplorer: CsvLayout = {
  name: "daily-stars-explorer",
  columns: ["date", "day-stars", "total-stars"],
  timeOfFile: false,
  isArchive: false,
  read(cell, { name, clock }): Observation | SkippedRow {
    const [, day, month, year] = /^(\d{2})-(\d{2})-(\d{4})$/.exec(cell("date") ?? "") ?? [];
    if (day === undefined) throw new Refusal(`date: "${brief(cell("date"))}" is not of the form 31-12-2025`);
    const at = time(`${year}-${month}-${day}`, "date", clock.now()) + DAY_MS;
    if (at > clock.now()) return { skipped: "the day has not ended", at };
    // The name of an owner on GitHub has no underscore.
    const [, owner, repository] = /^([^_]+)_(.+)-stars-history\.csv$/i.exec(name) ?? [];
    if (owner === undefined)
      throw new Refusal("the repository is unknown: name the file like owner_name-stars-history.csv");
    return heldStars(["file name", `${owner}/${repository}`], at, count(cell("total-stars"), "total-stars"));
  },
};

const CSV_LAYOUTS: readonly CsvLayout[] = [
  githubRanking,
  awesomeGo,
  awesomeSelfhosted,
  starHistory,
  dailyStarsExplorer,
];

/** What to do with a file of one's own. */
const OTHERWISE = `known are those of ${CSV_LAYOUTS.map(({ name }) => name).join(", ")} (docs/IMPORT.md); write others as NDJSON`;

/** Why a header is unreadable, if that is known: the seen and the expected columns. */
function headerProblem(header: readonly string[]): string | undefined {
  const [first = ""] = header;
  if (/^sep=.?$/i.test(header.join(",")))
    return "the first line, which Excel writes, is no header; remove it";
  if (header.some((cell) => cell.includes("\r")))
    return "lines end in CR alone; they must end in LF or CR LF";
  if (header.length > 1) return undefined;
  const [name] =
    [["semicolons", ";"] as const, ["tabs", "\t"] as const].find(([, sign]) => first.includes(sign)) ?? [];
  return name && `columns are separated by ${name}; they must be separated by commas`;
}

/** The layout that a header fits. Throws Refusal without one, or if it is not `wanted` or the file needs a time. */
export function layoutFor(
  header: readonly string[],
  facts: FileFacts,
  wanted: FormatName | undefined,
): CsvLayout {
  const layout = CSV_LAYOUTS.find(({ columns }) => columns.every((column) => header.includes(column)));
  if (layout === undefined)
    throw new Refusal(
      headerProblem(header) ??
        `no known layout has the columns ${brief(header.slice(0, 12).join(", "), 200)}; ${OTHERWISE}`,
    );
  if (wanted !== undefined && layout.name !== wanted)
    throw new Refusal(`the columns belong to ${layout.name}, not to ${wanted}`);
  if (layout.timeOfFile && facts.capturedAt === undefined) {
    throw new Refusal(
      "the capture time of its snapshots is unknown: name it like ranking-2026-04-30.csv, or use --date or --manifest",
    );
  }
  return layout;
}
