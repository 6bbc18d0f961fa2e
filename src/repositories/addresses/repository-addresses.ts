/**
 * Addresses of repositories as people paste them: parsed to a configured forge and a full name. Pure: a pasted host selects one of
 * the configured forges and is never contacted, so it needs no trust.
 */
import type { ForgeKind, ProviderSettings } from "../../config/config.js";
import { canonicalHost } from "../../lib/host-names.js";
import { splitFullName } from "../record-rules.js";
import { fullNameIn } from "./paths.js";
import { type AddressProblem, splitAddress } from "./split.js";

export type { AddressProblem } from "./split.js";

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

/** Where the repositories of a forge are addressed. */
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
export function placeReader(forges: readonly AddressedForge[]): (text: string) => Place | AddressProblem {
  const sites = forges.flatMap(sitesOf);
  const hosts = new Set(sites.map(({ host }) => host));
  return (text) => {
    const parts = splitAddress(text, (host) => hosts.has(host));
    if ("problem" in parts) return parts;
    const { prefix, host, port, segments } = parts;
    if (host !== undefined) return onHost({ host, port, segments }, sites);
    const named = forges.find(({ name }) => name === prefix?.toUpperCase());
    if (prefix !== undefined && named === undefined)
      return { problem: "must name a configured forge before the colon", allowed: namesOf(forges) };
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

/** Parses one text; see `addressReader`. */
export function readRepositoryAddress(
  text: string,
  forges: readonly AddressedForge[],
): RepositoryAddress | AddressProblem {
  return addressReader(forges)(text);
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
    const allowed = [...new Set(sites.map(({ forge }) => hostOf(forge)))];
    return { problem: `must be on the host of a configured forge: ${allowed.join(", ")}`, allowed };
  }
  return { forge: site.forge, segments: segments.slice(site.base.length), namesForge: true };
}

/** The repository that a page belongs to. */
export function repositoryAt({ forge, segments }: Place): RepositoryAddress | AddressProblem {
  const { name: provider, kind } = forge;
  const fullName = fullNameIn(kind, segments);
  if (fullName !== undefined && splitFullName(fullName) !== undefined) return { provider, fullName };
  return { problem: "must name a repository, such as owner/name, and not another page of its forge" };
}

function sitesOf(forge: AddressedForge): Site[] {
  const url = new URL(forge.url);
  const host = hostOf(forge);
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

function hostOf({ url }: AddressedForge): string {
  return (canonicalHost(new URL(url).hostname) ?? "").replace(/^www\./, "");
}

function isUsual(port: number): boolean {
  return port === 443 || port === 80;
}

function namesOf(forges: readonly AddressedForge[]): string[] {
  return forges.map(({ name }) => name.toLowerCase());
}
