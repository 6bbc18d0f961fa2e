import assert from "node:assert/strict";
import { before, test } from "node:test";
import { DAY_MS } from "../../src/lib/clock.js";
import { onSqlite } from "../support/engines.js";
import { open, textOf } from "../support/page.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";

/** Pages that show growth. */
const PAGES = [
  "/",
  "/explore",
  "/explore?sort=stars-gained",
  "/languages",
  "/languages/Go",
  "/topics/web",
  "/repos/github/here/still",
  "/repos/github/gone/name",
  "/compare?repo=github:here/still&repo=github:gone/name",
  "/about",
];
const SOURCE = "github-ranking";

onSqlite("How recent pages are", (engine) => {
  let world: World;

  before(async () => {
    world = await createWorld(engine);
    await world.modules.catalog.recordFiles([
      { source: SOURCE, file: "a.csv", capturedAt: NOW, rows: 2, zeros: 0, damage: [] },
    ]);
    const facts = { language: "Go", topics: ["web"] };
    await world.record(
      observation("here/still", daily(100, 110, 130), { source: SOURCE, facts }),
      observation("gone/name", [snapshot(48, 4_000), snapshot(24, 4_900)], { source: SOURCE, facts }),
      observation(
        "shifted/level",
        [1_000, 1_000, 9_000].map((count, i) => snapshot(24 * (2 - i), count, { forks: 10 })),
        { facts },
      ),
    );
  });

  test("recent growth has no notice", async () => {
    for (const path of PAGES) {
      const { html } = await open(world, path);
      assert.doesNotMatch(html, /Updated 30 Apr 2026, \d+ days/, path);
      assert.doesNotMatch(html, /days? ago|as-of old/, path);
    }
  });

  test("a repository that is no longer seen says since when, in lists and with the reason on its page", async () => {
    const list = textOf((await open(world, "/explore?sort=stars")).html);
    assert.match(list, /gone\/name\s+not seen since 29 Apr 2026/);
    assert.doesNotMatch(list, /here\/still\s+not seen/);
    const page = textOf((await open(world, "/repos/github/gone/name")).html);
    assert.match(
      page,
      /Not seen since 29 Apr 2026 \(24 hours ago\).*newest file of github-ranking, of 30 Apr 2026/s,
    );
    const compared = textOf((await open(world, PAGES[8] ?? "")).html);
    assert.match(compared, /not seen since 29 Apr 2026/);
  });

  test("gains that count in part show both numbers", async () => {
    const list = textOf((await open(world, "/explore?sort=stars-gained")).html);
    assert.match(list, /far more stars than usual · .*none counted \+8,000 9,000/);
    const page = textOf((await open(world, "/repos/github/shifted/level")).html);
    assert.match(page, /24 hours: \+8,000 stars, none counted: far more than usual without forks to match/);
  });

  test("a new repository whose date of creation is unknown is marked as first seen", async () => {
    const other = await createWorld(engine);
    const old = Array.from({ length: 60 }, (_, i) => 5_000 + i);
    await other.record(observation("old/known", daily(...old)), observation("new/name", daily(20, 60, 150)));
    assert.match(
      textOf((await open(other, "/explore?sort=new-hot")).html),
      /new\/name\s+(?:low confidence\s+)?first seen 28 Apr 2026/,
    );
    assert.doesNotMatch(textOf((await open(other, "/explore?sort=stars")).html), /first seen/);
  });

  test("growth that is 90 days old says so on every page, and is never called recent", async () => {
    world.clock.advance(90 * DAY_MS);
    for (const path of PAGES) {
      const { html } = await open(world, path);
      const text = textOf(html);
      assert.match(
        text,
        /(?:Updated|Measured) 30 Apr 2026, 90 days ago|Not seen since 29 Apr 2026 \(91 days ago\)/,
        path,
      );
      assert.doesNotMatch(text, /\btoday\b|\bright now\b|\bthis week\b|last 24 hours/i, path);
    }
    for (const path of ["/", "/explore", "/languages", "/languages/Go", "/topics/web"]) {
      const { html } = await open(world, path);
      assert.match(textOf(html), /Updated 30 Apr 2026, 90 days ago/, path);
      assert.match(html, /<span class="as-of old">Updated/, `${path}: in the colour of caution`);
    }
  });
});
