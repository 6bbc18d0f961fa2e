import assert from "node:assert/strict";
import { posix } from "node:path";
import { type TestContext, test } from "node:test";
import { openDatabase } from "../../src/database/database.js";
import { windowsOf } from "../../src/discovery/query.js";
import { createLog } from "../../src/lib/log.js";
import { CommandWorld } from "../support/command.js";
import { elementsOf, type HtmlElement, readHtml } from "../support/html.js";
import { assertStatic, contentOf, startPublishing } from "../support/publishing.js";
import { createWorld, NOW, type World } from "../support/world.js";

const world = new CommandWorld();
const URL_OF_SITE = "https://acme.example/some/path";

/** A site of repositories that have changed on each of some days, and a service with the same state at the same time. */
async function start(t: TestContext, ...args: string[]) {
  const published = await startPublishing(t, world, { repositories: 40, begin: NOW });
  const { clock, catalogue, at, list, run } = published;
  // The youngest have the shortest histories.
  const ids = catalogue.ids().slice(-28);
  const names = ids.map((id) => catalogue.get(id, clock.now())?.fullName ?? "");
  list(`${names[0]} ${names[1]} ${names[2]}`, ...names);
  const days = 3;
  for (let day = 0; day < days; day++) {
    for (const [i, id] of ids.entries()) {
      const stars = 1_000 + 37 * i + day * ((i * 7) % 23) + day;
      catalogue.override(id, {
        stars,
        forks: 10 + i * day,
        watchers: 3,
        openIssues: 2,
        openPullRequests: 0,
        pushedAt: NOW,
      });
    }
    const { code, stderr } = await run(...(day === days - 1 ? ["--site", at("site"), ...args] : []));
    assert.equal(code, 0, stderr);
    if (day < days - 1) clock.pass(1);
  }
  return { ...published, names, site: contentOf(at("site")) };
}

async function serveState({ at, clock }: Awaited<ReturnType<typeof start>>): Promise<World> {
  const dataDir = world.newDataDir();
  const files = Object.keys(contentOf(at("state"))).filter((name) => name.endsWith(".ndjson"));
  const paths = files.map((name) => at("state", name));
  const imported = await world.runHere(dataDir, ["import", ...paths], {}, clock);
  assert.equal(imported.code, 0, imported.stderr);
  const log = createLog("silent");
  const database = await openDatabase({ url: undefined, readUrl: undefined, dataDir, pool: 1, log });
  const service = await createWorld({ open: async () => database });
  service.clock.advance(clock.now() - NOW);
  return service;
}

const pagesOf = (site: Record<string, string>) =>
  Object.entries(site).flatMap(([file, html]) =>
    file.endsWith(".html")
      ? [{ file, html, elements: [...elementsOf(readHtml(html))].map(({ element }) => element) }]
      : [],
  );

test("every link of a site leads to a file in it, below any path, and nothing in it needs a server", async (t) => {
  const { site, names } = await start(t);
  const pages = pagesOf(site);
  assert.ok(pages.length > 60, String(pages.length));
  const reached = new Set(["index.html"]);
  let links = 0;
  for (const { file, html, elements } of pages) {
    assertStatic(html, file);
    for (const { name, attributes } of elements) {
      const where = `${file}: <${name} ${[...attributes].join(" ")}>`;
      if (name === "a") assert.ok(attributes.has("href"), where);
      for (const link of [attributes.get("href"), attributes.get("src")]) {
        if (link === undefined || /^https?:/.test(link)) continue;
        links++;
        const [path = "", fragment] = link.split("#");
        assert.doesNotMatch(path, /^(?:\/|[\w+.-]+:)/, where);
        const target = path === "" ? file : posix.join(posix.dirname(file), decodeURIComponent(path));
        assert.ok(site[target] !== undefined, where);
        reached.add(target);
        if (fragment !== undefined) assert.ok(site[target]?.includes(` id="${fragment}"`), where);
      }
    }
  }
  assert.ok(links > 5_000, String(links));
  // Whatever is there can be found from the first page.
  assert.deepEqual(
    Object.keys(site).filter((file) => !reached.has(file) && file.endsWith(".html")),
    [],
  );
  for (const name of names) assert.ok(site[`repos/github/${name}/index.html`] !== undefined, name);
  const words = pages.map(({ elements }) => elements.map(textOf).join("\n")).join("\n");
  for (const dead of ["Sign in", "Watchlist", "Compare…", "Compare all", "Embed", "Filters", "API reference"])
    assert.ok(!words.split("\n").includes(dead), dead);
  assert.deepEqual(
    Object.keys(site).filter((file) => /\.(?:atom|xml)$/.test(file)),
    [],
  );
});

