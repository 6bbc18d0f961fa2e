import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { Avatars } from "../../src/tracking/avatars.js";
import { type Engine, onSqlite, onSqliteAndLong } from "../support/engines.js";
import type { FaultName } from "../support/forge/forge.js";
import type { ForgeRequest } from "../support/forge/responses.js";
import { createTrackingWorld, type TrackedForge, type TrackingWorld } from "../support/tracking.js";

const MINUTE_MS = 60_000;
const forgeOf = (kind: TrackedForge["kind"], repositories = 12): TrackedForge => ({
  kind,
  name: kind.toUpperCase(),
  repositories,
  catalogue: "quiet",
  avatarMs: 2_000,
});

let world: TrackingWorld | undefined;
afterEach(async () => {
  await world?.close();
  world = undefined;
});

async function start(engine: Engine, ...forges: TrackedForge[]): Promise<TrackingWorld> {
  world = await createTrackingWorld(await engine.open(), forges, { deriveEveryMs: 20 * MINUTE_MS });
  return world;
}

/** Owners on lists, with the version of their avatar as pages show it. */
async function shown({ modules, clock }: TrackingWorld): Promise<Map<string, string | undefined>> {
  const find = await new Avatars(modules.database, clock).finder();
  const rows = await modules.database.read.selectFrom("avatars").select(["provider", "owner"]).execute();
  return new Map(rows.map(({ provider, owner }) => [`${provider} ${owner}`, find(provider, owner)]));
}

/** Makes all avatars due, as a month does, and lets the worker request them. */
async function again(tracked: TrackingWorld): Promise<void> {
  await tracked.modules.database.write.updateTable("avatars").set({ next_at: 0 }).execute();
  await tracked.pass(10 * MINUTE_MS);
}

/** The requests for avatars that a forge gets from now on. */
function requestsTo(tracked: TrackingWorld, name: string): ForgeRequest[] {
  const requests: ForgeRequest[] = [];
  tracked.forge(name).switches.avatar = (request) => {
    requests.push(request);
    return undefined;
  };
  return requests;
}

onSqliteAndLong("A worker fetches avatars", (engine) => {
  test("of the owners on lists, from each kind of forge, without a token and at its own pace", async () => {
    const kinds = ["github", "gitlab", "forgejo", "gogs"] as const;
    const tracked = await start(engine, ...kinds.map((kind) => forgeOf(kind)));
    const requests = kinds.map((kind) => requestsTo(tracked, kind.toUpperCase()));
    await tracked.pass(HOUR_MS);
    // The forges that have no address by name report it with the next walk.
    await tracked.modules.database.write.updateTable("walks").set({ next_at: 0 }).execute();
    await tracked.pass(HOUR_MS);
    const owners = await shown(tracked);
    for (const [i, kind] of kinds.entries()) {
      const own = [...owners].filter(([key]) => key.startsWith(kind.toUpperCase()));
      assert.ok(own.length >= 5, `${kind}: ${own.length} owners`);
      assert.deepEqual(
        own.filter(([, version]) => version === undefined),
        [],
        kind,
      );
      assert.ok((requests[i]?.length ?? 0) >= own.length);
      for (const { headers, token } of requests[i] ?? []) {
        assert.equal(token, null);
        assert.equal(headers["user-agent"], "sidereal-test");
      }
      assert.deepEqual(tracked.forge(kind.toUpperCase()).violations, []);
    }
  });
});

