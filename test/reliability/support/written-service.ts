/** A real service that clients write to, on a store that outlives it. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { GENEROUS_LIMITS } from "../../../bench/support/keys.js";
import { treeOf, waitForLine } from "../../../bench/support/processes.js";
import { openStore, STORE_END } from "../../../bench/support/stores.js";
import { fillWithSynthetic } from "../../../bench/synthetic/synthetic.js";
import type { Database } from "../../../src/database/database.js";
import { hashToken } from "../../../src/lib/tokens.js";
import { updateDerived } from "../../../src/modules.js";
import { limits } from "../../support/limits.js";

/** The program as it is installed. */
export const MAIN = fileURLToPath(new URL("../../../bundle/main.js", import.meta.url));
/** Signs the sessions of `signInWriters`. */
export const SECRET = "a secret of the harnesses that nobody else has";
const CLIENTS = 4;
/** What a service may take to stop. */
const GIVE_UP_MS = 30_000;
/** Sessions that clients may end. */
const SESSIONS = 40;

/** Where a store is. */
export interface Place {
  url: string | undefined;
  dataDir: string;
}

/** Those who write, and what about. */
export interface Writers {
  cookies: string[];
  sessions: string[];
  repositoryIds: string[];
}

/** Fills a store with a small catalogue. */
export async function fillStore(place: Place): Promise<void> {
  const modules = await openStore(place);
  try {
    await fillWithSynthetic(modules.catalog, { repositories: 100, days: 3, seed: 1, end: STORE_END });
    await updateDerived(modules);
  } finally {
    await modules.database.close();
  }
}

/** Signs clients in. Creating keys needs a sign-in a quarter of an hour ago at most. */
export async function signInWriters(place: Place): Promise<Writers> {
  const { database, catalog } = await openStore(place);
  try {
    const created: string[] = [];
    for (let i = 0; i < CLIENTS + SESSIONS; i++)
      created.push(await createSession(database, SECRET, `client-${Date.now()}-${i}@example.org`));
    const dumped = await catalog.dump(0, 100);
    return {
      cookies: created.slice(0, CLIENTS),
      sessions: created.slice(CLIENTS),
      repositoryIds: dumped.map(({ repository }) => String(repository.id)),
    };
  } finally {
    await database.close();
  }
}

/** Requests that are stored as the usage of keys. */
export async function countUsage(place: Place): Promise<number> {
  const { database } = await openStore(place);
  try {
    const { rows } = await sql<{ n: number | null }>`
      select sum(requests) as n from usage_routes`.execute(database.read);
    return Number(rows[0]?.n ?? 0);
  } finally {
    await database.close();
  }
}

/** A running program of which all processes can be killed. */
export class WrittenService {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  /**
   * Starts a program with these arguments on a store, and waits until it serves. `wrapper`: a program that runs it as the same process,
   * with its arguments.
   */
  static async start(
    args: readonly string[],
    { url, dataDir }: Place,
    settings: Readonly<Record<string, string>> = {},
    wrapper: readonly string[] = [],
  ): Promise<WrittenService> {
    const [program = "", ...all] = [...wrapper, process.execPath, ...args];
    const child = spawn(program, all, {
      env: {
        ...environment(),
        ...GENEROUS_LIMITS,
        ...limits("watchlists=1000000,watchlist-items=1000000"),
        SIDEREAL_PORT: "0",
        SIDEREAL_DATA_DIR: dataDir,
        ...(url === undefined ? {} : { SIDEREAL_DATABASE_URL: url }),
        SIDEREAL_AUTH_SECRET: SECRET,
        SIDEREAL_LOG_LEVEL: "fatal",
        ...settings,
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    return new WrittenService(child, await waitForLine(child, /listens at (\S+)/));
  }

  get pids(): number[] {
    return this.#child.pid === undefined ? [] : treeOf(this.#child.pid);
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Ends it as an operator does. Returns its exit code; null if it had to be killed. */
  async stop(): Promise<number | null> {
    const ended = once(this.#child, "exit");
    const giveUp = setTimeout(() => this.#child.kill("SIGKILL"), GIVE_UP_MS);
    this.#child.kill();
    await ended;
    clearTimeout(giveUp);
    return this.#child.exitCode;
  }

  /** Kills all its processes. Does nothing if they have ended. */
  async kill(): Promise<void> {
    if (!this.isRunning) return;
    const ended = once(this.#child, "exit");
    for (const pid of this.pids)
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended meanwhile.
      }
    await ended;
  }
}

/** The settings of the harness itself, without those of Sidereal. */
export function environment(): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("SIDEREAL_")));
}

/** What SQLite says about a file: `ok`, or what is wrong. */
export function integrityOf(path: string): string {
  const database = new DatabaseSync(path);
  try {
    const found = database.prepare("pragma integrity_check").all();
    const foreign = database.prepare("pragma foreign_key_check").all();
    return foreign.length > 0 ? "rows without what they refer to" : String(found[0]?.integrity_check);
  } finally {
    database.close();
  }
}

/**
 * Signs somebody in without a mail: adds an account and a session to the store. Returns the Cookie header of a service at an http
 * address whose secret is given.
 */
async function createSession(database: Database, secret: string, email: string): Promise<string> {
  const { durable, dialect } = database;
  const [now, later] = [new Date(), new Date(Date.now() + 86_400_000)].map((time) => time.toISOString());
  const id = randomBytes(16).toString("hex");
  const token = randomBytes(16).toString("hex");
  await sql`insert into accounts (id, name, email, email_verified, created_at, updated_at)
    values (${id}, '', ${email}, ${dialect.engine === "postgres" ? true : 1}, ${now}, ${now})`.execute(
    durable,
  );
  await sql`insert into sessions (id, account_id, token_hash, created_at, updated_at, expires_at, seen_at)
    values (${randomBytes(16).toString("hex")}, ${id}, ${hashToken(token)}, ${now}, ${now}, ${later}, ${Date.now()})`.execute(
    durable,
  );
  // As the sign-in library signs cookies.
  const signature = createHmac("sha256", secret).update(token).digest("base64");
  return `sidereal.session_token=${encodeURIComponent(`${token}.${signature}`)}`;
}
