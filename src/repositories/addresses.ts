/**
 * Addresses of repositories as people paste them, one or several, and other texts that they type into that field. Pure: a pasted host selects
 * one of the configured forges and is never contacted, so it needs no trust.
 */
import type { ForgeKind, ProviderSettings } from "../config/config.js";
import { canonicalHost } from "../lib/host-names.js";
import { fullNameKey, splitFullName } from "./record-rules.js";

/** What a text requests. Only the forge knows whether that exists. */
export type Asked =
  /** Each once. `wrong`: words of a list that name no repository of a configured forge. */
  | { kind: "repositories"; addresses: RepositoryAddress[]; wrong: string[] }
  | { kind: "owner"; provider: string; owner: string }
  /** The README of a repository: the repository itself, or those that the README links to. */
  | ({ kind: "readme" } & RepositoryAddress)
  /** A word that may name an owner or a repository. */
  | { kind: "name"; name: string }
  | ({ kind: "problem" } & AddressProblem);

/** Words that are tried as addresses one by one; a longer text is searched for links. */
const MAX_WORDS = 600;
const NAME = /^(?!\.{1,2}$)[\w.-]{1,100}$/;

/** Parses a text of any length, in time in proportion to it. Pure: no host in it is contacted. */
export function parseAsked(text: string, forges: readonly AddressedForge[]): Asked {
  const words = wordsIn(text);
  const [word] = words;
  if (word === undefined)
    return { kind: "problem", problem: "must name a repository, such as owner/name, or an owner" };
  const read = placeReader(forges);
  if (words.length === 1) return parseWord(word, read);
  const readRepository = addressReader(forges);
  const listed = listedIn(words);
  const wrong = listed?.filter((one) => "problem" in readRepository(one)) ?? [];
  const { addresses } = linksIn(listed?.join("\n") ?? text, readRepository);
  if (addresses.length > 0) return { kind: "repositories", addresses, wrong };
  return {
    kind: "problem",
    problem: "must name repositories of a configured forge: names, or links to them",
  };
}

/** The words of a text, also of one that is pasted from a shell or a list with commas. */
function wordsIn(text: string): string[] {
  const words = unwrapped(text).split(/[\s,;]+/, MAX_WORDS + 1);
  return words.filter((word) => word !== "" && !BULLET.test(word));
}

/** The words, if they are a list of names and not prose with links: half of them have the form of an address. */
function listedIn(words: readonly string[]): readonly string[] | undefined {
  const addresses = words.filter((word) => /^[^()[\]<>"]+\/[^()[\]<>"]/.test(word)).length;
  return words.length <= MAX_WORDS && 2 * addresses >= words.length ? words : undefined;
}

/** The names in a field that takes several: addresses of a list, links in prose, or single words as they are. */
export function namesIn(text: string): string[] {
  const words = wordsIn(text);
  if (words.length < 2 || listedIn(words) !== undefined) return words;
  const links = (text.match(WORD) ?? []).map(withoutTrailing).flatMap((word) => linkIn(word) ?? []);
  return links.length > 0 ? [...new Set(links)] : words.slice(0, MAX_WORDS);
}

/** Whether a text is a single word without an owner, such as "hono". */
export const isBareName = (text: string): boolean => NAME.test(text);

