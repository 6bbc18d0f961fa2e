import assert from "node:assert/strict";
import { before, test } from "node:test";
import { updateDerived } from "../../src/modules.js";
import { importDay } from "../support/archive.js";
import { onBothEngines } from "../support/engines.js";
import { call, connectMcp } from "../support/mcp.js";
import { open, textOf } from "../support/page.js";
import { createWorld, type World } from "../support/world.js";

interface Renamed {
  fullName: string;
  renamedFrom?: string;
}

const OLD = "/api/repos/github/o/tool";
const NEW = "/api/repos/GITHUB/n/tool";

onBothEngines("A repository whose name changed in an archive without ids", (engine) => {
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
      [`/api/repos/${oldId}/metrics?window=all`, `/api/repos/${before.body.data.id}/metrics?window=all`],
      [`/api/repos/${oldId}/ranks?window=90d`, `/api/repos/${before.body.data.id}/ranks?window=90d`],
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
    const bulk = [`/api/repos?id=${oldId}`, "/api/repos?fullName=O/Tool", "/api/repos?q=O/Tool"];
    for (const path of [
      ...bulk,
      "/api/repos?q=https://github.com/o/tool&sort=stars",
      `/api/metrics?repo=${oldId}`,
    ]) {
      const [first] = (await world.get(path)).body.data;
      assert.deepEqual([first.fullName, first.renamedFrom.toLowerCase()], ["n/tool", "o/tool"], path);
    }
    const chart = await world.get("/api/embed/chart?repo=github:o/tool");
    assert.deepEqual(
      chart.body.data.series.map((one: Renamed) => [one.fullName, one.renamedFrom]),
      [["n/tool", "o/tool"]],
    );
    for (const path of ["/api/repos?fullName=n/tool", "/api/repos?sort=stars"])
      for (const row of (await world.get(path)).body.data) assert.ok(!("renamedFrom" in row), path);
    for (const q of ["O/Tool", "https://github.com/o/tool"]) {
      const { repositories } = (await world.get(`/api/search/suggest?q=${q}`)).body.data;
      assert.equal(repositories[0]?.fullName, "n/tool", q);
    }
    const badge = await world.get("/api/embed/badge.svg?repo=github:o/tool&kind=stars");
    assert.match(badge.body, /n\/tool/);
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

  test("is followed by its id and names through two renames, also by tools", async () => {
    const { modules } = world;
    await importDay(modules.catalog, 10, ["last/tool", 1_020], ["o/stays", 5_003]);
    await modules.catalog.joinRenamed({ ...rename, to: "n/tool" });
    await modules.catalog.joinRenamed({ provider: "GITHUB", from: "n/tool", to: "last/tool" });
    await updateDerived(modules);
    for (const query of [`id=${oldId}`, "fullName=o/tool", "fullName=n/tool"]) {
      const { body } = await world.get(`/api/repos?${query}`);
      const found = body.data.map((one: Renamed) => [one.fullName, one.renamedFrom]);
      assert.deepEqual(found, [["last/tool", query === "fullName=n/tool" ? "n/tool" : "o/tool"]]);
    }
    const client = await connectMcp(world);
    for (const tool of ["get_repositories", "get_series"]) {
      const { data, text } = await call(client, tool, { repositories: "github:o/tool" });
      const [{ repository, renamedFrom }] = data.repositories;
      assert.deepEqual([repository, renamedFrom], ["github:last/tool", "o/tool"], tool);
      assert.match(text, /github:last\/tool \| o\/tool \|/);
    }
    const two = { repositories: ["github:o/tool", "github:o/stays"] };
    const compared = (await call(client, "compare_repositories", two)).data.repositories;
    assert.deepEqual(
      compared.map((row: Renamed) => row.renamedFrom),
      ["o/tool", undefined],
    );
    const [row] = (await call(client, "search_repositories", { q: "o/tool" })).data.repositories;
    assert.deepEqual([row.repository, row.renamedFrom], ["github:last/tool", "o/tool"]);
    await modules.catalog.partRenamed({ provider: "GITHUB", from: "n/tool" });
    await modules.catalog.partRenamed(rename);
    await updateDerived(modules);
  });

  test("is in watchlists once, under the id that remains and with the name that was added", async () => {
    const { catalog, watchlists } = world.modules;
    const newId: string = (await world.get(NEW)).body.data.id;
    const only = await watchlists.create("Only the old one", [Number(oldId)]);
    const both = await watchlists.create("Both", [Number(oldId), Number(newId)]);
    await catalog.joinRenamed({ ...rename, to: "n/tool" });
    await updateDerived(world.modules);
    const added = await world.send("POST", "/api/watchlists", { ids: [oldId, newId] });
    const single = await world.send("POST", "/api/watchlists", { ids: [newId] });
    const sums = await world.get(`/api/watchlists/${single.body.data.token}/metrics?window=all`);
    for (const token of [only.token, both.token, added.body.data.token]) {
      const path = `/api/watchlists/${token}`;
      assert.deepEqual((await world.get(path)).body.data.ids, [newId]);
      for (const sort of ["added", "stars"]) {
        const { data } = (await world.get(`${path}/repositories?sort=${sort}`)).body;
        assert.deepEqual(
          data.map(({ fullName, renamedFrom }: Renamed) => [fullName, renamedFrom]),
          [["n/tool", "o/tool"]],
        );
      }
      assert.deepEqual((await world.get(`${path}/metrics?window=all`)).body.data, sums.body.data);
    }
    const { html } = await open(world, `/watchlists/${only.shareToken}`);
    assert.match(html, /<span class="badge">was o\/tool<\/span>/);
    const again = await world.send("POST", `/api/watchlists/${only.token}/items`, { repositoryId: oldId });
    assert.equal(again.status, 200, "it is on the list already");
    await world.send("DELETE", `/api/watchlists/${added.body.data.token}/items/${oldId}`);
    assert.deepEqual((await world.get(`/api/watchlists/${added.body.data.token}`)).body.data.ids, []);

    await catalog.partRenamed(rename);
    for (const token of [only.token, both.token]) {
      const { ids } = (await world.get(`/api/watchlists/${token}`)).body.data;
      assert.deepEqual(new Set(ids), new Set([oldId, newId]));
    }
  });
});
