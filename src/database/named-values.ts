/** Values that the store keeps by name: marks about all of it, and documents that one process prepares for others. */
import { randomBytes } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import type { Db } from "./dialect.js";

export async function readMark(db: Db, name: string): Promise<string | undefined> {
  const row = await db.selectFrom("marks").select("value").where("name", "=", name).executeTakeFirst();
  return row?.value;
}

export async function writeMark(db: Db, name: string, value: string): Promise<void> {
  await sql`insert into marks (name, value) values (${name}, ${value})
    on conflict (name) do update set value = excluded.value`.execute(db);
}

/** A document as it was written last, parsed, with its time in ms since 1970. */
export async function readDocument(db: Db, name: string): Promise<{ at: number; body: unknown } | undefined> {
  const row = await db
    .selectFrom("status_documents")
    .select(["at", "body"])
    .where("name", "=", name)
    .executeTakeFirst();
  return row && { at: Number(row.at), body: JSON.parse(row.body) };
}

export async function writeDocument(
  db: Db,
  name: string,
  document: { at: number; body: unknown },
): Promise<void> {
  const row = { at: document.at, body: JSON.stringify(document.body) };
  await db
    .insertInto("status_documents")
    .values({ name, ...row })
    .onConflict((conflict) => conflict.column("name").doUpdateSet(row))
    .execute();
}

/** The one number that a statement selects; `none` for null. */
export async function readNumber(db: Db, select: RawBuilder<unknown>, none = 0): Promise<number> {
  const { rows } = await select.execute(db);
  return Number(Object.values(rows[0] ?? {})[0] ?? none);
}

/** A random identity for a store. */
export function newStoreName(): string {
  return randomBytes(12).toString("base64url");
}