function parseWord(word: string, read: ReturnType<typeof placeReader>): Asked {
  const isOwner = /^@|^[^:/]+\/$/.test(word);
  const place = read(word.replace(/^@/, ""));
  if ("problem" in place) return { kind: "problem", ...place };
  const { forge, segments, namesForge } = place;
  const owner = ownerIn(forge.kind, segments);
  if (owner !== undefined && (isOwner || namesForge)) return { kind: "owner", provider: forge.name, owner };
  const [name] = segments;
  if (segments.length === 1 && name !== undefined && !namesForge && isBareName(name))
    return { kind: "name", name };
  const address = repositoryAt(place);
  if ("problem" in address) return { kind: "problem", ...address };
  if (isReadme(segments) || /#readme$/i.test(word)) return { kind: "readme", ...address };
  return { kind: "repositories", addresses: [address], wrong: [] };
}

/** The characters of addresses in Markdown, HTML and plain text: all but those that enclose or separate them. */
const WORD = /[^\s<>"'`()[\]{}|\\^,;]+/g;
/** Punctuation and emphasis after an address. */
const TRAILING = new Set(".:!?*_~");
/** The mark of an item of a list. */
const BULLET = /^(?:[-*+]|\d{1,9}[.)])$/;

/**
 * The repositories in a text, each once, in its order: links, clone URLs, and names such as `owner/name` if each line is a single
 * one. Takes time in proportion to the text. `read`: parses one address.
 */
export function linksIn(
  text: string,
  read: ReturnType<typeof addressReader>,
): { addresses: RepositoryAddress[] } {
  const lines = text
    .split(/[\r\n]+/)
    .map((line) => (line.match(WORD) ?? []).filter((word) => !BULLET.test(word)).map(withoutTrailing))
    .filter(([first]) => first !== undefined && !first.startsWith("#"));
  const isList = lines.every(({ length }) => length === 1);
  const found = new Map<string, RepositoryAddress>();
  for (const word of lines.flat()) {
    const address = linkIn(word) ?? (isList ? word : undefined);
    if (address === undefined) continue;
    const one = read(address);
    if ("problem" in one) continue;
    const key = `${one.provider} ${fullNameKey(one.fullName)}`;
    if (!found.has(key)) found.set(key, one);
  }
  return { addresses: [...found.values()] };
}

/** The part of a word that is an address with a scheme, `user@host:path` or `host/owner/name`; undefined without one. */
function linkIn(word: string): string | undefined {
  const scheme = word.indexOf("://");
  if (scheme > 0) {
    // `href=https://…` without quotes.
    let start = scheme;
    while (start > 0 && /[a-z+]/i.test(word[start - 1] ?? "")) start--;
    return start === scheme ? undefined : word.slice(start);
  }
  if (/^[\w.-]{1,64}@[\w.-]{1,255}:./.test(word)) return word;
  const slash = word.indexOf("/");
  const hasPath = slash > 3 && word.slice(0, slash).includes(".");
  return hasPath && word.includes("/", slash + 1) ? word : undefined;
}

function withoutTrailing(word: string): string {
  let end = word.length;
  while (end > 0 && TRAILING.has(word[end - 1] ?? "")) end--;
  return word.slice(0, end);
}

/** Forges allow no other characters in the names of owners and repositories; `.` and `..` are steps of a path. */
const SEGMENT = /^(?!\.{1,2}$)[A-Za-z0-9_.-]{1,255}$/;
/** Suffixes that clone URLs and feeds append to a name. */
const SUFFIX = /(?:\.wiki)?\.git$|\.(?:rss|atom)$/i;

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** First segments of pages that belong to no owner. */
const PAGES: Readonly<Record<ForgeKind, ReadonlySet<string>>> = {
  github:
    words(`about account advisories apps assets blog codespaces collections contact copilot customer-stories
    dashboard discussions enterprise events explore features issues join login logout marketplace mobile new
    notifications organizations orgs partners pricing pulls readme resources search security sessions settings signup
    site solutions spark sponsors stars team topics trending user-attachments users why-github`),
  gitlab:
    words(`- admin api assets autocomplete dashboard explore groups help import jwt oauth profile projects public
    search snippets uploads users`),
  forgejo:
    words(`- admin api assets attachments avatars captcha explore issues login metrics milestones notifications org
    pulls repo repo-avatars search user users`),
  gogs: words("- admin api assets avatars explore issues login metrics org pulls repo repo-avatars user"),
};

/** Segments that GitLab reserves below a group, so that a page of a repository begins there. */
const GITLAB_PAGES =
  words(`- badges blame blob builds commits create create_dir edit environments files find_file new
  preview raw refs tree update wikis`);
/** Pages that older addresses have without `/-/`; a repository may be named so, but hardly ever is. */
const GITLAB_OLD_PAGES = words("commit issues merge_requests milestones pipelines releases tags");

/** The full name at the beginning of a path below the site; undefined if the page belongs to no repository. */
export function fullNameIn(kind: ForgeKind, segments: readonly string[]): string | undefined {
  const [first = ""] = segments;
  if (PAGES[kind].has(first.toLowerCase())) return undefined;
  // A path of GitLab's API has the whole name in one segment.
  const whole = kind === "gitlab" && first.includes("/") ? first.split("/") : undefined;
  const parts = whole ?? segments.slice(0, kind === "gitlab" ? endInGitlab(segments) : 2);
  const name = (parts.at(-1) ?? "").replace(SUFFIX, "");
  const named = [...parts.slice(0, -1), name];
  return named.length >= 2 && named.every((part) => SEGMENT.test(part)) ? named.join("/") : undefined;
}

/** Groups nest, so the name ends only where a page begins. */
function endInGitlab(segments: readonly string[]): number {
  const at = segments.findIndex(
    (segment, i) => i >= 2 && (GITLAB_PAGES.has(segment) || GITLAB_OLD_PAGES.has(segment)),
  );
  return at === -1 ? segments.length : at;
}

/** First segments before the name of an owner. */
const BEFORE_OWNERS: Readonly<Partial<Record<ForgeKind, readonly string[]>>> = {
  github: ["orgs", "users"],
  gitlab: ["groups", "users"],
  forgejo: ["org", "user"],
};

/** The owner whose page a path is, such as `honojs` or `orgs/honojs/repositories`; undefined for all other paths. */
function ownerIn(kind: ForgeKind, segments: readonly string[]): string | undefined {
  const [first = "", second] = segments;
  const isBefore = BEFORE_OWNERS[kind]?.includes(first.toLowerCase()) === true;
  const owner = isBefore
    ? second
    : segments.length === 1 && !PAGES[kind].has(first.toLowerCase())
      ? first
      : undefined;
  return owner !== undefined && SEGMENT.test(owner) ? owner : undefined;
}

/** Whether a path is that of a README: `owner/name/blob/main/README.md`, also as its text alone. */
function isReadme(segments: readonly string[]): boolean {
  return segments.length > 3 && /^readme(?:\.[a-z]{1,10})?$/i.test(segments.at(-1) ?? "");
}

/** A forge that addresses may name. */
export type AddressedForge = Pick<ProviderSettings, "name" | "kind" | "url">;

/** A repository of a configured forge; whether it exists is not known. */
export interface RepositoryAddress {
  provider: string;
  fullName: string;
}

/** Other hosts of a forge's site, with the segments that their paths begin with. */
const OTHER_HOSTS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  "github.com": {
    "api.github.com": ["repos"],
    "raw.githubusercontent.com": [],
    "codeload.github.com": [],
    "ssh.github.com": [],
  },
  "gitlab.com": { "altssh.gitlab.com": [] },
};

