import assert from "node:assert/strict";
import { before, test } from "node:test";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import { PART_REPOSITORIES } from "../../src/web/indexes.js";
import { DOCS_PAGES } from "../../src/web/pages/docs.js";
import { onSqlite } from "../support/engines.js";
import { createWorld, NOW, observation, snapshot, type World } from "../support/world.js";
import { parseXml, type XmlElement } from "../support/xml.js";

const BASE = "https://sidereal.example";
const MAPS = "{http://www.sitemaps.org/schemas/sitemap/0.9}";

const valuesOf = (document: XmlElement, name: string): string[] =>
  document.children.flatMap(({ children }) =>
    children.filter((child) => child.name === `${MAPS}${name}`).map(({ text }) => text),
  );

onSqlite("Files for search engines", (engine) => {
  let world: World;
  const read = async (path: string, kind: string): Promise<XmlElement> => {
    const { status, headers, body } = await world.get(path);
    assert.equal(status, 200, path);
    assert.equal(headers.get("content-type"), "application/xml; charset=utf-8");
    assert.equal(headers.get("cache-control"), "public, max-age=3600");
    const document = parseXml(body);
    assert.equal(document.name, `${MAPS}${kind}`);
    const addresses = valuesOf(document, "loc");
    assert.ok(addresses.length > 0 && addresses.length <= 50_000);
    assert.ok(Buffer.byteLength(body) <= 50 * 1024 * 1024);
    assert.equal(new Set(addresses).size, addresses.length);
    for (const address of addresses) {
      assert.ok(address.startsWith(`${BASE}/`), address);
      assert.equal(new URL(address).href, address, "escaped, and in its plain form");
    }
    return document;
  };

  before(async () => {
    world = await createWorld(engine);
    const many = Array.from({ length: PART_REPOSITORIES }, (_, i) =>
      observation(`many/r${i}`, [snapshot(1, i)]),
    );
    await world.record(
      ...many,
      observation("ann/a&b", [snapshot(0, 90_000)], {
        facts: { language: "C#", topics: ["c++ & c", "..", "a/b"] },
      }),
      observation("team/sub/lab", [snapshot(0, 80_000)], { provider: "GITLAB", facts: { language: "Go" } }),
      observation("x/gone", [snapshot(0, 99_000)], { facts: { availability: "GONE" } }),
    );
  });

  test("robots.txt disallows the API except embeds and feeds", async () => {
    const { status, headers, body } = await world.get("/robots.txt");
    assert.equal(status, 200);
    assert.equal(headers.get("content-type"), "text/plain; charset=utf-8");
    assert.equal(
      body,
      [
        "User-agent: *",
        "Allow: /api/embed/",
        "Allow: /api/feeds/",
        "Disallow: /api/",
        "Disallow: /account",
        "Disallow: /sign-in",
        "",
        "Sitemap: https://sidereal.example/sitemap.xml",
        "",
      ].join("\n"),
    );
  });

  test("security.txt and all pages name the contact of the settings, and nothing without one", async () => {
    assert.equal((await world.get("/.well-known/security.txt")).status, 404);
    for (const [contact, address] of [
      ["ops@example.org", "mailto:ops@example.org"],
      ["https://example.org/contact", "https://example.org/contact"],
    ] as const) {
      const { get } = await createWorld(engine, { SIDEREAL_CONTACT: contact });
      const { status, headers, body } = await get("/.well-known/security.txt");
      assert.deepEqual([status, headers.get("content-type")], [200, "text/plain; charset=utf-8"]);
      const expires = new Date(Math.floor(NOW / DAY_MS + 180) * DAY_MS).toISOString();
      assert.equal(body, `Contact: ${address}\nExpires: ${expires}\n`);
      assert.ok((await get("/about")).body.includes(`<a href="${address}">Contact</a>`));
    }
  });

  test("crawlers may fetch watchlists, which respond with noindex", async () => {
    for (const path of [
      "/watchlists/sidw_x",
      "/api/watchlists/sidw_x",
      "/api/watchlists/sidw_x/repositories",
    ]) {
      const { headers } = await world.get(path);
      assert.equal(headers.get("x-robots-tag"), "noindex", path);
      assert.equal(headers.get("referrer-policy"), "no-referrer", path);
    }
    assert.equal((await world.get("/docs")).headers.get("x-robots-tag"), null);
  });

  test("the site map lists its parts, and each exists", async () => {
    const index = await read("/sitemap.xml", "sitemapindex");
    const parts = valuesOf(index, "loc");
    assert.deepEqual(
      parts,
      ["pages", "repositories-1", "repositories-2"].map((part) => `${BASE}/sitemaps/${part}.xml`),
    );
    for (const part of parts) await read(new URL(part).pathname, "urlset");
  });

  test("lists the pages, including languages and topics", async () => {
    assert.deepEqual(valuesOf(await read("/sitemaps/pages.xml", "urlset"), "loc"), [
      ...["/", "/explore", "/languages", "/topics", "/embed", "/about", ...DOCS_PAGES].map(
        (path) => `${BASE}${path}`,
      ),
      `${BASE}/languages/C%23`,
      `${BASE}/languages/Go`,
      `${BASE}/topics/a%2Fb`,
      `${BASE}/topics/c%2B%2B%20%26%20c`,
    ]);
  });

  test("lists the most starred repositories once each, with their refresh time", async () => {
    const first = await read("/sitemaps/repositories-1.xml", "urlset");
    const second = await read("/sitemaps/repositories-2.xml", "urlset");
    const all = [...valuesOf(first, "loc"), ...valuesOf(second, "loc")];
    assert.deepEqual(all.slice(0, 3), [
      `${BASE}/repos/github/ann/a%26b`,
      `${BASE}/repos/gitlab/team/sub/lab`,
      `${BASE}/repos/github/many/r${PART_REPOSITORIES - 1}`,
    ]);
    assert.equal(valuesOf(first, "loc").length, PART_REPOSITORIES);
    assert.equal(new Set(all).size, PART_REPOSITORIES + 2);
    assert.deepEqual(valuesOf(first, "lastmod").slice(0, 3), [
      new Date(NOW).toISOString(),
      new Date(NOW).toISOString(),
      new Date(NOW - HOUR_MS).toISOString(),
    ]);
  });

  test("parts that do not exist are a 404", async () => {
    for (const part of [
      "repositories-3",
      "repositories-11",
      "repositories-0",
      "repositories-",
      "repositories-01",
      "x",
    ])
      assert.equal((await world.get(`/sitemaps/${part}.xml`)).status, 404, part);
  });

  test("a part is built once an hour for any number of requests", async (t) => {
    const list = t.mock.method(world.modules.lists, "read");
    world.clock.advance(HOUR_MS);
    const ask = () => world.get("/sitemaps/repositories-1.xml");
    const answers = await Promise.all([ask(), ask(), ask()]);
    assert.equal(new Set(answers.map(({ body }) => body)).size, 1);
    world.clock.advance(HOUR_MS - 1);
    await ask();
    assert.equal(list.mock.callCount(), 1);
    world.clock.advance(1);
    await ask();
    assert.equal(list.mock.callCount(), 2);
  });

  test("a failed part is retried", async (t) => {
    t.mock.method(world.modules.rankings, "counters", () => Promise.reject(new Error("down")), {
      times: 1,
    });
    world.clock.advance(HOUR_MS);
    assert.equal((await world.get("/sitemap.xml")).status, 500);
    assert.equal((await world.get("/sitemap.xml")).status, 200);
  });
});
