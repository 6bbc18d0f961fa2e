import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CompiledQuery } from "kysely";
import { systemClock } from "../../src/lib/clock.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { type Engine, onSqliteAndLong } from "../support/engines.js";
import { openTrackingWorld } from "../support/tracking.js";

const SECOND = 1_000;

async function open(engine: Engine, t: TestContext) {
  const world = await openTrackingWorld(
    t,
    await engine.open(),
    [
      { kind: "github", name: "GITHUB", repositories: 60, catalogue: "quiet", minStars: 10_000_000 },
      { kind: "forgejo", name: "CODEBERG", repositories: 60, catalogue: "quiet", minStars: 10_000_000 },
    ],
    { requestsEveryMs: SECOND },
  );
  const forges = (["GITHUB", "CODEBERG"] as const).map((name) => {
    const { kind, url } = world.forge(name);
    return { name, kind, url };
  });
  const requester = { hasAccount: false, adding: undefined, mayReadLists: true };
  const by = { policy: { access: "everyone", forges }, requester } as const;
  const { trackRequests: resolver } = world.modules;
  const questionOf = async (text: string) => {
    const outcome = await resolver.ask(text, by);
    assert.equal(outcome.kind, "question");
    return "id" in outcome ? outcome.id : "";
  };
  return { world, by, resolver, questionOf };
}

