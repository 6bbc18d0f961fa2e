import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after } from "node:test";
import { openDatabase } from "../../src/database/database.js";
import { createLog } from "../../src/lib/log.js";
import type { DumpedRepository } from "../../src/repositories/dump.js";
import { Catalog } from "../../src/repositories/repositories.js";
import { type ImportOptions, type ImportReport, importFiles } from "../../src/transfer/import.js";
import { ManualClock } from "./manual-clock.js";
import { NOW } from "./world.js";

/** A folder that is gone when the tests of this file end. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "sidereal-test-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What importing came to. */
export interface Imported {
  report: ImportReport;
  /** As the command line writes them, `name:line: reason`; without a line for a whole file. */
  refused: string[];
  skipped: string[];
  /** Everything that is in the catalogue now, by full name. */
  repositories: Map<string, DumpedRepository>;
}

/** A catalogue in memory that files are imported into; the files are written first. */
export class ImportWorld {
  readonly #folder = temporaryFolder();
  readonly #catalog: Promise<Catalog>;

  constructor() {
    const opened = openDatabase({ url: undefined, dataDir: ":memory:", pool: 1, log: createLog("silent") });
    this.#catalog = opened.then((database) => new Catalog(database, new ManualClock(NOW)));
    after(async () => (await opened).close());
  }

  /** Writes files by name and imports them in this order. */
  import(files: Record<string, string | Uint8Array>, options: ImportOptions = {}): Promise<Imported> {
    const paths = Object.entries(files).map(([name, content]) => {
      const path = join(this.#folder, name);
      writeFileSync(path, content);
      return path;
    });
    return this.importPaths(paths, options);
  }

  async importPaths(paths: readonly string[], options: ImportOptions = {}): Promise<Imported> {
    const catalog = await this.#catalog;
    const refused: string[] = [];
    const skipped: string[] = [];
    const note = (list: string[]) => (problem: { file: string; line: number; reason: string }) => {
      const place = problem.line === 0 ? "" : `:${problem.line}`;
      list.push(`${basename(problem.file)}${place}: ${problem.reason}`);
    };
    const report = await importFiles(catalog, paths, {
      ...options,
      onRefused: note(refused),
      onSkipped: note(skipped),
    });
    const dumped = await catalog.dump(0, 50_000);
    const repositories = new Map(dumped.map((each) => [each.repository.fullName, each]));
    return { report, refused, skipped, repositories };
  }
}

/** A row of CSV, quoted where it has to be. */
export function csvRow(cells: readonly (string | number)[]): string {
  return cells
    .map((cell) => (/[",\r\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : cell))
    .join(",");
}

const RANKING = {
  rank: "1",
  item: "top-100-stars",
  repo_name: "r",
  stars: "100",
  forks: "10",
  language: "Go",
  repo_url: "https://github.com/o/r",
  username: "o",
  issues: "5",
  last_commit: "2026-04-01T10:00:00Z",
  description: "A thing",
};

/** The first line of a Github-Ranking file. */
export const RANKING_HEADER = Object.keys(RANKING).join(",");

/** A row of a Github-Ranking file. */
export function rankingRow(cells: Partial<Record<keyof typeof RANKING, string>> = {}): string {
  return csvRow(Object.values({ ...RANKING, ...cells }));
}

/** A whole Github-Ranking file. */
export function rankingFile(...rows: Partial<Record<keyof typeof RANKING, string>>[]): string {
  return `${[RANKING_HEADER, ...rows.map(rankingRow)].join("\n")}\n`;
}
