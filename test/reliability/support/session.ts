import { createHmac, randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { Database } from "../../../src/database/database.js";
import { hashToken } from "../../../src/lib/tokens.js";

/**
 * Signs somebody in without a mail: adds an account and a session to the store. Returns the Cookie header of a service at an http
 * address whose secret is given.
 */
export async function createSession(database: Database, secret: string, email: string): Promise<string> {
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
