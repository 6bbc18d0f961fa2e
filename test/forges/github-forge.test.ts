import assert from "node:assert/strict";
import { test } from "node:test";
import type { Discovered, PastDays, RepositoryRef } from "../../src/forges/contract.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { nodeId } from "../support/forge/forge.js";
import { EVENT_RATES } from "../support/forge/script.js";
import { NOW } from "../support/github.js";
import { onForge, type Stage } from "../support/github-stage.js";
import { IS_LONG } from "../support/long.js";

const signal = new AbortController().signal;

/** Walks to the end; returns the ids in the order of first appearance. */
async function walk({ provider, patiently }: Stage): Promise<{ ids: Set<string>; requests: number }> {
  const ids = new Set<string>();
  let requests = 0;
  let cursor: string | null = null;
  do {
    const at: string | null = cursor;
    const page: Discovered = await patiently(() => provider.discover(at, signal));
    requests++;
    for (const { providerId } of page.repositories) ids.add(providerId);
    cursor = page.next;
  } while (cursor !== null);
  return { ids, requests };
}

/** The ids of all repositories that are public now. */
function publicIds({ forge, clock }: Stage): string[] {
  const { catalogue } = forge;
  return catalogue
    .ids()
    .filter((id) => catalogue.get(id, clock.now())?.visibility === "public")
    .map(String);
}

test("tens of thousands of repositories are all found, most stars first, without exceeding a limit", async () => {
  const repositories = IS_LONG ? 50_000 : 12_000;
  await onForge({ repositories }, async (stage) => {
    const { forge, clock } = stage;
    const before = publicIds(stage);
    assert.ok(before.length > 0.98 * repositories);
    const starsOf = (id: string) => forge.catalogue.get(Number(id), NOW)?.stars ?? 0;
    const { ids, requests } = await walk(stage);
    const after = new Set(publicIds(stage));
    assert.deepEqual(
      before.filter((id) => after.has(id) && !ids.has(id)),
      [],
    );
    assert.ok(requests < 0.03 * repositories, `${requests} requests`);
    assert.ok(clock.now() - NOW < HOUR_MS);
    const top = before.toSorted((a, b) => starsOf(b) - starsOf(a)).slice(0, 500);
    const first = new Set([...ids].slice(0, 700));
    assert.deepEqual(
      top.filter((id) => !first.has(id)),
      [],
    );
  });
});

test("renamed, private, blocked and deleted repositories are distinguished", async () => {
  const rates = {
    ...EVENT_RATES,
    renamed: 0.01,
    transferred: 0.005,
    hidden: 0.005,
    blocked: 0.005,
    deleted: 0.005,
  };
  await onForge({ repositories: 400, rates }, async (stage) => {
    const { forge, provider, clock, patiently } = stage;
    const { catalogue } = forge;
    const refs = publicIds(stage).map((id): RepositoryRef => {
      const { fullName } = catalogue.get(Number(id), NOW) ?? { fullName: "" };
      return { providerId: id, nodeId: nodeId("R", Number(id)), fullName, etag: null };
    });
    clock.advance(20 * DAY_MS);
    const kinds = new Set<string>();
    for (let i = 0; i < refs.length; i += provider.batchSize) {
      const batch = refs.slice(i, i + provider.batchSize);
      const outcomes = await patiently(() => provider.refreshMany(batch, signal));
      const alone = await patiently(() =>
        provider.refreshMany(
          batch.slice(0, 20).map((one) => ({ ...one, nodeId: null })),
          signal,
        ),
      );
      for (const [k, { providerId }] of batch.entries()) {
        const truth = catalogue.get(Number(providerId), clock.now());
        assert.ok(truth);
        const outcome = outcomes[k];
        assert.ok(outcome);
        const kind = outcome.kind === "failed" ? outcome.failure.kind : outcome.kind;
        kinds.add(kind);
        assert.equal(
          kind,
          { public: "found", members: "private", blocked: "blocked", private: "gone", deleted: "gone" }[
            truth.visibility
          ],
        );
        const second = alone[k];
        if (second !== undefined) assert.equal(second.kind, outcome.kind);
        if (outcome.kind !== "found") continue;
        const { repository } = outcome;
        assert.equal(`${repository.owner}/${repository.name}`, truth.fullName);
        assert.deepEqual(
          [
            repository.stars,
            repository.forks,
            repository.openIssues,
            repository.watchers,
            repository.archived,
          ],
          [
            truth.stars,
            truth.forks,
            truth.openIssues + truth.openPullRequests,
            truth.watchers,
            truth.isArchived,
          ],
        );
        if (second?.kind === "found") assert.deepEqual(second.repository, repository);
      }
    }
    assert.deepEqual([...kinds].sort(), ["blocked", "found", "gone"]);
  });
});

test("star histories match the forge, back to the first day", async () => {
  await onForge({ repositories: 50 }, async ({ forge, provider, clock, patiently }) => {
    const { catalogue } = forge;
    for (const id of catalogue.ids().slice(0, 5)) {
      const repository = catalogue.get(id, NOW);
      if (repository?.visibility !== "public") continue;
      const ref = { providerId: `${id}`, nodeId: null, fullName: repository.fullName, etag: null };
      let cursor: string | null = null;
      let oldest = Number.POSITIVE_INFINITY;
      do {
        const at: string | null = cursor;
        const page: PastDays | null = await patiently(() => provider.history(ref, at, signal));
        assert.ok(page);
        for (const { day, gained } of page.days) {
          assert.equal(gained, catalogue.starsKept(id, day / DAY_MS, clock.now()));
          oldest = Math.min(oldest, day);
        }
        cursor = page.next;
      } while (cursor !== null);
      assert.ok(oldest <= repository.createdAt);
    }
  });
});
