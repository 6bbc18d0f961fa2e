import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo, LookupFunction } from "node:net";
import { test } from "node:test";
import { AddressRefused, isPublicAddress, publicLookup } from "../../src/forges/addresses.js";
import { UpstreamFailure } from "../../src/forges/failures.js";
import { createTransport } from "../../src/forges/transport.js";
import { fc } from "../support/properties.js";

const signal = new AbortController().signal;

/** Notations of non-public addresses as the host of a URL. */
const HOSTS = [
  ...["127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "2130706433", "0x7f000001", "0x7f.0.0.1"],
  ...["0x7f.1", "0177.0.0.1", "0177.1", "017700000001", "00000177.0.0.1", "127.0.0.1.", "%31%32%37.0.0.1"],
  ...["127。0。0。1", "①②⑦.⓪.⓪.①", "127.0.0.1", "0", "0.0.0.0", "0x0"],
  ...["10.0.0.1", "10.1", "0xa000001", "172.16.0.1", "172.31.255.255", "192.168.1.1", "192.168.257"],
  ...["169.254.169.254", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376", "169.254.43518"],
  ...["100.64.0.1", "100.127.255.255", "192.0.0.170", "198.18.0.1", "224.0.0.1", "255.255.255.255"],
  ...["[::]", "[::1]", "[0:0:0:0:0:0:0:1]", "[::127.0.0.1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"],
  ...["[::FFFF:169.254.169.254]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]"],
  ...["[64:ff9b:1::1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]", "[fe80::1]", "[febf::1]", "[fec0::1]"],
  ...["[fc00::1]", "[fd12:3456::1]", "[ff02::1]", "[2001:db8::1]", "[100::1]"],
];

async function assertRefused(origin: string, lookup?: LookupFunction): Promise<void> {
  const transport = createTransport({
    origins: [origin],
    mayBePrivate: false,
    userAgent: "sidereal-test",
    connectMs: 50,
    ...(lookup && { lookup }),
  });
  try {
    await assert.rejects(transport.fetch(`${origin}/`, { signal }), (error) => {
      assert.ok(error instanceof UpstreamFailure, String(error));
      assert.equal(error.kind, "unreachable");
      assert.match(error.message, /not on the public internet/, origin);
      return true;
    });
  } finally {
    await transport.close();
  }
}

/** A resolver that returns these addresses and counts lookups. */
function nameServer(...answers: string[][]): LookupFunction & { asked: number } {
  const lookup = Object.assign(
    ((_hostname, options, callback) => {
      const answer = answers[Math.min(lookup.asked++, answers.length - 1)] ?? [];
      assert.equal(options.all, true);
      setImmediate(() =>
        callback(
          null,
          answer.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
        ),
      );
    }) satisfies LookupFunction,
    { asked: 0 },
  );
  return lookup;
}

test("a private address is refused in every notation", async () => {
  assert.ok(HOSTS.length >= 40);
  for (const host of HOSTS) await assertRefused(`http://${host}`);
});

test("a name that resolves to private addresses is refused", async () => {
  const addresses = HOSTS.flatMap(
    (host) => URL.parse(`http://${host}`)?.hostname.replace(/^\[|\]$/g, "") ?? [],
  );
  for (const address of addresses) await assertRefused("http://forge.example", nameServer([address]));
  await assertRefused("http://forge.example:8080", nameServer(["10.0.0.1", "::1", "fe80::1%eth0"]));
  await assertRefused("http://localhost");
});

test("the connection uses the checked address, so DNS rebinding has no effect", async () => {
  const server = createServer((_request, response) => response.end("reached"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://forge.example:${(server.address() as AddressInfo).port}`;
  try {
    const lookup = nameServer(["192.168.0.1", "127.0.0.1"], ["127.0.0.1"]);
    await assertRefused(origin, lookup);
    assert.equal(lookup.asked, 1, "looked up once for a connection");
    const transport = createTransport({
      origins: [origin],
      mayBePrivate: true,
      userAgent: "t",
      lookup: nameServer(["127.0.0.1"]),
    });
    assert.equal((await transport.fetch(origin, { signal })).text, "reached", "and only what is refused is");
    await transport.close();
  } finally {
    server.close();
  }
});

test("only the public addresses of a name are used, in their order", () => {
  const given: unknown[] = [];
  const found = ["10.0.0.1", "1.1.1.1", "::1", "2606:4700::1111"].map((address) => ({
    address,
    family: address.includes(":") ? 6 : 4,
  }));
  const all = publicLookup((_hostname, _options, callback) => callback(null, found));
  all("forge.example", { all: true }, (...answer) => given.push(answer));
  all("forge.example", {}, (...answer) => given.push(answer));
  const one = publicLookup((_hostname, _options, callback) => callback(null, "1.1.1.1", 4));
  one("forge.example", { all: true }, (...answer) => given.push(answer));
  assert.deepEqual(given, [
    [null, [found[1], found[3]]],
    [null, "1.1.1.1", 4],
    [null, [found[1]]],
  ]);
  const none = publicLookup((_hostname, _options, callback) => callback(null, []));
  none("forge.example", { all: true }, (error) => assert.ok(error instanceof AddressRefused));
});

test("public addresses are recognized; names are not addresses", () => {
  for (const address of [
    "140.82.121.4",
    "1.1.1.1",
    "172.15.0.1",
    "172.32.0.1",
    "100.63.255.255",
    "100.128.0.1",
  ])
    assert.ok(isPublicAddress(address), address);
  for (const address of ["2606:4700::1111", "2a0a:4580:103f:c0de::1", "2001:200::1", "2001:4860:4860::8888"])
    assert.ok(isPublicAddress(address), address);
  for (const text of ["", "localhost", "github.com", "1.1", "[::1]", "1.1.1.1:80"])
    assert.ok(!isPublicAddress(text), text);
});

test("a private IPv4 address is refused in every IPv6 form", () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      for (const prefix of ["::ffff:", "::ffff:0:", "::", "64:ff9b::"]) {
        assert.equal(isPublicAddress(prefix + address), false);
      }
    }),
  );
});
