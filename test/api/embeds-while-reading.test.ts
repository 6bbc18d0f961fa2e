import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqliteAndLong } from "../support/engines.js";
import { readPicture } from "../support/svg.js";
import { createWorld, daily, NOW, observation, type World } from "../support/world.js";

const BRIEF = "public, max-age=10";
const USUAL = "public, max-age=300, stale-while-revalidate=3600";

onSqliteAndLong("Pictures of a repository that is being read for the first time", (engine) => {
  let world: World;

  before(async () => {
    world = await createWorld(engine, { SIDEREAL_PROVIDERS: "github", SIDEREAL_TRACK: "everyone" });
    await world.record(observation("a/one", daily(1, 2, 3), { at: NOW - 9 * 86_400_000 }));
    const asked = await world.send("POST", "/api/track", { repository: "github:o/new" });
    assert.equal(asked.status, 202);
  });
  const cached = async (path: string) => (await world.request(path)).headers.get("cache-control");

  test("say so, and are kept for ten seconds", async () => {
    for (const query of ["repo=github:O/New", "repo=github:a/one&repo=github:o/new"]) {
      const path = `/api/embed/chart.svg?${query}`;
      const { body } = await world.get(path);
      const texts = readPicture(body).texts.map(({ text }) => text);
      assert.deepEqual(texts, ["Being read", query.includes("New") ? "github:O/New" : "github:o/new"]);
      assert.equal(await cached(path), BRIEF);
    }
    const badge = "/api/embed/badge.svg?repo=github:o/new&kind=stars";
    assert.match((await world.get(badge)).body, /Being read, and here in a moment: github:o\/new/);
    assert.equal(await cached(badge), BRIEF);
    const card = await world.request("/api/embed/card.png?repo=github:o/new");
    assert.deepEqual(
      [card.status, card.headers.get("content-type"), card.headers.get("cache-control")],
      [200, "image/png", BRIEF],
    );
    const data = await world.get("/api/embed/chart?repo=github:o/new");
    assert.deepEqual([data.status, data.headers.get("retry-after")], [404, "10"]);
    const unknown = await world.get("/api/embed/chart?repo=github:o/new&repo=github:no/such");
    assert.equal(unknown.body.error.message, "Not tracked here: github:no/such");
  });

  test("are kept as briefly while its history arrives, and then as all others are", async () => {
    await world.record(observation("o/new", daily(5)));
    const paths = ["chart.svg", "badge.svg", "card.png"].map(
      (name) => `/api/embed/${name}?repo=github:o/new`,
    );
    for (const path of paths) assert.equal(await cached(path), BRIEF, path);
    await world.modules.database.durable.updateTable("wanted").set({ finished_at: NOW }).execute();
    await world.record(observation("a/one", daily(7)));
    for (const path of paths) assert.equal(await cached(path), USUAL, path);
    assert.equal(await cached("/api/embed/chart.svg?repo=github:a/one"), USUAL);
  });
});
