import assert from "node:assert/strict";
import { before, test } from "node:test";
import { updateDerived } from "../../src/modules.js";
import { importArchive, row } from "../support/archive.js";
import { onBothEngines } from "../support/engines.js";
import { createWorld, type World } from "../support/world.js";

const text = { description: "A tool that does many things" };
const OLD = "/api/repos/github/o/tool";
const NEW = "/api/repos/github/n/tool";

onBothEngines("A repository with a suspected rename", (engine) => {
  let world: World;
  const decide = async (decision: "accept" | "reject" | "undo") => {
    await world.modules.catalog.decideRename(1, decision);
    await updateDerived(world.modules);
  };

  before(async () => {
    world = await createWorld(engine);
    const { catalog, database } = world.modules;
    await importArchive({ catalog, database }, [
      { day: 7, rows: [row("o/tool", 980, text, 89), row("o/stays", 5_000)] },
      { day: 8, rows: [row("o/tool", 1_000, text, 90), row("o/stays", 5_001)] },
      { day: 9, rows: [row("n/tool", 1_010, text, 91), row("o/stays", 5_002)] },
    ]);
    await updateDerived(world.modules);
  });

  test("says so under both names, with the evidence", async () => {
    const { body: old } = await world.get(OLD);
    const { body: living } = await world.get(NEW);
    const { id: oldId } = old.data;
    const { id: newId } = living.data;
    const { suspectedAt, ...to } = old.data.renames.to;
    assert.ok(Date.parse(suspectedAt) > 0);
    const evidence = {
      source: "github-ranking",
      from: { at: "2026-04-29T12:00:00.000Z", stars: 1_000, forks: 90 },
      to: { at: "2026-04-30T12:00:00.000Z", stars: 1_010, forks: 91 },
      sameDescription: true,
      sameName: true,
      similarName: true,
      sameOwner: false,
      sameLanguage: true,
      isReturn: false,
    };
    const reasons = [
      "1,000 → 1,010 stars",
      "90 → 91 forks",
      "same description",
      "same name",
      "same language",
    ];
    const shared = { provider: "GITHUB", status: "SUSPECTED", reasons, evidence };
    assert.deepEqual(to, { id: newId, fullName: "n/tool", ...shared });
    assert.deepEqual(old.data.renames.from, []);
    assert.equal(old.data.availability, "RENAMED");
    const { suspectedAt: _, ...from } = living.data.renames.from[0];
    assert.deepEqual(from, { id: oldId, fullName: "o/tool", ...shared });
    assert.equal(living.data.renames.to, undefined);
    const { body: other } = await world.get("/api/repos/github/o/stays");
    assert.equal(other.data.renames, undefined);
  });

  test("says so with its series", async () => {
    const { body: old } = await world.get(OLD);
    const { body } = await world.get(`/api/repos/${old.data.id}/metrics?window=all`);
    assert.deepEqual([body.data.length, body.meta.renames.to.fullName], [2, "n/tool"]);
  });

  test("has growth under its new name from the first day, which says where it begins", async () => {
    const { body: old } = await world.get(OLD);
    const { body: living } = await world.get(NEW);
    const { predecessorId, starsDelta } = living.data.trends["24h"];
    assert.deepEqual([predecessorId, starsDelta], [old.data.id, 10]);
    const { body: other } = await world.get("/api/repos/github/o/stays");
    assert.equal(other.data.trends["24h"].predecessorId, undefined);
  });

  test("is listed once, under the new name", async () => {
    const lists = ["/api/repos?sort=stars", "/api/trending?window=24h", "/api/repos?q=tool"];
    for (const path of lists) {
      const { body } = await world.get(path);
      const names = body.data.map((one: { fullName: string }) => one.fullName);
      assert.ok(names.includes("n/tool"), path);
      assert.ok(!names.includes("o/tool"), path);
    }
    const { body: old } = await world.get(OLD);
    assert.deepEqual(old.data.ranks, []);
  });

  test("is found by its old name: the search says where that continues", async () => {
    const { body: living } = await world.get(NEW);
    const to = { id: living.data.id, provider: "GITHUB", fullName: "n/tool" };
    for (const q of ["O/Tool", "https://github.com/o/tool"]) {
      const { body } = await world.get(`/api/repos?q=${encodeURIComponent(q)}`);
      assert.deepEqual(body.meta.renamed, { fullName: "o/tool", isSuspected: true, to }, q);
    }
    for (const q of ["tool", "o/stays", "o/nothing", "n/tool"]) {
      const { body } = await world.get(`/api/repos?q=${q}`);
      assert.equal(body.meta.renamed, undefined, q);
    }
    await decide("accept");
    const { body } = await world.get("/api/repos?q=o/tool&provider=github");
    assert.deepEqual(body.meta.renamed, { fullName: "o/tool", isSuspected: false, to });
    await decide("undo");
  });

  test("leads from the old name to the new one once accepted, with one history, and back when undone", async () => {
    const before = await world.get(NEW);
    const oldId = (await world.get(OLD)).body.data.id;
    assert.equal((await world.get(`/api/repos/${oldId}`)).status, 200);
    await decide("accept");
    const { status, headers } = await world.get(OLD);
    assert.deepEqual([status, headers.get("location")], [301, NEW.replace("github", "GITHUB")]);
    const { body } = await world.get(NEW);
    const byId = await world.get(`/api/repos/${oldId}?window=7d`);
    const location = `/api/repos/${body.data.id}?window=7d`;
    assert.deepEqual([byId.status, byId.headers.get("location")], [301, location]);
    assert.deepEqual((await world.get(location)).body.data.fullName, "n/tool");
    assert.equal(body.data.dataQuality.snapshots, 3);
    assert.deepEqual(body.data.previousFullNames, ["o/tool"]);
    assert.equal(body.data.renames.from[0].status, "ACCEPTED");
    assert.deepEqual(
      [body.data.trends["24h"].starsDelta, body.data.trends["24h"].predecessorId],
      [10, undefined],
    );
    await decide("undo");
    assert.equal((await world.get(`/api/repos/${oldId}`)).status, 200);
    assert.deepEqual((await world.get(NEW)).body.data, before.body.data);
  });

  test("is two repositories once rejected", async () => {
    await decide("reject");
    const { body: old } = await world.get(OLD);
    const { body: living } = await world.get(NEW);
    assert.deepEqual(
      [old.data.availability, old.data.renames, living.data.renames],
      ["AVAILABLE", undefined, undefined],
    );
    assert.equal(living.data.trends["24h"], null);
    await decide("undo");
  });
});
