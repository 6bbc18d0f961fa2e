import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { WEEK_MS } from "../../src/lib/clock.js";
import { type Engine, onSqliteAndLong } from "../support/engines.js";
import { openTrackingWorld } from "../support/tracking.js";

const SECOND = 1_000;
/** Weeks in a page of a star history. */
const PAGE_WEEKS = 30;

/** A worker that reads only what people ask for, without a token. */
async function open(engine: Engine, t: TestContext) {
  const world = await openTrackingWorld(
    t,
    await engine.open(),
    [{ kind: "github", name: "GITHUB", repositories: 40, catalogue: "quiet", tokens: [], onDemand: true }],
    { requestsEveryMs: SECOND / 2 },
  );
  const forge = world.forge("GITHUB");
  const forges = [{ name: "GITHUB", kind: forge.kind, url: forge.url }] as const;
  const requester = { hasAccount: false, adding: undefined };
  const by = { policy: { access: "everyone", forges }, requester } as const;
  /** What the forge is asked for because of a text in the field, by kind. */
  const requestsFor = async (text: string) => {
    const before = { ...forge.counters.byKind };
    await world.modules.trackRequests.ask(text, by).catch((error: unknown) => {
      assert.equal(error instanceof Error && "code" in error && error.code, "VALIDATION_FAILED", text);
    });
    await world.pass(30 * SECOND);
    const after = Object.entries(forge.counters.byKind).map(
      ([kind, count]) => [kind, count - (before[kind] ?? 0)] as const,
    );
    return Object.fromEntries(after.filter(([, count]) => count > 0));
  };
  const repositories = [...forge.catalogue.truth(world.clock.now())]
    .filter(({ visibility }) => visibility === "public")
    .sort((a, b) => a.createdAt - b.createdAt);
  return { world, forge, requestsFor, repositories };
}

onSqliteAndLong("The first minute", (engine) => {
  test("costs nothing until a request; then a record, and a page for each 30 weeks of its history", async (t) => {
    const { world, forge, requestsFor, repositories } = await open(engine, t);
    await world.pass(60 * SECOND);
    assert.deepEqual(forge.counters.byKind, {});
    const [oldest] = repositories;
    assert.ok(oldest);
    const { history, ...record } = await requestsFor(`${forge.url}/${oldest.fullName}/issues/5`);
    assert.deepEqual(record, { repository: 1 });
    const weeks = Math.ceil((world.clock.now() - oldest.createdAt) / WEEK_MS);
    assert.equal(history, Math.ceil(weeks / PAGE_WEEKS));
    const { body } = await world.get(`/api/embed/chart?repo=github:${oldest.fullName}&window=all`);
    const [series] = body.data.series;
    assert.ok(series.points.length >= 100, `${series.points.length} points`);
    assert.equal(series.points.at(-1).value, oldest.stars);
    assert.deepEqual(await requestsFor(oldest.fullName.toUpperCase()), {}, "it is known");
    assert.deepEqual(forge.violations, []);
  });

  test("costs one request for what is missing, an owner, a word or several, and none for nonsense", async (t) => {
    const { requestsFor, repositories } = await open(engine, t);
    const [one, two, three] = repositories;
    assert.ok(one && two && three);
    assert.deepEqual(await requestsFor("no/such"), { repository: 1 });
    assert.deepEqual(await requestsFor("no/such"), { repository: 1 }, "it may exist by now");
    assert.deepEqual(await requestsFor(`@${one.owner}`), { search: 1 });
    assert.deepEqual(await requestsFor(one.name), { search: 1 });
    assert.deepEqual(await requestsFor(one.name), {}, "others have the answer for an hour");
    assert.deepEqual(await requestsFor(`${two.fullName} ${three.fullName}`), { search: 1 });
    for (const nonsense of ["", "??", "https://example.org/a/b", "http://169.254.169.254/latest", "a b c"])
      assert.deepEqual(await requestsFor(nonsense), {}, nonsense);
  });
});
