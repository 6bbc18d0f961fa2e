/** The formats of files, and the layouts of CSV archives: their columns, and the observation in a row. */

import { providerOfHost } from "../config/config.js";
import { type Clock, DAY_MS } from "../lib/clock.js";
import type { Observation, Snapshot } from "../repositories/repositories.js";
import { splitFullName } from "../repositories/repositories.js";
import { brief, count, label, optionalCount, Refusal, text, time, truth } from "./values.js";

export const FORMATS = ["ndjson", "github-ranking", "awesome-go", "awesome-selfhosted"] as const;
export type FormatName = (typeof FORMATS)[number];

/** What is known of a file besides its content. */
export interface FileFacts {
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
  /**
   * The observation in a row, or why it is skipped. Throws Refusal for an invalid row. `cell` returns a column of the row.
   */
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

const CSV_LAYOUTS: readonly CsvLayout[] = [githubRanking, awesomeGo, awesomeSelfhosted];

/** The layout that a header fits. Throws Refusal without one, or if it is not `wanted` or lacks the time of the file. */
export function layoutFor(
  header: readonly string[],
  facts: FileFacts,
  wanted: FormatName | undefined,
): CsvLayout {
  const layout = CSV_LAYOUTS.find(({ columns }) => columns.every((column) => header.includes(column)));
  if (layout === undefined)
    throw new Refusal(`no known layout has the columns ${brief(header.slice(0, 12).join(", "), 200)}`);
  if (wanted !== undefined && layout.name !== wanted)
    throw new Refusal(`the columns belong to ${layout.name}, not to ${wanted}`);
  if (layout.timeOfFile && facts.capturedAt === undefined) {
    throw new Refusal(
      "the capture time of its snapshots is unknown: name it like ranking-2026-04-30.csv, or use --date or --manifest",
    );
  }
  return layout;
}
