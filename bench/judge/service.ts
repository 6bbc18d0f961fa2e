/** Runs a built checkout on a folder of its own, by its command line and its API, so that any two versions can be compared. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** A row of a list, as far as every version has it. */
export interface Row {
  fullName: string;
  stars: number | null;
  trend: { from: string; to: string; starsDelta: number; reliable: boolean } | null;
}

export interface Page {
  data: Row[];
  meta: { nextCursor: string | null; asOf: string | null };
}

export type Ask = (path: string) => Promise<Page>;

/** Most rows of one response. */
const MOST_ROWS = 100;
const MOST_OUTPUT = 1e8;

export class Service {
  readonly #main: string;
  readonly #environment: NodeJS.ProcessEnv;

  /** Throws if the checkout is not built. */
  constructor(checkout: string, dataDir: string) {
    this.#main = join(checkout, "dist/bundle/main.js");
    if (!existsSync(this.#main)) throw new Error(`${checkout} is not built: npm ci && npm run build in it`);
    this.#environment = {
      ...process.env,
      SIDEREAL_DATA_DIR: dataDir,
      SIDEREAL_SAMPLE: "false",
      SIDEREAL_LIMITS: "false",
      SIDEREAL_PORT: "0",
      SIDEREAL_LOG_LEVEL: "warn",
    };
  }

  /** Imports files and updates all that follows from them. Rows may be refused. */
  importFiles(paths: readonly string[], manifest: string): void {
    const given = [this.#main, "import", "--json", "--manifest", manifest, ...paths];
    try {
      execFileSync(process.execPath, given, {
        env: this.#environment,
        stdio: "pipe",
        maxBuffer: MOST_OUTPUT,
      });
    } catch (error) {
      // A report means that everything else is imported.
      const written = error instanceof Error && "stdout" in error ? String(error.stdout) : "";
      if (!written.includes('"snapshotsAdded"')) throw error;
    }
  }

  /** Starts the server, and stops it when the work has ended. */
  async serving<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
    const child = spawn(process.execPath, [this.#main, "serve"], {
      env: this.#environment,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    try {
      const url = await new Promise<string>((resolve, reject) => {
        let text = "";
        child.stdout.on("data", (chunk) => {
          text += String(chunk);
          const found = /https?:\/\/[^\s,]+/.exec(text)?.[0];
          if (found !== undefined && text.includes("\n")) resolve(found);
        });
        child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${text}`)));
      });
      return await work(async (path) => {
        const response = await fetch(`${url}${path}`);
        if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
        return (await response.json()) as Page;
      });
    } finally {
      child.kill();
      await ended;
    }
  }
}

/** All rows of a list, page by page. */
export async function allRows(ask: Ask, path: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor = ""; ; ) {
    const page = await ask(`${path}&limit=${MOST_ROWS}${cursor}`);
    rows.push(...page.data);
    if (page.meta.nextCursor === null) return rows;
    cursor = `&cursor=${encodeURIComponent(page.meta.nextCursor)}`;
  }
}
