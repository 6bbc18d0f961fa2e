import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { ForgeKind, ProviderSettings } from "../../src/config/known-forges.js";
import type { Provider, Refreshed, RepositoryRef, UpstreamRepository } from "../../src/forges/contract.js";
import { FAILURE_KINDS, type FailureKind, UpstreamFailure } from "../../src/forges/failures.js";
import { createTransport, type Transport, type UpstreamFetch } from "../../src/forges/transport.js";
import { type Clock, DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import {
  FAULTS,
  type FaultName,
  type Forge,
  type ForgeRepository,
  startForge,
} from "../support/forge/forge.js";
import { nodeId } from "../support/forge/github-record.js";
import { SkippingClock } from "../support/manual-clock.js";
import { settingsOf } from "../support/upstream.js";

const START = Date.UTC(2026, 0, 10);
const TOKENS = ["first-token", "second-token"];
const MIN_STARS = 50;
const never = new AbortController().signal;

/** The expected failures for each fault; several where a batch and a list fail differently. */
const EXPECTED: Readonly<Record<FaultName, readonly FailureKind[]>> = {
  "status-500": ["unreachable"],
  "status-502": ["unreachable"],
  "429-retry-after": ["quota"],
  "429-bare": ["quota"],
  "403-secondary": ["quota"],
  "status-401": ["refused"],
  "status-404": ["gone", "malformed"],
  "status-410": ["gone", "malformed"],
  "other-host": ["renamed", "malformed"],
  "status-451": ["blocked", "malformed"],
  slow: ["unreachable"],
  stall: ["unreachable"],
  cut: ["malformed"],
  truncated: ["malformed"],
  html: ["malformed"],
  huge: ["malformed"],
  "gzip-bomb": ["malformed"],
  deep: ["malformed"],
  "wrong-types": ["malformed"],
  "proto-keys": [],
  "lone-surrogates": ["malformed"],
};

type Create = (settings: ProviderSettings, dependencies: { fetch: UpstreamFetch; clock: Clock }) => Provider;

/** The guarantees of every provider, tested against a fake forge of its kind on this machine. */
export function providerContract(kind: ForgeKind, create: Create): void {
  describe(`${kind}: the provider contract`, () => {
    let forge: Forge;
    const clock = new SkippingClock(START + 20 * DAY_MS);
    let transport: Transport;
    /** Signal of calls during a fault. Responses that never end are aborted once the forge has begun them. */
    let signal = never;

    before(async () => {
      forge = await startForge({ kind, clock, repositories: 600 });
      transport = createTransport({
        origins: [forge.url],
        mayBePrivate: true,
        userAgent: "sidereal-test",
        maxBytes: 2 ** 20,
      });
    });
    after(async () => {
      await transport.close();
      await forge.close();
    });

    /** A new provider and reset counters, two hours after the last one. */
    function build(changes: Partial<ProviderSettings> = {}): Provider {
      behave();
      forge.switches.tokens = null;
      clock.advance(2 * HOUR_MS);
      forge.counters.reset();
      const own = { url: forge.url, tokens: TOKENS, minStars: MIN_STARS, mayBePrivate: true };
      return create(settingsOf(kind, { ...own, ...changes }), { fetch: transport.fetch, clock });
    }
    function play(fault: FaultName): void {
      const ending = new AbortController();
      signal = ending.signal;
      forge.switches.fault = () => {
        if (fault === "slow" || fault === "stall") setImmediate(() => ending.abort());
        return { name: fault, byteIntervalMs: 5, bytes: 8 * 2 ** 20 };
      };
    }
    function behave(): void {
      signal = never;
      forge.switches.fault = null;
    }

    const all = () => [...forge.catalogue.truth(clock.now())];
    const withVisibility = (visibility: ForgeRepository["visibility"]) =>
      all().filter((each) => each.visibility === visibility);
    const refOf = ({ id, fullName }: ForgeRepository): RepositoryRef => ({
      providerId: String(id),
      nodeId: kind === "github" ? nodeId("R", id) : null,
      fullName,
      etag: null,
    });

    async function walk(provider: Provider): Promise<UpstreamRepository[]> {
      const found: UpstreamRepository[] = [];
      let cursor: string | null = null;
      do {
        clock.advance(Math.max(0, provider.readyAt("discover") - clock.now()));
        const page = await provider.discover(cursor, signal);
        assert.ok((page.next ?? "").length <= 4_000);
        found.push(...page.repositories);
        cursor = page.next;
      } while (cursor !== null);
      return found;
    }

    test("a walk finds every public repository with enough stars, with the right numbers", async () => {
      const found = new Map((await walk(build())).map((repository) => [repository.providerId, repository]));
      const wanted = withVisibility("public").filter(({ stars }) => stars >= 2 * MIN_STARS);
      assert.ok(wanted.length > 100);
      for (const truth of wanted) {
        const repository = found.get(String(truth.id));
        assert.ok(repository !== undefined, `${truth.fullName} with ${truth.stars} stars was not found`);
        assert.equal(repository.createdAt, truth.createdAt);
        assert.ok(Math.abs(repository.stars - truth.stars) <= 10 + truth.stars * 0.02);
      }
      for (const repository of found.values()) assert.ok(repository.stars >= MIN_STARS);
      assert.deepEqual(forge.violations, []);
    });

    test("the repositories of an owner and those with a name are found, most stars first, and no others", async () => {
      const provider = build();
      const [one] = withVisibility("public").sort((a, b) => b.stars - a.stars);
      assert.ok(one);
      const owned = await provider.seek({ owner: one.owner }, signal);
      const wanted = forge.catalogue.ownedBy(one.owner, clock.now());
      assert.deepEqual(
        owned.repositories.map(({ stars }) => stars),
        wanted.map(({ stars }) => stars).slice(0, 100),
      );
      assert.ok(owned.repositories.every(({ owner }) => owner.startsWith(one.owner)));
      if (kind !== "gogs") assert.equal(owned.total, wanted.length);
      const named = await provider.seek({ name: one.name }, signal);
      assert.ok(named.repositories.length > 0 && named.repositories.length <= 10);
      assert.ok(named.repositories.every(({ name }) => name.toLowerCase().includes(one.name.toLowerCase())));
      await assert.rejects(provider.seek({ owner: "no-such-owner" }, signal), { kind: "gone" });
      assert.deepEqual(forge.violations, []);
    });

    test("a refresh returns the right result for each repository, in order", async () => {
      const provider = build();
      const some = [
        ...withVisibility("public").slice(0, 12),
        ...withVisibility("deleted").slice(0, 1),
        ...withVisibility("private").slice(0, 1),
        ...withVisibility("public").slice(-4),
      ].slice(0, provider.batchSize);
      const outcomes = await provider.refreshMany(some.map(refOf), signal);
      assert.equal(outcomes.length, some.length);
      for (const [i, truth] of some.entries()) {
        const outcome = outcomes[i];
        if (truth.visibility !== "public") {
          assert.ok(
            outcome?.kind === "failed" && ["gone", "private"].includes(outcome.failure.kind),
            truth.fullName,
          );
        } else {
          assert.ok(outcome?.kind === "found", truth.fullName);
          assertTrue(outcome.repository, truth);
        }
      }
    });

    const isByName = kind === "gogs";

    test("a renamed repository is found by its id and by its old name, or at least by a walk", async () => {
      const provider = build();
      const [truth] = withVisibility("public").slice(20);
      assert.ok(truth !== undefined);
      const to = `${truth.owner}/renamed-${truth.id}`;
      forge.catalogue.add({ at: clock.now() - 1000, kind: "renamed", id: truth.id, to });
      const [outcome] = await provider.refreshMany([refOf(truth)], signal);
      if (isByName) {
        assert.equal(outcome?.kind === "failed" && outcome.failure.kind, "gone");
        const found = await walk(provider);
        const renamed = found.find(({ providerId }) => providerId === String(truth.id));
        assert.equal(`${renamed?.owner}/${renamed?.name}`, to);
        assert.equal((await provider.refreshOne(to, signal)).providerId, String(truth.id));
      } else {
        assert.ok(outcome?.kind === "found");
        assert.equal(`${outcome.repository.owner}/${outcome.repository.name}`, to);
        const byOldName = await provider.refreshOne(truth.fullName, signal);
        assert.equal(byOldName.providerId, String(truth.id));
      }
      await assert.rejects(provider.refreshOne("nobody/nothing", signal), { kind: "gone" });
    });

    test("a repository that only members may see is private in every call", async () => {
      const provider = build();
      const hidden = withVisibility("public").find(({ stars }) => stars >= 2 * MIN_STARS);
      assert.ok(hidden !== undefined);
      const [ref, before] = [refOf(hidden), hidden.fullName];
      const ids = async () => (await walk(provider)).map(({ providerId }) => providerId);
      assert.ok((await ids()).includes(ref.providerId));
      if (!isByName) {
        const to = `${hidden.owner}/hidden-${hidden.id}`;
        forge.catalogue.add({ at: clock.now() - 1000, kind: "renamed", id: hidden.id, to });
        ref.fullName = to;
      }
      forge.switches.lie = ({ id }) => (id === hidden.id ? { visibility: "members" } : undefined);
      const [refreshed] = await provider.refreshMany([ref], signal);
      assert.equal(refreshed?.kind === "failed" && refreshed.failure.kind, "private");
      for (const call of [
        () => provider.refreshOne(ref.fullName, signal),
        () => provider.refreshOne(before, signal),
        () => provider.recheck(ref, signal),
        () => provider.readme(ref.fullName, signal),
        () => provider.readme(before, signal),
      ])
        await assert.rejects(call, { kind: "private" }, String(call));
      assert.ok(!(await ids()).includes(ref.providerId));
      forge.switches.lie = null;
      assert.ok((await ids()).includes(ref.providerId));
    });

    test("a second reading is of the same repository, from another endpoint than the first", async () => {
      for (const tokens of kind === "github" ? [TOKENS, []] : [TOKENS]) {
        const provider = build({ tokens });
        const [truth] = withVisibility("public").slice(30);
        assert.ok(truth !== undefined);
        const kinds = async (call: () => Promise<unknown>) => {
          const seen: string[] = [];
          forge.switches.lie = (_, request) => void seen.push(request.kind);
          await call();
          forge.switches.lie = null;
          return new Set(seen);
        };
        const first = await kinds(() => provider.refreshMany([refOf(truth)], signal));
        const second = await kinds(async () =>
          assertTrue(await provider.recheck(refOf(truth), signal), truth),
        );
        assert.equal(first.intersection(second).size, 0, `${[...first]} and ${[...second]}`);
        const gone = { ...refOf(truth), providerId: "999999999", fullName: "nobody/nothing" };
        await assert.rejects(provider.recheck(gone, signal), { kind: "gone" });
        forge.switches.lie = () => ({ id: 7 });
        // By name, another repository has the name now; by id, the response is wrong.
        const expected = isByName || second.has("repository") ? "gone" : "malformed";
        await assert.rejects(provider.recheck(refOf(truth), signal), { kind: expected });
        forge.switches.lie = null;
        assert.ok(provider.readyAt("recheck") <= clock.now());
      }
    });

    test("tokens are used evenly, and a rejected one is not used again", async () => {
      const provider = build();
      const refs = withVisibility("public").slice(0, 4).map(refOf);
      for (const ref of refs) await provider.refreshMany([ref], signal);
      const [first = 0, second = 0] = TOKENS.map((token) => forge.counters.byToken[token] ?? 0);
      assert.ok(first > 0 && Math.abs(first - second) <= 1, `${first} and ${second}`);
      const other = build();
      forge.switches.tokens = new Set(TOKENS.slice(1));
      for (const ref of refs) {
        await other.refreshMany([ref], signal).catch(() => {});
      }
      assert.equal(forge.counters.byToken["first-token"], 1);
    });

    test("a Retry-After is respected, and nothing is sent meanwhile", async () => {
      const provider = build({ tokens: TOKENS.slice(0, 1) });
      const [ref] = withVisibility("public").map(refOf);
      assert.ok(ref !== undefined);
      play("429-retry-after");
      await assert.rejects(provider.refreshMany([ref], signal), { kind: "quota" });
      behave();
      const sent = forge.counters.requests;
      await assert.rejects(provider.refreshMany([ref], signal), {
        kind: "quota",
        until: clock.now() + 60_000,
      });
      await assert.rejects(provider.discover(null, signal), { kind: "quota" });
      assert.equal(provider.readyAt("refresh"), clock.now() + 60_000);
      assert.equal(forge.counters.requests, sent);
      clock.advance(60_000);
      assert.equal((await provider.refreshMany([ref], signal))[0]?.kind, "found");
      assert.deepEqual(forge.violations, []);
    });

    for (const fault of FAULTS) {
      test(`${fault}: fails correctly, records nothing wrong, and accepts the next good response`, async () => {
        // A GitLab whose GraphQL is not there is refused as a whole.
        const isWithoutGraphql =
          kind === "gitlab" && ["status-404", "status-410", "other-host"].includes(fault);
        const expected = isWithoutGraphql ? ["refused"] : EXPECTED[fault];
        const provider = build();
        const refs = withVisibility("public").slice(0, 3).map(refOf);
        for (const call of [
          async () => void checked(await provider.refreshMany(refs, signal)),
          async () => void (await provider.discover(null, signal)).repositories.forEach(assertFit),
        ]) {
          play(fault);
          await call().catch((error) => {
            assert.ok(error instanceof UpstreamFailure, String(error?.stack));
            assert.ok(expected.includes(error.kind), `${error.kind}: ${error.message}`);
            for (const token of TOKENS) assert.ok(!error.message.includes(token));
          });
          assert.ok((forge.counters.byFault[fault] ?? 0) > 0, "the fault was not played");
          behave();
          // Beyond all waits.
          clock.advance(HOUR_MS);
          const outcomes = await provider.refreshMany(refs, signal);
          assert.deepEqual(
            outcomes.map((outcome) => outcome.kind),
            ["found", "found", "found"],
          );
        }
        assert.deepEqual(forge.violations, []);

        function checked(outcomes: Refreshed[]): void {
          for (const outcome of outcomes) {
            if (outcome.kind === "failed") {
              assert.ok(expected.includes(outcome.failure.kind), outcome.failure.message);
            } else if (outcome.kind === "found") assertFit(outcome.repository);
          }
        }
      });
    }

    test("an aborted call ends immediately", async () => {
      const provider = build();
      await assert.rejects(provider.discover(null, AbortSignal.abort()), (error) => {
        assert.ok(error instanceof UpstreamFailure && FAILURE_KINDS.includes(error.kind));
        return true;
      });
    });
  });
}

function assertTrue(repository: UpstreamRepository, truth: ForgeRepository): void {
  assertFit(repository);
  assert.equal(`${repository.owner}/${repository.name}`, truth.fullName);
  assert.equal(repository.stars, truth.stars);
  assert.equal(repository.createdAt, truth.createdAt);
  for (const [actual, expected] of [
    [repository.forks, truth.forks],
    [repository.watchers, truth.watchers],
    [repository.archived, truth.isArchived],
    [repository.fork, truth.isFork],
    [repository.language, truth.language],
  ]) {
    if (actual !== null) assert.equal(actual, expected);
  }
}

/** Asserts that the record can be stored and shown. */
function assertFit(repository: UpstreamRepository): void {
  assert.match(repository.providerId, /^[1-9]\d*$/);
  for (const value of Object.values(repository).flat()) {
    if (typeof value === "number") assert.ok(Number.isSafeInteger(value) && value >= 0);
    else if (typeof value === "string") assert.ok(value.isWellFormed() && !/\p{Cc}/u.test(value));
    else assert.ok(value === null || typeof value === "boolean");
  }
  assert.match(repository.url, /^https?:\/\//);
  assert.equal("polluted" in repository || "isAdmin" in repository, false);
}