test("the numbers of a site are those of the service's API on the same state", async (t) => {
  const published = await start(t);
  const { site, names } = published;
  const service = await serveState(published);
  const get = async (path: string) => (await service.get(path)).body;
  let compared = 0;
  const equal = (shown: unknown, expected: unknown, where: string) => {
    compared++;
    assert.deepEqual(shown, expected, where);
  };
  assert.ok(!Object.keys(site).some((file) => /rising.*30d/.test(file)));
  for (const sort of ["trending", "rising", "new-hot", "stars", "stars-gained", "forks-gained"])
    for (const window of windowsOf(sort))
      for (const page of [1, 2]) {
        const file = `explore/sort-${sort}/window-${window}/${page === 1 ? "" : "page-2/"}index.html`;
        const { data, meta } = await get(`/api/repos?sort=${sort}&window=${window}&page=${page}`);
        if (data.length === 0 && page > 1) continue;
        assert.ok(site[file] !== undefined, file);
        const rows = rowsOf(site[file] ?? "")
          .map(ranked)
          .sort((a, b) => (a.rank ?? 0) - (b.rank ?? 0));
        const isForks = /^fork/.test(sort);
        // biome-ignore lint/suspicious/noExplicitAny: the API's own document proves its shape.
        const expected = data.map((one: any, i: number) => ({
          rank: (page - 1) * 25 + i + 1,
          name: one.fullName,
          count: isForks ? one.forks : one.stars,
          gained: one.trend === null ? null : isForks ? one.trend.forksDelta : one.trend.starsDelta,
        }));
        equal(rows, expected, file);
        compared += 4 * rows.length;
        if (data.length > 0)
          assert.match(site[file] ?? "", new RegExp(`\\b${meta.total}(?: <[^>]*>)* repositor`), file);
      }
  for (const name of names) {
    const { data } = await get(`/api/repos/github/${name}`);
    const page = `repos/github/${name}`;
    const tiles = [...elementsOf(readHtml(site[`${page}/index.html`] ?? ""))]
      .map(({ element }) => element)
      .filter(({ attributes }) => attributes.get("class") === "tile card")
      .map((tile) => numberOf(textOf(find(tile, "strong"))));
    const gains = ["24h", "7d", "30d"].map((window) => data.trends[window]?.starsDelta ?? null);
    equal(tiles.slice(0, 3), gains, name);
    assert.match(
      site[`${page}/index.html`] ?? "",
      new RegExp(`class="hero">${data.stars.toLocaleString("en-US")} `),
    );
    const own = JSON.parse(site[`${page}/repository.json`] ?? "").data;
    for (const field of [
      "fullName",
      "stars",
      "forks",
      "openIssues",
      "watchers",
      "language",
      "topics",
      "trends",
    ])
      equal(own[field], data[field], `${name} ${field}`);
    const series = await get(`/api/repos/${data.id}/metrics?window=all`);
    equal(JSON.parse(site[`${page}/snapshots.json`] ?? "").data, series.data, `${name} snapshots`);
  }
  for (const kind of ["languages", "topics"]) {
    const { data } = await get(`/api/facets/${kind}?limit=50`);
    const shown = rowsOf(site[`${kind}/view-table/index.html`] ?? "");
    equal(
      new Map(shown.map((row) => [textOf(find(row, "a")), numberOf(textOf(find(row, "number")))])),
      new Map(data.map((one: { name: string; repositoryCount: number }) => [one.name, one.repositoryCount])),
      kind,
    );
  }
  assert.ok(compared > 1_000, String(compared));
});

