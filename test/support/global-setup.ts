/**
 * What `npm test` does once around all files: starts one PostgreSQL server; makes a SQLite database and the OpenAPI document;
 * and names a folder where Node keeps compiled modules.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeMigrated } from "./engines.js";
import { documentText } from "./openapi.js";
import { type PostgresServer, startPostgres } from "./postgres.js";
import type { PostgresReport } from "./postgres-process.js";

/** Where test files read the outcome, a PostgresReport. */
function publish(report: PostgresReport): void {
  process.env.TEST_POSTGRES = JSON.stringify(report);
}

let server: PostgresServer | undefined;
let folder: string | undefined;

export async function globalSetup(): Promise<void> {
  // An interrupt during the setup must not look like a run that passed.
  process.exitCode = 1;
  folder = mkdtempSync(join(tmpdir(), "sidereal-test-"));
  process.env.TEST_OPENAPI = join(folder, "openapi.json");
  writeFileSync(process.env.TEST_OPENAPI, documentText());
  // Each file and each command loads the same hundreds of modules; compiling them is a fifth of that.
  process.env.NODE_COMPILE_CACHE = join(folder, "compiled");
  await Promise.all([makeMigrated(join(folder, "sqlite")), setUpPostgres()]);
  process.exitCode = undefined;
}

async function setUpPostgres(): Promise<void> {
  try {
    server = await startPostgres();
    publish({ port: server.port });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    // Tests on SQLite can still run; those on PostgreSQL fail with the reason.
    process.stderr.write(`${problem}\n`);
    publish({ problem });
  }
}

/** Called twice when the run is interrupted. */
export async function globalTeardown(): Promise<void> {
  const running = server;
  server = undefined;
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  await running?.stop();
}
