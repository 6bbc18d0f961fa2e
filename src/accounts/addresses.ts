/** E-mail addresses, and the accounts that have them. */
import { sql } from "kysely";
import { z } from "zod";
import type { Database, Db } from "../database/database.js";

/** An e-mail address as typed by a person. */
export const emailField = z
  .email({ error: ({ input }) => (input === undefined ? undefined : "must be an e-mail address") })
  .max(254, "must be at most 254 characters");

/** The id of the account with an e-mail address; undefined for none. */
export async function findAccountId(db: Db, address: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("accounts")
    .select("id")
    .where("email", "=", address.trim().toLowerCase())
    .executeTakeFirst();
  return row?.id;
}

/** The e-mail addresses of accounts by their ids; deleted accounts are absent. */
export async function addressesOf(
  { read, dialect }: Pick<Database, "read" | "dialect">,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const rows = await read
    .selectFrom("accounts")
    .select(["id", "email"])
    .where(dialect.among(sql.ref("id"), ids))
    .execute();
  return new Map(rows.map(({ id, email }) => [id, email]));
}
