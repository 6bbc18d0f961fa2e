import assert from "node:assert/strict";
import { before, test } from "node:test";
import { RANKINGS, WINDOWS } from "../../src/growth/definitions.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { onSqlite, onSqliteAndLong } from "../support/engines.js";
import { linkTo, open, openPage, problemsOf, repositoriesIn, rowsOf, textOf } from "../support/page.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";

/** 30 repositories with different gains, of three languages. `leap`: stars that each gained on the last day beyond the usual. */
const many = (days = 40, leap = 0) =>
  Array.from({ length: 30 }, (_, i) =>
    observation(
      `owner-${i}/repo-${i}`,
      daily(...Array.from({ length: days }, (__, day) => 900 + i * day + (day === days - 1 ? leap : 0))),
      {
        facts: { language: ["Rust", "Go", "C++"][i % 3] ?? "Go", topics: ["web"], description: `Thing ${i}` },
      },
    ),
  );

/** The section of the page under a heading of this text. */
const sectionNamed = (html: string, name: string): string | undefined =>
  [...html.matchAll(/<section>(.*?)<\/section>/gs)]
    .map(([, inner = ""]) => inner)
    .find((inner) => textOf(/<h2[^>]*>(.*?)<\/h2>/s.exec(inner)?.[1] ?? "") === name);

