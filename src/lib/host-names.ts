import { BlockList, isIPv4, isIPv6 } from "node:net";

/** Host names and addresses, as URLs and the header Host have them. */

/** The longest host name (RFC 1035, 2.3.4) with a port. */
const MAX_LENGTH = 259;

/**
 * The host in a Host header or URL in one spelling, without its port: small letters, no dot at the end, punycode, the usual form of
 * addresses, IPv6 in brackets. Undefined for a text that is not a host.
 */
export function canonicalHost(text: string): string | undefined {
  if (text === "" || text.length > MAX_LENGTH) return undefined;
  if (/[\s/?#@\\%]/.test(text) || !URL.canParse(`http://${text}`)) return undefined;
  return new URL(`http://${text}`).hostname.replace(/\.$/, "") || undefined;
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8);
LOOPBACK.addAddress("::1", "ipv6");

/** Networks that are not reachable from the internet, and the addresses that mean every address of a machine (RFC 6890). */
const PRIVATE = new BlockList();
for (const [network, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const)
  PRIVATE.addSubnet(network, bits);
for (const [network, bits] of [
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
] as const)
  PRIVATE.addSubnet(network, bits, "ipv6");

/** Ends of names that no public DNS has (RFC 6761, 6762, 8375; ICANN reserved `internal` in 2024). */
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal|lan|home\.arpa)$/;

/** Whether a canonical host is this machine: `localhost`, names below it, and loopback addresses. */
export function isLoopbackHost(host: string): boolean {
  return isIn(LOOPBACK, host) ?? /(?:^|\.)localhost$/.test(host);
}

/** Whether a canonical host is only reachable from this machine or a private network. So are names without a dot. */
export function isPrivateHost(host: string): boolean {
  return isIn(PRIVATE, host) ?? (!host.includes(".") || PRIVATE_NAME.test(host));
}

/** The host of an address, which others can reach; undefined for a private one. */
export function publicHost(url: string): string | undefined {
  const host = canonicalHost(new URL(url).host) ?? "";
  return isPrivateHost(host) ? undefined : host;
}

/** Whether an address is in one of the networks; undefined for a name. IPv4 addresses in IPv6 (`::ffff:a.b.c.d`) count as such. */
function isIn(networks: BlockList, host: string): boolean | undefined {
  if (isIPv4(host)) return networks.check(host, "ipv4");
  const address = host.replace(/^\[|\]$/g, "");
  return isIPv6(address) ? networks.check(address, "ipv6") : undefined;
}

/** One spelling for each address: dotted for IPv4, also if it is mapped into IPv6 (`::ffff:0:0/96`), else eight groups. */
export function canonicalAddress(text: string): string | undefined {
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

/** A network of IPv4 addresses, or of IPv6 addresses by their first 64 bits, the least that one customer gets. */
export interface Network {
  /** In one spelling, such as `203.0.113.7`, `203.0.113.0/24` or `2001:db8::/48`. */
  name: string;
  /** What the `addressBits` of its addresses begin with. */
  prefix: string;
}

/** The family of a canonical address, and its bits as digits: 32, or the first 64. */
export function addressBits(address: string): string {
  const isV6 = address.includes(":");
  const parts = isV6 ? address.split(":", 4) : address.split(".");
  const digit = (part: string) =>
    Number.parseInt(part, isV6 ? 16 : 10)
      .toString(2)
      .padStart(isV6 ? 16 : 8, "0");
  return (isV6 ? "6" : "4") + parts.map(digit).join("");
}

/** An address or a network (CIDR), with the bits after its prefix cleared; undefined for another text. An IPv6 address means its /64. */
export function readNetwork(text: string): Network | undefined {
  const [, address = "", length] = /^([^/]+?)(?:\/([0-9]{1,3}))?$/.exec(text.trim()) ?? [];
  const canonical = canonicalAddress(address);
  if (canonical === undefined) return undefined;
  const isV6 = canonical.includes(":");
  const most = isV6 ? 128 : 32;
  // An IPv4 network may be written as a part of `::ffff:0:0/96`.
  const bits = length === undefined ? most : Number(length) - (isV6 || isIPv4(address) ? 0 : 96);
  if (bits < 0 || bits > most) return undefined;
  const prefix = addressBits(canonical).slice(0, 1 + bits);
  return { name: networkName(prefix), prefix };
}

function networkName(prefix: string): string {
  const [isV6, bits] = [prefix.startsWith("6"), prefix.slice(1)];
  const size = isV6 ? 16 : 8;
  const digits = bits.padEnd(isV6 ? 64 : 32, "0").match(new RegExp(`.{${size}}`, "g")) ?? [];
  const parts = digits.map((part) => Number.parseInt(part, 2));
  if (!isV6) return parts.join(".") + (bits.length < 32 ? `/${bits.length}` : "");
  const { hostname } = new URL(`http://[${parts.map((part) => part.toString(16)).join(":")}::]`);
  return `${hostname.slice(1, -1)}/${bits.length}`;
}

/** Whether two networks have addresses in common. */
export function overlaps(one: Network, other: Network | undefined): boolean {
  return other !== undefined && (one.prefix.startsWith(other.prefix) || other.prefix.startsWith(one.prefix));
}