onSqlite("A worker that fetches avatars", (engine) => {
  const github = async () => {
    const tracked = await start(engine, forgeOf("github"));
    await tracked.pass(HOUR_MS);
    const owners = await shown(tracked);
    assert.ok(owners.size >= 5);
    for (const [owner, version] of owners) assert.ok(version !== undefined, owner);
    return { tracked, owners, forge: tracked.forge("GITHUB") };
  };

  test("sends a request again after a month", async () => {
    const { tracked, owners } = await github();
    const requests = requestsTo(tracked, "GITHUB");
    await tracked.pass(HOUR_MS);
    assert.equal(requests.length, 0);
    const due = await tracked.modules.database.read.selectFrom("avatars").select("next_at").execute();
    for (const { next_at } of due)
      assert.ok(Math.abs(next_at - tracked.clock.now() - 30 * DAY_MS) < 3 * HOUR_MS, String(next_at));
    await again(tracked);
    assert.equal(requests.length, owners.size);
    assert.deepEqual(await shown(tracked), owners);
  });

  test("shows an initial again if the forge has removed the image", async () => {
    const { tracked, forge } = await github();
    forge.switches.avatar = () => ({ status: 404, bytes: Buffer.from("Not Found") });
    await again(tracked);
    for (const [owner, version] of await shown(tracked)) assert.equal(version, undefined, owner);
  });

  test("gets over every fault of a forge, while the repositories are refreshed as before", async () => {
    const faults: FaultName[] = [
      "status-500",
      "status-401",
      "other-host",
      "slow",
      "stall",
      "cut",
      "truncated",
      "html",
      "huge",
      "gzip-bomb",
    ];
    const tracked = await start(engine, { ...forgeOf("github"), avatarMs: 300 });
    const forge = tracked.forge("GITHUB");
    let next = 0;
    forge.switches.fault = ({ kind }) => (kind === "avatar" ? faults[next++ % faults.length] : undefined);
    await tracked.pass(6 * HOUR_MS);
    assert.ok(next >= faults.length, `${next} requests`);
    const { discovered, failures } = tracked.worker.reporters.get("GITHUB")?.report ?? assert.fail();
    assert.deepEqual([discovered, failures], [12, {}], "they count as failures of the forge");
    for (const [owner, version] of await shown(tracked)) assert.equal(version, undefined, owner);
    forge.switches.fault = null;
    await tracked.pass(HOUR_MS);
    await again(tracked);
    for (const [owner, version] of await shown(tracked)) assert.ok(version !== undefined, owner);
  });

  test("waits as long as the host says, and takes nothing from the image for it", async () => {
    const { tracked, forge, owners } = await github();
    await tracked.modules.database.write.updateTable("avatars").set({ next_at: 0 }).execute();
    const times: number[] = [];
    forge.switches.avatar = () => {
      times.push(tracked.clock.now());
      return times.length === 1
        ? { status: 429, headers: { "retry-after": "7200" }, bytes: Buffer.alloc(0) }
        : undefined;
    };
    await tracked.pass(4 * HOUR_MS);
    const [first = 0, second = 0] = times;
    assert.ok(second - first >= 2 * HOUR_MS, `${(second - first) / MINUTE_MS} min`);
    assert.ok(times.length > owners.size);
    assert.deepEqual(await shown(tracked), owners);
  });

  test("follows no redirect to another host and no loop", async () => {
    const tracked = await start(engine, forgeOf("github"));
    const forge = tracked.forge("GITHUB");
    const { port } = new URL(forge.url);
    let requests = 0;
    const redirectTo = (locationOf: (path: string) => string) => {
      requests = 0;
      forge.switches.avatar = ({ path }) => {
        requests++;
        return { status: 302, headers: { location: locationOf(path) }, bytes: Buffer.alloc(0) };
      };
    };
    redirectTo(() => `http://127.0.0.2:${port}/avatars/1`);
    await tracked.pass(HOUR_MS);
    const owners = await shown(tracked);
    assert.ok(owners.size >= 5);
    assert.deepEqual(new Set(owners.values()), new Set([undefined]));
    assert.equal(requests, owners.size);
    redirectTo((path) => path);
    await again(tracked);
    assert.deepEqual(new Set((await shown(tracked)).values()), new Set([undefined]));
    assert.equal(requests, 4 * owners.size);
  });
});
