import { randomBytes } from "node:crypto";

/** Ids of requests: unique in this process, and improbable to occur in another. Twelve characters of base64url. */
export function requestIds(): () => string {
  const prefix = randomBytes(4).toString("base64url").slice(0, 5);
  let count = 0;
  return () => prefix + (count++ % 36 ** 7).toString(36).padStart(7, "0");
}
