import { randomBytes } from "node:crypto";
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.js";
import { type Database, makePrivate } from "../database/database.js";

const FILE = "auth-secret";
const MARK = "auth-secret";

/**
 * The secret that signs cookies: the configured one, else one generated at the first start. That is stored beside the SQLite
 * file, readable only by its owner, or in the database if there is no data folder.
 */
export async function readSecret(
  config: Pick<Config, "authSecret" | "databaseUrl" | "dataDir">,
  database: Database,
): Promise<string> {
  if (config.authSecret !== undefined) return config.authSecret;
  const file = secretFileOf(config);
  if (file !== undefined) return secretInFile(file);
  const made = { name: MARK, value: createSecret() };
  await database.durable
    .insertInto("marks")
    .values(made)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  const kept = await database.durable
    .selectFrom("marks")
    .select("value")
    .where("name", "=", MARK)
    .executeTakeFirstOrThrow();
  return kept.value;
}

/** The file that a generated secret is in; undefined if it is configured, or in the database. */
export function secretFileOf({
  authSecret,
  databaseUrl,
  dataDir,
}: Pick<Config, "authSecret" | "databaseUrl" | "dataDir">): string | undefined {
  const isInFile = authSecret === undefined && databaseUrl === undefined && dataDir !== ":memory:";
  return isInFile ? join(dataDir, FILE) : undefined;
}

/** Two processes may start at the same time: the file appears whole, and the first one wins. */
function secretInFile(path: string): string {
  if (!existsSync(path)) {
    const own = `${path}.${process.pid}`;
    writeFileSync(own, createSecret(), { mode: 0o600, flush: true });
    try {
      linkSync(own, path);
    } catch (error) {
      if (!existsSync(path)) throw error;
    } finally {
      rmSync(own);
    }
  }
  makePrivate(path);
  const secret = readFileSync(path, "utf8").trim();
  if (secret.length < 32)
    throw new Error(
      `The file ${FILE} in the data folder is damaged. Remove it to generate a new one, which signs everybody out.`,
    );
  return secret;
}

function createSecret(): string {
  return randomBytes(32).toString("base64url");
}