/** The segments that a path of the API on the site itself begins with. */
const API_PATHS: Readonly<Record<ForgeKind, readonly string[]>> = {
  github: ["api", "v3", "repos"],
  gitlab: ["api", "v4", "projects"],
  forgejo: ["api", "v1", "repos"],
  gogs: ["api", "v1", "repos"],
};

/** A host of a forge, and the path that its repositories are below. */
interface Site {
  forge: AddressedForge;
  host: string;
  port: number;
  /** Segments before the name of a repository. */
  base: readonly string[];
}

/** A forge and the path of one of its pages. */
export interface Place {
  forge: AddressedForge;
  /** Below the site, decoded, none of them empty. */
  segments: readonly string[];
  /** Whether the text names the forge, by its host or a prefix. */
  namesForge: boolean;
}

/** Returns a function that finds the forge of an address; without a host or prefix the first forge, GitHub before others. */
function placeReader(forges: readonly AddressedForge[]): (text: string) => Place | AddressProblem {
  const sites = forges.flatMap(sitesOf);
  const hosts = new Set(sites.map(({ host }) => host));
  return (text) => {
    const parts = splitAddress(text, (host) => hosts.has(host));
    if ("problem" in parts) return parts;
    const { prefix, host, port, segments } = parts;
    if (host !== undefined) return onHost({ host, port, segments }, sites);
    const named = forges.find(({ name }) => name === prefix?.toUpperCase());
    if (prefix !== undefined && named === undefined)
      return {
        problem: "must name a configured forge before the colon",
        allowed: forges.map(({ name }) => name.toLowerCase()),
      };
    const forge = named ?? forges.find(({ name }) => name === "GITHUB") ?? forges[0];
    if (forge === undefined) return { problem: "must be on a configured forge, and there is no such forge" };
    return { forge, segments, namesForge: named !== undefined };
  };
}

