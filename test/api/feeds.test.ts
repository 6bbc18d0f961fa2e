import assert from "node:assert/strict";
import { before, test } from "node:test";
import { atomFeed, type FeedRequest } from "../../src/api/feeds.js";
import { FEEDS, listQuery } from "../../src/discovery/query.js";
import { DAY_MS } from "../../src/lib/clock.js";
import type { Repository } from "../../src/repositories/repository.js";
import { errorOf, invalid } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { fc } from "../support/properties.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";
import { parseXml, type XmlElement } from "../support/xml.js";

const ATOM = "{http://www.w3.org/2005/Atom}";
const BASE = "https://sidereal.example";
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

const all = (element: XmlElement, name: string): XmlElement[] =>
  element.children.filter((child) => child.name === `${ATOM}${name}`);
const texts = (element: XmlElement, name: string): string[] => all(element, name).map(({ text }) => text);
const linkOf = (element: XmlElement, rel: string): string | undefined =>
  all(element, "link").find(({ attributes }) => attributes.rel === rel)?.attributes.href;
const entriesOf = (feed: XmlElement): XmlElement[] => all(feed, "entry");
const idsOf = (feed: XmlElement): string[] => entriesOf(feed).flatMap((entry) => texts(entry, "id"));
const titlesOf = (feed: XmlElement): string[] => entriesOf(feed).flatMap((entry) => texts(entry, "title"));

/** The rules of RFC 4287 that a document like ours can break. */
function checkAtom(feed: XmlElement): void {
  assert.equal(feed.name, `${ATOM}feed`);
  for (const holder of [feed, ...entriesOf(feed)]) {
    for (const name of ["id", "title", "updated"]) assert.equal(all(holder, name).length, 1, name);
    const [id = "", updated = ""] = ["id", "updated"].map((name) => texts(holder, name)[0]);
    assert.equal(new URL(id).href, id, "an id is an absolute IRI in its plain form");
    assert.match(updated, RFC_3339);
    assert.ok(!Number.isNaN(Date.parse(updated)));
    assert.notEqual(texts(holder, "title")[0]?.trim(), "");
    assert.equal(all(holder, "author").length, 1);
    for (const author of all(holder, "author")) assert.notEqual(texts(author, "name").join().trim(), "");
    for (const { attributes } of all(holder, "link")) assert.equal(URL.canParse(attributes.href ?? ""), true);
    assert.equal(all(holder, "link").filter(({ attributes }) => attributes.rel === "alternate").length, 1);
    for (const { attributes } of all(holder, "category")) assert.notEqual(attributes.term ?? "", "");
  }
  assert.equal(all(feed, "link").filter(({ attributes }) => attributes.rel === "self").length, 1);
  for (const entry of entriesOf(feed)) assert.equal(all(entry, "summary").length, 1);
  assert.equal(new Set(idsOf(feed)).size, idsOf(feed).length, "an id is there once");
}

test("whatever a repository is called and says of itself, its feed is valid", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", minLength: 1 }),
    fc.string({
      unit: fc.constantFrom("<", ">", "&", '"', "]]>", "<!--", "\r", "\u0000", "\ud800", "é", "x"),
      minLength: 1,
    }),
  );
  const repository = fc.record({
    owner: text.map((owner) => `o${owner}`),
    name: text,
    description: fc.option(text),
    language: fc.option(text.map((language) => `l${language}`)),
    topics: fc.uniqueArray(text.map((topic) => `t${topic}`)),
    url: fc.oneof(text, fc.webUrl(), fc.constant("javascript:alert(1)")),
  });
  fc.assert(
    fc.property(
      fc.array(repository, { maxLength: 4 }),
      text,
      fc.constantFrom(...FEEDS),
      fc.constantFrom("24h" as const, "7d" as const, "30d" as const),
      (given, q, feed, window) => {
        const rows = given.map((one, i) => ({
          repository: whole(i + 1, one),
          trend: undefined,
          isStale: false,
        }));
        const request: FeedRequest = {
          ...{ feed, window, limit: 25, baseUrl: BASE },
          filters: listQuery.parse({ q: q.toWellFormed().slice(0, 50) }),
        };
        const document = parseXml(atomFeed(request, { rows, asOf: NOW, ageDays: 0, measured: [] }));
        checkAtom(document);
        assert.equal(entriesOf(document).length, rows.length);
        for (const entry of entriesOf(document))
          for (const { attributes } of all(entry, "link")) assert.match(attributes.href ?? "", /^https?:/);
      },
    ),
  );
});

function whole(id: number, given: Partial<Repository> & Pick<Repository, "owner" | "name">): Repository {
  return {
    id,
    provider: "GITHUB",
    fullName: `${given.owner}/${given.name}`,
    url: "https://github.com/a/b",
    description: null,
    homepage: null,
    language: null,
    license: null,
    topics: [],
    ...{ stars: 1_234, forks: null, openIssues: null, watchers: null, fork: null, archived: null },
    availability: "AVAILABLE",
    ...{ createdAt: null, pushedAt: null, discoveredAt: NOW, refreshedAt: NOW, nextRefreshAt: null },
    ...{ countedAt: NOW, importSource: null, refreshInterval: null },
    ...given,
  };
}

