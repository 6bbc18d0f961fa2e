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
