import assert from "node:assert/strict";
import { before, test } from "node:test";
import { updateDerived } from "../../src/modules.js";
import { importDay } from "../support/archive.js";
import { onSqlite } from "../support/engines.js";
import { open, textOf } from "../support/page.js";
import { createWorld, type World } from "../support/world.js";

const OLD = "/api/repos/github/o/tool";
const NEW = "/api/repos/GITHUB/n/tool";

onSqlite("A repository whose name changed in an archive without ids", (engine) => {
  let world: World;
  let oldId: string;
  const rename = { provider: "GITHUB", from: "o/tool" };
  const namesIn = async (path: string) =>
    (await world.get(path)).body.data.map(({ fullName }: { fullName: string }) => fullName);

  before(async () => {
    world = await createWorld(engine);
    const { catalog } = world.modules;
    await importDay(catalog, 7, ["o/tool", 980], ["o/stays", 5_000]);
    await importDay(catalog, 8, ["o/tool", 1_000], ["o/stays", 5_001]);
    await importDay(catalog, 9, ["n/tool", 1_010], ["o/stays", 5_002]);
    await updateDerived(world.modules);
    oldId = (await world.get(OLD)).body.data.id;
  });

  test("has ended under the old name, which leaves the rankings immediately", async () => {
    const { body } = await world.get(OLD);
    const { availability, stale, trends, ranks } = body.data;
    assert.deepEqual([availability, stale], ["AVAILABLE", true]);
    assert.deepEqual(trends, { "24h": null, "7d": null, "30d": null });
    assert.ok(ranks.every(({ ranking }: { ranking: string }) => ranking === "stars"));
    for (const sort of ["trending", "stars-gained"])
      assert.ok(!(await namesIn(`/api/repos?sort=${sort}&window=24h`)).includes("o/tool"), sort);
    assert.equal((await world.get(NEW)).body.data.trends["24h"], null);
  });

  test("is one repository with the history of both names, once they are joined", async () => {
    const { modules } = world;
    const before = await world.get(NEW);
    await modules.catalog.joinRenamed({ ...rename, to: "n/tool" });
    await updateDerived(modules);
    for (const [path, location] of [
      [`${OLD}?window=7d`, `${NEW}?window=7d`],
      [`/api/repos/${oldId}?window=7d`, `/api/repos/${before.body.data.id}?window=7d`],
    ] as const) {
      const { status, headers } = await world.get(path);
      assert.deepEqual([status, headers.get("location")], [301, location]);
    }
    const { body } = await world.get(NEW);
    assert.deepEqual(
      [body.data.previousFullNames, body.data.dataQuality.snapshots, body.data.trends["24h"].starsDelta],
      [["o/tool"], 3, 10],
    );
    for (const path of ["/api/repos?sort=stars", "/api/repos?q=tool"]) {
      const names = await namesIn(path);
      assert.deepEqual([names.includes("n/tool"), names.includes("o/tool")], [true, false], path);
    }
    const search = await world.get("/api/repos?q=O%2FTool");
    const to = { id: before.body.data.id, provider: "GITHUB", fullName: "n/tool" };
    assert.deepEqual(search.body.meta.renamed, { fullName: "o/tool", to });
    assert.match(textOf((await open(world, "/explore?q=o%2Ftool")).html), /o\/tool is now n\/tool\./);
    assert.equal((await open(world, "/repos/github/o/tool")).status, 301);

    await modules.catalog.partRenamed(rename);
    await updateDerived(modules);
    assert.deepEqual((await world.get(NEW)).body.data, before.body.data);
    assert.equal((await world.get(OLD)).body.data.id, oldId);
  });

  test("leads from watchlists with the old name to the new one", async () => {
    const { catalog, watchlists } = world.modules;
    const { shareToken } = await watchlists.create("Mine", [Number(oldId)]);
    await catalog.joinRenamed({ ...rename, to: "n/tool" });
    const { html } = await open(world, `/watchlists/${shareToken}`);
    assert.match(html, /<a class="badge caution" href="\/repos\/github\/n\/tool">now n\/tool<\/a>/);
  });
});