/**
 * Returns a function that parses the repository named by a text: the address of any of its pages, a clone URL,
 * `forge:owner/name`, or `owner/name` on the first forge, GitHub before others.
 */
export function addressReader(
  forges: readonly AddressedForge[],
): (text: string) => RepositoryAddress | AddressProblem {
  const read = placeReader(forges);
  return (text) => {
    const place = read(text);
    return "problem" in place ? place : repositoryAt(place);
  };
}

function onHost(
  { host, port, segments }: { host: string; port: number | undefined; segments: readonly string[] },
  sites: readonly Site[],
): Place | AddressProblem {
  const here = sites.filter((site) => site.host === host && (port === undefined || site.port === port));
  const begins = ({ base }: Site) => base.every((segment, i) => segments[i] === segment);
  // The longest path wins, and a site on the usual port, where the address has none.
  const [site] = here
    .filter(begins)
    .sort((a, b) => b.base.length - a.base.length || Number(isUsual(b.port)) - Number(isUsual(a.port)));
  if (site === undefined) {
    const allowed = [...new Set(sites.map(({ forge }) => siteHost(forge)))];
    return { problem: `must be on the host of a configured forge: ${allowed.join(", ")}`, allowed };
  }
  return { forge: site.forge, segments: segments.slice(site.base.length), namesForge: true };
}

/** The repository that a page belongs to. */
function repositoryAt({ forge, segments }: Place): RepositoryAddress | AddressProblem {
  const { name: provider, kind } = forge;
  const fullName = fullNameIn(kind, segments);
  if (fullName !== undefined && splitFullName(fullName) !== undefined) return { provider, fullName };
  return { problem: "must name a repository, such as owner/name, and not another page of its forge" };
}

function sitesOf(forge: AddressedForge): Site[] {
  const url = new URL(forge.url);
  const host = siteHost(forge);
  const port = url.port === "" ? (url.protocol === "http:" ? 80 : 443) : Number(url.port);
  const base = url.pathname.split("/").filter((segment) => segment !== "");
  const own = { forge, host, port };
  const others = Object.entries(OTHER_HOSTS[host] ?? {}).map(([other, path]) => ({
    forge,
    host: other,
    port,
    base: path,
  }));
  const isSubdomain = forge.kind === "github" && host.endsWith(".ghe.com");
  return [
    { ...own, base },
    { ...own, base: [...base, ...API_PATHS[forge.kind]] },
    ...others,
    ...(isSubdomain ? [{ ...own, host: `api.${host}`, base: ["repos"] }] : []),
  ];
}

function siteHost({ url }: AddressedForge): string {
  return hostOf(new URL(url).hostname) ?? "";
}

const isUsual = (port: number): boolean => port === 443 || port === 80;

/** Maximum length of an address. */
export const MAX_ADDRESS = 2_000;

/** Why a text is not the address of a repository, as a message about a parameter: `must be …`. */
export interface AddressProblem {
  problem: string;
  /** The allowed values, such as the hosts of the configured forges. */
  allowed?: readonly string[];
}

interface AddressParts {
  /** The part before the colon of `github:owner/name`. */
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
  const host = first.includes(".") ? hostOf(first) : undefined;
  if (host !== undefined && (isHost(host) || (rest.length > 1 && HOST_LIKE.test(first))))
    return { host, segments: rest };
  return { segments };
}

const CLONE = /^(?:\$\s+)?(?:git|(?:gh|glab)\s+repo)\s+clone\s/;

/** The address in a line of Markdown, mail or a shell: without angle brackets, and without the command that clones it. */
function unwrapped(line: string): string {
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

/** Splits the part after `scheme://`. */
function splitUrl(rest: string, isWeb: boolean): AddressParts | AddressProblem {
  const slash = rest.indexOf("/");
  const authority = slash < 0 ? rest : rest.slice(0, slash);
  const path = slash < 0 ? "" : rest.slice(slash);
  // Without the user name, which may be a misleading host, or a token.
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

/** A host in one spelling, without `www.`. */
function hostOf(text: string): string | undefined {
  return canonicalHost(text)?.replace(/^www\./, "");
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
