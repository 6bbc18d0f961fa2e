import { BlockList, isIPv4, isIPv6 } from "node:net";
import type { Caller } from "./limiter.js";

/** The name of all callers without an address, such as those on a Unix socket. They share one allowance. */
export const NO_ADDRESS = "none";

/**
 * Identifies callers by address: an IPv4 address, or an IPv6 network of 64 bits, the least that one customer gets.
 * `X-Forwarded-For` is trusted only as far as configured proxies wrote it.
 */
export class Callers {
  readonly #trusted: BlockList | undefined;

  /** `trustedProxies`: valid addresses and networks (CIDR). */
  constructor(trustedProxies: readonly string[]) {
    if (trustedProxies.length === 0) return;
    this.#trusted = new BlockList();
    for (const network of trustedProxies) {
      const [address = "", bits] = network.split("/");
      const family = isIPv4(address) ? "ipv4" : "ipv6";
      const prefix = bits === undefined ? (family === "ipv4" ? 32 : 128) : Number(bits);
      this.#trusted.addSubnet(address, prefix, family);
    }
  }

  /**
   * The name of the caller of a connection from `peer`, with all its `X-Forwarded-For` lines joined by commas. From the right,
   * the first address that is not a trusted proxy; if an entry is not an address, the proxy that wrote it.
   */
  nameOf(peer: string | undefined, forwardedFor: string | null): string {
    const address = this.#addressOf(peer, forwardedFor);
    return address === undefined ? NO_ADDRESS : prefixOf(address);
  }

  /** That caller with its network, as its requests are counted. `forwardedFor`: undefined without such a line. */
  callerOf(peer: string | undefined, forwardedFor: string | undefined): Caller {
    const name = this.nameOf(peer, forwardedFor ?? null);
    const network = networkOf(name);
    return network === undefined ? { kind: "anonymous", name } : { kind: "anonymous", name, network };
  }

  /** The whole address of that caller, as people write it. */
  addressOf(peer: string | undefined, forwardedFor: string | null): string {
    const address = this.#addressOf(peer, forwardedFor) ?? NO_ADDRESS;
    return isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
  }

  #addressOf(peer: string | undefined, forwardedFor: string | null): string | undefined {
    const address = canonicalAddress(peer ?? "");
    if (address === undefined || forwardedFor === null || !this.#isTrusted(address)) return address;
    let nearest = address;
    // Not split: whoever sends the request decides how many entries there are.
    let rest: string | undefined = forwardedFor;
    while (rest !== undefined) {
      const comma: number = rest.lastIndexOf(",");
      const next = canonicalAddress(withoutPort(rest.slice(comma + 1).trim()));
      if (next === undefined) break;
      nearest = next;
      if (!this.#isTrusted(next)) break;
      rest = comma === -1 ? undefined : rest.slice(0, comma);
    }
    return nearest;
  }

  /** Whether a connection from `peer` is one of a trusted proxy. */
  isProxy(peer: string | undefined): boolean {
    const address = this.#trusted === undefined ? undefined : canonicalAddress(peer ?? "");
    return address !== undefined && this.#isTrusted(address);
  }

  #isTrusted(address: string): boolean {
    return this.#trusted?.check(address, isIPv4(address) ? "ipv4" : "ipv6") ?? false;
  }
}

/** Some proxies append a port. */
function withoutPort(entry: string): string {
  return (
    /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(entry)?.[1] ?? /^\[(.+)\](?::\d{1,5})?$/.exec(entry)?.[1] ?? entry
  );
}

/** One spelling for each address: dotted for IPv4, also where it is mapped into IPv6 (`::ffff:0:0/96`), else eight groups. */
function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (!isIPv6(text)) return undefined;
  const [before = "", after = ""] = new URL(`http://[${text.replace(/%.*$/, "")}]`).hostname
    .slice(1, -1)
    .split("::");
  const [left, right] = [before, after].map((part) => part.split(":").filter((group) => group !== ""));
  const middle = new Array<string>(8 - (left?.length ?? 0) - (right?.length ?? 0)).fill("0");
  const groups = [...(left ?? []), ...middle, ...(right ?? [])];
  if (groups.slice(0, 6).join(":") !== "0:0:0:0:0:ffff") return groups.join(":");
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** The network of 48 bits around a caller's name; undefined for callers not on IPv6. */
export function networkOf(name: string): string | undefined {
  return name.endsWith("::/64") ? `${name.split(":", 3).join(":")}::/48` : undefined;
}

/** The part of a canonical address that is counted. */
function prefixOf(address: string): string {
  return isIPv4(address) ? address : `${address.split(":").slice(0, 4).join(":")}::/64`;
}

/** The network stored and shown for a caller: 24 bits of an IPv4 address, 48 of an IPv6 one. `name` comes from `Callers`. */
export function truncatedAddress(name: string): string {
  if (name === NO_ADDRESS) return name;
  if (!name.includes(":")) return `${name.slice(0, name.lastIndexOf("."))}.0/24`;
  const groups = name.split(":").slice(0, 3).join(":");
  return `${groups.replace(/(?:^0|:0)+$/, "")}::/48`;
}
