/** Part of a file: the first byte and the one after the last. */
export interface ByteRange {
  from: number;
  until: number;
}

/** No single range needs more characters. */
const MAX_LENGTH = 64;

/**
 * The range that a Range header selects of a file (RFC 9110, 14.2): undefined for all of it, also for several ranges and for what
 * is malformed, which may be ignored; "unsatisfiable" if the file has no byte of it.
 */
export function byteRange(
  header: string | undefined,
  bytes: number,
): ByteRange | "unsatisfiable" | undefined {
  if (header === undefined || header.length > MAX_LENGTH) return undefined;
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/i.exec(header) ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const length = Math.min(Number(last), bytes);
    return length === 0 ? "unsatisfiable" : { from: bytes - length, until: bytes };
  }
  const [from, until] = [Number(first), last === "" ? bytes : Math.min(Number(last) + 1, bytes)];
  if (last !== "" && Number(last) < from) return undefined;
  return from >= bytes ? "unsatisfiable" : { from, until };
}
