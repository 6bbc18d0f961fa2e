import { createHash } from "node:crypto";
import { VISIT_MS } from "../watchlists/watchlists.js";
import { type Note, readNote, writeNote } from "./cookies.js";
import type { PageRequest } from "./page-request.js";

/** When a browser viewed lists without an owner: at most twenty, kept for 180 days, sent to their pages only. */
const SEEN: Note = { name: "sidereal.seen", path: "/watchlists", seconds: 180 * 86_400 };
const MAX_SEEN = 20;

interface Seen {
  /** Part of a hash of the token; the token itself is not stored. */
  list: string;
  /** Seconds since 1970. */
  at: number;
  /** End of the previous visit; 0: none. */
  before: number;
}

/** Headers that browsers send with a prefetch. */
const PREFETCH_HEADERS = ["sec-purpose", "purpose", "x-moz"] as const;

/** Whether the page is opened, not prefetched. A prefetch must not change anything. */
export function isView({ headers }: Pick<PageRequest, "headers">): boolean {
  return !PREFETCH_HEADERS.some((name) => String(headers[name] ?? "").includes("prefetch"));
}

/** When this browser last visited the list (ms since 1970; undefined on the first visit), and the cookie that records this view. */
export function recordView(
  token: string,
  { cookie, baseUrl, now }: Pick<PageRequest, "cookie" | "baseUrl" | "now">,
): { since: number | undefined; cookie: string } {
  const list = createHash("sha256").update(`seen ${token}`).digest("hex").slice(0, 12);
  const all = readSeen(readNote(SEEN, cookie, baseUrl) ?? "");
  const known = all.find((one) => one.list === list);
  const at = Math.floor(now / 1_000);
  const isNew = known !== undefined && (at - known.at) * 1_000 >= VISIT_MS;
  const before = isNew ? known.at : (known?.before ?? 0);
  const kept = [{ list, at, before }, ...all.filter((one) => one !== known)].slice(0, MAX_SEEN);
  const value = kept.map((one) => `${one.list}-${one.at}-${one.before}`).join(".");
  return {
    since: before === 0 ? undefined : before * 1_000,
    cookie: writeNote(SEEN, value, baseUrl),
  };
}

/** Ignores entries that we would not have written. */
function readSeen(value: string): Seen[] {
  return value
    .split(".")
    .slice(0, MAX_SEEN)
    .flatMap((text) => {
      const [, list = "", at, before] = /^([0-9a-f]{12})-(\d{1,12})-(\d{1,12})$/.exec(text) ?? [];
      return list === "" ? [] : [{ list, at: Number(at), before: Number(before) }];
    });
}