onSqliteAndLong("A text in the field for repositories", (engine) => {
  test("leads to a request for one, a list for several, and a choice for a README", async (t) => {
    const { by, resolver } = await open(engine, t);
    assert.equal((await resolver.ask("a/b", by)).kind, "request");
    assert.equal((await resolver.ask("a/b c/d", by)).kind, "list");
    const readme = "https://github.com/a/b#readme";
    const { forges } = by.policy;
    const text = readme.replace("https://github.com", forges[0]?.url ?? "");
    assert.deepEqual(await resolver.ask(text, by), { kind: "choice", provider: "GITHUB", fullName: "a/b" });
    assert.equal((await resolver.ask(text, by, "links")).kind, "list");
    const visitor = { ...by, requester: { hasAccount: false, adding: undefined } };
    assert.equal((await resolver.ask(text, visitor)).kind, "request", "operators alone may read lists");
  });

  test("that names an owner is answered by its forge, and the answer tracks as many as are wanted", async (t) => {
    const { world, by, resolver, questionOf } = await open(engine, t);
    const forge = world.forge("GITHUB");
    const [one] = [...forge.catalogue.truth(world.clock.now())].filter(
      (each) => each.visibility === "public",
    );
    assert.ok(one);
    const owned = forge.catalogue.ownedBy(one.owner, world.clock.now());
    const id = await questionOf(`github:${one.owner}`);
    assert.equal((await resolver.findQuestion(id))?.isAnswered, false);
    await assert.rejects(resolver.trackAnswer(id, 1, by), { code: "NOT_FOUND" });
    await world.pass(3 * SECOND);
    const question = await resolver.findQuestion(id);
    assert.equal(question?.isAnswered, true);
    const [answer] = question.answers;
    assert.deepEqual(
      [answer?.state, answer?.total, answer?.candidates.map(({ fullName }) => fullName)],
      ["ANSWERED", owned.length, owned.map(({ fullName }) => fullName)],
    );
    const searches = forge.counters.byKind.search;
    assert.equal(await questionOf(`github:${one.owner}`), id, "asked again within the hour");
    await world.pass(3 * SECOND);
    assert.equal(forge.counters.byKind.search, searches);
    await assert.rejects(resolver.trackAnswer(id, owned.length + 1, by), { code: "VALIDATION_FAILED" });
    const list = await world.modules.trackRequests.findList(await resolver.trackAnswer(id, 1, by));
    assert.equal(list?.found, 1);
    assert.equal(await resolver.findQuestion("sidt_no"), undefined);
  });

  test("that is a word is put to every configured forge, and a missing owner is named as missing", async (t) => {
    const { world, resolver, questionOf } = await open(engine, t);
    const [one] = [...world.forge("CODEBERG").catalogue.truth(world.clock.now())];
    const word = await questionOf(one?.name ?? "");
    const missing = await questionOf("codeberg:no-such-owner");
    await world.pass(5 * SECOND);
    const question = await resolver.findQuestion(word);
    assert.deepEqual(
      question?.answers.map(({ provider, state }) => [provider, state]),
      [
        ["GITHUB", "ANSWERED"],
        ["CODEBERG", "ANSWERED"],
      ],
    );
    assert.ok(question.answers[1]?.candidates.some(({ fullName }) => fullName === one?.fullName));
    const [failed] = (await resolver.findQuestion(missing))?.answers ?? [];
    assert.equal(failed?.state, "FAILED");
    assert.match(failed.failure?.message ?? "", /no owner with this name/);
  });

  test("that was sent by another within the hour is found by its text, among any number", async () => {
    const database = await engine.open();
    const reads: CompiledQuery[] = [];
    const read = database.read.withPlugin({
      transformQuery({ node, queryId }) {
        reads.push(database.read.getExecutor().compileQuery(node, queryId));
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    const modules = buildModules({ ...database, read }, { clock: systemClock, log: createLog("silent") });
    const forges = [{ name: "GITHUB", kind: "github", url: "https://github.com" }] as const;
    const requester = { hasAccount: true, adding: undefined };
    await modules.trackRequests.ask("word", { policy: { access: "everyone", forges }, requester });
    const [same] = reads.filter((query) => query.sql.includes("wanted"));
    assert.ok(same);
    if (engine.name !== "sqlite") return;
    const plan = await database.read.executeQuery<{ detail: string }>(
      CompiledQuery.raw(`explain query plan ${same.sql}`, [...same.parameters]),
    );
    assert.match(plan.rows[0]?.detail ?? "", /wanted_text \(provider=\? AND kind=\? AND text_key=\?\)/);
  });

  test("waits while the forge limits its lists, and holds up no request", async (t) => {
    const world = await openTrackingWorld(
      t,
      await engine.open(),
      [{ kind: "gitlab", name: "GITLAB", repositories: 20, catalogue: "quiet", minStars: 10_000_000 }],
      { requestsEveryMs: SECOND },
    );
    const forge = world.forge("GITLAB");
    const [one] = [...forge.catalogue.truth(world.clock.now())].filter(
      ({ visibility }) => visibility === "public",
    );
    const policy = {
      access: "everyone",
      forges: [{ name: "GITLAB", kind: "gitlab", url: forge.url }],
    } as const;
    const by = { policy, requester: { hasAccount: false, adding: undefined } };
    forge.switches.fault = ({ kind }) =>
      kind === "list" ? { name: "429-retry-after", retryAfterSeconds: 60 } : undefined;
    const { trackRequests } = world.modules;
    const asked = await trackRequests.ask(one?.name ?? "", by);
    const id = asked.kind === "question" ? asked.id : "";
    await world.pass(2 * SECOND);
    const wanted = await trackRequests.request(one?.fullName ?? "", by);
    await world.pass(10 * SECOND);
    assert.equal(forge.counters.byKind.list, 1);
    assert.notEqual(await world.modules.catalog.findByName("GITLAB", one?.fullName ?? ""), undefined);
    assert.equal(wanted.kind, "request");
    forge.switches.fault = null;
    await world.pass(70 * SECOND);
    assert.equal((await trackRequests.findQuestion(id))?.isAnswered, true);
  });

  test("sends nothing to a forge and stores nothing if it cannot be used, or requests are off", async (t) => {
    const { world, by, resolver } = await open(engine, t);
    const rows = async () =>
      (await world.modules.database.read.selectFrom("wanted").selectAll().execute()).length;
    for (const text of ["https://example.org/a", "http://10.0.0.1/admin/x", "what is new", ""])
      await assert.rejects(resolver.ask(text, by), { code: "VALIDATION_FAILED" }, text);
    const off = { ...by, policy: { ...by.policy, access: "off" } as const };
    const accounts = { ...by, policy: { ...by.policy, access: "accounts" } as const };
    await assert.rejects(resolver.ask("hono", off), { code: "FORBIDDEN" });
    await assert.rejects(resolver.ask("hono", accounts), { code: "UNAUTHENTICATED" });
    await assert.rejects(resolver.ask("a/b c/d", accounts), { code: "UNAUTHENTICATED" });
    assert.equal(await rows(), 0);
  });
});
