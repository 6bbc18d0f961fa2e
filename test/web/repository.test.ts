import assert from "node:assert/strict";
import { before, test } from "node:test";
import { shownRuns } from "../../src/web/components/table.js";
import { onSqlite } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { signIn } from "../support/members.js";
import { dataOf, linkTo, numbersIn, open, type Page, problemsOf, rowsOf, textOf } from "../support/page.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";

const HOSTILE = `"><script>alert(1)</script>`;

onSqlite("the page of a repository", (engine) => {
  const mailbox = openMailbox();
  let world: World;

  before(async () => {
    world = await createWorld(engine, mailbox.settings);
    const counts = { forks: 20, openIssues: 3, watchers: 7 };
    await world.record(
      observation("meta/react", [snapshot(240, 900)], { providerId: "7" }),
      observation(
        "Facebook/React",
        [
          snapshot(168, 960, counts),
          snapshot(24, 1_000, counts),
          snapshot(0, 12_010, { forks: 25, openIssues: 2, watchers: 9, source: "OBSERVED" }),
        ],
        {
          providerId: "7",
          facts: {
            url: "https://github.com/Facebook/React",
            description: "The library <b>for</b> interfaces & more.",
            homepage: "https://react.dev/learn",
            language: "JavaScript",
            license: "MIT",
            topics: ["ui", "c++"],
            fork: true,
            archived: true,
            createdAt: Date.UTC(2013, 4, 24),
            pushedAt: Date.UTC(2026, 3, 29),
          },
        },
      ),
      observation("acme/kite", daily(100, 110, 130, 160, 150), {
        facts: { language: "Rust", pushedAt: NOW },
      }),
      observation("group/sub/project", daily(5, 6), { provider: "GITLAB" }),
      observation("lost/forever", daily(40, 41), { facts: { availability: "GONE" } }),
      observation("shut/away", daily(40, 41), { facts: { availability: "PRIVATE" } }),
      observation("held/back", daily(40, 41), { facts: { availability: "BLOCKED" } }),
      observation("group/gains", daily(100, 104, 110, 190), { facts: { pushedAt: NOW } }),
      observation("group/returned", daily(5_000, 5_000, 5_000, 4_000, 5_000), { facts: { pushedAt: NOW } }),
      observation(
        "group/fallen",
        [111_560, 111_568, 89_312, 89_320, 111_600, 111_610].map((stars, i) =>
          snapshot(24 * (5 - i), stars, { forks: [5_000, 5_000, 4_000, 4_000, 5_010, 5_010][i] ?? null }),
        ),
      ),
      observation("o/forgotten", [snapshot(1_000, 30), snapshot(750, 33)]),
      observation("young/one", [snapshot(0, 3)]),
      observation("evil/homepage", daily(1, 2), {
        facts: { url: "javascript:alert(1)", homepage: "javascript:alert(2)", description: HOSTILE },
      }),
      observation("we<i>rd/n&me", daily(1, 2)),
      // Enough for ranks on pages.
      ...Array.from({ length: 12 }, (_, i) => observation(`many/others-${i}`, daily(3, 3))),
    );
  });

  test("shows the repository and its links", async () => {
    const page = await open(world, "/repos/github/Facebook/React");
    assert.equal(page.status, 200);
    assert.match(page.html, /<title>Facebook\/React · Sidereal<\/title>/);
    assert.deepEqual(page.headings[0], [1, "Facebook/React"]);
    assert.ok(page.text.includes("The library <b>for</b> interfaces & more."));
    const [, list = ""] = /<ul class="row facts-line[^>]*>(.*?)<\/ul>/s.exec(page.html) ?? [];
    assert.equal(textOf(list), "JavaScript MIT fork react.dev Created 24 May 2013 Last push 36 hours ago");
    assert.match(page.text, /4 snapshots, 20 Apr 2026 to 30 Apr 2026.* refreshed less than an hour ago/);
    assert.match(page.html, /<span class="badge">archived<\/span>/);
    assert.match(page.html, /<span class="owner-image [^"]*size-64" data-initial="F"/);
    assert.match(
      page.html,
      /<time datetime="2026-04-29T00:00:00.000Z" title="2026-04-29 00:00 UTC">36 hours ago/,
    );
    assert.ok(page.links.includes("https://react.dev/learn"));
    assert.ok(page.links.includes("/topics/c%2B%2B"));
    assert.ok(page.links.includes("/compare?repo=github%3AFacebook%2FReact"));
    assert.match(page.html, /href="https:\/\/github\.com\/Facebook\/React" rel="noopener nofollow"/);
    assert.match(page.text, /\bmeta\/react \(until 30 Apr 2026\)/);
    assert.equal(page.html.match(/<h1/g)?.length, 1);
  });

  const headlineOf = ({ html }: Page) => textOf(/<p class="headline">(.*?)<\/p>/s.exec(html)?.[1] ?? "");

  test("says what happened in a sentence: one gain, one comparison, one place; the evidence is in a fold", async () => {
    const page = await open(world, "/repos/github/group/gains?window=24h");
    assert.match(headlineOf(page), /^\+80 stars in 24 hours\. #\d today\.$/);
    const [, fold = ""] = /<details class="part">(.*?)<\/details>/s.exec(page.html) ?? [];
    assert.match(textOf(fold), /110 → 190 in 24 h, confidence/);
    const burst = await open(world, "/repos/github/Facebook/React?window=7d");
    assert.match(headlineOf(burst), /^\+11,050 stars in 7 days, nearly all of them on 30 Apr\./);
    assert.match(headlineOf(await open(world, "/repos/github/o/forgotten")), /: last update 30 Mar 2026\.$/);
  });

  test("without a window it takes the one with the strongest story", async () => {
    const { html } = await open(world, "/repos/github/group/gains");
    assert.match(html, /href="[^"]*window=24h" aria-current="true"|aria-current="true"[^>]*window=24h/);
  });

  test("says why it has its place in Trending, next to its neighbours", async () => {
    const page = await open(world, "/repos/github/group/gains?window=24h");
    const place = Number(/Why it is #(\d+) today/.exec(page.text)?.[1]);
    assert.equal(Number(/#(\d+) today/.exec(headlineOf(page))?.[1]), place);
    const [, list = ""] = /<ol class="places">(.*?)<\/ol>/s.exec(page.html) ?? [];
    const rows = [...list.matchAll(/<li[^>]*>(.*?)<\/li>/gs)].map(([, row = ""]) => textOf(row));
    const own = rows.findIndex((row) => row.includes("gains"));
    assert.deepEqual(
      rows.map((row) => Number(/^\d+/.exec(row)?.[0])),
      rows.map((_, i) => place + i - own),
    );
    assert.match(rows[own] ?? "", /\+80/);
  });

  test("what happened is at most five events; a fall that returns is no best day, and is in a fold", async () => {
    const young = await createWorld(engine);
    const grown = [0, 30, 10, 700, 20, 30, 10, 40, 20].map((_, i, all) =>
      all.slice(0, i + 1).reduce((sum, more) => sum + more, 1_000),
    );
    const fallen = [
      20_000, 20_010, 20_020, 15_000, 15_010, 15_000, 15_010, 15_020, 15_010, 20_060, 20_070, 20_080,
    ];
    await young.record(
      observation("acme/nine-days", daily(...grown)),
      observation("acme/fallen", daily(...fallen, ...fallen.slice(9).map((stars) => stars + 30))),
    );
    const happened = async (name: string) => {
      const { html } = await open(young, `/repos/github/acme/${name}`);
      const [, list = ""] = /<ol class="events">(.*?)<\/ol>/s.exec(html) ?? [];
      return {
        html,
        events: [...list.matchAll(/<li[^>]*>(.*?)<\/li>/gs)].map(([, one = ""]) => textOf(one)),
      };
    };
    const { events } = await happened("nine-days");
    assert.equal(
      events.find((one) => one.includes("Best day")),
      "25 Apr 2026 Best day: +700 stars",
    );
    assert.ok(events.length <= 5);
    const returned = await happened("fallen");
    assert.doesNotMatch(returned.events.join(), /Best day: \+[1-9],?\d{3}/);
  });

  test("a catalogue of a few has no ranks on its pages, and each whole life from 0 on", async () => {
    const few = await createWorld(engine);
    await few.record(
      observation("acme/one", daily(1_000, 1_010, 1_050)),
      observation("acme/two", daily(5, 6)),
    );
    const page = await open(few, "/repos/github/acme/one");
    assert.doesNotMatch(page.text, /#1|Why it is|Ranks/);
    assert.ok(page.current.includes("All"));
    assert.equal((await few.get("/api/repos/github/acme/one?include=ranks")).status, 200);
    assert.match(page.html, /&quot;y&quot;:\{&quot;kind&quot;:&quot;linear&quot;,&quot;from&quot;:0,/);
  });

  test("explains a fall and its return once", async () => {
    const page = await open(world, "/repos/github/group/fallen");
    const words = /27 Apr – 29 Apr 2026: dropped by 22,256 and recovered; neither counts/g;
    const [, story = ""] = /What happened(.*?)<\/section>/s.exec(page.html) ?? [];
    assert.equal(textOf(story).match(words)?.length, 1, textOf(story));
  });

  test("shows the snapshots behind the growth, with the two compared marked", async () => {
    const page = await open(world, "/repos/github/facebook/react?window=7d");
    assert.match(page.html, /<section id="snapshots">/);
    assert.ok(page.links.includes("#snapshots"));
    assert.deepEqual(
      rowsOf(page.html, "snapshots").map((row) => row.slice(0, 3)),
      [
        ["2026-04-30 12:00 end of 7d", "12,010", "+11,010"],
        ["2026-04-29 12:00", "1,000", "+40"],
        ["2026-04-23 12:00 start of 7d", "960", "+60"],
        ["2026-04-20 12:00", "900", "–"],
      ],
    );
    const day = await open(world, "/repos/github/facebook/react?window=24h");
    assert.deepEqual(
      rowsOf(day.html, "snapshots").map(([name = ""]) => name.replace(/^.{16}/, "").trim()),
      ["end of 24h", "start of 24h", "", ""],
    );
    assert.match(page.links.join(), /\/api\/repos\/\d+\/metrics\?window=all&format=csv/);
    const none = await open(world, "/repos/github/young/one");
    assert.deepEqual(rowsOf(none.html, "snapshots").length, 1);
    const chosen = await open(world, "/repos/github/facebook/react?from=2026-04-20&to=2026-04-23");
    assert.deepEqual(
      rowsOf(chosen.html, "snapshots").map((row) => row.slice(0, 2)),
      [
        ["2026-04-23 12:00 start of 7d", "960"],
        ["2026-04-20 12:00", "900"],
      ],
    );
  });

  test("shows a bounded number of snapshots, however many there are between the two compared", () => {
    assert.deepEqual(shownRuns(0, undefined), []);
    assert.deepEqual(shownRuns(3, undefined), [[0, 2]]);
    assert.deepEqual(shownRuns(900, undefined), [[892, 899]]);
    assert.deepEqual(shownRuns(900, undefined, 62), [[838, 899]]);
    assert.deepEqual(shownRuns(12, [3, 11]), [[1, 11]]);
    assert.deepEqual(shownRuns(900, [100, 890]), [
      [98, 103],
      [887, 892],
    ]);
  });

  test("says why there is no growth, and never that it is still to come when it is not", async () => {
    const young = await open(world, "/repos/github/young/one");
    assert.match(young.text, /Seen once, on 30 Apr 2026\./);
    const stale = await open(world, "/repos/github/o/forgotten");
    assert.match(stale.text, /not seen since 30 Mar 2026/i);
    assert.match(stale.text, /No growth over .*7 days.*: last update 30 Mar 2026\./);
    assert.doesNotMatch(stale.text, /\byet\b/);
  });

  test("shows the current ranks with links to their lists", async () => {
    const page = await open(world, "/repos/github/acme/kite");
    assert.match(page.text, /#1 Stars Rust/);
    assert.ok(page.links.includes("/explore?sort=stars&language=Rust"));
    assert.ok(page.links.some((link) => link.startsWith("/explore?sort=stars-gained&window=7d")));
    const young = await open(world, "/repos/github/shut/away");
    assert.deepEqual(rowsOf(young.html, "ranks"), []);
  });

  test("draws the selected chart, with the same data in a table and for the script", async () => {
    const page = await open(world, "/repos/github/facebook/react?metric=forks&range=30d");
    assert.ok(page.current.includes("Forks"));
    assert.match(page.html, /<svg [^>]*aria-labelledby="whole-title whole-desc" class="chart"/);
    assert.match(page.html, /<title id="narrow-title">Forks: Facebook\/React<\/title>/);
    const rows = rowsOf(page.html.slice(page.html.indexOf('class="numbers"')));
    assert.equal(rows.length, 3);
    assert.deepEqual(rows[0]?.slice(0, 3), ["2026-04-30 12:00 UTC", "25 forks", "+5"]);
    assert.deepEqual(dataOf(page), {
      unit: "forks",
      align: "date",
      view: "total",
      isSum: false,
      suffix: "",
      lines: [
        {
          at: [168, 24, 0].map((hours) => NOW / 1_000 - hours * 3_600),
          value: [20, 20, 25],
          source: [1, 1, 0],
          afterGap: [],
        },
      ],
      events: [],
    });
    assert.ok(page.links.includes("/repos/github/facebook/react?range=30d&metric=openIssues#course"));
    assert.ok(page.links.some((link) => /^\/api\/repos\/\d+\/metrics\?window=all&format=csv$/.test(link)));
  });

  test("explains that a chart needs two snapshots", async () => {
    const { status, html } = await open(world, "/repos/github/young/one");
    assert.equal(status, 200);
    assert.match(html, /Seen once, on 30 Apr 2026\. The line begins with the next count\./);
    assert.doesNotMatch(html, /application\/json"\s+data-label/);
  });

  test("one button leads to the pictures of the chart that it shows", async () => {
    const page = await open(world, "/repos/github/Facebook/React");
    const share = linkTo(page.html, "Share") ?? assert.fail();
    assert.equal(share.pathname + share.search, "/embed?repo=github:Facebook/React&kind=post");
    const days = await open(world, "/repos/github/Facebook/React?from=2026-04-02&to=2026-04-30&metric=forks");
    const { searchParams } = linkTo(days.html, "Share") ?? assert.fail();
    assert.deepEqual(
      ["from", "to", "metric", "window"].map((name) => searchParams.get(name)),
      ["2026-04-02", "2026-04-30", "forks", null],
    );
    assert.match(
      page.html,
      /og:image" content="https:\/\/sidereal\.example\/api\/embed\/card\.png\?repo=github:Facebook\/React"/,
    );
    assert.match(page.html, /rel="alternate" type="text\/csv"/);
  });

  test("every name has one canonical address, and previous names redirect permanently", async () => {
    const canonical = /rel="canonical" href="https:\/\/sidereal\.example\/repos\/github\/Facebook\/React"/;
    for (const path of ["/repos/GitHub/facebook/REACT", "/repos/github/Facebook/React?range=30d"]) {
      const page = await open(world, path);
      assert.equal(page.status, 200, path);
      assert.match(page.html, canonical);
    }
    const moved = await world.request("/repos/github/meta/react?metric=forks");
    assert.equal(moved.status, 301);
    assert.equal(moved.headers.get("location"), "/repos/github/Facebook/React?metric=forks");
  });

  test("an owner may contain slashes, escaped or not", async () => {
    for (const path of ["/repos/gitlab/group/sub/project", "/repos/gitlab/group%2Fsub/project"]) {
      const page = await open(world, path);
      assert.equal(page.status, 200, path);
      assert.deepEqual(page.headings[0], [1, "group/sub/project"]);
    }
  });

  test("an unavailable repository says why and keeps its page", async () => {
    const reasons = new Set<string>();
    for (const path of ["lost/forever", "shut/away", "held/back"]) {
      const page = await open(world, `/repos/github/${path}`);
      assert.equal(page.status, 200);
      const [note = ""] = page.notes;
      assert.deepEqual(numbersIn(note).slice(0, 2), ["2026-04-30", "12:00"]);
      reasons.add(note);
    }
    assert.equal(reasons.size, 3, "each has a reason of its own");
  });

  test("an untracked repository is a 404 with similar names", async () => {
    const page = await open(world, "/repos/github/nobody/react");
    assert.equal(page.status, 404);
    assert.deepEqual(page.headings.slice(0, 2), [
      [1, "nobody/react isn’t tracked here"],
      [2, "Similar names"],
    ]);
    assert.ok(page.links.includes("/repos/github/Facebook/React"));
    assert.ok(page.links.includes("https://github.com/nobody/react"), "to look for it there");
    assert.match(page.html, /name="robots" content="noindex"/);
    for (const path of ["/repos/no-such-provider!/a/b", "/repos/github/one"])
      assert.equal((await world.request(path)).status, 404, path);
  });

  test("an invalid parameter is reported and ignored", async () => {
    const page = await open(world, "/repos/github/acme/kite?metric=likes&range=30d&range=1y");
    assert.equal(page.status, 400);
    assert.deepEqual(problemsOf(page).toSorted(), ["metric", "range"]);
    assert.ok(page.current.includes("Stars"));
    assert.equal(page.headers.get("cache-control"), "no-store");
  });

  test("text of a forge is escaped, and only http(s) URLs become links", async () => {
    const page = await open(world, "/repos/github/evil/homepage");
    assert.equal(page.status, 200);
    assert.ok(page.text.includes(HOSTILE));
    assert.ok(!page.html.includes("<script>alert"));
    assert.ok(!page.links.some((link) => link.startsWith("javascript:")));
    const odd = await open(world, "/repos/github/we%3Ci%3Erd/n%26me");
    assert.equal(odd.status, 200);
    assert.ok(!odd.html.includes("<i>rd"));
    assert.match(odd.headers.get("content-security-policy") ?? "", /script-src 'self';/);
    assert.doesNotMatch(odd.html, /\sstyle="|<style/);
  });

  test("can be saved without scripts", async () => {
    const { html } = await open(world, "/repos/github/acme/kite");
    const { id } = (await world.get("/api/repos/github/acme/kite")).body.data;
    assert.match(html, /<form method="post" action="\/watchlist\/items" class="inline">/);
    assert.match(html, new RegExp(`name="repositoryId" value="${id}"`));
    assert.match(html, /name="next" value="\/repos\/github\/acme\/kite"/);
  });

  test("shows saved state to its user only, uncached", async () => {
    const member = await signIn(world, mailbox, "reader@example.org");
    const { id } = (await world.get("/api/repos/github/acme/kite")).body.data;
    const added = await world.send("POST", "/api/me/watchlist", { repositoryId: id }, member.headers);
    assert.equal(added.status, 201);
    const page = await open(world, "/repos/github/acme/kite", { Cookie: member.cookie });
    assert.match(page.html, /formaction="\/watchlist\/items\/remove"/);
    assert.equal(page.headers.get("cache-control"), "private, no-cache");
    const other = await open(world, "/repos/github/acme/crane", { Cookie: member.cookie });
    assert.equal(other.status, 404);
    const anonymous = await open(world, "/repos/github/acme/kite");
    assert.doesNotMatch(anonymous.html, /formaction="\/watchlist\/items\/remove"/);
    assert.match(anonymous.headers.get("cache-control") ?? "", /^public/);
  });

  test("says its best place in Trending", async () => {
    const days = await createWorld(engine);
    const grown = (hoursAgo: number) =>
      [48, 24, 0].filter((hours) => hours >= hoursAgo).map((hours) => snapshot(hours, 1_000 - 10 * hours));
    const others = Array.from({ length: 20 }, (_, i) => observation(`many/others-${i}`, daily(3, 3)));
    await days.record(observation("acme/kite", grown(24)));
    await days.record(
      ...others,
      observation("acme/kite", grown(0)),
      observation("acme/rocket", [snapshot(24, 10), snapshot(0, 9_000, { forks: 900 })]),
    );
    const page = await open(days, "/repos/github/acme/kite");
    assert.match(page.text, /Best place in Trending over \d+ \w+: #1, on 29 Apr 2026\./);
  });
});
