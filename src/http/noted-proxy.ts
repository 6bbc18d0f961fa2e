/** The note of a proxy that the settings do not name, for the command `status`, which is another process. */
import { z } from "zod";
import { type Database, type Db, readDocument, writeDocument } from "../database/database.js";
import type { ProxySign } from "./unnamed-proxy.js";

const DOCUMENT = "unnamed proxy";

const Sign = z.object({ sign: z.string(), peer: z.string() });

export async function noteProxy(
  { write }: Pick<Database, "write">,
  sign: ProxySign,
  at: number,
): Promise<void> {
  await writeDocument(write, DOCUMENT, { at, body: sign });
}

/** The proxy that was noticed last; null: none. `at` in ms since 1970. */
export async function readNotedProxy(read: Db): Promise<(ProxySign & { at: number }) | null> {
  const noted = await readDocument(read, DOCUMENT);
  const sign = Sign.safeParse(noted?.body).data;
  return noted === undefined || sign === undefined ? null : { ...sign, at: noted.at };
}
