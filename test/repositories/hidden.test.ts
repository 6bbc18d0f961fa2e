import assert from "node:assert/strict";
import { before, test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { followChanges, updateDerived } from "../../src/modules.js";
import { readHidingTarget } from "../../src/repositories/repositories.js";
import { exportCatalogue } from "../../src/transfer/transfer.js";
import { openRoutes } from "../reliability/expensive/routes.js";
import { onBothEngines } from "../support/engines.js";
import { call, connectMcp } from "../support/mcp.js";
import { createWorld, daily, NOW, observation, type World } from "../support/world.js";

/** A repository, and one of the same letters that does not exist, as pictures are as wide as their words. Everything about it has a `zz`, or its unusual number of stars. */
const HIDDEN = { owner: "zzevil", name: "zzabuse", language: "Zzlang", topic: "zztopic", word: "zzword" };
const UNKNOWN = { owner: "zzlive", name: "zzbeuas", language: "Zzgnal", topic: "zzcipot", word: "zzdrow" };
type Subject = typeof HIDDEN & { id: string };
const TRACE = /zz(?:evil|ab|lang|topic|word|older)|7[,.\s]?65[0-9][,.\s]?[0-9]{3}|7\.65\s?M/i;

const OTHERS = ["a/one", "b/two", "c/three"].map((name, i) =>
  observation(name, daily(100 + i, 110 + i, 150), {
    facts: { language: "Rust", topics: ["web", "zztopic"] },
  }),
);
const EVIL = observation(`${HIDDEN.owner}/${HIDDEN.name}`, daily(7_650_001, 7_654_002, 7_654_321), {
  providerId: "77",
  preferredId: 9_417,
  facts: { language: HIDDEN.language, topics: ["web", HIDDEN.topic], description: `A ${HIDDEN.word}` },
  previousNames: [{ fullName: "zzolder/zzabuse", until: NOW - DAY_MS }],
});
const shared = OTHERS.map((one) => ({ ...one, facts: { ...one.facts, topics: ["web"] } }));

/** Values of parameters in paths and queries. A new one in a path needs one here; in a query it is a name, which few take. */
const PATH_VALUES: Record<string, (of: Subject) => readonly string[]> = {
  provider: () => ["github"],
  owner: ({ owner }) => [owner],
  "fullName*": ({ owner, name }) => [`${owner}/${name}`],
  id: ({ id }) => [id],
  ranking: () => ["trending"],
  part: () => ["1"],
  page: () => ["home"],
  document: () => ["api"],
  ...Object.fromEntries(
    ["file", "token", "listId", "requestId", "questionId", "site", "version"].map((name) => [
      name,
      () => ["none"],
    ]),
  ),
};
const QUERY_VALUES: Record<string, (of: Subject) => readonly string[]> = {
  q: ({ name, word }) => [name, word],
  repo: ({ owner, name }) => [`github:${owner}/${name}`],
  id: ({ id }) => [id],
  fullName: ({ owner, name }) => [`${owner}/${name}`, `github:${owner}/${name}`],
  language: ({ language }) => [language],
  topic: ({ topic }) => [topic],
  sort: () => ["stars-gained"],
  window: () => ["24h"],
  format: () => ["csv"],
};
/** The addresses of all GET routes with a subject. */
function pathsOf(world: World, subject: Subject): string[] {
  return openRoutes(world.modules).flatMap(({ method, path, query }) => {
    // Files of the program, positions in a log, and counts of requests.
    if (method !== "GET" || /^\/(assets|api\/changes|api\/limits)/.test(path)) return [];
    let paths = [path];
    for (const [whole, parameter = ""] of path.matchAll(/\{(\w+\*?)\}/g)) {
      const isFacet = parameter === "name" && !path.includes("{owner}");
      const { name, language, topic } = subject;
      const values = isFacet
        ? [path.includes("languages") ? language : topic]
        : parameter === "name"
          ? [name]
          : PATH_VALUES[parameter]?.(subject);
      assert.ok(values, `${path}: say which values ${parameter} has`);
      paths = paths.flatMap((one) => values.map((value) => one.replace(whole, value)));
    }
    const queries = query.flatMap((name) => {
      const values = QUERY_VALUES[name] ?? QUERY_VALUES.repo;
      return values?.(subject).map((value) => `${name}=${encodeURIComponent(value)}`) ?? [];
    });
    return paths.flatMap((one) => [one, ...queries.map((each) => `${one}?${each}`)]);
  });
}

onBothEngines("A repository that operators hide", (engine) => {
  let world: World;
  let subject: Subject;
  const unknown = (): Subject => ({ ...UNKNOWN, id: "8".repeat(subject.id.length) });

  const open = async () => {
    const opened = await createWorld(engine);
    await opened.record(...shared, EVIL);
    await updateDerived(opened.modules);
    const { id } = (await opened.get(`/api/repos/github/${HIDDEN.owner}/${HIDDEN.name}`)).body.data;
    return { opened, id };
  };
  const hide = (of: World, text: string, endsAt: number | null = null) => {
    const target = readHidingTarget(text);
    assert.ok(target, text);
    return of.modules.catalog.hiding.hide({ target, reason: "a mail", note: null, by: "cli ann", endsAt });
  };
  const unhide = async (of: World, text: string) => {
    const target = readHidingTarget(text);
    assert.ok(target);
    const shown = await of.modules.catalog.hiding.unhide(target);
    await followChanges(of.modules);
    return shown;
  };
  const withoutWords = (text: string, { owner, name, language, topic, word, id }: Subject) =>
    text.replaceAll(new RegExp([owner, name, language, topic, word, id].join("|"), "gi"), "…");
  /** Status and body, also without the words of its own request. */
  const answer = async (of: World, path: string, whose: Subject) => {
    const response = await of.request(path);
    const isPicture = response.headers.get("content-type") === "image/png";
    const text = isPicture ? "" : await response.text();
    // First the random ids, which may have the digits of its id.
    const plain = withoutWords(text.replaceAll(/"requestId":"\w+"|Request <code>\w+/g, ""), whose);
    return { status: response.status, text, plain };
  };
  const isPlain = (path: string) => !TRACE.test(path) && !path.includes(subject.id);

  before(async () => {
    const { opened, id } = await open();
    world = opened;
    subject = { ...HIDDEN, id };
  });

  test("is on no address of the service, which responds as for one that does not exist; and comes back as it was", async () => {
    const paths = pathsOf(world, subject);
    const twins = pathsOf(world, unknown());
    const all = async () => {
      const answers = new Map<string, Awaited<ReturnType<typeof answer>>>();
      for (const path of paths) answers.set(path, await answer(world, path, subject));
      return answers;
    };
    const earlier = await all();
    const traces = [...earlier].filter(([path, { text }]) => isPlain(path) && TRACE.test(text));
    assert.ok(traces.length > 20, "before, it is on many");
    await hide(world, "github:ZZevil/zzAbuse");
    await updateDerived(world.modules);
    const leaks: string[] = [];
    for (const [i, path] of paths.entries()) {
      if (path.startsWith("/sitemaps/")) continue;
      const { status, text, plain } = await answer(world, path, subject);
      const twin = await answer(world, twins[i] ?? "", unknown());
      if (isPlain(path) && TRACE.test(text)) leaks.push(`${path}: ${TRACE.exec(text)}`);
      if (status !== twin.status || plain !== twin.plain) leaks.push(`${path}: differs from ${twins[i]}`);
    }
    assert.deepEqual(leaks, []);

    await unhide(world, "github:zzevil/zzabuse");
    await updateDerived(world.modules);
    const after = await all();
    const changed = paths.filter((path) => after.get(path)?.plain !== earlier.get(path)?.plain);
    assert.deepEqual(changed, []);

    // Site maps are kept for an hour.
    await hide(world, "github:zzevil");
    world.clock.advance(HOUR_MS);
    for (const path of paths.filter((one) => one.startsWith("/sitemaps/")))
      assert.doesNotMatch((await answer(world, path, subject)).text, TRACE, path);
    await unhide(world, "github:zzevil");
  });

  test("is in no export, and to a language model as one that does not exist", async () => {
    const client = await connectMcp(world);
    const exported = async () => {
      let text = "";
      for await (const lines of exportCatalogue(world.modules.catalog)) text += lines;
      return text;
    };
    const told = async (whose: Subject) => {
      const { text: one } = await call(client, "get_repositories", {
        repositories: `github:${whose.owner}/${whose.name}`,
      });
      const { text: found } = await call(client, "search_repositories", { query: whose.name });
      return withoutWords(one + found, whose);
    };
    assert.match(await exported(), TRACE);
    assert.notEqual(await told(subject), await told(unknown()));
    await hide(world, "github:zzevil");
    assert.doesNotMatch(await exported(), TRACE);
    assert.equal(await told(subject), await told(unknown()));
    await unhide(world, "github:zzevil");
    assert.match(await exported(), TRACE);
  });

  test("leaves the log of changes as if deleted, and comes back to it as new", async () => {
    const { opened: own, id } = await open();
    const since = (await own.get("/api/changes")).body.meta.nextCursor;
    const seen = async () => {
      await own.modules.live.current();
      own.clock.advance(10_000);
    };
    await hide(own, "github:zzevil");
    await seen();
    const { data, meta } = (await own.get(`/api/changes?since=${since}&include=record`)).body;
    const gone = {
      id,
      provider: null,
      fullName: null,
      availability: null,
      kinds: ["DELETED"],
    };
    assert.deepEqual(data, [{ ...gone, record: null }]);
    const whole = (await own.get("/api/changes?since=start&limit=100")).body.data;
    assert.ok(!whole.some((one: { fullName: string | null }) => one.fullName?.includes("zz")));
    await unhide(own, "github:zzevil");
    await seen();
    const after = (await own.get(`/api/changes?since=${meta.nextCursor}`)).body.data;
    assert.deepEqual(
      after.map((one: { fullName: string; kinds: string[] }) => [one.fullName, one.kinds]),
      [["zzevil/zzabuse", ["NEW"]]],
    );
  });

  test("stays on watchlists as a row without name and numbers, which can be removed", async () => {
    const { opened: own, id } = await open();
    const { data } = (await own.get("/api/repos?limit=10")).body;
    const ids = data.map((one: { id: string }) => one.id);
    const { token } = (await own.send("POST", "/api/watchlists", { name: "Mine", ids })).body.data;
    const paths = [
      "",
      "/repositories",
      "/repositories?sort=stars",
      "/metrics",
      "/repositories?format=csv",
    ].map((path) => `/api/watchlists/${token}${path}`);
    paths.push(`/api/watchlists/${token}/feed.atom`, `/watchlists/${token}`);
    const traces = async () => {
      const found: string[] = [];
      for (const path of paths) if (TRACE.test(await (await own.request(path)).text())) found.push(path);
      return found;
    };
    assert.ok((await traces()).length >= 5);
    await hide(own, "github:zzevil/zz*");
    assert.deepEqual(await traces(), []);
    const rows = (await own.get(`/api/watchlists/${token}/repositories`)).body.data;
    const { fullName, availability, stars, trend } = rows.find((one: { id: string }) => one.id === id);
    assert.deepEqual([fullName, availability, stars, trend], ["", "HIDDEN", null, null]);
    assert.match(
      (await (await own.request(`/watchlists/${token}`)).text()) ?? "",
      /A repository without a name/,
    );
    const added = await own.send("POST", "/api/watchlists", { name: "Other", ids: [id] });
    assert.equal(added.status, 400);
    await own.request(`/watchlists/${token}/items/remove`, {
      method: "POST",
      body: new URLSearchParams({ repo: `hidden:${id}` }),
      headers: { Origin: "https://sidereal.example", "Sec-Fetch-Site": "same-origin" },
    });
    assert.equal((await own.get(`/api/watchlists/${token}/repositories`)).body.data.length, ids.length - 1);
  });

  test("is shown again only once every rule about it is taken back or has ended", async () => {
    const { opened: own } = await open();
    const status = async (name = "zzevil/zzabuse") => (await own.get(`/api/repos/github/${name}`)).status;
    await hide(own, "github:zzevil/zzabuse");
    await hide(own, "github:zzevil", NOW + 2 * DAY_MS);
    await assert.rejects(hide(own, "github:ZZevil/zzabuse"), { code: "CONFLICT" });
    assert.equal(await unhide(own, "github:zzevil/zzabuse"), 0);
    assert.equal(await unhide(own, "github:zzevil/zzabuse"), undefined);
    assert.equal(await status(), 404);
    own.clock.advance(2 * DAY_MS - 1);
    assert.equal(await status(), 404);
    own.clock.advance(1_001);
    // No worker looks at the time: the first list does, or any cached response.
    assert.equal((await own.get("/api/repos?q=zzabuse")).body.data.length, 1);
    assert.equal(await status(), 200);
    assert.deepEqual(await own.modules.catalog.hiding.rules(), []);
  });

  test("is not found by what sources report, nor are others that a rule is about, and no rename helps", async () => {
    const { opened: own } = await open();
    const names = async () =>
      (await own.get("/api/repos?limit=50")).body.data
        .map((one: { fullName: string }) => one.fullName)
        .sort();
    const visible = ["a/one", "b/two", "c/three"];
    await hide(own, "github:zzevil/zzab*");
    await hide(own, "github:zzolder");
    const at = NOW + DAY_MS;
    await own.record(
      observation("zzevil/zzabuse", daily(1), { providerId: "77", at }),
      observation("zzgood/zzabuse", daily(1), { providerId: "77", at: at + 1 }),
      observation("ZZevil/zzabrand-new", daily(1), { providerId: "78", at }),
      observation("zzolder/x/y", daily(1), { at }),
      observation("zzevil/other", daily(1), { at }),
    );
    assert.deepEqual(await names(), [...visible, "zzevil/other"]);
    // One that takes such a name is hidden.
    const { data } = (await own.get("/api/repos/github/a/one")).body;
    const renamed = { providerId: "79", at: at + 1, repositoryId: Number(data.id) };
    await own.record(observation("zzevil/zzabb", daily(5), renamed));
    assert.deepEqual(await names(), ["b/two", "c/three", "zzevil/other"]);
    assert.equal(await unhide(own, "github:zzevil/zzab*"), 2);
    assert.deepEqual(await names(), ["b/two", "c/three", "zzevil/other", "zzevil/zzabb", "zzevil/zzabuse"]);
    assert.equal((await own.get("/api/repos/9417")).body.data.stars, 7_654_321, "as it was before");
  });

  test("is found by no earlier name, and an earlier name hides it", async () => {
    const { opened: own } = await open();
    const of = (name: string) => own.get(`/api/repos/github/${name}`).then(({ status }) => status);
    assert.equal(await of("zzolder/zzabuse"), 301);
    await hide(own, "github:zzolder/zzabuse");
    assert.deepEqual([await of("zzolder/zzabuse"), await of("zzevil/zzabuse")], [404, 404]);
    await unhide(own, "github:zzolder/zzabuse");
    assert.deepEqual([await of("zzolder/zzabuse"), await of("zzevil/zzabuse")], [301, 200]);
  });
});

test("what can be hidden is one name, an owner, or the beginning of its names", () => {
  const read = (text: string) => {
    const { provider, key, isPrefix } = readHidingTarget(text) ?? {};
    return provider && `${provider} ${key}${isPrefix ? "…" : ""}`;
  };
  assert.equal(read("github:Acme/Kite"), "GITHUB acme/kite");
  assert.equal(read("gitlab:Acme"), "GITLAB acme/…");
  assert.equal(read("gitlab:acme/group/*"), "GITLAB acme/group/…");
  assert.equal(read(" github:acme/ki*"), "GITHUB acme/ki…");
  for (const text of [
    "",
    "acme/kite",
    "github:",
    "github:*",
    "github:ac*",
    "github:a/*b",
    "github:a/b**",
    "github:a/%",
    "github:a/_ _",
    "a b:c/d",
    "github:/x",
    "github:a//b",
  ])
    assert.equal(read(text), undefined, text);
});
