import assert from "node:assert/strict";
import { test } from "node:test";
import { HOUR_MS } from "../../src/lib/clock.js";
import { onSqliteAndLong } from "../support/engines.js";
import type { EventKind } from "../support/forge/forge.js";
import { openTrackingWorld, type TrackingWorld } from "../support/tracking.js";
import { checkTruth, makeAllDue } from "./truth.js";

const KINDS = [
  { kind: "github", name: "GITHUB" },
  { kind: "gitlab", name: "GITLAB" },
  { kind: "forgejo", name: "CODEBERG" },
] as const;

/** Makes everything due, also after failures. */
async function again(world: TrackingWorld): Promise<void> {
  await world.pass(HOUR_MS);
  await makeAllDue(world);
  await world.pass(HOUR_MS);
}

onSqliteAndLong("Changes of repositories on a forge", (engine) => {
  // The kind of forge makes no difference to the engine.
  for (const { kind, name } of engine.name === "sqlite" ? KINDS : KINDS.slice(0, 1)) {
    test(`are recorded, and the forge's id keeps their identity: ${kind}`, async (t) => {
      const catalogue = { rates: { ...NOTHING, created: 0.3 }, days: 30 };
      const world = await openTrackingWorld(
        t,
        await engine.open(),
        [{ kind, name, repositories: 12, catalogue }],
        { startAfterDays: 0, idleMs: 10 * 60_000 },
      );
      await again(world);
      const { forge, get, clock } = world;
      const bring = (kind: EventKind, id: number, to: string | null = null) =>
        forge(name).catalogue.add({ at: clock.now(), kind, id, to });
      const ids = forge(name).catalogue.ids().slice(0, 10);
      const nameOf = (id: number) => forge(name).catalogue.get(id, clock.now())?.fullName ?? "";
      const detail = async (fullName: string) => {
        const { status, body } = await get(
          `/api/repos/${name}/by-full-name?fullName=${encodeURIComponent(fullName)}`,
        );
        return { status, ...body.data };
      };
      const listed = async () =>
        (await get("/api/repos?sort=stars&limit=100")).body.data.map(
          (one: { fullName: string }) => one.fullName,
        );
      const [renamed = 0, moved = 0, archived = 0, hidden = 0, blocked = 0, deleted = 0, taken = 0] = ids;
      const names = new Map(ids.map((id) => [id, nameOf(id)]));
      const was = (id: number) => names.get(id) ?? "";
      const before = new Map<number, string>();
      for (const id of ids) before.set(id, (await detail(was(id))).id);

      const ownerOf = (id: number) => was(id).slice(0, was(id).lastIndexOf("/"));
      const lastOf = (id: number) => was(id).slice(was(id).lastIndexOf("/") + 1);
      bring("renamed", renamed, `${ownerOf(renamed)}/new-name`);
      bring("transferred", moved, `new-owner/${lastOf(moved)}`);
      bring("archived", archived);
      bring("hidden", hidden);
      bring("blocked", blocked);
      bring("deleted", deleted);
      await again(world);
      for (const id of [renamed, moved]) {
        const found = await detail(nameOf(id));
        assert.deepEqual([found.status, found.id], [200, before.get(id)], nameOf(id));
        assert.equal((await detail(was(id))).status, 301, "the previous name leads on");
      }
      assert.equal((await detail(was(archived))).archived, true);
      const states = await Promise.all([hidden, blocked, deleted].map((id) => detail(was(id))));
      assert.ok(["PRIVATE", "GONE"].includes(states[0]?.availability), states[0]?.availability);
      assert.ok(["BLOCKED", "GONE"].includes(states[1]?.availability), states[1]?.availability);
      assert.equal(states[2]?.availability, "GONE");
      const shown = await listed();
      for (const id of [hidden, blocked, deleted]) assert.ok(!shown.includes(was(id)), was(id));

      bring("restored", deleted);
      bring("shown", hidden);
      // Another repository takes a name that became free.
      bring("transferred", taken, was(renamed));
      await again(world);
      for (const id of [deleted, hidden]) {
        const found = await detail(was(id));
        assert.deepEqual([found.availability, found.id], ["AVAILABLE", before.get(id)]);
      }
      assert.equal((await detail(was(renamed))).id, before.get(taken), "a reused name is its new owner's");
      assert.equal((await detail(nameOf(renamed))).id, before.get(renamed));

      await world.pass(4 * HOUR_MS);
      await again(world);
      // A worker sleeps until the walk of the next day; a new one starts immediately.
      await makeAllDue(world);
      await world.restart();
      await world.pass(2 * HOUR_MS);
      const truth = [...forge(name).catalogue.truth(clock.now() - 3 * HOUR_MS)];
      const all = await listed();
      const born = truth.filter(({ id }) => !ids.includes(id) && id > Math.max(...ids));
      assert.ok(born.length > 0, "none was created");
      for (const { fullName, visibility } of born)
        if (visibility === "public") assert.ok(all.includes(fullName), fullName);
      await checkTruth(world);
      assert.deepEqual(forge(name).violations, []);
    });
  }
});

const NOTHING = { renamed: 0, transferred: 0, archived: 0, hidden: 0, blocked: 0, deleted: 0, burst: 0 };
