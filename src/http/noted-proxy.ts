/** The note of a proxy that the settings do not name, for the command `status`, which is another process. */
import { z } from "zod";
import type { Database, Db } from "../database/database.js";
import type { ProxySign } from "./unnamed-proxy.js";

const DOCUMENT = "unnamed proxy";

const Sign = z.object({ sign: z.string(), peer: z.string() });

export async function noteProxy(
  { write }: Pick<Database, "write">,
  sign: ProxySign,
  at: number,
): Promise<void> {
  const body = JSON.stringify(sign);
  await write
    .insertInto("status_documents")
    .values({ name: DOCUMENT, at, body })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ at, body }))
    .execute();
}

/** The proxy that was noticed last; null: none. `at` in ms since 1970. */
export async function readNotedProxy(read: Db): Promise<(ProxySign & { at: number }) | null> {
  const row = await read
    .selectFrom("status_documents")
    .select(["at", "body"])
    .where("name", "=", DOCUMENT)
    .executeTakeFirst();
  return row === undefined ? null : { ...Sign.parse(JSON.parse(row.body)), at: Number(row.at) };
}
