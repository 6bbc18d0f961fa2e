import { join } from "node:path";
import type { Config } from "../config/config.js";
import { createSecret, type Database, readMark, secretInFile } from "../database/database.js";

const FILE = "auth-secret";
/** Name of the row of `marks` that has the secret if it is in the database. */
export const SECRET_MARK = "auth-secret";

type SecretSettings = Pick<Config, "authSecret" | "databaseUrl" | "dataDir">;

/** The place of the secret. */
export interface SecretPlace {
  config: SecretSettings;
  database: Database;
}

const known = new WeakMap<Database, Promise<string>>();

/**
 * The secret that signs cookies: the configured one, else one generated at the first start. That is stored next to the SQLite
 * file, readable only by its owner, or in the database if there is no data folder. Read once for each open database.
 */
export async function readSecret({ config, database }: SecretPlace): Promise<string> {
  if (config.authSecret !== undefined) return config.authSecret;
  const reading = known.get(database) ?? readGenerated({ config, database });
  known.set(database, reading);
  return reading.catch((error: unknown) => {
    known.delete(database);
    throw error;
  });
}

async function readGenerated({ config, database }: SecretPlace): Promise<string> {
  const file = secretFileOf(config);
  if (file !== undefined) return secretInFile(file, "which signs everybody out");
  const made = { name: SECRET_MARK, value: createSecret() };
  await database.durable
    .insertInto("marks")
    .values(made)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await readMark(database.durable, SECRET_MARK)) ?? made.value;
}

/** The file that a generated secret is in; undefined if it is configured, or in the database. */
export function secretFileOf({ authSecret, databaseUrl, dataDir }: SecretSettings): string | undefined {
  const isInFile = authSecret === undefined && databaseUrl === undefined && dataDir !== ":memory:";
  return isInFile ? join(dataDir, FILE) : undefined;
}
