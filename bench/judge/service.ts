/** Runs a built checkout on a folder of its own, by its command line and its API, so that any two versions can be compared. */
import { execFileSync, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const pageSchema = z.object({
  data: z.array(
    z.object({
      fullName: z.string(),
      stars: z.number().nullable(),
      trend: z.object({ from: z.string(), to: z.string(), starsDelta: z.number() }).nullable(),
    }),
  ),
  meta: z.object({ nextCursor: z.string().nullable() }),
});

/** A row of a list, as far as every version has it. */
export type Row = z.output<typeof pageSchema>["data"][number];

/** The body of a response; undefined for 404. Throws for every other error. */
export type Ask = (path: string) => Promise<unknown>;

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
        if (response.status === 404) return undefined;
        if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
        return response.json();
      });
    } finally {
      child.kill();
      await ended;
    }
  }
}

/** The first rows of a list, at most a hundred. */
export async function firstRows(ask: Ask, path: string): Promise<Row[]> {
  return pageSchema.parse(await ask(`${path}&limit=${MOST_ROWS}`)).data;
}

/** All rows of a list, page by page. */
export async function allRows(ask: Ask, path: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (let cursor = ""; ; ) {
    const page = pageSchema.parse(await ask(`${path}&limit=${MOST_ROWS}${cursor}`));
    rows.push(...page.data);
    if (page.meta.nextCursor === null) return rows;
    cursor = `&cursor=${encodeURIComponent(page.meta.nextCursor)}`;
  }
}
