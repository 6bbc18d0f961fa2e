import assert from "node:assert/strict";
import { test } from "node:test";
import type { Refreshed, RepositoryRef } from "../../src/forges/contract.js";
import { type FailureKind, UpstreamFailure } from "../../src/forges/failures.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { FAULTS, type FaultName, nodeId } from "../support/forge/forge.js";
import { failureOf, NOW } from "../support/github.js";

import { onForge } from "../support/github-stage.js";

const signal = new AbortController().signal;

/** The failure for each fault. Faults that take real time or much memory are left out. */
const KINDS: Partial<Record<FaultName, readonly [one: FailureKind | null, others: FailureKind | null]>> = {
  "status-500": ["unreachable", "unreachable"],
  "status-502": ["unreachable", "unreachable"],
  "429-retry-after": ["quota", "quota"],
  "429-bare": ["quota", "quota"],
  "403-secondary": ["quota", "quota"],
  "status-401": ["refused", "refused"],
  "status-404": ["gone", "malformed"],
  "status-410": ["gone", "malformed"],
  "status-451": ["blocked", "malformed"],
  "other-host": ["renamed", "malformed"],
  cut: ["malformed", "malformed"],
  truncated: ["malformed", "malformed"],
  html: ["malformed", "malformed"],
  deep: ["malformed", "malformed"],
  "wrong-types": ["malformed", "malformed"],
};

/** The failure of a batch of one repository counts as a failure of the call. */
function orThrow(outcome: Refreshed | undefined): Refreshed | undefined {
  if (outcome?.kind === "failed") throw outcome.failure;
  return outcome;
}

test("every fault is a failure of the closed list, and the next good response is accepted", async () => {
  await onForge({ repositories: 200 }, async ({ forge, provider, clock, patiently }) => {
    const [id = 0] = forge.catalogue
      .ids()
      .filter((one) => forge.catalogue.get(one, NOW + DAY_MS)?.visibility === "public");
    const { fullName } = forge.catalogue.get(id, NOW) ?? { fullName: "" };
    const ref: RepositoryRef = { providerId: `${id}`, nodeId: nodeId("R", id), fullName, etag: null };
    for (const [fault, [one, others]] of Object.entries(KINDS)) {
      for (const [call, kind] of [
        [() => provider.refreshOne(fullName, signal), one],
        [() => provider.history(ref, null, signal), one],
        [() => provider.refreshMany([ref], signal).then(([outcome]) => orThrow(outcome)), others],
        [() => provider.discover(null, signal), others],
      ] as const) {
        forge.switches.fault = () => FAULTS.find((name) => name === fault);
        const failure = await failureOf(call());
        assert.equal(failure.kind, kind, `${fault}: ${failure.message}`);
        assert.doesNotMatch(failure.message, /\b(one|two)\b/);
        forge.switches.fault = null;
        clock.advance(2 * HOUR_MS);
        await patiently<unknown>(call);
      }
    }
  });
});

test("dangerous keys and texts never reach a record", async () => {
  await onForge({ repositories: 200 }, async ({ forge, provider }) => {
    for (const fault of ["proto-keys", "lone-surrogates"] as const) {
      forge.switches.fault = () => fault;
      const { repositories } = await provider.discover(null, signal).catch((error) => {
        if (error instanceof UpstreamFailure && error.kind === "malformed") return { repositories: [] };
        throw error;
      });
      for (const repository of repositories) {
        assert.equal(Object.getPrototypeOf(repository), Object.prototype);
        for (const value of [repository.topics ?? [], ...Object.values(repository)].flat()) {
          if (typeof value === "string") assert.ok(value.isWellFormed());
        }
      }
      assert.ok(fault !== "proto-keys" || repositories.length > 0);
    }
  });
});
