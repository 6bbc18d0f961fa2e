import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { AppError } from "../errors.js";

/**
 * Most characters of the headers that are split or parsed, all lines of a name together. Generous: browsers bound a cookie to 4,096,
 * and credentials for a proxy in front of us may come along.
 */
const MOST: Readonly<Record<string, number>> = {
  accept: 4_096,
  "accept-encoding": 4_096,
  authorization: 4_096,
  cookie: 8_192,
  "if-none-match": 4_096,
  "x-api-key": 4_096,
  "x-forwarded-for": 4_096,
};
const LEAST = Math.min(...Object.values(MOST));

/** Throws HEADER_TOO_LARGE where a header is longer than it may be, before anything looks into it. */
export function checkHeaderLengths({ rawHeaders }: Pick<IncomingMessage, "rawHeaders">): void {
  let total = 0;
  for (let i = 1; i < rawHeaders.length; i += 2) total += rawHeaders[i]?.length ?? 0;
  if (total <= LEAST) return;
  const lengths = new Map<string, number>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [given = "", value = ""] = rawHeaders.slice(i, i + 2);
    const name = given.toLowerCase();
    const [most, length] = [MOST[name], (lengths.get(name) ?? 0) + value.length];
    lengths.set(name, length);
    if (most === undefined || length <= most) continue;
    const message = `must be at most ${most} characters`;
    throw new AppError("HEADER_TOO_LARGE", `The header ${given} ${message}.`, {
      details: [{ parameter: given, message }],
    });
  }
}

/** Whether all such headers are short, by the quickest way to know: else `checkHeaderLengths` decides. Credentials are not looked at. */
export function areShort(headers: IncomingHttpHeaders): boolean {
  return (
    isShort(headers.cookie) &&
    isShort(headers.accept) &&
    isShort(headers["accept-encoding"]) &&
    isShort(headers["if-none-match"]) &&
    isShort(headers["x-forwarded-for"])
  );
}

function isShort(value: string | string[] | undefined): boolean {
  return value === undefined || (typeof value === "string" && value.length <= LEAST);
}
