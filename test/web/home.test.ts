import assert from "node:assert/strict";
import { before, test } from "node:test";
import { RANKINGS, WINDOWS } from "../../src/growth/definitions.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { onSqlite, onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { signIn } from "../support/members.js";
import {
  linkTo,
  numbersIn,
  open,
  openPage,
  problemsOf,
  repositoriesIn,
  rowsOf,
  submit,
  textOf,
} from "../support/page.js";
import { createWorld, daily, observation, snapshot, type World } from "../support/world.js";

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
  [...html.matchAll(/<section(?: class="yours")?>(.*?)<\/section>/gs)]
    .map(([, inner = ""]) => inner)
    .find((inner) => textOf(/<h2[^>]*>(.*?)<\/h2>/s.exec(inner)?.[1] ?? "") === name);

onSqliteAndLong("The home page", (engine) => {
  let world: World;
  before(async () => {
    world = await createWorld(engine);
    await world.record(...many());
  });

  test("says what grew where and when: a lead, two cards, and places without holes", async () => {
    const { headings, text, html } = await openPage(world, "/");
    assert.deepEqual(headings[0], [1, "Today on GitHub"]);
    assert.match(text, /Thursday, 30 April 2026, measured 12:00 UTC/);
    const { data } = (await world.get("/api/trending?window=24h&limit=15")).body;
    const names = data.map((one: { fullName: string }) => one.fullName);
    assert.deepEqual(repositoriesIn(html).slice(0, 15), names);
    const places = rowsOf(html, "repositories").map(([place]) => Number(place));
    assert.deepEqual(places, [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    assert.match(text, /\+29 stars today It had 1,828 stars a week ago, 2,031 now\. Save Compare/);
    assert.match(html, /role="img" aria-label="Stars gained a day, .*: 29 on a usual day, 29 on /);
    assert.match(text, /Places 16 to 29 ?30 repositories measured/);
    const gains = numbersIn(textOf(sectionNamed(html, "Languages today") ?? "")).map(Number);
    assert.deepEqual(gains, [155, 145, 135], "the greatest first");
  });

  test("has one window and one language for all lists, as links", async () => {
    const { html, current } = await openPage(world, "/");
    assert.deepEqual(current, ["24 hours", "All languages"]);
    assert.equal(linkTo(html, "7 days")?.search, "?window=7d");
    const rust = await openPage(world, "/?window=7d&language=rust");
    assert.deepEqual(rust.headings[0], [1, "This week in Rust"]);
    assert.deepEqual(rust.current, ["7 days", "Rust"]);
    assert.equal(linkTo(rust.html, "30 days")?.search, "?language=Rust&window=30d");
    const shown = repositoriesIn(rust.html).slice(0, 9);
    assert.deepEqual(
      shown.filter((name) => Number(name.split("-").at(-1)) % 3 > 0),
      [],
    );
    assert.equal(linkTo(html, "Places 16 to 29")?.search, "?sort=trending&window=24h");
  });

  test("tells of the first place how unusual its day is, and whether it is a record", async () => {
    const other = await createWorld(engine);
    const leap = daily(...Array.from({ length: 40 }, (_, i) => 1_000 + 30 * i + (i === 39 ? 970 : 0)));
    await other.record(...many(20), observation("o/leap", leap));
    const { html, text } = await openPage(other, "/?window=24h");
    assert.match(text, /33× its usual day, its best day on record\. It had 1,960 stars a week ago, /);
    assert.ok(html.includes('href="/repos/github/o/leap?window=24h"'), "its page shows the same window");
    assert.doesNotMatch((await openPage(world, "/")).html, /class="times /, "others are as usual");
  });

  test("shows no repository twice, and those busiest for their usual day that do not lead the page", async () => {
    const leapt = await createWorld(engine);
    const slow = daily(...Array.from({ length: 40 }, (_, i) => 4_996 + Math.floor(i / 9)));
    await leapt.record(...many(40, 200), observation("o/slow", slow));
    const html = (await openPage(leapt, "/")).html.replaceAll(/<details class="why".*?<\/details>/gs, "");
    const names = html.slice(html.indexOf('class="front"')).match(/"\/repos\/github\/[^"?]+/g) ?? [];
    assert.ok(names.length > 15 && names.length === new Set(names).size);
    const busier = sectionNamed(html, "Busier than usual") ?? "";
    assert.match(textOf(busier), /repo-\d+ ?\+\d+ \d+(?:\.\d+)?×/);
    const { data } = (await leapt.get("/api/rising?limit=20")).body;
    const risen: string[] = data.map((one: { fullName: string }) => one.fullName);
    const lead = repositoriesIn(html).slice(0, 15);
    assert.deepEqual(repositoriesIn(busier), risen.filter((name) => !lead.includes(name)).slice(0, 5));
    assert.match(textOf(sectionNamed(html, "Milestones this week") ?? ""), /5K o\/slow ?Mon/);
    const month = await openPage(leapt, "/?window=30d");
    assert.equal(sectionNamed(month.html, "Busier than usual"), undefined);
  });

  test("a language that nobody uses and an invalid window are reported, and all is shown", async () => {
    const unknown = await openPage(world, "/?language=cobol");
    assert.deepEqual(problemsOf(unknown), ["language"]);
    assert.deepEqual(unknown.headings[0], [1, "Today on GitHub"]);
    const invalid = await openPage(world, "/?window=1y&language=Go");
    assert.equal(invalid.status, 400);
    assert.deepEqual(problemsOf(invalid), ["window"]);
    assert.deepEqual(invalid.headings[0], [1, "Today in Go"]);
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
          const ids = (await listPage({ lists }, query)).rows.map(({ repository }) => repository.id);
          assert.deepEqual(leaders(ranking, window), ids, `${scope} ${ranking} ${window}`);
        }
    }
  });
});

/** As many as a catalogue needs to be ranked: three of them since a day, the others since a week. */
const young = Array.from({ length: 20 }, (_, i) => {
  const readings = [snapshot(i < 3 ? 24 : 7 * 24, 100 + i), snapshot(0, 160 + i)];
  return observation(`o/young-${i}`, readings, { facts: { language: "Vue" } });
});

onSqlite("The home page of other catalogues", (engine) => {
  const mailbox = openMailbox();

  test("over old data never speaks of the last hours or days", async () => {
    const world = await createWorld(engine);
    await world.record(...many());
    world.clock.advance(2 * DAY_MS);
    for (const [path, title] of [
      ["/", "30 Apr 2026 on GitHub"],
      ["/?window=30d&language=Go", "30 days to 30 Apr 2026 in Go"],
    ] as const) {
      const page = await open(world, path);
      assert.deepEqual(page.headings[0], [1, title]);
      assert.ok(page.html.includes(`<title>${title}`));
      assert.doesNotMatch(page.text, /last (?:24|7|30)|today|this week|\bago,|\bnow\b/i);
      assert.match(page.text, /Updated 30 Apr 2026, 2 days ago/);
    }
  });

  test("that is young shows a week, and says why; without any growth it leads to those by stars", async () => {
    const world = await createWorld(engine);
    await world.record(...young);
    for (const [path, words] of [
      ["/", /Not enough data for 24 hours: showing 7 days/],
      ["/?language=Vue", /Not enough Vue data for 24 hours/],
    ] as const) {
      const page = await openPage(world, path);
      assert.equal(page.current[0], "7 days", "only three have a snapshot a day ago");
      assert.match(page.text, words);
    }
    assert.deepEqual((await openPage(world, "/?window=24h")).headings[0], [1, "Today on GitHub"]);
    const { text, links } = await openPage(world, "/?window=30d");
    assert.match(text, /No growth in 30 days yet: it needs two snapshots of a repository/);
    assert.equal(links.filter((link) => link.startsWith("/explore?")).join(), "/explore?sort=stars");
  });

  test("names with markup and in other scripts stay text, each isolated", async () => {
    const world = await createWorld(engine);
    const languages = ["<b>bold</b>", "שפה", "x".repeat(100)];
    const named = languages.map((language, i) =>
      observation(`o/named-${i}`, daily(100, 1_500 + i), { facts: { language, description: "<i>x</i>" } }),
    );
    await world.record(...named, ...young);
    const page = await openPage(world, "/?window=24h");
    assert.doesNotMatch(page.html, /<b>bold|<i>x/);
    for (const language of languages) assert.ok(page.text.includes(language), language);
    const one = await openPage(world, `/?language=${encodeURIComponent("<b>bold</b>")}`);
    assert.deepEqual(one.headings[0], [1, "Today in <b>bold</b>"]);
  });

  test("begins for whoever is signed in with what their repositories gained", async () => {
    const world = await createWorld(engine, mailbox.settings);
    await world.record(...many());
    const { headers } = await signIn(world, mailbox, "reader@example.org");
    assert.equal(sectionNamed((await openPage(world, "/", headers)).html, "Yours"), undefined);
    for (const repositoryId of ["1", "3", "8", "9", "10"])
      await submit(world, "/watchlist/items", { repositoryId, next: "/" }, headers);
    const { html } = await openPage(world, "/?window=7d", headers);
    const yours = sectionNamed(html, "Yours") ?? "";
    assert.match(textOf(yours), /^Yours 4 of 5 gained stars this week: \+182 /);
    assert.deepEqual(repositoriesIn(yours), ["owner-9/repo-9", "owner-8/repo-8", "owner-7/repo-7"]);
  });

  test("of fewer than twenty repositories shows the life of each, no ranks, and what comes next", async () => {
    const world = await createWorld(engine);
    const grown = (from: number, leap: number) =>
      daily(...Array.from({ length: 60 }, (_, i) => from + 2 * i + (i >= 30 ? leap : 0)));
    await world.record(observation("o/one", grown(800, 40)), observation("o/two", grown(300, 0)));
    const page = await openPage(world, "/");
    const names = page.headings.map(([, name]) => name).join();
    assert.equal(names, "Yours,o/one,o/two,Show them elsewhere");
    assert.match(page.text, /14 of this week’s 28 stars went to o\/\w+\. Next: one passes 1,000 in May/);
    const facts = ["Stars", "7 days", "30 days", "Next"].map((name) => page.facts.get(name));
    assert.deepEqual(facts, ["1,376", "+28", "+60", "500 in June"], "of all, and of the last one");
    assert.match(page.text, /Best day \+44 1 Apr 2026/);
    assert.equal(page.html.match(/<svg class="life"/g)?.length, 4, "in two sizes each");
    assert.doesNotMatch(page.text, /#\d|Trending|rank/i);
    const compared = page.links.filter((link) => link.startsWith("/compare?"));
    assert.deepEqual(compared, ["/compare?repo=github:o/one&repo=github:o/two"]);
    world.clock.advance(90 * DAY_MS);
    assert.doesNotMatch((await openPage(world, "/")).text, /today|this week|Next/i);
  });
});
