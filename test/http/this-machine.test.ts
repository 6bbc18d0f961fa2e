import assert from "node:assert/strict";
import { test } from "node:test";
import { type Locality, localityOf } from "../../src/http/message.js";
import { UnnamedProxy } from "../../src/http/server.js";

const HERE = { host: "127.0.0.1:3000" };

/** A request from an address, with these headers. */
function from(remoteAddress: string | undefined, headers: Record<string, string> = HERE): Locality {
  const rawHeaders = Object.entries(headers).flat();
  const lower = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return localityOf({
    method: "GET",
    url: "/",
    httpVersion: "1.1",
    headers: lower,
    headersDistinct: {},
    rawHeaders,
    socket: { remoteAddress, destroyed: false },
  });
}

test("a connection from here or a private network under a loopback host is local, in every spelling", () => {
  for (const peer of [
    "127.0.0.1",
    "127.9.9.9",
    "::1",
    "::ffff:127.0.0.1",
    "172.17.0.1",
    "10.0.0.1",
    "fe80::1",
  ])
    for (const host of ["127.0.0.1:3000", "localhost:3000", "[::1]:3000", "LOCALHOST"])
      assert.equal(from(peer, { Host: host }), "local", `${peer} ${host}`);
});

test("no public address is, whatever the request says about itself", () => {
  for (const peer of ["192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1", "127.0.0.1.example", "", undefined])
    assert.equal(from(peer), "remote", String(peer));
});

test("no other host is: a site may have its name point to this machine", () => {
  for (const Host of [
    "evil.example",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "192.168.0.2:3000",
    "",
  ])
    assert.equal(from("127.0.0.1", { Host }), "remote", Host);
  assert.equal(from("127.0.0.1", {}), "remote", "without a host");
});

test("a trace of a proxy in any header ends it, even if the proxy claims this machine", () => {
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
    assert.equal(from("127.0.0.1", { ...HERE, [name]: "127.0.0.1" }), "proxied", name);
});

/** The sign by which these requests, each on a connection of its own, show a proxy. */
function signOf(
  requests: readonly { peer?: string; httpVersion?: string; headers?: Record<string, string> }[],
  isOn = true,
): string | undefined {
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
  return signs[0];
}

const browser = (version: number) => ({ "user-agent": `Mozilla/5.0 (X11) Firefox/${version}.0` });

test("a proxy that the settings do not name is noticed by what it leaves", () => {
  const added = "a request has a header that only proxies add";
  assert.equal(signOf([{ headers: { "x-forwarded-for": "192.0.2.1" } }]), added);
  assert.equal(signOf([{ peer: "172.17.0.1", headers: { "cf-ray": "1" } }]), added);
  assert.match(signOf([{ httpVersion: "1.0", headers: browser(1) }]) ?? "", /HTTP\/1\.0/);
  const page = { "sec-fetch-site": "same-origin", referer: "https://repositories.example/" };
  assert.match(signOf([{ headers: page }]) ?? "", /under another host/);
});

test("people and programs at this machine, visitors from elsewhere and named proxies are no sign", () => {
  const page = { "sec-fetch-site": "same-origin", referer: "http://127.0.0.1:3000/explore" };
  const here = [
    ...Array.from({ length: 20 }, (_, i) => ({ headers: { ...browser(i), ...page } })),
    { httpVersion: "1.0", headers: { "user-agent": "ApacheBench/2.3" } },
    { headers: { ...browser(1), "sec-fetch-site": "cross-site", referer: "https://forge.example/" } },
    ...Array.from({ length: 20 }, (_, i) => ({ headers: { "user-agent": `curl/8.${i}` } })),
  ];
  assert.equal(signOf(here), undefined);
  assert.equal(signOf([{ peer: "192.0.2.1", headers: { "x-forwarded-for": "127.0.0.1" } }]), undefined);
  assert.equal(signOf([{ headers: { "x-forwarded-for": "192.0.2.1" } }], false), undefined);
});
