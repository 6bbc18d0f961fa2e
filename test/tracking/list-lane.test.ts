import assert from "node:assert/strict";
import { test } from "node:test";
import { UpstreamFailure } from "../../src/forges/failures.js";
import { onSqliteAndLong } from "../support/engines.js";
import { createTrackingWorld, type TrackedForge } from "../support/tracking.js";

const MINUTE_MS = 60_000;
const FORGE: TrackedForge = { kind: "github", name: "GITHUB", repositories: 4, catalogue: "quiet" };

onSqliteAndLong("Reading the links of a README", ({ open }) => {
  /** A world whose forge has this README, or fails to send it. */
  const openWorld = async (readme: (name: string) => string, minStars = 1_000_000) => {
    const world = await createTrackingWorld(
      await open(),
      [
        {
          ...FORGE,
          // Nothing is found by itself.
          minStars,
          wrap: (provider) => ({
            ...provider,
            get batchSize() {
              return provider.batchSize;
            },
            readme: async (name) => readme(name),
          }),
        },
      ],
      { requestsEveryMs: MINUTE_MS, deriveEveryMs: MINUTE_MS },
    );
    const { trackRequests } = world.modules;
    const request = (fullName: string) => trackRequests.addReadme({ provider: "GITHUB", fullName });
    return { world, trackRequests, request };
  };

  test("tracks what it links to on the tracked forges, and nothing else is contacted", async (t) => {
    let linked = (): string[] => [];
    const { world, trackRequests, request } = await openWorld(
      (name) =>
        `# ${name}\n${linked()
          .map((one) => `- [x](${world.forge("GITHUB").url}/${one})`)
          .join("\n")}\n- https://evil.example/a/b\n- [gone](${world.forge("GITHUB").url}/no/such)`,
    );
    t.after(() => world.close());
    const { catalogue } = world.forge("GITHUB");
    const names = [0, 1, 2, 3]
      .flatMap((place) => catalogue.atPlace(place, world.clock.now()) ?? [])
      .filter(({ visibility }) => visibility === "public")
      .slice(0, 2)
      .map(({ fullName }) => fullName);
    assert.equal(names.length, 2);
    linked = () => names;
    const id = await request("some/awesome");
    await world.pass(5 * MINUTE_MS);
    const list = await trackRequests.findList(id);
    assert.deepEqual(
      [list?.isRead, list?.found, list?.recorded, list?.failed, list?.waiting],
      [true, 3, 2, 1, 0],
    );
    assert.equal(list?.source?.fullName, "some/awesome");
    for (const name of names) assert.ok(await world.modules.catalog.findByName("GITHUB", name), name);
  });

  test("takes a bounded number of links", async (t) => {
    const { world, trackRequests, request } = await openWorld(() =>
      Array.from({ length: 6_000 }, (_, i) => `${world.forge("GITHUB").url}/o/r${i}`).join("\n"),
    );
    t.after(() => world.close());
    await world.stop();
    const id = await request("some/endless");
    const [list] = await world.modules.database.read.selectFrom("wanted").selectAll().execute();
    assert.ok(list);
    const addresses = Array.from({ length: 6_000 }, (_, i) => ({ provider: "GITHUB", fullName: `o/r${i}` }));
    await trackRequests.fillList(list.id, addresses, (work) => world.lease.write(work));
    const read = await trackRequests.findList(id);
    assert.deepEqual([read?.found, read?.waiting, read?.leftOut], [6_000, 5_000, 1_000]);
    for (let i = 0; i < 20; i++) await request(`o/list${i}`);
    await assert.rejects(request("o/one-too-many"), { code: "UNAVAILABLE" });
  });

  test("a README that is not there ends the list; an unavailable forge gets requests again, but not for ever", async (t) => {
    let calls = 0;
    const { world, trackRequests, request } = await openWorld((name) => {
      calls++;
      if (name === "o/none") throw new UpstreamFailure("gone", "no README");
      if (name === "o/later" && calls > 3) return "https://github.com/a/b";
      throw new UpstreamFailure("unreachable", "away");
    });
    t.after(() => world.close());
    const none = await request("o/none");
    await world.pass(2 * MINUTE_MS);
    assert.equal((await trackRequests.findList(none))?.failure?.reason, "NOT_FOUND");
    calls = 0;
    const later = await request("o/later");
    await world.pass(10 * MINUTE_MS);
    const read = await trackRequests.findList(later);
    assert.deepEqual([read?.isRead, read?.failure], [true, null]);
    const never = await request("o/never");
    await world.pass(30 * MINUTE_MS);
    assert.equal((await trackRequests.findList(never))?.failure?.reason, "UNREACHABLE");
  });

  test("is repeated when the forge has said, or after an hour", async (t) => {
    let calls = 0;
    const { world, trackRequests, request } = await openWorld(() => {
      calls++;
      if (calls > 1) return "https://github.com/a/b";
      throw new UpstreamFailure("unreachable", "away", { until: world.clock.now() + 2 * 60 * MINUTE_MS });
    });
    t.after(() => world.close());
    const id = await request("o/later");
    await world.pass(30 * MINUTE_MS);
    assert.deepEqual([calls, (await trackRequests.findList(id))?.isRead], [1, false]);
    await world.pass(35 * MINUTE_MS);
    assert.deepEqual([calls, (await trackRequests.findList(id))?.isRead], [2, true]);
  });
});
