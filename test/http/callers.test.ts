import assert from "node:assert/strict";
import { test } from "node:test";
import { Callers, NO_ADDRESS, truncatedAddress } from "../../src/http/caller.js";

const direct = new Callers([]);

test("each IPv4 address is a caller, however it is written", () => {
  for (const spelling of [
    "1.2.3.4",
    "::ffff:1.2.3.4",
    "::ffff:102:304",
    "0:0:0:0:0:FFFF:0102:0304",
    "::FFFF:1.2.3.4",
  ])
    assert.equal(direct.nameOf(spelling, null), "1.2.3.4", spelling);
});

test("each IPv6 network of 64 bits is a caller, however an address of it is written", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:db8::1.2.3.4", "2001:db8:0:0::/64"],
    ["2001:0DB8:0:0:ffff:ffff:ffff:ffff", "2001:db8:0:0::/64"],
    ["2001:db8:0:1::1", "2001:db8:0:1::/64"],
    ["2001:db8:1::", "2001:db8:1:0::/64"],
    ["::", "0:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    // Looks like a mapped address, and is none: the group before is not ffff, or one before it is not 0.
    ["::1.2.3.4", "0:0:0:0::/64"],
    ["::fffe:1.2.3.4", "0:0:0:0::/64"],
    ["1::ffff:1.2.3.4", "1:0:0:0::/64"],
    ["64:ff9b::1.2.3.4", "64:ff9b:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["1:2:3:4:5:6:7::", "1:2:3:4::/64"],
    ["::2:3:4:5:6:7:8", "0:2:3:4::/64"],
  ];
  for (const [address, name] of cases) assert.equal(direct.nameOf(address, null), name, address);
});

test("who has no address shares one allowance with all such", () => {
  for (const peer of [undefined, "", "/run/sidereal.sock", "1.2.3", "01.2.3.4", "1.2.3.4.5", "g::1"])
    assert.equal(direct.nameOf(peer, "1.2.3.4"), NO_ADDRESS, peer);
});

test("what a caller says of itself is not believed unless it is a trusted proxy", () => {
  const behind = new Callers(["10.0.0.0/8", "2001:db8:aa::/48", "192.0.2.7"]);
  for (const callers of [direct, behind]) {
    assert.equal(callers.nameOf("198.51.100.1", "1.2.3.4"), "198.51.100.1");
    assert.equal(callers.nameOf("11.0.0.1", "10.0.0.1, 1.2.3.4"), "11.0.0.1");
    assert.equal(callers.nameOf("2001:db8:ab::1", "1.2.3.4"), "2001:db8:ab:0::/64");
  }
});

test("from trusted proxies, the right-most address that is none of them is the caller", () => {
  const callers = new Callers(["10.0.0.0/8", "2001:db8:aa::/48", "192.0.2.7"]);
  const cases: readonly (readonly [string, string, string, string])[] = [
    ["one proxy", "10.0.0.1", "203.0.113.5", "203.0.113.5"],
    ["mapped proxy", "::ffff:10.0.0.1", "203.0.113.5", "203.0.113.5"],
    ["proxy with IPv6", "2001:db8:aa:5::1", "203.0.113.5", "203.0.113.5"],
    ["a single address as proxy", "192.0.2.7", "203.0.113.5", "203.0.113.5"],
    [
      "what the caller made up stands on the left",
      "10.0.0.1",
      "1.1.1.1, 10.9.9.9, 203.0.113.5",
      "203.0.113.5",
    ],
    ["a chain", "10.0.0.1", "1.1.1.1, 203.0.113.5, 192.0.2.7, 2001:db8:aa::2,10.0.0.2", "203.0.113.5"],
    ["all trusted", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
    ["mapped caller", "10.0.0.1", "::ffff:203.0.113.5", "203.0.113.5"],
    ["caller with IPv6", "10.0.0.1", "2001:db8:1:2:3::4", "2001:db8:1:2::/64"],
    ["with ports", "10.0.0.1", "203.0.113.5:4711, [2001:db8:aa::2]:80", "203.0.113.5"],
    ["malformed: the proxy that wrote it", "10.0.0.1", "1.1.1.1, unknown, 10.0.0.2", "10.0.0.2"],
    ["malformed at the right", "10.0.0.1", "203.0.113.5, 1.2.3", "10.0.0.1"],
    ["empty", "10.0.0.1", "", "10.0.0.1"],
    ["empty entries", "10.0.0.1", "203.0.113.5,,", "10.0.0.1"],
  ];
  for (const [what, peer, forwardedFor, name] of cases)
    assert.equal(callers.nameOf(peer, forwardedFor), name, what);
});

test("a connection is that of a trusted proxy by its own address alone, however it is written", () => {
  const callers = new Callers(["10.0.0.0/8", "2001:db8::/32"]);
  for (const peer of ["10.1.2.3", "::ffff:10.1.2.3", "2001:db8::1"])
    assert.equal(callers.isProxy(peer), true, peer);
  for (const peer of ["11.1.2.3", "2001:db9::1", "", undefined])
    assert.equal(callers.isProxy(peer), false, peer);
  assert.equal(new Callers([]).isProxy("10.1.2.3"), false);
});

test("a network is 24 bits of an IPv4 address and 48 of an IPv6 one", () => {
  const callers = new Callers([]);
  const cases: readonly (readonly [string | undefined, string])[] = [
    ["192.0.2.255", "192.0.2.0/24"],
    ["::ffff:10.1.2.3", "10.1.2.0/24"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
    ["2001:0db8::1", "2001:db8::/48"],
    ["2001:db8:0:ffff::1", "2001:db8::/48"],
    ["::1", "::/48"],
    ["1::", "1::/48"],
    ["0:0:7::", "0:0:7::/48"],
    [undefined, "none"],
  ];
  for (const [peer, network] of cases)
    assert.equal(truncatedAddress(callers.nameOf(peer, null)), network, peer);
});

test("the whole address of a caller is as people write it, also behind a proxy", () => {
  const callers = new Callers(["10.0.0.0/8"]);
  assert.equal(callers.addressOf("2001:DB8:0:0:0:0:0:1", null), "2001:db8::1");
  assert.equal(callers.addressOf("::ffff:192.0.2.7", "198.51.100.9"), "192.0.2.7");
  assert.equal(callers.addressOf("10.0.0.1", "192.0.2.1, 198.51.100.9"), "198.51.100.9");
  assert.equal(callers.addressOf(undefined, null), "none");
});
