import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { Database } from "../../src/database/database.js";

/** Makes an account without signing in, and gives its id. */
export async function addAccount(database: Database, email: string): Promise<string> {
  const id = randomBytes(12).toString("hex");
  const at = "2026-04-30T12:00:00.000Z";
  await sql`insert into accounts (id, name, email, email_verified, created_at, updated_at)
    values (${id}, '', ${email}, '1', ${at}, ${at})`.execute(database.durable);
  return id;
}
