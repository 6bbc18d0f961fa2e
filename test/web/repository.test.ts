import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqlite } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { signIn } from "../support/members.js";
import { dataOf, open, rowsOf } from "../support/page.js";
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
          snapshot(168, 1_000, counts),
          snapshot(24, 1_040, counts),
          snapshot(0, 12_050, { forks: 25, openIssues: 2, watchers: 9, source: "OBSERVED" }),
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
      observation("young/one", [snapshot(0, 3)]),
      observation("evil/homepage", daily(1, 2), {
        facts: { url: "javascript:alert(1)", homepage: "javascript:alert(2)", description: HOSTILE },
      }),
      observation("we<i>rd/n&me", daily(1, 2)),
    );
  });

  test("shows the repository and its links", async () => {
    const page = await open(world, "/repos/github/Facebook/React");
    assert.equal(page.status, 200);
    assert.match(page.html, /<title>Facebook\/React · Sidereal<\/title>/);
    assert.match(page.text, /Facebook\/React/);
    assert.match(page.text, /The library <b>for<\/b> interfaces & more\./);
    assert.match(page.text, /GitHub \(github\.com\) react\.dev JavaScript MIT archived fork/);
    assert.match(page.text, /Created 2013-05-24 Last push 2026-04-29 00:00 UTC First seen 2026-04-2/);
    assert.ok(page.links.includes("https://react.dev/learn"));
    assert.ok(page.links.includes("/topics/c%2B%2B"));
    assert.ok(page.links.includes("/compare?repo=github%3AFacebook%2FReact"));
    assert.match(page.html, /href="https:\/\/github\.com\/Facebook\/React" rel="noopener nofollow"/);
    assert.match(page.text, /Previous names: meta\/react \(until 2026-04-30\)/);
    assert.equal(page.html.match(/<h1/g)?.length, 1);
  });

  test("shows the gains of each window, the snapshots compared and the confidence", async () => {
    const { text } = await open(world, "/repos/github/facebook/react");
    assert.match(text, /Stars 12,050 \+11,010 \+11,050 –/);
    assert.match(text, /Forks 25 \+5 \+5 –/);
    assert.match(text, /Open issues 2 -1 -1 –/);
    assert.match(text, /Watchers 9 \+2 \+2 –/);
    assert.match(text, /Star growth \+1,060% \+1,110% –/);
    assert.match(text, /Confidence 0\.30 not reliable 0\.22 not reliable –/);
    assert.match(text, /24 hours 2026-04-29 12:00 UTC to 2026-04-30 12:00 UTC, the first one imported/);
    assert.match(text, /Snapshots 4 First 2026-04-20 Last 2026-04-30/);
    assert.match(text, /24 hours: 100%, 7 days: 100%, 30 days: none/);
  });

  test("explains the trending score term by term, in the selected window", async () => {
    const { body } = await world.get("/api/repos/github/acme/kite?explain=true");
    const { score, terms } = body.data.explanation.windows["24h"].trending;
    const lost = await open(world, "/repos/github/acme/kite");
    assert.equal(score, 0);
    assert.match(lost.text, /Trending, 24 hours: 0\.00 of 100/);
    assert.match(lost.text, new RegExp(`Stars gained ÷ √stars ${terms[0].value.toFixed(3)}`));
    const week = await open(world, "/repos/github/Facebook/React?window=7d");
    const explained = (await world.get("/api/repos/github/facebook/react?explain=true")).body.data.explanation
      .windows["7d"];
    assert.match(week.text, new RegExp(`Trending, 7 days: ${explained.trending.score.toFixed(2)} of 100`));
    assert.match(week.text, /Level shift, seen 2026-04-30 12:00 UTC: \+11,010 stars, from 1,040 to 12,050/);
    const gained = await open(world, "/repos/github/group/gains?window=24h");
    const counted = (await world.get("/api/repos/github/group/gains?explain=true")).body.data.explanation
      .windows["24h"].trending;
    assert.ok(counted.score > 1);
    for (const { value, weight } of counted.terms)
      assert.ok(gained.text.includes((100 * value * weight).toFixed(2)));
    const none = await open(world, "/repos/github/young/one?window=30d");
    assert.match(none.text, /No score for 30 days/);
  });

  test("explains a score of 0", async () => {
    const { text } = await open(world, "/repos/github/Facebook/React?window=7d");
    assert.match(text, /Trending, 7 days: 0\.00 of 100/);
    assert.match(text, /None of the gained stars count/);
    assert.match((await open(world, "/repos/github/acme/kite")).text, /No stars were gained/);
  });

  test("shows the current ranks with links to their lists", async () => {
    const page = await open(world, "/repos/github/acme/kite");
    assert.match(page.text, /#1 Stars Rust/);
    assert.ok(page.links.includes("/explore?sort=stars&language=Rust"));
    assert.ok(page.links.some((link) => link.startsWith("/explore?sort=stars_gained&window=7d")));
    const young = await open(world, "/repos/github/shut/away");
    assert.deepEqual(rowsOf(young.html, "ranks"), []);
  });

  test("draws the selected chart, with the same data in a table and for the script", async () => {
    const page = await open(world, "/repos/github/facebook/react?metric=forks&range=30d");
    assert.match(page.text, /Forks over time/);
    assert.match(page.html, /<svg [^>]*aria-labelledby="half-title half-desc" class="chart"/);
    assert.match(page.html, /<title id="narrow-title">Forks: Facebook\/React<\/title>/);
    assert.match(page.text, /Chart data by day \(3\)/);
    assert.match(page.text, /2026-04-30 12:00 UTC 25 forks \+5 measured here/);
    assert.deepEqual(dataOf(page), {
      unit: "forks",
      scale: "linear",
      align: "date",
      isSum: false,
      lines: [
        {
          at: [168, 24, 0].map((hours) => NOW / 1_000 - hours * 3_600),
          value: [20, 20, 25],
          source: [1, 1, 0],
          afterGap: [],
        },
      ],
    });
    assert.ok(page.links.includes("/repos/github/facebook/react?range=30d&metric=openIssues#course"));
    assert.ok(page.links.some((link) => /^\/api\/repos\/\d+\/metrics\?window=30d&format=csv$/.test(link)));
    assert.match(page.html, /aria-current="true">Forks</);
  });

  test("explains that a chart needs two snapshots", async () => {
    const { status, text, html } = await open(world, "/repos/github/young/one");
    assert.equal(status, 200);
    assert.match(text, /Only one snapshot with stars/);
    assert.doesNotMatch(html, /application\/json"\s+data-label/);
  });

  test("offers embeds with their snippets", async () => {
    const page = await open(world, "/repos/github/Facebook/React?theme=dark&range=90d");
    const address =
      "https://sidereal.example/api/embed/chart.svg?repo=github:Facebook/React&metric=stars&range=90d&theme=dark";
    assert.ok(page.text.includes(`(${address})](https://sidereal.example/repos/github/Facebook/React)`));
    assert.match(page.html, /<option value="dark" selected=""/);
    for (const [, source] of page.html.matchAll(/<img [^>]*src="([^"]+)"/g)) {
      const picture = await world.request((source ?? "").replaceAll("&amp;", "&"));
      assert.equal(picture.status, 200, source);
      await picture.arrayBuffer();
    }
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
      assert.match(page.text, /group\/sub\/project/);
    }
  });

  test("an unavailable repository says why and keeps its page", async () => {
    for (const [path, words] of [
      ["lost/forever", /no longer exists\./],
      ["shut/away", /is private\./],
      ["held/back", /is blocked\./],
    ] as const) {
      const page = await open(world, `/repos/github/${path}`);
      assert.equal(page.status, 200);
      assert.match(page.text, words);
      assert.match(page.text, /Last snapshot: 2026-04-30 12:00 UTC/);
    }
  });

  test("an untracked repository is a 404 with similar names", async () => {
    const page = await open(world, "/repos/github/nobody/react");
    assert.equal(page.status, 404);
    assert.deepEqual(page.headings.slice(0, 2), [
      [1, "Not tracked here"],
      [2, "Similar names"],
    ]);
    assert.ok(page.links.includes("/repos/github/Facebook/React"));
    assert.match(page.html, /name="robots" content="noindex"/);
    for (const path of ["/repos/no-such-provider!/a/b", "/repos/github/one"])
      assert.equal((await world.request(path)).status, 404, path);
  });

  test("an invalid parameter is reported and ignored", async () => {
    const page = await open(world, "/repos/github/acme/kite?metric=likes&range=30d&range=1y");
    assert.equal(page.status, 400);
    assert.match(page.text, /metric must be one of stars, forks, openIssues/);
    assert.match(page.text, /range may be given only once/);
    assert.match(page.text, /Stars over time/);
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
    assert.match(html, /<span>Save<\/span>/);
    assert.match(html, /name="next" value="\/repos\/github\/acme\/kite"/);
  });

  test("shows saved state to its user only, uncached", async () => {
    const member = await signIn(world, mailbox, "reader@example.org");
    const { id } = (await world.get("/api/repos/github/acme/kite")).body.data;
    const added = await world.send("POST", "/api/me/watchlist", { repositoryId: id }, member.headers);
    assert.equal(added.status, 201);
    const page = await open(world, "/repos/github/acme/kite", { Cookie: member.cookie });
    assert.match(page.html, /formaction="\/watchlist\/items\/remove"/);
    assert.match(page.html, /<span>Saved<\/span>/);
    assert.equal(page.headers.get("cache-control"), "private, no-cache");
    const other = await open(world, "/repos/github/acme/crane", { Cookie: member.cookie });
    assert.equal(other.status, 404);
    const anonymous = await open(world, "/repos/github/acme/kite");
    assert.match(anonymous.html, /<span>Save<\/span>/);
    assert.match(anonymous.headers.get("cache-control") ?? "", /^public/);
  });

  test("shows its rank in Trending day by day", async () => {
    const days = await createWorld(engine);
    const grown = (hoursAgo: number) =>
      [48, 24, 0].filter((hours) => hours >= hoursAgo).map((hours) => snapshot(hours, 1_000 - 10 * hours));
    await days.record(observation("acme/kite", grown(24)));
    const first = await open(days, "/repos/github/acme/kite");
    assert.match(first.text, /Days in Trending #1 on 2026-04-29/);
    assert.doesNotMatch(first.text, /Ranks by day/);
    await days.record(
      observation("acme/kite", grown(0)),
      observation("acme/rocket", [snapshot(24, 10), snapshot(0, 9_000, { forks: 900 })]),
    );
    const { text, html } = await open(days, "/repos/github/acme/kite");
    assert.match(text, /#2 on 2026-04-30 · best #1 on 2026-04-29 · 2 days ranked/);
    assert.match(text, /Ranks by day .*2026-04-30 #2 2026-04-29 #1/);
    assert.match(html, /<svg class="spark"/);
  });
});
