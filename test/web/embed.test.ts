import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqliteAndLong } from "../support/engines.js";
import { ORIGIN } from "../support/members.js";
import { linkTo, open, problemsOf } from "../support/page.js";
import { readPicture } from "../support/svg.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

onSqliteAndLong("The page for pictures on other sites", (engine) => {
  let world: World;
  before(async () => {
    world = await createWorld(engine);
    await world.record(
      observation("one/one", daily(100, 110, 125, 160), { facts: { language: "Go", stars: 160 } }),
      observation("two/two", daily(50, 60, 90, 91), { facts: { stars: 91 } }),
    );
  });

  const plain = (html: string) => html.replaceAll("&amp;", "&").replaceAll("&lt;", "<");

  /** The pictures of the preview, and the code below it. */
  async function shown(query: string, status = 200) {
    const page = await open(world, `/embed?${query}`);
    assert.equal(page.status, status);
    const sources = [...page.html.matchAll(/<img src="([^"]*)"/g)].map(([, source = ""]) => plain(source));
    const code = (id: string) => new RegExp(`<pre id="${id}"><code>([^<]*)</code>`).exec(page.html)?.[1];
    return {
      page,
      sources,
      ...{ markdown: code("embed-markdown"), html: code("embed-html"), url: code("embed-url") },
    };
  }

  /** The values of a choice, and the one that is made. */
  const radiosOf = (html: string, name: string) =>
    [
      ...html.matchAll(
        new RegExp(`<input type="radio" id="[^"]*" name="${name}" value="(\\w+)"( checked)?`, "g"),
      ),
    ].map(([, value, checked = ""]) => value + checked);

  const BOTH = "repo=github:one/one&repo=github:two/two";

  test("every kind of picture is shown, and is what its code embeds", async () => {
    const kinds = {
      chart: ["/api/embed/chart.svg?repo=github:one/one&repo=github:two/two&window=1y"],
      trending: ["one/one", "two/two"].map(
        (name) => `/api/embed/badge.svg?repo=github:${name}&kind=trending&window=7d`,
      ),
      rank: ["one/one", "two/two"].map(
        (name) => `/api/embed/badge.svg?repo=github:${name}&kind=rank&ranking=trending&window=7d`,
      ),
      stars: ["one/one", "two/two"].map((name) => `/api/embed/badge.svg?repo=github:${name}&kind=stars`),
      gain: ["one/one", "two/two"].map(
        (name) => `/api/embed/badge.svg?repo=github:${name}&kind=gain&window=7d`,
      ),
      card: ["one/one", "two/two"].map((name) => `/api/embed/card.png?repo=github:${name}`),
    };
    for (const [kind, expected] of Object.entries(kinds)) {
      const { sources, markdown, html, url } = await shown(`${BOTH}&kind=${kind}`);
      assert.deepEqual(sources, expected);
      for (const source of sources) {
        assert.equal((await world.request(source)).status, 200, source);
        for (const code of [markdown, html, url])
          assert.ok(plain(plain(code ?? "")).includes(ORIGIN + source), code);
      }
      assert.equal(plain(url ?? ""), sources.map((source) => ORIGIN + source).join("\n"));
    }
  });

  test("every choice of a chart reaches its picture", async () => {
    const choices =
      "metric=forks&range=30d&view=per-day&align=date&theme=dark&size=small&from=2026-04-28&to=2026-04-30";
    const { sources, page } = await shown(`repo=one/one&${choices}`);
    const { searchParams } = new URL(sources[0] ?? "", ORIGIN);
    assert.deepEqual(Object.fromEntries(searchParams), {
      repo: "github:one/one",
      ...{ metric: "forks", from: "2026-04-28", to: "2026-04-30", view: "per-day", theme: "dark" },
      ...{ width: "400", height: "260" },
    });
    assert.match(page.html, /<option value="per-day" selected[ >]/);
    const untitled = await shown("repo=one/one&title=%20%20");
    assert.doesNotMatch(untitled.sources[0] ?? "", /title/);
    const aged = await shown("repo=one/one&align=age&scale=log&range=90d");
    assert.match(aged.sources[0] ?? "", /window=90d&align=age&scale=log$/);
    // One repository has its whole life, unless a time was chosen.
    assert.match((await shown("repo=one/one&kind=post")).sources[0] ?? "", /window=all/);
    assert.match(page.html, /alt="Forks per day: one\/one"/);
  });

  test("a post and a square have a theme of their own, and a PNG to save", async () => {
    const title = "My <b> stars";
    const look = `style=sketch&background=clear&title=${encodeURIComponent(title)}`;
    for (const [shape, width] of [
      ["post", "1200"],
      ["square", "1080"],
    ] as const) {
      const { sources, page } = await shown(`${BOTH}&kind=${shape}&${look}`);
      const picture = new URL(sources[0] ?? "", ORIGIN);
      assert.deepEqual(
        ["shape", "theme", "style", "background", "title"].map((name) => picture.searchParams.get(name)),
        [shape, "light", "sketch", "clear", title],
      );
      assert.match(page.html, new RegExp(`alt="My &lt;b> stars" width="${width}"`));
      const png = linkTo(page.html, "Download PNG") ?? assert.fail();
      assert.equal(png.pathname, "/api/embed/chart.png");
      assert.equal(png.search, picture.search);
      assert.match(page.html, new RegExp(`data-image="${png.pathname}\\?`));
    }
    // The form of a post has no `auto`, and keeps it for the other pictures.
    const { page } = await shown("repo=one/one&kind=post");
    assert.deepEqual(radiosOf(page.html, "theme"), ["auto checked", "dark"]);
    const readme = await shown("repo=one/one&kind=readme");
    assert.deepEqual(radiosOf(readme.page.html, "theme"), ["auto checked", "light", "dark"]);
  });

  test("the form keeps what another kind of picture offers", async () => {
    const { page } = await shown("repo=one/one&kind=rank&range=all&title=Mine");
    assert.deepEqual(radiosOf(page.html, "kind"), ["post", "square", "readme", "badge checked", "card"]);
    assert.match(page.html, /<input type="hidden" name="range" value="all"/);
    assert.match(page.html, /<input type="hidden" name="title" value="Mine"/);
    assert.doesNotMatch(page.html, /data-image/);
  });

  test("a list has its card, and no address but that of a list has one", async () => {
    const cards = {
      "/": "/cards/pages/home",
      "/topics": "/cards/pages/topics",
      "/languages/Go": "/cards/languages/Go",
      "/explore?sort=stars&language=Go": "/cards/lists?sort=stars&language=Go",
    };
    for (const [list, card] of Object.entries(cards)) {
      const { sources, markdown } = await shown(`list=${encodeURIComponent(list)}`);
      assert.deepEqual(sources, [card]);
      if (list !== "/topics") assert.equal((await world.request(card)).status, 200, card);
      assert.ok(plain(plain(markdown ?? "")).endsWith(`](${ORIGIN}${list})`), markdown);
    }
    const others = [
      "//evil.example/",
      "https://evil.example/explore",
      "/watchlists/sidr_x",
      "/exploreX",
      "/\\evil.example",
    ];
    for (const list of [...others, "javascript:alert(1)", "/topics/../../x", "/explore/x/y", "http://["])
      assert.deepEqual((await shown(`list=${encodeURIComponent(list)}`)).sources, [], list);
    const { page: hostile } = await shown(`list=${encodeURIComponent('/explore?"><script>')}`);
    assert.doesNotMatch(hostile.html, /"><script>/);
    const page = await open(world, "/languages/Go");
    assert.equal(linkTo(page.html, "Share this list")?.searchParams.get("list"), "/languages/Go");
  });

  test("every choice of a badge reaches its picture, in any script", async () => {
    const label = "我们的 <b>";
    const query = `repo=one/one&kind=rank&ranking=new-hot&window=30d&scope=language&theme=light&label=${encodeURIComponent(label)}`;
    const { sources, page } = await shown(query);
    assert.deepEqual(Object.fromEntries(new URL(sources[0] ?? "", ORIGIN).searchParams), {
      ...{ repo: "github:one/one", kind: "rank", ranking: "new-hot", window: "30d" },
      ...{ scope: "language", label, theme: "light" },
    });
    assert.doesNotMatch(page.html, /<b>/);
    const picture = readPicture((await world.get(sources[0] ?? "")).body);
    assert.ok(picture.texts.some(({ text }) => text === label));
  });

  test("without a repository it names some to start with, and unknown names are reported", async () => {
    const { page, sources } = await shown("");
    assert.deepEqual(sources, []);
    assert.match(page.html, /<a href="\/embed\?repo=github%3Aone%2Fone">one\/one<\/a>/);
    const wrong = await shown("repo=one/one&repo=no/such&kind=x&size=huge", 400);
    assert.equal(wrong.sources.length, 1);
    assert.match(wrong.page.text, /no\/such/);
    assert.equal(problemsOf(wrong.page).length, 2);
  });

  test("repositories can be removed, and added until there are six", async () => {
    const { page } = await shown(BOTH);
    assert.match(page.html, /aria-label="Remove one\/one"/);
    assert.match(page.html, /<input id="add" name="repo"/);
    assert.match(page.html, /<footer[\s\S]*<a href="\/embed">/);
  });
});
