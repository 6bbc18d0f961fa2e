import assert from "node:assert/strict";
import { before, test } from "node:test";
import { findReferenced, readReferences } from "../../src/api/named.js";
import { createLog } from "../../src/lib/log.js";
import { buildModules } from "../../src/modules.js";
import { errorOf, invalid } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { countStatements } from "../support/statements.js";
import { createWorld, daily, observation, snapshot, type World } from "../support/world.js";

onSqliteAndLong("GET /api/repos?id=&fullName=", (engine) => {
  let world: World;
  const idOf = async (path: string): Promise<string> => (await world.get(`/api/repos/${path}`)).body.data.id;
  const read = async (query: [string, string][] | string) => {
    const answer = await world.get(`/api/repos?${new URLSearchParams(query)}`);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  };
  const namesOf = (body: { data: { provider: string; fullName: string }[] }) =>
    body.data.map(({ provider, fullName }) => `${provider}:${fullName}`);

  before(async () => {
    world = await createWorld(engine);
    await world.record(
      observation("old/first", [snapshot(48, 1)], { providerId: "7" }),
      observation("new/name", daily(5, 6), { providerId: "7" }),
      observation("a/one", daily(10, 12)),
      observation("f/gone", daily(800, 900), { facts: { availability: "GONE" } }),
      observation("x/y:z", daily(1)),
    );
    await world.record(
      observation("a/one", daily(1, 3), { provider: "GITLAB" }),
      observation("group/sub/nested", daily(5, 6), { provider: "GITLAB" }),
    );
  });

  test("is refused when names without a provider lead to more than 100 repositories", async () => {
    const names = Array.from({ length: 51 }, (_, i) => `many/r${i}`);
    for (const provider of ["GITHUB", "GITLAB"])
      await world.record(...names.map((name) => observation(name, daily(1), { provider })));
    const query = (prefix: string, count: number) =>
      new URLSearchParams(names.slice(0, count).map((name): [string, string] => ["fullName", prefix + name]));
    for (const path of ["repos?", "metrics?"]) {
      const name = path === "repos?" ? "fullName" : "repo";
      const ask = async (prefix: string, count: number) =>
        world.get(`/api/${path}${String(query(prefix, count)).replaceAll("fullName=", `${name}=`)}`);
      const refused = await ask("", 51);
      assert.deepEqual([refused.status, refused.body.error.code], [400, "VALIDATION_FAILED"]);
      assert.match(refused.body.error.message, /lead to 102 repositories, more than 100/);
      assert.equal((await ask("", 50)).body.data.length, 100);
      assert.equal((await ask("gitlab:", 51)).body.data.length, 51);
    }
  });

  test("has list items in the order of the request, ids before names, each repository once, gone ones too", async () => {
    const [one, gone] = [await idOf("github/a/one"), await idOf("github/f/gone")];
    const body = await read([
      ["fullName", "group/sub/nested"],
      ["id", gone],
      ["fullName", "github:new/name"],
      ["id", one],
      ["id", gone],
      ["fullName", "GitHub:A/One"],
    ]);
    assert.deepEqual(namesOf(body), [
      "GITHUB:f/gone",
      "GITHUB:a/one",
      "GITLAB:group/sub/nested",
      "GITHUB:new/name",
    ]);
    assert.deepEqual(body.meta, {
      page: 1,
      limit: 100,
      total: 4,
      totalIsExact: true,
      hasMore: false,
      nextCursor: null,
      window: "24h",
      sort: "requested",
      measured: [{ from: "2026-04-30T12:00:00.000Z", to: "2026-04-30T12:00:00.000Z", repositoryCount: 4 }],
      asOf: "2026-04-30T12:00:00.000Z",
      ageDays: 0,
      corrected: null,
      requested: 6,
      missing: { ids: [], fullNames: [] },
    });
    const list = await world.get("/api/repos?sort=stars&q=a/one&provider=github");
    assert.deepEqual(body.data[1], list.body.data[0]);
  });

  test("a name without a provider is looked up in all of them, or in the given one", async () => {
    assert.deepEqual(namesOf(await read("fullName=a/ONE")), ["GITHUB:a/one", "GITLAB:a/one"]);
    assert.deepEqual(namesOf(await read("fullName=a/one&provider=gitlab")), ["GITLAB:a/one"]);
    const body = await read("fullName=a/one&fullName=github:a/one&provider=gitlab");
    assert.deepEqual(namesOf(body), ["GITLAB:a/one", "GITHUB:a/one"]);
    assert.deepEqual(namesOf(await read("fullName=github:x/y:z&fullName=x/y:z")), ["GITHUB:x/y:z"]);
  });

  test("a previous name leads to the repository, in the window that is requested", async () => {
    const body = await read("fullName=OLD/first&window=7d");
    assert.deepEqual(namesOf(body), ["GITHUB:new/name"]);
    assert.equal(body.meta.window, "7d");
    assert.deepEqual(body.meta.missing, { ids: [], fullNames: [] });
  });

  test("lists what it does not find, as it was written, once", async () => {
    const body = await read([
      ["id", "999999"],
      ["id", "9223372036854775807"],
      ["id", "999999"],
      ["fullName", "No/Such"],
      ["fullName", "nobody:a/one"],
      ["fullName", "a/one"],
    ]);
    assert.deepEqual(namesOf(body), ["GITHUB:a/one", "GITLAB:a/one"]);
    assert.equal(body.meta.requested, 6);
    assert.deepEqual(body.meta.missing, {
      ids: ["999999", "9223372036854775807"],
      fullNames: ["No/Such", "nobody:a/one"],
    });
    assert.deepEqual((await read("id=999999")).data, []);
  });

  test("is available as CSV", async () => {
    const { headers, body } = await world.get("/api/repos?fullName=a/one&format=csv");
    assert.match(headers.get("content-type") ?? "", /^text\/csv/);
    assert.deepEqual(
      body
        .split("\r\n")
        .slice(1, 3)
        .map((line: string) => line.split(",").slice(1, 5).join()),
      ["GITHUB,a,one,a/one", "GITLAB,a,one,a/one"],
    );
  });

  test("does not go with filters, sorts and pages", async () => {
    for (const other of ["sort=stars", "q=a", "limit=2", "page=1", "language=Go", "minStars=1", "cursor=x"]) {
      const [name = ""] = other.split("=");
      assert.deepEqual(
        errorOf(await world.get(`/api/repos?id=1&${other}`)),
        invalid(name, "cannot be given together with id or fullName"),
      );
    }
    assert.deepEqual(
      errorOf(await world.get("/api/repos?id=1&provider=github")),
      invalid("provider", "cannot be given with ids alone, as an id needs no provider"),
    );
  });

  test("refuses what is no id or name, naming it, and more than 100 values", async () => {
    const many = (name: string, value: string, count: number): [string, string][] =>
      Array.from({ length: count }, () => [name, value]);
    const refuse = async (query: [string, string][]) =>
      errorOf(await world.get(`/api/repos?${new URLSearchParams(query)}`));
    assert.deepEqual(
      await refuse([
        ["id", "1"],
        ["id", "x"],
        ["id", "01"],
      ]),
      invalid("id", "must be ids of 1 to 19 digits without a leading 0", { values: ["x", "01"] }),
    );
    for (const wrong of ["", "one", "github:one", "a/", "a//b", "a b/c"])
      assert.deepEqual(
        await refuse([["fullName", wrong]]),
        invalid("fullName", "must be of the form owner/name or provider:owner/name", { values: [wrong] }),
      );
    assert.deepEqual(
      await refuse(many("id", "1", 101)),
      invalid("id", "must be ids of 1 to 19 digits without a leading 0, 1 to 100 times"),
    );
    assert.deepEqual(
      await refuse([...many("id", "1", 50), ...many("fullName", "a/one", 51)]),
      invalid("fullName", "id and fullName may have at most 100 values together"),
    );
    assert.equal((await read([...many("id", "1", 50), ...many("fullName", "a/one", 50)])).data.length, 3);
  });

  test("costs three statements for 100 names, and finds what findByName finds", async () => {
    const counted = countStatements(world.modules.database);
    const modules = buildModules(counted.database, { clock: world.clock, log: createLog("silent") });
    await modules.live.current();
    const before = counted.statements();
    const texts = ["a/one", "old/first", "new/name", "no/such"];
    const fullName = Array.from({ length: 100 }, (_, i) => texts[i % 4] ?? "");
    const { each } = await findReferenced(modules, readReferences({ fullName }));
    assert.equal(counted.statements() - before, 3);
    for (const [i, ids] of each.entries()) {
      const found = await Promise.all(
        ["GITHUB", "GITLAB"].map((one) => world.modules.catalog.findByName(one, fullName[i] ?? "")),
      );
      assert.deepEqual(
        ids,
        found.flatMap((one) => one?.repository.id ?? []),
      );
    }
  });
});