onSqliteAndLong("The home page", (engine) => {
  let world: World;
  before(async () => {
    world = await createWorld(engine);
    await world.record(...many());
  });

  test("says what grew in which time, how fresh that is, and how it is known", async () => {
    const page = await openPage(world, "/");
    assert.deepEqual(page.headings[0], [1, "What grew in the last 24 hours"]);
    assert.match(
      page.text,
      /Measured 30 Apr 2026, less than an hour ago · 30 repositories · 1,200 snapshots/,
    );
    assert.match(page.html, /<a class="chip" href="\/about"><span class="as-of">Measured/);
    assert.equal(repositoriesIn(sectionNamed(page.html, "Trending") ?? "").length, 15);
  });

  test("has one window and one language for all lists, as links", async () => {
    const { html, current } = await openPage(world, "/");
    assert.deepEqual(current, ["24h", "All languages"]);
    assert.equal(linkTo(html, "7d")?.search, "?window=7d");
    const rust = await openPage(world, "/?window=7d&language=rust");
    assert.deepEqual(rust.headings[0], [1, "What grew in the last 7 days: Rust"]);
    assert.deepEqual(rust.current, ["7d", "Rust"]);
    assert.equal(linkTo(rust.html, "30d")?.search, "?language=Rust&window=30d");
    const shown = repositoriesIn(sectionNamed(rust.html, "Trending") ?? "");
    assert.ok(
      shown.length > 5 && shown.every((name) => Number(name.split("-").at(-1)) % 3 === 0),
      `${shown}`,
    );
    assert.match(linkTo(rust.html, "All of Trending")?.search ?? "", /sort=trending&window=7d&language=Rust/);
  });

  test("says of an unusual gain how unusual it is, and one click away why it has its place", async () => {
    const other = await createWorld(engine);
    const leap = daily(...Array.from({ length: 40 }, (_, i) => 1_000 + 30 * i + (i === 39 ? 300 : 0)));
    await other.record(...many(20), observation("o/leap", leap));
    const { html } = await openPage(other, "/?window=24h");
    const row = rowsOf(html, "repositories").find(([, name]) => name?.startsWith("o/leap")) ?? [];
    assert.match(row[2] ?? "", /^Why o\/leap is here: 11× 330 new stars, 30 are usual\. #\d+ gained \d+/);
    assert.ok(html.includes('href="/repos/github/o/leap?window=24h#snapshots"'));
    assert.equal(html.match(/class="times /g)?.length, 1, "others are as usual");
  });

  test("shows no repository twice, and those busiest for their usual day that do not lead the page", async () => {
    const leapt = await createWorld(engine);
    await leapt.record(...many(40, 200));
    const html = (await openPage(leapt, "/")).html.replaceAll(/<details class="why".*?<\/details>/gs, "");
    const links = [...html.slice(html.indexOf('class="home"')).matchAll(/href="(\/repos\/github\/[^"?]+)"/g)];
    const names = links.map(([, path]) => path);
    assert.ok(names.length > 15);
    assert.deepEqual(names.length, new Set(names).size);
    const busier = sectionNamed(html, "Busier than usual") ?? "";
    assert.match(textOf(busier), /\d+(?:\.\d+)?× Thing/);
    const lead = repositoriesIn(sectionNamed(html, "Trending") ?? "");
    const { data } = (await leapt.get("/api/rising?limit=20")).body;
    const risen: string[] = data.map((one: { fullName: string }) => one.fullName);
    assert.deepEqual(repositoriesIn(busier), risen.filter((name) => !lead.includes(name)).slice(0, 5));
    const month = await openPage(leapt, "/?window=30d");
    assert.equal(sectionNamed(month.html, "Busier than usual"), undefined);
  });

  test("names the round numbers of stars that others reached", async () => {
    const other = await createWorld(engine);
    await other.record(
      ...many(3),
      observation("o/thousand", daily(998, 999, 1_001), { facts: { fork: false } }),
    );
    const { html } = await openPage(other, "/?window=24h");
    const shown = textOf(sectionNamed(html, "Milestones") ?? "");
    const elsewhere = (sectionNamed(html, "Trending") ?? "").includes("o/thousand");
    assert.ok(elsewhere || /o\/thousand ?1K/.test(shown), shown);
  });

  test("orders languages by the stars they gained", async () => {
    const { html } = await openPage(world, "/");
    const gains = [
      ...textOf(sectionNamed(html, "Languages") ?? "").matchAll(/repositories\s*\+([\d,]+)/g),
    ].map(([, gain = ""]) => Number(gain.replaceAll(",", "")));
    assert.equal(gains.length, 3);
    assert.deepEqual(
      gains,
      gains.toSorted((a, b) => b - a),
    );
  });

  test("a language that nobody uses and an invalid window are reported, and all is shown", async () => {
    const unknown = await openPage(world, "/?language=cobol");
    assert.deepEqual(problemsOf(unknown), ["language"]);
    assert.deepEqual(unknown.headings[0], [1, "What grew in the last 24 hours"]);
    const invalid = await openPage(world, "/?window=1y&language=Go");
    assert.equal(invalid.status, 400);
    assert.deepEqual(problemsOf(invalid), ["window"]);
    assert.deepEqual(invalid.headings[0], [1, "What grew in the last 24 hours: Go"]);
  });

  test("leaders are the first rows of the lists, in every ranking, window and scope", async () => {
    const { rankings, lists } = world.modules;
    const { listQuery, listPage } = await import("../../src/discovery/discovery.js");
    for (const language of [undefined, "Rust", "Go"]) {
      const scope = language === undefined ? "overall" : "language";
      const leaders = await rankings.leaders({ scope, name: language ?? "", limit: 8 });
      for (const ranking of RANKINGS)
        for (const window of WINDOWS) {
          const query = listQuery.parse({ sort: ranking, window, limit: "8", language });
          const { rows } = await listPage({ lists }, query);
          const ids = rows.map(({ repository }) => repository.id);
          assert.deepEqual(leaders(ranking, window), ids, `${scope} ${ranking} ${window}`);
        }
    }
    const none = await rankings.leaders({ scope: "language", name: "cobol", limit: 8 });
    assert.deepEqual(none("trending", "7d"), []);
  });
});

onSqlite("The home page of other catalogues", (engine) => {
  test("over old data never speaks of the last hours or days", async () => {
    const world = await createWorld(engine);
    await world.record(...many());
    world.clock.advance(2 * DAY_MS);
    for (const [path, title] of [
      ["/", "What grew in the 24 hours to 30 Apr 2026"],
      ["/?window=30d&language=Go", "What grew in the 30 days to 30 Apr 2026: Go"],
    ] as const) {
      const page = await open(world, path);
      assert.deepEqual(page.headings[0], [1, title]);
      assert.match(page.html, /<title>What grew in the \d+ \w+ to 30 Apr 2026/);
      assert.doesNotMatch(page.text, /last (?:24|7|30)|today|\bnow\b/i);
      assert.match(page.text, /Measured 30 Apr 2026, 2 days ago/);
    }
  });

  test("that is young shows a week, and says why", async () => {
    const world = await createWorld(engine);
    await world.record(
      ...Array.from({ length: 12 }, (_, i) =>
        observation(`o/young-${i}`, [snapshot(i < 3 ? 24 : 7 * 24, 100 + i), snapshot(0, 160 + i)]),
      ),
    );
    const page = await openPage(world, "/");
    const isWeek = page.current[0] === "7d";
    assert.equal(/Not enough data for 24 hours: showing 7 days/.test(page.text), isWeek);
    assert.ok(isWeek, "only three have a snapshot a day ago");
    const asked = await openPage(world, "/?window=24h");
    assert.deepEqual(asked.headings[0], [1, "What grew in the last 24 hours"]);
  });

  test("names the language with too little data for a day", async () => {
    const world = await createWorld(engine);
    await world.record(
      ...Array.from({ length: 12 }, (_, i) =>
        observation(`o/vue-${i}`, [snapshot(i < 3 ? 24 : 7 * 24, 100 + i), snapshot(0, 160 + i)], {
          facts: { language: "Vue" },
        }),
      ),
    );
    assert.match((await openPage(world, "/?language=Vue")).text, /Not enough Vue data for 24 hours/);
  });

  test("without any growth leads to the repositories by stars", async () => {
    const world = await createWorld(engine);
    await world.record(observation("o/only", [snapshot(0, 100)]));
    const page = await openPage(world, "/");
    assert.match(page.text, /it needs two snapshots of a repository/);
    assert.ok(page.links.includes("/explore?sort=stars"));
    assert.doesNotMatch(page.html, /<table class="list/);
  });

  test("names with markup and in other scripts stay text, each isolated", async () => {
    const world = await createWorld(engine);
    const languages = ["<b>bold</b>", "שפה", "x".repeat(100)];
    await world.record(
      ...languages.map((language, i) =>
        observation(`o/named-${i}`, daily(100, 150 + i), { facts: { language, description: "<i>x</i>" } }),
      ),
    );
    const page = await openPage(world, "/");
    assert.doesNotMatch(page.html, /<b>bold|<i>x/);
    for (const language of languages) assert.ok(page.text.includes(language), language);
    const one = await openPage(world, `/?language=${encodeURIComponent("<b>bold</b>")}`);
    assert.deepEqual(one.headings[0], [1, "What grew in the last 24 hours: <b>bold</b>"]);
    assert.equal(NOW, world.clock.now());
  });
});
