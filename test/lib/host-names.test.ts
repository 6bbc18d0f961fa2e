import assert from "node:assert/strict";
import { test } from "node:test";
import {
  canonicalHost,
  isLoopbackHost,
  isPrivateHost,
  overlaps,
  readNetwork,
} from "../../src/lib/host-names.js";

test("a host has one spelling, without its port", () => {
  const cases: Record<string, string | undefined> = {
    "Sidereal.Example": "sidereal.example",
    "sidereal.example:3000": "sidereal.example",
    "sidereal.example.": "sidereal.example",
    "sidereal.example.:3000": "sidereal.example",
    "bücher.example": "xn--bcher-kva.example",
    "127.0.0.1:80": "127.0.0.1",
    "127.1": "127.0.0.1",
    "0x7f000001": "127.0.0.1",
    "[::1]:3000": "[::1]",
    "[0:0:0:0:0:0:0:1]": "[::1]",
    "[FE80::1]": "[fe80::1]",
    "": undefined,
    ".": undefined,
    "::1": undefined,
    "a:b": undefined,
    "a:99999": undefined,
    "a/b": undefined,
    "a@b": undefined,
    "a b": undefined,
    "a?b": undefined,
    "a\\b": undefined,
    "a%2eb": undefined,
    "999.1.1.1": undefined,
  };
  for (const [text, host] of Object.entries(cases)) assert.equal(canonicalHost(text), host, text);
});

test("hosts that no public network reaches are private", () => {
  const isPrivate: Record<string, boolean> = {
    localhost: true,
    "app.localhost": true,
    "127.0.0.1": true,
    "127.255.0.1": true,
    "0.0.0.0": true,
    "10.1.2.3": true,
    "100.64.0.1": true,
    "100.128.0.1": false,
    "169.254.169.254": true,
    "172.15.0.1": false,
    "172.16.0.1": true,
    "172.31.255.255": true,
    "172.32.0.1": false,
    "192.168.1.1": true,
    "203.0.113.1": false,
    "[::1]": true,
    "[::]": true,
    "[fc00::1]": true,
    "[fdff::1]": true,
    "[fe80::1]": true,
    "[febf::1]": true,
    "[fec0::1]": false,
    "[2001:db8::1]": false,
    "[::ffff:c0a8:101]": true,
    "[::ffff:cb00:7101]": false,
    sidereal: true,
    "sidereal.local": true,
    "sidereal.internal": true,
    "git.lan": true,
    "sidereal.home.arpa": true,
    "internal.example": false,
    "sidereal.example": false,
    "local.example.org": false,
    "notlocal.xlocal": false,
  };
  for (const [host, expected] of Object.entries(isPrivate)) assert.equal(isPrivateHost(host), expected, host);
});

test("only names and addresses of this machine are loopback", () => {
  for (const host of ["localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "[::1]", "[::ffff:7f00:1]"])
    assert.equal(isLoopbackHost(host), true, host);
  for (const host of ["localhost.example", "xlocalhost", "0.0.0.0", "[::]", "128.0.0.1", "127.0.0.1.example"])
    assert.equal(isLoopbackHost(host), false, host);
});

test("a network has one spelling: its first address, IPv4 also if it is mapped, and at most 64 bits of IPv6", () => {
  const cases: Record<string, string | undefined> = {
    "203.0.113.7": "203.0.113.7",
    "203.0.113.7/32": "203.0.113.7",
    "203.0.113.7/25": "203.0.113.0/25",
    " 203.0.113.200/25 ": "203.0.113.128/25",
    "::ffff:203.0.113.7": "203.0.113.7",
    "::ffff:cb00:7107/120": "203.0.113.0/24",
    "2001:DB8:0:0::5": "2001:db8::/64",
    "2001:db8::5/128": "2001:db8::/64",
    "2001:db8:abcd:12ff::/56": "2001:db8:abcd:1200::/56",
    "2001:db8:1::/47": "2001:db8::/47",
    "::ffff:203.0.113.7/95": undefined,
    "203.0.113.7/33": undefined,
    "2001:db8::/129": undefined,
    "203.0.113": undefined,
    "203.0.113.7/": undefined,
    "203.0.113.7/2 4": undefined,
    "ann@example.org": undefined,
    "": undefined,
  };
  for (const [text, name] of Object.entries(cases)) assert.equal(readNetwork(text)?.name, name, text);
});

test("networks overlap if one is in the other", () => {
  const isOver = (one: string, other: string) => {
    const [a, b] = [readNetwork(one), readNetwork(other)];
    assert.ok(a);
    return overlaps(a, b);
  };
  assert.ok(isOver("203.0.113.0/24", "203.0.113.7") && isOver("203.0.113.7", "203.0.113.0/24"));
  assert.ok(isOver("2001:db8::/32", "2001:db8:1::/48"));
  assert.ok(!isOver("203.0.113.0/24", "203.0.112.0/24"));
  assert.ok(!isOver("4.0.0.0/8", "6000::/16"), "of different families");
});
