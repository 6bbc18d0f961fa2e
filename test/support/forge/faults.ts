import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { withoutEnd } from "./forgejo.js";
import type { Interface } from "./interfaces.js";
import type { ForgeRequest, ForgeResponse, Site } from "./responses.js";
import type { Deliver } from "./wire.js";

/** All faults that can be injected. */
export const FAULTS = [
  "status-500",
  "status-502",
  "429-retry-after",
  "429-bare",
  "403-secondary",
  "status-401",
  "status-404",
  "status-410",
  "other-host",
  "status-451",
  "slow",
  "stall",
  "cut",
  "truncated",
  "html",
  "huge",
  "gzip-bomb",
  "deep",
  "wrong-types",
  "proto-keys",
  "lone-surrogates",
] as const;
/** Faults that a test must describe further. */
export type SpecialFault = "echo";
export type FaultName = (typeof FAULTS)[number];
/**
 * Well-formed responses that are wrong: GraphQL nodes that are null without an error, records that are all private, and, on Forgejo,
 * lists that go on with invented repositories without end.
 */
export type QuietFault = "null-nodes" | "all-private" | "endless-list";

/** A fault and its options. */
export interface Fault {
  name: FaultName | SpecialFault | QuietFault;
  /** `echo`: the status, and the text that is in the body and in every header that clients read. */
  status?: number;
  text?: string;
  /** `429-retry-after`, `403-secondary`; default 60. */
  retryAfterSeconds?: number;
  /** `slow`: real time between two bytes; default 1,000. */
  byteIntervalMs?: number;
  /** `huge`: default 500 MB; `gzip-bomb`: unpacked, default 1 GiB. */
  bytes?: number;
  /** `other-host`: the redirect target; default: another name of this machine, so that the forge detects clients that follow. */
  location?: string;
}

const DEPTH = 100_000;
const HUGE_BYTES = 500_000_000;
const BOMB_BYTES = 1_073_741_824;
const BOMB_PART = 33_554_432;

/** What is sent instead of the response, and how. */
export function spoil(
  fault: Fault,
  { request, response, site }: { request: ForgeRequest; response: ForgeResponse; site: Site },
  { error }: Interface,
): { response: ForgeResponse; deliver?: Deliver } {
  const after = { "retry-after": String(fault.retryAfterSeconds ?? 60) };
  const fail = (status: number, message: string, headers: Record<string, string> = {}) => {
    const failed = error(site.url, status, message);
    const { etag: _, link: __, location: ___, ...rest } = response.headers;
    return { response: { ...failed, headers: { ...rest, ...failed.headers, ...headers } } };
  };
  const instead = (body: string, type = "application/json; charset=utf-8") => {
    const { etag: _, link: __, location: ___, ...rest } = response.headers;
    const { bytes: ____, ...without } = response;
    return { ...without, status: 200, headers: { ...rest, "content-type": type }, body };
  };
  const rewritten = (rewrite: Rewrite) => ({
    response: { ...response, body: rewriteJson(response.body, rewrite) },
  });
  switch (fault.name) {
    case "status-500":
      return fail(500, "Internal Server Error");
    case "status-502":
      return { response: { ...fail(502, "").response, body: "<html><h1>502 Bad Gateway</h1></html>" } };
    case "429-retry-after":
      return fail(429, "Too Many Requests", after);
    case "429-bare":
      return fail(429, "Too Many Requests");
    case "403-secondary":
      return fail(
        403,
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
        after,
      );
    case "status-401":
      return fail(401, "Bad credentials");
    case "status-404":
      return fail(404, "Not Found");
    case "status-410":
      return fail(410, "Gone");
    case "other-host":
      return fail(301, "Moved Permanently", { location: fault.location ?? elsewhere(site.url, request) });
    case "status-451":
      return fail(451, "Repository access blocked");
    case "echo": {
      const { status = 401, text = "" } = fault;
      const field = text.replaceAll(/[^\w.-]+/g, "-");
      return {
        response: {
          ...response,
          status,
          headers: {
            ...response.headers,
            etag: `"${text}"`,
            link: `<${site.url}/${field}>; rel="next"`,
            location: `${site.url}/api/v3/repositories/7/${field}`,
          },
          body: JSON.stringify({
            message: text,
            errors: [{ type: "FORBIDDEN", message: text }],
            items: [{ description: text }],
          }),
        },
      };
    }
    case "slow":
      return {
        response,
        deliver: (outgoing, body, signal) => drip(outgoing, body, fault.byteIntervalMs ?? 1_000, signal),
      };
    case "stall":
      return { response, deliver: () => {} };
    case "cut": {
      const length = String(response.bytes?.length ?? Buffer.byteLength(response.body));
      return {
        response: { ...response, headers: { ...response.headers, "content-length": length } },
        deliver: cut,
      };
    }
    case "truncated":
      return {
        response: {
          ...response,
          body: response.body.slice(0, Math.floor(response.body.length / 2)),
          ...(response.bytes && { bytes: response.bytes.subarray(0, Math.floor(response.bytes.length / 2)) }),
        },
      };
    case "html":
      return {
        response: instead("<!DOCTYPE html><html><title>Sign in</title></html>", "text/html; charset=utf-8"),
      };
    case "huge":
      return { response: instead(""), deliver: (outgoing) => pour(outgoing, fault.bytes ?? HUGE_BYTES) };
    case "gzip-bomb": {
      const packed = instead("");
      const headers = { ...packed.headers, "content-encoding": "gzip" };
      return {
        response: { ...packed, headers },
        deliver: (outgoing) => bomb(outgoing, fault.bytes ?? BOMB_BYTES),
      };
    }
    case "deep":
      return { response: instead("[".repeat(DEPTH) + "]".repeat(DEPTH)) };
    case "wrong-types":
      return rewritten({ leaf: otherType });
    case "proto-keys":
      return rewritten({ object: withProto });
    case "null-nodes":
      return rewritten({ object: (entries) => entries.map(withoutNodes) });
    case "all-private":
      return rewritten({ object: (entries) => entries.map(asPrivate) });
    case "endless-list":
      return { response: withoutEnd(site, request, response) };
    case "lone-surrogates":
      return rewritten({ leaf: (value) => (typeof value === "string" ? `${value}\ud800` : value) });
  }
}