test("with its address a site has feeds and a site map, whose absolute links lead to its files", async (t) => {
  const { site, names } = await start(t, "--url", `${URL_OF_SITE}/`);
  const absolute = (link: string) => {
    assert.ok(link.startsWith(`${URL_OF_SITE}/`), link);
    const path = decodeURIComponent(link.slice(URL_OF_SITE.length + 1));
    return site[path === "" || path.endsWith("/") ? `${path}index.html` : path];
  };
  const feeds = Object.keys(site).filter((file) => file.endsWith(".atom"));
  for (const ranking of ["trending", "rising", "new-hot"])
    assert.ok(feeds.includes(`feeds/${ranking}-7d.atom`), feeds.join());
  for (const feed of feeds)
    for (const [, link = ""] of (site[feed] ?? "").matchAll(/ rel="(?:self|alternate)"[^>]* href="([^"]*)"/g))
      assert.ok(absolute(link) !== undefined, `${feed}: ${link}`);
  const listed = [...(site["sitemap.xml"] ?? "").matchAll(/<loc>([^<]*)<\/loc>/g)].map(
    ([, link = ""]) => link,
  );
  for (const link of listed) assert.ok(absolute(link) !== undefined, link);
  assert.equal(listed.length, pagesOf(site).length);
  // Pages lead to them, and are relative all the same.
  for (const { file, html } of pagesOf(site)) {
    assert.ok(!html.includes(URL_OF_SITE), file);
    if (file !== "index.html") assert.match(html, /href="(?:\.\.\/)*sitemap\.xml"/, file);
  }
  const chosen = names.slice(0, 3);
  const isChosen = (file: string) =>
    /^compare(?:\/repo-[^/]+){3}\/index\.html$/.test(file) &&
    chosen.every((name) => site[file]?.includes(`title="${name}"`));
  assert.ok(Object.keys(site).some(isChosen));
  assert.match(site["repositories.ndjson"] ?? "", /^\{"type":"header"/);
});

test("topics and texts of strangers stop no site, take no other page's file, and are published word for word", async (t) => {
  const {
    catalogue,
    clock,
    at,
    list,
    run,
    names: all,
  } = await startPublishing(t, world, { begin: NOW, repositories: 20 });
  const [id = 0] = catalogue.ids();
  const long = "日".repeat(60);
  const topics = [
    "index.html",
    "view-table",
    "window-24h",
    "sort-stars",
    "c++",
    "c_2b_2b",
    "con",
    "_y",
    long,
  ];
  const description =
    'A library, which you can check through the API. Put two to six repositories on one chart, by date or by age. Add the first one above. <a href="/docs">API</a> <form></form>';
  catalogue.override(id, { topics, description });
  const { fullName = "" } = catalogue.get(id, clock.now()) ?? {};
  list(...all);
  const { code, stderr } = await run("--site", at("site"));
  assert.equal(code, 0, stderr);
  const site = contentOf(at("site"));
  assert.equal(site[".nojekyll"], "");
  const titleOf = (html: string) => textOf(find(readHtml(html), "title"));
  const folders = Object.keys(site).filter((file) => /^topics\/[^/]+\/index\.html$/.test(file));
  const titles = folders.map((file) => titleOf(site[file] ?? ""));
  for (const topic of topics)
    assert.equal(
      titles.filter((title) => title.includes(`about ${topic} `)).length,
      1,
      `${topic}: ${titles}`,
    );
  assert.doesNotMatch(titleOf(site["topics/window-24h/index.html"] ?? "about"), /about/);
  const names = Object.keys(site).map((file) => file.toLowerCase());
  assert.equal(new Set(names).size, names.length);
  for (const file of names)
    for (const part of file.split("/")) {
      assert.doesNotMatch(part, /^(?:con|nul|aux)(?:\.|$)|\.$|[^\w.~-]/);
      assert.ok(part.length <= 120);
    }
  const page = readHtml(site[`repos/github/${fullName}/index.html`] ?? "");
  assert.equal(textOf(page).split(description).length, 2);
  const [meta] = [...elementsOf(page)].filter(
    ({ element }) => element.attributes.get("name") === "description",
  );
  assert.ok(
    meta?.element.attributes.get("content")?.includes(description),
    meta?.element.attributes.get("content"),
  );
});

const textOf = (element: HtmlElement | string | undefined): string =>
  typeof element === "string" ? element : (element?.children.map(textOf).join("") ?? "");

const find = (inside: HtmlElement, what: string): HtmlElement | undefined =>
  [...elementsOf(inside)].find(
    ({ element: { name, attributes } }) =>
      name === what || attributes.get("class")?.split(" ").includes(what),
  )?.element;

/** The number that a text begins with; null for a dash. */
function numberOf(text: string): number | null {
  const [found] = /^[+−-]?[\d,]+/.exec(text.trim()) ?? [];
  return found === undefined ? null : Number(found.replaceAll(/[+,]/g, "").replace("−", "-"));
}

/** The ranked rows of a page. */
const rowsOf = (html: string): HtmlElement[] =>
  [...elementsOf(readHtml(html))]
    .map(({ element }) => element)
    .filter(
      (element) => element.name === "tr" && (find(element, "place") ?? find(element, "rank"))?.name === "td",
    );

const ranked = (row: HtmlElement) => ({
  rank: numberOf(textOf(find(row, "place"))),
  name: textOf(find(row, "a")),
  gained: numberOf(textOf(find(row, "gain"))),
  count: numberOf(textOf(find(row, "count"))),
});
