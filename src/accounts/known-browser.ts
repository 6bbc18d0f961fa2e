import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { personOf } from "./mail-limits.js";

/**
 * A mark that a browser keeps after signing in by mail: a random id, and an HMAC of it with the address. With it the browser has
 * its own limit of mails, so that nobody who requests mails for this address elsewhere can keep its owner out. It
 * grants nothing else.
 */
export function markBrowser(secret: string, email: string): string {
  const id = randomBytes(12).toString("hex");
  return `${id}.${sign(secret, id, email)}`;
}

/** The id in a mark of a browser in which this address has signed in; undefined for any other mark. */
export function browserIdIn(
  mark: string | undefined,
  { secret, email }: { secret: string; email: string },
): string | undefined {
  const [, id = "", signature = ""] = /^([0-9a-f]{24})\.([\w-]{43})$/.exec(mark ?? "") ?? [];
  if (id === "") return undefined;
  const expected = sign(secret, id, email);
  return timingSafeEqual(Buffer.from(signature), Buffer.from(expected)) ? id : undefined;
}

function sign(secret: string, id: string, email: string): string {
  return createHmac("sha256", secret)
    .update(`known browser ${id} ${personOf(email)}`)
    .digest("base64url");
}