/** The same port under another name: a client that follows is detected by its `Host` header. */
function elsewhere(url: string, { path }: ForgeRequest): string {
  const { port } = new URL(url);
  return `http://localhost:${port}${path}`;
}

function drip(outgoing: ServerResponse, body: Buffer, intervalMs: number, signal: AbortSignal): void {
  let sent = 0;
  const timer = setInterval(() => {
    if (sent < body.length) outgoing.write(body.subarray(sent, ++sent));
    else outgoing.end();
  }, intervalMs);
  const stop = () => clearInterval(timer);
  outgoing.once("close", stop);
  signal.addEventListener("abort", stop, { once: true });
}

function cut(outgoing: ServerResponse, body: Buffer): void {
  outgoing.write(body.subarray(0, Math.floor(body.length / 2)), () => outgoing.destroy());
}

/** Writes endless JSON, as fast as the client reads it. */
function pour(outgoing: ServerResponse, bytes: number): void {
  const chunk = Buffer.from('{"name":"again and again"},'.repeat(2_500));
  let left = bytes;
  outgoing.write("[");
  const more = () => {
    while (left > 0 && !outgoing.destroyed) {
      left -= chunk.length;
      if (!outgoing.write(chunk)) return void outgoing.once("drain", more);
    }
    outgoing.end("1]");
  };
  more();
}

/** Compressed spaces by their number. */
const parts = new Map<number, Buffer>();

/** Spaces, compressed a thousand to one, as concatenated gzip members. */
function bomb(outgoing: ServerResponse, bytes: number): void {
  const size = Math.min(BOMB_PART, bytes);
  const part = parts.get(size) ?? gzipSync(Buffer.alloc(size, " "));
  parts.set(size, part);
  for (let left = bytes; left > 0; left -= BOMB_PART) outgoing.write(part);
  outgoing.end();
}

interface Rewrite {
  leaf?: (value: string | number | boolean | null) => unknown;
  object?: (entries: [string, unknown][]) => [string, unknown][];
}

function rewriteJson(text: string, rewrite: Rewrite): string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  return JSON.stringify(rewritten(value, rewrite));
}

function rewritten(value: unknown, rewrite: Rewrite): unknown {
  if (Array.isArray(value)) return value.map((element) => rewritten(element, rewrite));
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, inner]): [string, unknown] => [
      key,
      rewritten(inner, rewrite),
    ]);
    return Object.fromEntries(rewrite.object?.(entries) ?? entries);
  }
  const isLeaf = value === null || ["string", "number", "boolean"].includes(typeof value);
  return isLeaf && rewrite.leaf !== undefined ? rewrite.leaf(JSON.parse(JSON.stringify(value))) : value;
}

/** A value of another type; small numbers become ones that no column can store. */
function otherType(value: string | number | boolean | null): unknown {
  if (typeof value === "number") return value % 2 === 0 ? `${value}` : -1e300;
  if (typeof value === "string") return value.length % 2 === 0 ? { text: value } : [value, 7];
  return typeof value === "boolean" ? "maybe" : 0;
}

function withProto(entries: [string, unknown][]): [string, unknown][] {
  const polluted = { isAdmin: true, polluted: "yes" };
  return [
    ["__proto__", polluted],
    ["constructor", { prototype: polluted }],
    ["toString", "no function"],
    ...entries,
  ];
}

function withoutNodes([key, value]: [string, unknown]): [string, unknown] {
  return key === "nodes" && Array.isArray(value) ? [key, value.map(() => null)] : [key, value];
}

function asPrivate([key, value]: [string, unknown]): [string, unknown] {
  if (key === "private" || key === "isPrivate") return [key, true];
  return key === "visibility" ? [key, "private"] : [key, value];
}
