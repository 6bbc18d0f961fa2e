import { createHash } from "node:crypto";
import type { Clock } from "../../../src/clock.js";
import type { ForgeCatalogue } from "./catalogue.js";
import type { Listing } from "./listing.js";

/** A request as the forge has read it. */
export interface ForgeRequest {
  method: string;
  /** Without the query, not decoded. */
  path: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string | undefined>>;
  /** The token that came with it, in whatever form; null: none. */
  token: string | null;
  body: string;
  /** What it asks for, such as `search`, `repository`, `graphql`, `list`. */
  kind: string;
}

/** What is sent back. `headers` by lower-case name. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** How many repositories it tells the present state of. */
  repositories: number;
}

/** What the three APIs answer from. */
export interface Site {
  /** Address of the site without a slash at the end. */
  url: string;
  clock: Pick<Clock, "now">;
  catalogue: ForgeCatalogue;
  /** What searches and lists see, at most an hour old. */
  listing(): Listing;
  /** GitHub: whether daily star counts are offered; else 404. */
  hasHistory: boolean;
  /** GitHub: whether searches say that they are incomplete. */
  isSearchIncomplete: boolean;
}

/** A JSON answer. */
export function json(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
  repositories = 0,
): Answer {
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    body: JSON.stringify(body),
    repositories,
  };
}

/** A validator of a body as one token sees it; another token gets another one. */
export function weakTag(body: string, token: string | null): string {
  return `W/"${createHash("sha256")
    .update(token ?? "")
    .update("\0")
    .update(body)
    .digest("hex")}"`;
}

/** A whole number of a query, at least 1 and at most `most`; `fallback` where it is absent or none. */
export function countOf(query: URLSearchParams, name: string, fallback: number, most: number): number {
  const value = Number(query.get(name) ?? Number.NaN);
  return Number.isInteger(value) && value >= 1 ? Math.min(value, most) : fallback;
}

/** A `Link` header; relations without an address are left out. */
export function links(relations: Record<string, string | null>, separator = ", "): string {
  return Object.entries(relations)
    .flatMap(([relation, url]) => (url === null ? [] : [`<${url}>; rel="${relation}"`]))
    .join(separator);
}

/** The address of another page of the same list. */
export function pageUrl(
  base: string,
  query: URLSearchParams,
  changes: Record<string, string | number | null>,
): string {
  const changed = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) changed.delete(name);
    else changed.set(name, String(value));
  }
  return `${base}?${changed}`;
}

/** ISO 8601 with whole seconds, as GitHub and Forgejo write times. */
export function isoSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** A part of a path without its escapes; as it is where they are malformed, so that it names nothing. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
