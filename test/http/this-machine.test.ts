import assert from "node:assert/strict";
import { test } from "node:test";
import { isFromThisMachine } from "../../src/http/hosts.js";

const HERE = { host: "127.0.0.1:3000" };

/** A request from an address, with these headers. */
function from(remoteAddress: string | undefined, headers: Record<string, string> = HERE): boolean {
  const rawHeaders = Object.entries(headers).flat();
  const lower = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return isFromThisMachine({
    method: "GET",
    url: "/",
    httpVersion: "1.1",
    headers: lower,
    headersDistinct: {},
    rawHeaders,
    socket: { remoteAddress, destroyed: false },
  });
}

test("a loopback connection under a loopback host comes from this machine, in every spelling", () => {
  for (const peer of ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
    for (const host of ["127.0.0.1:3000", "localhost:3000", "[::1]:3000", "LOCALHOST"])
      assert.equal(from(peer, { Host: host }), true, `${peer} ${host}`);
});

test("no other address does, whatever the request says about itself", () => {
  for (const peer of [
    "192.0.2.1",
    "10.0.0.1",
    "::ffff:192.0.2.1",
    "fe80::1",
    "2001:db8::1",
    "127.0.0.1.example",
    "",
    undefined,
  ])
    assert.equal(from(peer), false, String(peer));
});

test("no other host does: a site may have its name point to this machine", () => {
  for (const Host of [
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "192.168.0.2:3000",
    "",
  ])
    assert.equal(from("127.0.0.1", { Host }), false, Host);
  assert.equal(from("127.0.0.1", {}), false, "without a host");
});

test("a trace of a proxy in any header ends it, also where the proxy claims this machine", () => {
  for (const name of [
    "X-Forwarded-For",
    "X-Forwarded-Host",
    "x-forwarded-proto",
    "Forwarded",
    "Via",
    "X-Real-IP",
    "X-Client-IP",
    "CF-Connecting-IP",
    "True-Client-IP",
    "X-Original-Forwarded-For",
  ])
    assert.equal(from("127.0.0.1", { ...HERE, [name]: "127.0.0.1" }), false, name);
});
