import assert from "node:assert/strict";
import { test } from "node:test";
import { isFromThisMachine } from "../../src/http/hosts.js";
import { UnnamedProxy } from "../../src/http/unnamed-proxy.js";

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
    "Fly-Client-IP",
    "Fastly-Client-IP",
    "X-Azure-ClientIP",
    "CDN-Loop",
    "X-Amzn-Trace-Id",
    "X-ARR-Log-Id",
    "CF-Ray",
    "X-Vercel-Id",
  ])
    assert.equal(from("127.0.0.1", { ...HERE, [name]: "127.0.0.1" }), false, name);
});

/** The sign by which these requests, each on a connection of its own, show a proxy; and whether it is on this machine. */
function signOf(
  requests: readonly { peer?: string; httpVersion?: string; headers?: Record<string, string> }[],
  isOn = true,
): [sign: string | undefined, isHere: boolean] {
  const signs: string[] = [];
  const proxy = new UnnamedProxy(isOn, ({ sign }) => signs.push(sign));
  for (const { peer = "127.0.0.1", httpVersion = "1.1", headers = {} } of requests) {
    const all = { host: "127.0.0.1:3000", ...headers };
    const socket = { remoteAddress: peer, destroyed: false };
    const rawHeaders = Object.entries(all).flat();
    proxy.look({
      method: "GET",
      url: "/",
      httpVersion,
      headers: all,
      headersDistinct: {},
      rawHeaders,
      socket,
    });
  }
  assert.ok(signs.length <= 1);
  return [signs[0], proxy.isHere];
}

const browser = (version: number) => ({ "user-agent": `Mozilla/5.0 (X11) Firefox/${version}.0` });

test("a proxy that the settings do not name is noticed by what it leaves, and by who comes through it", () => {
  const added = "a request has a header that only proxies add";
  assert.deepEqual(signOf([{ headers: { "x-forwarded-for": "192.0.2.1" } }]), [added, true]);
  assert.deepEqual(signOf([{ peer: "172.17.0.1", headers: { "cf-ray": "1" } }]), [added, false]);
  assert.match(signOf([{ httpVersion: "1.0", headers: browser(1) }])[0] ?? "", /HTTP\/1\.0/);
  const page = { "sec-fetch-site": "same-origin", referer: "https://repositories.example/" };
  assert.match(signOf([{ headers: page }])[0] ?? "", /under another host/);
  const many = Array.from({ length: 6 }, (_, i) => ({ headers: browser(i) }));
  assert.match(signOf(many)[0] ?? "", /more browsers/);
});

test("people and programs at this machine, visitors from elsewhere and named proxies are no sign", () => {
  const page = { "sec-fetch-site": "same-origin", referer: "http://127.0.0.1:3000/explore" };
  const here = [
    ...Array.from({ length: 5 }, (_, i) => ({ headers: { ...browser(i), ...page } })),
    { httpVersion: "1.0", headers: { "user-agent": "ApacheBench/2.3" } },
    { headers: { ...browser(1), "sec-fetch-site": "cross-site", referer: "https://forge.example/" } },
    ...Array.from({ length: 20 }, (_, i) => ({ headers: { "user-agent": `curl/8.${i}` } })),
  ];
  assert.deepEqual(signOf(here), [undefined, false]);
  const forged = [{ peer: "192.0.2.1", headers: { "x-forwarded-for": "127.0.0.1" } }];
  assert.deepEqual(signOf(forged), [undefined, false]);
  assert.deepEqual(signOf([{ headers: { "x-forwarded-for": "192.0.2.1" } }], false), [undefined, false]);
});
