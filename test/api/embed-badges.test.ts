import assert from "node:assert/strict";
import { before, test } from "node:test";
import { errorOf, invalid } from "../support/answers.js";
import { onBothEngines } from "../support/engines.js";
import { checkTexts, readPicture } from "../support/svg.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

const BADGE = "/api/embed/badge.svg";
const CARD = "/api/embed/card.png";

onBothEngines("Badges and cards", (engine) => {
  let world: World;

  before(async () => {
    world = await createWorld(engine);
    const go = { language: "Go" };
    await world.record(
      observation("top/go", daily(900, 1_000, 1_100, 1_250), { facts: go }),
      observation("next/go", daily(500, 505, 510, 516), { facts: go }),
      observation("big/rust", daily(9_000, 9_900, 10_800, 11_900), { facts: { language: "Rust" } }),
      observation("still/one", daily(5, 5)),
      observation("lost/go", daily(50, 60), { facts: { ...go, availability: "GONE" } }),
      observation("new/name", [], { previousNames: [{ fullName: "old/name", until: 1 }] }),
    );
  });

  async function badge(query: string, status = 200) {
    const answer = await world.get(`${BADGE}?${query}`);
    assert.equal(answer.status, status, answer.body);
    assert.equal(answer.headers.get("content-type"), "image/svg+xml; charset=utf-8");
    const picture = readPicture(answer.body);
    checkTexts(picture);
    assert.equal(picture.height, 28);
    const [brand, main, more] = picture.texts.map(({ text }) => text);
    assert.equal(brand, "Sidereal");
    return { title: picture.title, main, more, headers: answer.headers };
  }

  test("a badge says the place in a ranking, its window and the date", async () => {
    const { headers, ...said } = await badge("repo=github:big/rust&ranking=stars-gained");
    assert.deepEqual(said, {
      title: "big/rust: #1 by stars gained over 24 hours, as of 30 Apr 2026, by Sidereal",
      main: "#1 by stars gained",
      more: "24 hours · 30 Apr 2026",
    });
    assert.equal(headers.get("cache-control"), "public, max-age=300, stale-while-revalidate=3600");
    assert.equal((await badge("repo=github:top/go&ranking=stars-gained")).main, "#2 by stars gained");
    const inGo = await badge("repo=github:top/go&ranking=stars-gained&scope=language");
    assert.equal(inGo.main, "#1 by stars gained in Go");
    assert.equal(
      (await badge("repo=github:next/go&ranking=stars&scope=language&window=7d")).main,
      "#2 by stars in Go",
    );
    assert.equal(
      (await badge("repo=github:next/go&ranking=stars&window=7d")).more,
      "30 Apr 2026",
      "stars have no window",
    );
  });

  test("the place is the one that the detail tells, in every ranking and window", async () => {
    const { body } = await world.get("/api/repos/github/top/go");
    const told = body.data.ranks.filter((rank: { scope: string }) =>
      ["overall", "language"].includes(rank.scope),
    );
    assert.ok(told.length > 4);
    for (const { ranking, window, scope, position } of told) {
      const over = window === null ? "" : `&window=${window}`;
      const { main } = await badge(`repo=github:top/go&ranking=${ranking}&scope=${scope}${over}`);
      assert.match(main ?? "", new RegExp(`^#${position} `));
    }
  });

  test("without a place it says so, and among how many", async () => {
    const overall = await badge("repo=github:still/one&ranking=trending&window=7d");
    assert.equal(overall.main, "not ranked trending");
    assert.equal(overall.more, "among the first 1,000 · 7 days · 30 Apr 2026");
    assert.match(overall.title ?? "", /^still\/one: not ranked among the first 1,000 trending over 7 days/);
    const language = await badge("repo=github:still/one&scope=language");
    assert.match(language.more ?? "", /^among the first 200/);
    assert.match((await badge("repo=github:lost/go")).more ?? "", /^gone/);
  });

  test("the other kind says the stars and their growth", async () => {
    const stars = await badge("repo=github:top/go&kind=stars");
    assert.deepEqual([stars.main, stars.more], ["1,250 stars", "+150 in 24 hours · 30 Apr 2026"]);
    assert.equal((await badge("repo=github:still/one&kind=stars")).more, "±0 in 24 hours · 30 Apr 2026");
    const unknown = await badge("repo=github:old/name&kind=stars&theme=light");
    assert.deepEqual([unknown.main, unknown.more], ["stars not known", "growth not known yet · 30 Apr 2026"]);
  });

  test("what is wrong is said in a badge with its status", async () => {
    const unknown = await badge("repo=github:no/such", 404);
    assert.equal(unknown.main, "Not tracked here: github:no/such");
    assert.equal(unknown.headers.get("cache-control"), "no-store");
    assert.match(
      (await badge("repo=github:top/go&ranking=best", 400)).main ?? "",
      /^ranking: must be one of trending/,
    );
    for (const query of [
      "",
      "repo=top/go",
      "repo=github:top/go&repo=github:next/go",
      "repo=github:top/go&kind=x",
    ])
      await badge(query, 400);
    for (const name of ["window", "scope", "theme"]) await badge(`repo=github:top/go&${name}=x`, 400);
  });

  test("a fault of the service is said in a badge too, with the name of the request", async (t) => {
    t.mock.method(world.modules.catalog, "findByName", async () => {
      throw new Error("a secret of ours");
    });
    const { main, headers } = await badge("repo=github:top/go", 500);
    assert.doesNotMatch(main ?? "", /secret/);
    assert.ok(main?.startsWith("Something went wrong here."));
    assert.ok(headers.get("x-request-id"));
  });

  test("a card is a PNG that is not compressed once more", async () => {
    const response = await world.request(`${CARD}?repo=github:top/go`, {
      headers: { "Accept-Encoding": "br, gzip" },
    });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "image/png");
    assert.equal(response.headers.get("content-encoding"), null);
    assert.equal(response.headers.get("cache-control"), "public, max-age=300, stale-while-revalidate=3600");
    const png = Buffer.from(await response.arrayBuffer());
    assert.deepEqual(
      [png.toString("latin1", 1, 4), png.readUInt32BE(16), png.readUInt32BE(20)],
      ["PNG", 1_200, 630],
    );
    const etag = response.headers.get("etag") ?? "";
    assert.match(etag, /^"/);
    const again = await world.request(`${CARD}?repo=github:top/go`, { headers: { "If-None-Match": etag } });
    assert.equal(again.status, 304);
    // One of which next to nothing is known has a card as well.
    assert.equal((await world.request(`${CARD}?repo=github:old/name`)).status, 200);
  });

  test("a card says that its repository is gone", async () => {
    const own = await createWorld(engine);
    let at = own.clock.now();
    const card = async (availability: "AVAILABLE" | "GONE") => {
      at += 1_000;
      await own.record(observation("acme/kite", daily(50, 60), { at, facts: { availability } }));
      return (await own.request(`${CARD}?repo=github:acme/kite`)).headers.get("etag");
    };
    const [before, gone, back] = [await card("AVAILABLE"), await card("GONE"), await card("AVAILABLE")];
    assert.notEqual(gone, before);
    assert.equal(back, before);
  });

  test("what is wrong with a card is said in JSON", async () => {
    assert.equal(errorOf(await world.get(`${CARD}?repo=github:no/such`)).status, 404);
    const wrong = invalid("repo", "must be of the form provider:owner/name");
    assert.deepEqual(errorOf(await world.get(`${CARD}?repo=nothing`)), wrong);
    assert.deepEqual(errorOf(await world.get(CARD)), invalid("repo", "is required"));
  });

  test("cards of one caller beyond its share of the queue are refused, and others get theirs", async () => {
    const crowded = await createWorld(engine, { SIDEREAL_QUEUE_LENGTH: "8" });
    await crowded.record(observation("top/go", daily(10, 20, 30)));
    const card = async (peer: string) => {
      const response = await crowded.request(`${CARD}?repo=github:top/go`, { peer });
      return { status: response.status, retryAfter: response.headers.get("retry-after") };
    };
    const many = Array.from({ length: 40 }, () => card("192.0.2.7"));
    assert.equal((await card("192.0.2.8")).status, 200);
    const refused = (await Promise.all(many)).filter(({ status }) => status !== 200);
    assert.ok(refused.length > 0 && refused.length < 40, String(refused.length));
    for (const { status, retryAfter } of refused) assert.deepEqual([status, retryAfter], [503, "5"]);
  });
});
