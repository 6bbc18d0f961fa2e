import assert from "node:assert/strict";
import { before, test } from "node:test";
import { PngRenderer } from "../../src/charts/png.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { onSqliteAndLong } from "../support/engines.js";
import { ORIGIN } from "../support/members.js";
import { OPEN_PAGES } from "../support/open-pages.js";
import { open, submit } from "../support/page.js";
import { type Picture, readPicture } from "../support/svg.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

onSqliteAndLong("Pictures for previews of pages", (engine) => {
  let world: World;
  before(async () => {
    world = await createWorld(engine);
    const go = { language: "Go", topics: ["cli"], description: "A small tool" };
    await world.record(
      observation("one/one", daily(100, 110, 125, 160, 200, 210, 260, 300), { facts: { ...go, stars: 300 } }),
      observation("two/two", daily(50, 60, 90, 91, 92, 93, 94, 95), {
        facts: { language: "Rust", stars: 95 },
      }),
      observation("deep/three", daily(7, 8, 9, 9, 10, 12, 14, 15), { facts: { stars: 15 } }),
    );
  });

  /** The address of the picture of a page, as services with previews find it. */
  const imageOf = async (path: string, of = world): Promise<string | undefined> => {
    const { html } = await open(of, path);
    const image = /property="og:image" content="([^"]*)"/.exec(html)?.[1]?.replaceAll("&amp;", "&");
    assert.equal(/name="twitter:card" content="summary_large_image"/.test(html), image !== undefined);
    assert.ok(image === undefined || image.startsWith(ORIGIN), image);
    return image?.slice(ORIGIN.length);
  };

  async function sizeOf(path: string): Promise<number[]> {
    const response = await world.request(path);
    assert.equal(response.status, 200, path);
    assert.equal(response.headers.get("content-type"), "image/png");
    const png = Buffer.from(await response.arrayBuffer());
    return [png.readUInt32BE(16), png.readUInt32BE(20)];
  }

  /** What a picture would show, without rendering it. */
  async function drawn(path: string, of = world): Promise<Picture> {
    const drawings: string[] = [];
    const { render } = PngRenderer.prototype;
    PngRenderer.prototype.render = async (svg) => {
      drawings.push(svg);
      return Buffer.from("a picture");
    };
    try {
      assert.equal((await of.request(path)).status, 200, path);
    } finally {
      PngRenderer.prototype.render = render;
    }
    return readPicture(drawings[0] ?? assert.fail(path));
  }

  const cardOf = async (path: string, of = world) => {
    const texts = (await drawn(path, of)).texts.map(({ text }) => text);
    const [title = "", lead = "", ...others] = texts;
    const begins = others.flatMap((text, i) => (/^[123]$/.test(text) ? [i] : []));
    const rows = begins.map((begin) => {
      const row = others.slice(begin + 1, begin + 6);
      const [name, detail] = row;
      const description = row[2]?.startsWith("· ") ? row[2] : undefined;
      const [value, unit] = row.slice(description === undefined ? 2 : 3);
      return { name, detail, description, value, unit };
    });
    return { title, lead, rows, foot: texts.at(-1) ?? "" };
  };

  test("every public page has one of 1200 × 630", async () => {
    const pages = [
      ...OPEN_PAGES.filter((path) => path !== "/watchlist"),
      ...["/?window=7d", "/explore?language=Go&sort=rising&window=7d&page=1", "/languages/Go", "/topics/cli"],
      ...["/docs", "/compare?repo=github:one/one&repo=github:two/two", "/repos/github/one/one"],
    ];
    for (const path of pages) {
      const image = await imageOf(path);
      assert.deepEqual(await sizeOf(image ?? assert.fail(path)), [1_200, 630], path);
    }
  });

  test("the text of a card names nothing that the card does not show", async () => {
    const altOf = async (path: string) =>
      /og:image:alt" content="([^"]*)"/.exec((await open(world, path)).html)?.[1];
    assert.equal(await altOf("/"), await altOf("/?window=30d&language=Go"));
    assert.equal(
      await altOf("/compare?repo=github:one/one&repo=github:two/two&align=age"),
      "Chart of the stars of one/one, two/two",
    );
    assert.equal(await altOf("/languages/Go"), "Go repositories");
  });

  test("pages of one person, pages of errors and forms have none", async () => {
    for (const path of ["/watchlist", "/watchlists", "/sign-in", "/no-such-page", "/explore?sort=x"])
      assert.equal(await imageOf(path), undefined, path);
  });

  test("a card has the title of its page, the first three of its list and the time of the data", async () => {
    const home = await cardOf("/cards/pages/home");
    assert.equal(home.title, "Today on GitHub");
    assert.equal(home.lead, "3 repositories measured.");
    assert.deepEqual(home.rows[0], {
      name: "one/one",
      detail: "GitHub · Go",
      description: "· A small tool",
      value: "+40",
      unit: "stars in 24 hours",
    });
    assert.equal(home.rows.length, 3);
    const list = await cardOf("/cards/lists?sort=stars&language=Rust&limit=100&page=1");
    assert.match(list.title, /^Stars.*, .*Rust/);
    assert.deepEqual(
      [list.lead, ...list.rows.map(({ name, value, unit }) => [name, value, unit])],
      ["1 repository.", ["two/two", "95", "stars"]],
    );
    assert.deepEqual((await cardOf("/cards/lists?sort=stars&page=50")).rows.length, 3, "always the first");
    const go = await cardOf("/cards/languages/go");
    assert.deepEqual(
      [go.title, go.lead],
      ["Go", "+200 stars in 7 days across 1 repository, 100 % of them for one."],
    );
    const languages = await cardOf("/cards/pages/languages");
    assert.deepEqual(languages.rows[0], {
      name: "Go",
      detail: "1 repository",
      description: undefined,
      value: "+200",
      unit: "stars in 7 days",
    });
  });

  test("a card says how old its data is, and nothing of today", async () => {
    const old = await createWorld(engine);
    await old.record(observation("one/one", daily(100, 110, 125, 160)));
    old.clock.advance(91 * DAY_MS);
    const paths = ["pages/home", "lists", "pages/languages"];
    for (const path of paths) {
      const { foot, title, lead } = await cardOf(`/cards/${path}`, old);
      assert.equal(foot, "30 Apr 2026, 91 days ago");
      assert.doesNotMatch(`${title} ${lead}`, /today|now|last|growing/i);
    }
  });

  test("the card of a comparison is its chart, without names that are not tracked", async () => {
    const path =
      "/cards/charts?repo=github:one/one&repo=github:two/two&repo=github:no/such&theme=dark&range=30d";
    const { title, width, height, style } = await drawn(path);
    assert.deepEqual([title, width, height], ["Stars: one/one, two/two", 1_200, 630]);
    assert.doesNotMatch(style ?? "", /@media/);
    assert.equal((await world.request("/cards/charts?repo=github:no/such")).status, 404);
  });

  test("a list has one under the link that reads it, not under the one that changes it", async () => {
    const page = await submit(world, "/watchlists", { name: "Mine", repositories: "one/one\ntwo/two" });
    const link = (id: string) =>
      new RegExp(`<pre id="${id}"><code>${ORIGIN}([^<]*)</code>`).exec(page.html)?.[1] ?? "";
    const [share, edit] = [link("share-link"), link("edit-link")];
    const image = (await imageOf(share)) ?? assert.fail();
    assert.equal(await imageOf(edit), undefined);
    const card = await cardOf(image);
    assert.deepEqual(
      [card.title, card.lead, card.rows.map(({ name }) => name)],
      ["Mine", "A watchlist of 2 repositories.", ["one/one", "two/two"]],
    );
    const response = await world.request(image);
    assert.equal(response.headers.get("cache-control"), "private, no-cache");
    const unknown = image.replace(/.{4}$/, "AAAA");
    assert.equal((await world.request(unknown)).status, 404);
  });

  test("others may keep the card of a page for five minutes, and unknown ones are refused", async () => {
    const { headers } = await world.request("/cards/pages/about");
    assert.equal(headers.get("cache-control"), "public, max-age=300, stale-while-revalidate=3600");
    assert.match(headers.get("etag") ?? "", /^"/);
    for (const path of ["/cards/pages/secret", "/cards/pages/__proto__", "/cards/topics/none", "/cards"])
      assert.equal((await world.request(path)).status, 404, path);
    assert.equal((await world.request("/cards/lists?sort=x")).status, 400);
  });
});
