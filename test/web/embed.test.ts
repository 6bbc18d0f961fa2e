import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqliteAndLong } from "../support/engines.js";
import { ORIGIN } from "../support/members.js";
import { open, problemsOf } from "../support/page.js";
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
    const aged = await shown("repo=one/one&align=age&scale=log&range=all");
    assert.match(aged.sources[0] ?? "", /window=all&align=age&scale=log$/);
    assert.match(page.html, /alt="Forks per day: one\/one"/);
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
