/** Which addresses are on the public internet, and connections to those alone. */
import { type LookupAddress, lookup as systemLookup } from "node:dns";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";

/** Everything but the public internet: RFC 6890, later reservations, and the IPv6 ranges that embed IPv4. */
const NOT_PUBLIC: readonly [network: string, prefix: number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
  ["::", 96], // unspecified, loopback, IPv4-compatible
  ["::ffff:0:0", 96], // IPv4-mapped
  ["::ffff:0:0:0", 96], // IPv4-translated
  ["64:ff9b::", 96], // NAT64
  ["64:ff9b:1::", 48], // NAT64 of a local network
  ["100::", 64],
  ["2001::", 23], // Teredo, ORCHID and other protocols
  ["2001:db8::", 32],
  ["2002::", 16], // 6to4
  ["3fff::", 20],
  ["5f00::", 16],
  ["fc00::", 7],
  ["fe80::", 9], // link-local and the old site-local
  ["ff00::", 8],
];

const blocked = { 4: new BlockList(), 6: new BlockList() };
for (const [network, prefix] of NOT_PUBLIC) {
  if (isIP(network) === 4) blocked[4].addSubnet(network, prefix, "ipv4");
  else blocked[6].addSubnet(network, prefix, "ipv6");
}

/** Whether this is an IPv4 or IPv6 address (without brackets) on the public internet; false for host names. */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, "");
  const family = isIP(plain);
  if (family === 4) return !blocked[4].check(plain, "ipv4");
  return family === 6 && !blocked[6].check(plain, "ipv6");
}

export class AddressRefused extends Error {
  constructor() {
    super("the address is not on the public internet");
    this.name = "AddressRefused";
  }
}

/** The error for a host that is an address outside the public internet; null for others, and for names. */
export function checkLiteral(hostname: string): AddressRefused | null {
  const literal = hostname.replace(/^\[|\]$/g, "");
  return isIP(literal) !== 0 && !isPublicAddress(literal) ? new AddressRefused() : null;
}

/** Connects to public addresses only. The connection uses an address that was checked, so DNS rebinding has no effect. */
export function publicConnector(
  options: buildConnector.BuildOptions,
  lookup: LookupFunction = systemLookup,
): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: publicLookup(lookup) });
  return (target, callback) => {
    // Literal addresses skip the lookup.
    const refused = checkLiteral(target.hostname);
    if (refused !== null) callback(refused, null);
    else connect(target, callback);
  };
}

/** A lookup that returns only public addresses; fails with AddressRefused if none is public. */
export function publicLookup(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found, family) => {
      if (error !== null) return callback(error, "", 0);
      const all: LookupAddress[] =
        typeof found === "string" ? [{ address: found, family: family ?? 0 }] : found;
      const open = all.filter(({ address }) => isPublicAddress(address));
      const [first] = open;
      if (first === undefined) return callback(new AddressRefused(), "", 0);
      if (options.all === true) return callback(null, open);
      return callback(null, first.address, first.family);
    });
  };
}
