/** What forges say about a token, in a bounded and safe form: operators read it on a page. */
import { z } from "zod";
import { EARLIEST, LATEST } from "../record-rules.js";
import type { TokenCheck } from "./contract.js";
import { count, label, orNull } from "./fields.js";

const MAX_SCOPES = 50;

/** Nothing is known of a token but that it is accepted. */
export const ONLY_ACCEPTED: TokenCheck = {
  owner: null,
  scopes: null,
  limit: null,
  remaining: null,
  expiresAt: null,
};

/** The names of scopes in a list; others are left out. */
export function scopesOf(list: readonly unknown[]): string[] {
  const names = list.slice(0, MAX_SCOPES).filter((one) => typeof one === "string");
  return names.map((one) => one.trim()).filter((one) => /^[\w:.-]{1,60}$/.test(one));
}

/** A time such as `2026-05-01 12:00:00 UTC` or `2026-05-01`; null for any other text. */
export function expiryOf(text: string | null): number | null {
  const [day, hour = "00:00:00"] =
    /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d))?/.exec(text ?? "")?.slice(1) ?? [];
  const ms = Date.parse(`${day}T${hour}Z`);
  return ms >= EARLIEST && ms <= LATEST ? ms : null;
}

/** The limit and the rest of it in the headers of a response. */
export function limitsOf(headers: Headers): Pick<TokenCheck, "limit" | "remaining"> {
  const read = (name: string) => {
    const text = headers.get(`x-${name}`) ?? headers.get(name) ?? "";
    return /^\d{1,9}$/.test(text) ? Number(text) : null;
  };
  return { limit: read("ratelimit-limit"), remaining: read("ratelimit-remaining") };
}

/** An account of any forge. */
export const userSchema = z.object({ login: orNull(label), username: orNull(label) });

/** A limit in a document. */
export const limitSchema = z.object({ limit: count, remaining: count });
