import { canonicalHost } from "../../lib/host-names.js";

/** Longest address that is looked into. */
export const MAX_ADDRESS = 2_000;

/** Why a text is not the address of a repository, as a message about a parameter: `must be …`. */
export interface AddressProblem {
  problem: string;
  /** The allowed values, such as the hosts of the configured forges. */
  allowed?: readonly string[];
}

export interface AddressParts {
  /** What is written before the colon of `github:owner/name`. */
  prefix?: string;
  /** In one spelling, without `www.` and port. */
  host?: string;
  /** Of a web address, where it is written. */
  port?: number;
  /** The path: decoded segments, none of them empty. */
  segments: readonly string[];
}

/** Schemes of browsers and of git; `git+` is npm's. */
const SCHEMES = new Set(["http", "https", "git", "ssh", "git+http", "git+https", "git+ssh", "git+git"]);
const WEB_SCHEMES = new Set(["http", "https"]);
const SCHEME = /^([a-z][a-z0-9+.-]{0,20}):\/\//i;
/** A text that is a host without a scheme only if a path follows it: `git.example.org`. */
const HOST_LIKE = /^[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}$/i;

/**
 * Splits an address as people paste it: a page of a browser, a clone URL, `host:path`, `forge:owner/name` or `owner/name`.
 * Reads no more than the text, in linear time. `isHost`: whether a first segment is a known host, so that `github.com/owner` has no
 * repository; an unknown one is taken for a host if two more segments follow.
 */
export function splitAddress(text: string, isHost: (host: string) => boolean): AddressParts | AddressProblem {
  if (text.length > MAX_ADDRESS) return { problem: `must have at most ${MAX_ADDRESS} characters` };
  const trimmed = unwrapped(text);
  if (trimmed === "") return { problem: "must be the address of a repository" };
  if (/[\s\p{C}\\]/u.test(trimmed))
    return { problem: "must contain no spaces, backslashes or invisible characters" };
  const written = trimmed.slice(0, endOfPath(trimmed));
  const [start = "", scheme = ""] = SCHEME.exec(written) ?? [];
  if (start !== "" || written.startsWith("//")) {
    const name = scheme.toLowerCase() || "https";
    if (!SCHEMES.has(name))
      return { problem: "must begin with https:// or another address of git or the web" };
    return splitUrl(
      written.slice(start === "" ? 2 : start.length),
      WEB_SCHEMES.has(name.replace("git+", "")),
    );
  }
  const colon = written.indexOf(":");
  const slash = written.indexOf("/");
  if (colon >= 0 && (slash < 0 || colon < slash)) return splitAtColon(written, colon);
  const segments = segmentsOf(written);
  if ("problem" in segments) return segments;
  const [first = "", ...rest] = segments;
  const host = canonicalHost(first);
  if (
    host !== undefined &&
    first.includes(".") &&
    (isHost(withoutWww(host)) || (rest.length > 1 && HOST_LIKE.test(first)))
  )
    return { host: withoutWww(host), segments: rest };
  return { segments };
}

const CLONE = /^(?:\$\s+)?(?:git|(?:gh|glab)\s+repo)\s+clone\s/;

/** The address in a line of Markdown, mail or a shell: without angle brackets, and without the command that clones it. */
export function unwrapped(line: string): string {
  const text = line.trim();
  if (text.startsWith("<") && text.endsWith(">")) return text.slice(1, -1).trim();
  if (!CLONE.test(text) || text.includes("\n")) return text;
  const words = text.replace(CLONE, "").split(/\s+/);
  const having = (mark: string) => words.find((word) => !word.startsWith("-") && word.includes(mark));
  return having(":") ?? having("/") ?? text;
}

function endOfPath(text: string): number {
  const ends = [text.indexOf("?"), text.indexOf("#")].filter((at) => at >= 0);
  return Math.min(text.length, ...ends);
}

/** What follows `scheme://`. */
function splitUrl(rest: string, isWeb: boolean): AddressParts | AddressProblem {
  const slash = rest.indexOf("/");
  const authority = slash < 0 ? rest : rest.slice(0, slash);
  const path = slash < 0 ? "" : rest.slice(slash);
  // Not the name before it, which may be a host to mislead, or a token.
  const address = authority.slice(authority.lastIndexOf("@") + 1);
  const [, name = "", after = ""] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/.exec(address) ?? [];
  const isPort = /^\d{0,5}$/.test(after);
  const host = hostOf(name);
  if (host === undefined) return { problem: "must have a valid host after ://" };
  // `ssh://git@host:owner/name`, as some tools write it.
  const segments = segmentsOf(isPort ? path : `${after}${path}`);
  if ("problem" in segments) return segments;
  return { host, segments, ...(isWeb && isPort && after !== "" && { port: Number(after) }) };
}

/** `git@host:owner/name`, `host:port/owner/name` or `forge:owner/name`. */
function splitAtColon(text: string, colon: number): AddressParts | AddressProblem {
  const before = text.slice(0, colon);
  const after = text.slice(colon + 1);
  const at = before.lastIndexOf("@");
  const [, port, path] = /^(\d{1,5})(\/.*)$/.exec(after) ?? [];
  const isWeb = at < 0 && port !== undefined && path !== undefined;
  const segments = segmentsOf(isWeb ? path : after);
  if ("problem" in segments) return segments;
  const name = before.slice(at + 1);
  if (at < 0 && !isWeb && !name.includes(".")) return { prefix: name, segments };
  const host = hostOf(name);
  if (host === undefined) return { problem: "must have a valid host before the colon" };
  return { host, segments, ...(isWeb && { port: Number(port) }) };
}

function hostOf(text: string): string | undefined {
  const host = canonicalHost(text);
  return host === undefined ? undefined : withoutWww(host);
}

function withoutWww(host: string): string {
  return host.replace(/^www\./, "");
}

/** Each segment is decoded once, on its own: an escaped slash is part of a segment. */
function segmentsOf(path: string): string[] | AddressProblem {
  const segments = path.split("/").filter((segment) => segment !== "");
  try {
    return segments.map((segment) => decodeURIComponent(segment));
  } catch {
    return { problem: "must have only valid percent escapes in its path" };
  }
}