onSqliteAndLong("/api/feeds/:ranking.atom", (engine) => {
  let world: World;
  const feed = async (path: string): Promise<XmlElement> => {
    const { status, body } = await world.get(`/api/feeds/${path}`);
    assert.equal(status, 200, path);
    const document = parseXml(body);
    checkAtom(document);
    return document;
  };

  before(async () => {
    world = await createWorld(engine);
    const young = { facts: { createdAt: NOW - 20 * DAY_MS } };
    const usual = [4, 3, 2, 1].map((day) => snapshot(24 * (7 + day), 1_000 - 5 * day, { forks: 5 }));
    await world.record(
      observation(
        "ann/<b>&co",
        [...usual, snapshot(168, 1_000, { forks: 5 }), snapshot(0, 2_234, { forks: 29 })],
        {
          facts: {
            ...young.facts,
            url: "https://github.com/ann/b",
            description: "Fast & <safe>",
            language: "C++",
            license: "MIT",
            topics: ["cli", "web"],
          },
        },
      ),
      observation("bob/slow", [snapshot(168, 9_000, { forks: 100 }), snapshot(0, 9_010, { forks: 101 })], {
        facts: { language: "Go" },
      }),
      observation("team/sub/lab", daily(50, 60, 70, 80, 90, 100, 110, 120), { provider: "GITLAB", ...young }),
    );
  });

  test("a whole feed: what it is, where it is, and an entry", async () => {
    const answer = await world.get("/api/feeds/trending.atom?language=c%2B%2B");
    assert.equal(answer.headers.get("content-type"), "application/atom+xml; charset=utf-8");
    assert.equal(answer.headers.get("cache-control"), "public, max-age=30, stale-while-revalidate=60");
    assert.equal(answer.headers.get("x-ratelimit-resource"), "default");
    const document = await feed("trending.atom?language=c%2B%2B");
    const self = `${BASE}/api/feeds/trending.atom?window=7d&language=c%2B%2B`;
    assert.deepEqual(texts(document, "id"), [self]);
    assert.equal(linkOf(document, "self"), self);
    assert.equal(linkOf(document, "alternate"), `${BASE}/explore?sort=trending&window=7d&language=c%2B%2B`);
    assert.deepEqual(texts(document, "title"), ["Sidereal, trending repositories in 7 days: language c++"]);
    assert.deepEqual(texts(document, "updated"), ["2026-04-30T12:00:00.000Z"]);
    const [entry, ...others] = entriesOf(document);
    assert.ok(entry !== undefined && others.length === 0);
    // The week of 2026-04-30 began on Monday, the 27th.
    assert.deepEqual(texts(entry, "id"), [`${BASE}/api/feeds/trending.atom#1-7d-2026-04-27`]);
    assert.deepEqual(texts(entry, "updated"), ["2026-04-27T00:00:00.000Z"]);
    assert.deepEqual(texts(entry, "title"), ["ann/<b>&co +1,234 stars in 7 days"]);
    assert.equal(linkOf(entry, "alternate"), `${BASE}/repos/github/ann/%3Cb%3E%26co`);
    assert.equal(linkOf(entry, "related"), "https://github.com/ann/b");
    assert.deepEqual(
      all(entry, "author").flatMap((author) => texts(author, "name")),
      ["ann"],
    );
    assert.deepEqual(
      all(entry, "category").map(({ attributes }) => attributes),
      [
        { term: "C++", scheme: `${BASE}/languages` },
        { term: "cli", scheme: `${BASE}/topics` },
        { term: "web", scheme: `${BASE}/topics` },
      ],
    );
    assert.deepEqual(all(entry, "summary")[0]?.attributes, { type: "text" });
    assert.deepEqual(texts(entry, "summary")[0]?.split("\n").slice(0, 2), [
      "Fast & <safe>",
      "2,234 stars (+1,234 in 7 days) · 29 forks (+24 in 7 days) · C++ · MIT",
    ]);
  });

  test("each ranking has the rows of its list, in its order", async () => {
    const lists = {
      trending: "/api/trending",
      rising: "/api/rising",
      "new-hot": "/api/new-hot",
      stars: "/api/repos?sort=stars&x=",
    };
    assert.deepEqual(Object.keys(lists), [...FEEDS]);
    for (const [ranking, path] of Object.entries(lists)) {
      const { body } = await world.get(`${path}${path.includes("?") ? "&" : "?"}window=7d`);
      const names = body.data.map((repository: { fullName: string }) => repository.fullName);
      assert.ok(names.length > 0, ranking);
      const titles = titlesOf(await feed(`${ranking}.atom`));
      assert.deepEqual(
        titles.map((title) => title.split(/:? [+\d]/)[0]),
        names,
        ranking,
      );
    }
    assert.deepEqual(titlesOf(await feed("stars.atom?limit=1")), ["bob/slow: 9,010 stars"]);
    assert.deepEqual(titlesOf(await feed("trending.atom?window=24h")), [
      "team/sub/lab +10 stars in 24 hours",
    ]);
  });

  test("the address of a page keeps the slashes of groups", async () => {
    const [entry] = entriesOf(await feed("trending.atom?provider=gitlab"));
    assert.ok(entry !== undefined);
    assert.equal(linkOf(entry, "alternate"), `${BASE}/repos/gitlab/team/sub/lab`);
    assert.equal(linkOf(entry, "related"), "https://gitlab.com/team/sub/lab");
  });

  test("equal feeds have one address and id, others another", async () => {
    const self = async (query: string) => {
      const document = await feed(`trending.atom${query}`);
      assert.equal(texts(document, "id")[0], linkOf(document, "self"));
      return linkOf(document, "self");
    };
    const forms = [
      "?language=Go&language=rust&topic=Web",
      "?topic=web&utm=1&limit=25&language=RUST&language=go&window=7d",
    ];
    const addresses = await Promise.all(forms.map(self));
    assert.equal(addresses[0], addresses[1]);
    const others = [
      "",
      "?window=24h",
      "?limit=10",
      "?reliableOnly=true",
      "?q=slow",
      "?minStars=1",
      "?topic=web",
    ];
    const different = new Set([...addresses, ...(await Promise.all(others.map(self)))]);
    assert.equal(different.size, 1 + others.length);
    for (const address of different) {
      assert.ok(address !== undefined);
      assert.equal(await self(new URL(address).search), address, "the address leads to itself");
    }
  });

  test("parameters that feeds do not have are passed over, wrong ones refused", async () => {
    assert.deepEqual(
      idsOf(await feed("trending.atom?page=9&sort=created&order=asc")),
      idsOf(await feed("trending.atom")),
    );
    assert.deepEqual(
      errorOf(await world.get("/api/feeds/trending.atom?limit=101")),
      invalid("limit", "must be a whole number from 1 to 100"),
    );
    assert.deepEqual(
      errorOf(await world.get("/api/feeds/trending.atom?window=1y")),
      invalid("window", "must be one of 24h, 7d, 30d", { allowed: ["24h", "7d", "30d"] }),
    );
    assert.deepEqual(
      errorOf(await world.get("/api/feeds/hottest.atom")),
      invalid("ranking", `must be one of ${FEEDS.join(", ")}`, { allowed: [...FEEDS] }),
    );
    for (const path of ["trending", "trending.rss", "a/trending.atom", "trendingxatom"])
      assert.equal((await world.get(`/api/feeds/${path}`)).status, 404, path);
  });

  test("a reader that has it is told so", async () => {
    const { headers } = await world.get("/api/feeds/rising.atom");
    const etag = headers.get("etag");
    assert.ok(etag !== null);
    assert.equal((await world.get("/api/feeds/rising.atom", { "If-None-Match": etag })).status, 304);
  });

  test("an empty catalogue has an empty feed that is valid", async () => {
    const { request } = await createWorld(engine);
    const document = parseXml(await (await request("/api/feeds/trending.atom")).text());
    checkAtom(document);
    assert.deepEqual(entriesOf(document), []);
  });

  test("an id stays through refreshes and renames until its period ends, and then is another", async () => {
    const own = await createWorld(engine);
    const read = async (path: string) => parseXml(await (await own.request(`/api/feeds/${path}`)).text());
    const idOf = async (window: string) => idsOf(await read(`trending.atom?window=${window}`)).join();
    const refresh = (days: number, fullName = "a/b") =>
      own.record(
        observation(fullName, [snapshot(-24 * days, 1_000 + 100 * days)], {
          providerId: "7",
          at: NOW + days * DAY_MS,
        }),
      );
    await own.record(
      observation("a/b", daily(...Array.from({ length: 31 }, (_, i) => 100 + i * 30)), { providerId: "7" }),
    );
    // NOW is Thursday, April 30.
    const seen: Record<string, string[]> = {
      "24h": [await idOf("24h")],
      "7d": [await idOf("7d")],
      "30d": [await idOf("30d")],
    };
    const forever = idsOf(await read("stars.atom"));
    await refresh(0.2);
    for (const [window, ids] of Object.entries(seen)) assert.equal(await idOf(window), ids[0], window);
    for (const days of [1, 2, 3, 4]) {
      await refresh(days, days === 2 ? "a/new-name" : undefined);
      for (const [window, ids] of Object.entries(seen)) ids.push(await idOf(window));
    }
    const periods = (window: string) => seen[window]?.map((id) => id.slice(id.indexOf("#") + 1));
    assert.deepEqual(
      periods("24h"),
      [30, 31, 32, 33, 34].map((day) => `1-24h-${dayOfApril(day)}`),
    );
    assert.deepEqual(
      periods("7d"),
      [27, 27, 27, 27, 34].map((day) => `1-7d-${dayOfApril(day)}`),
    );
    assert.deepEqual(
      periods("30d"),
      [1, 31, 31, 31, 31].map((day) => `1-30d-${dayOfApril(day)}`),
    );
    assert.deepEqual(idsOf(await read("stars.atom")), forever);
  });
});

const dayOfApril = (day: number) => new Date(Date.UTC(2026, 3, day)).toISOString().slice(0, 10);
