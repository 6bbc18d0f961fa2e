import { createHash } from "node:crypto";
import type { Clock } from "../../../src/lib/clock.js";
import type { ForgeCatalogue, ForgeRepository } from "./catalogue.js";
import type { GitlabGraphql } from "./gitlab-graphql.js";
import type { Listing } from "./listing.js";

/** A parsed request. */
export interface ForgeRequest {
  method: string;
  /** Without the query, not decoded. */
  path: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string | undefined>>;
  /** Its token, from any of the accepted headers; null without one. */
  token: string | null;
  body: string;
  /** Kind of request, such as `search`, `repository`, `graphql`, `list`. */
  kind: string;
}

/** `headers` by lower-case name. */
export interface ForgeResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** Instead of `body`, where that is no text. */
  bytes?: Buffer;
  /** Number of repositories whose current state it contains. */
  repositories: number;
}

/** What the three APIs response from. */
export interface Site {
  /** Address of the site without a trailing slash. */
  url: string;
  clock: Pick<Clock, "now">;
  catalogue: ForgeCatalogue;
  /** The index of searches and lists, at most an hour old. */
  listing(): Listing;
  /** GitHub: whether star histories are offered; otherwise 404. */
  hasHistory: boolean;
  /** GitLab: what its GraphQL API offers. */
  gitlabGraphql: GitlabGraphql;
  /** Forgejo: how lists are sorted by stars. */
  starOrder: "stable" | "unstable" | "none";
}

/** Whether a forge shows a repository to the sender of a request. */
export function isShownTo(
  { token }: ForgeRequest,
  repository: ForgeRepository | undefined,
): repository is ForgeRepository {
  const visibility = repository?.visibility;
  return visibility === "public" || (visibility === "members" && token !== null);
}

/** A JSON response. */
export function json(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
  repositories = 0,
): ForgeResponse {
  return {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
    body: JSON.stringify(body),
    repositories,
  };
}

/** The ETag of a body for one token; it differs per token. */
export function weakTag(body: string, token: string | null): string {
  return `W/"${createHash("sha256")
    .update(token ?? "")
    .update("\0")
    .update(body)
    .digest("hex")}"`;
}

/** An integer query parameter from 1 to `most`; `fallback` when absent or invalid. */
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

/** A decoded path segment; unchanged if its escapes are malformed, so that it matches nothing. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
