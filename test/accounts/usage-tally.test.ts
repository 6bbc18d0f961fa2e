import assert from "node:assert/strict";
import { test } from "node:test";
import { Callers, truncatedAddress } from "../../src/accounts/callers.js";
import {
  TALLY_BOUNDS,
  type TalliedRequest,
  type TallyBounds,
  UsageTally,
} from "../../src/accounts/usage-tally.js";
import { HOUR_MS } from "../../src/lib/clock.js";
import { fc } from "../support/properties.js";

const BOUNDS: TallyBounds = {
  keys: 3,
  hours: 2,
  entries: 12,
  addresses: 3,
  agents: 2,
  events: 2,
  allEvents: 5,
};

const one = fc.record<TalliedRequest>({
  keyId: fc.integer({ min: 1, max: 5 }),
  at: fc.integer({ min: 0, max: 5 * HOUR_MS }),
  method: fc.constantFrom("GET", "POST"),
  route: fc.constantFrom("/a", "/b", "/c"),
  status: fc.constantFrom(200, 204, 304, 400, 404, 429, 500),
  path: fc.constantFrom("/a", null),
  bytes: fc.nat(1_000),
  micros: fc.nat(1_000),
  allowance: fc.option(
    fc.record({
      bucket: fc.constantFrom("default", "heavy"),
      limit: fc.constant(10),
      remaining: fc.nat(9),
    }),
    { nil: undefined },
  ),
  code: fc.constantFrom(null, "NOT_FOUND"),
  address: fc.string({ maxLength: 2 }),
  agent: fc.string({ maxLength: 2 }),
});

/** All that a tally says, added up. */
function sumsOf(tally: UsageTally) {
  const spans = [...tally.keys.values()].flatMap(({ hours }) => [...hours.values()]);
  const counts = spans.flatMap(({ routes }) => [...routes.values()]);
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
  const seen = (kind: "addresses" | "agents") =>
    sum(spans.flatMap((span) => [...span[kind].values()].map(({ requests }) => requests)));
  return {
    requests: sum(counts.map(({ requests }) => requests)),
    bytes: sum(counts.map(({ bytes }) => bytes)),
    micros: sum(counts.map(({ micros }) => micros)),
    addresses: seen("addresses"),
    agents: seen("agents"),
  };
}

function assertBounded(tally: UsageTally): void {
  let entries = 0;
  let events = 0;
  assert.ok(tally.keys.size <= BOUNDS.keys);
  for (const { hours, errors, blocks } of tally.keys.values()) {
    assert.ok(hours.size <= BOUNDS.hours);
    assert.ok(errors.length <= BOUNDS.events && blocks.length <= BOUNDS.events);
    events += errors.length + blocks.length;
    for (const { routes, addresses, agents, allowances } of hours.values()) {
      assert.ok(addresses.size <= BOUNDS.addresses + 1 && agents.size <= BOUNDS.agents + 1);
      assert.ok(allowances.size <= 2);
      const isNamed = (name: string) => !/(?:^| )other$|^Other$/.test(name);
      entries += [...routes.keys(), ...addresses.keys(), ...agents.keys()].filter(isNamed).length;
    }
  }
  assert.ok(entries <= BOUNDS.entries, `${entries} entries`);
  assert.ok(events <= BOUNDS.allEvents + BOUNDS.events, `${events} events`);
}

test("whatever is asked, it stays within its bounds and loses no request of the keys it has", () => {
  fc.assert(
    fc.property(fc.array(one, { maxLength: 200 }), fc.nat(200), (requests, cut) => {
      const [before, after] = [new UsageTally(BOUNDS), new UsageTally(BOUNDS)];
      for (const request of requests.slice(0, cut)) before.add(request);
      for (const request of requests.slice(cut)) after.add(request);
      for (const tally of [before, after]) assertBounded(tally);
      // As after a write that failed.
      before.absorb(after);
      assertBounded(before);
      const sums = sumsOf(before);
      assert.equal(sums.requests + before.lost, requests.length);
      assert.deepEqual([sums.addresses, sums.agents], [sums.requests, sums.requests]);
      if (before.lost > 0) return;
      const total = (name: "bytes" | "micros") => requests.reduce((sum, request) => sum + request[name], 0);
      assert.deepEqual([sums.bytes, sums.micros], [total("bytes"), total("micros")]);
    }),
    { numRuns: 500 },
  );
});

test("taken away part by part, it gives each request once and has all its room again", () => {
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
  fc.assert(
    fc.property(fc.array(one, { maxLength: 200 }), fc.integer({ min: 1, max: 30 }), (requests, most) => {
      const tally = new UsageTally(BOUNDS);
      const sums: ReturnType<typeof sumsOf>[] = [];
      const entries: number[] = [];
      for (let round = 0; round < 2; round++) {
        for (const request of requests) tally.add(request);
        const before = sumsOf(tally);
        const events = sum(
          [...tally.keys.values()].map(({ errors, blocks }) => errors.length + blocks.length),
        );
        const told = sum(
          [...tally.keys.values()].flatMap(({ hours }) => [...hours.values()].map((span) => span.entries)),
        );
        const given = { requests: 0, events: 0 };
        for (let part = tally.part(most); part.size > 0; part = tally.part(most)) {
          for (const { hours, errors, blocks } of part.values()) {
            assert.ok(hours.size > 0);
            given.events += errors.length + blocks.length;
            for (const { routes } of hours.values())
              given.requests += sum([...routes.values()].map((counts) => counts.requests));
          }
          tally.remove(part);
        }
        assert.deepEqual(given, { requests: before.requests, events });
        assert.equal(tally.keys.size, 0);
        assert.equal(tally.isCrowded, false);
        sums.push(before);
        entries.push(told);
      }
      assert.deepEqual(sums[1], sums[0]);
      assert.equal(entries[1], entries[0], "as much finds room as the first time");
    }),
    { numRuns: 300 },
  );
});

test("however much a long outage left, each part of it is small", () => {
  const tally = new UsageTally(TALLY_BOUNDS);
  const hours = 14;
  for (let at = 0; at < hours * HOUR_MS; at += HOUR_MS)
    for (let keyId = 1; keyId <= TALLY_BOUNDS.keys; keyId++)
      tally.add({
        ...{
          keyId,
          at,
          method: "GET",
          route: "/a",
          status: 200,
          bytes: 1,
          micros: 1,
          code: null,
          path: null,
        },
        ...{ address: `network ${keyId}`, agent: "curl", allowance: undefined },
      });
  let written = 0;
  for (let part = tally.part(150); part.size > 0; part = tally.part(150)) {
    const spans = [...part.values()].flatMap((key) => [...key.hours.values()]);
    assert.ok(spans.reduce((sum, span) => sum + span.entries, 0) < 150 + 3);
    written += spans.length;
    tally.remove(part);
  }
  assert.equal(written, TALLY_BOUNDS.keys * hours);
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
