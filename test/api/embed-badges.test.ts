import assert from "node:assert/strict";
import { before, test } from "node:test";
import { DAY_MS } from "../../src/lib/clock.js";
import { errorOf, invalid } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { checkTexts, readPicture } from "../support/svg.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";

const BADGE = "/api/embed/badge.svg";
const CARD = "/api/embed/card.png";

onSqliteAndLong("Badges and cards", (engine) => {
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

  async function badge(query: string, status = 200, of = world) {
    const answer = await of.get(`${BADGE}?${query}`);
    assert.equal(answer.status, 200, answer.body);
    const { headers, status: forJson } = await of.get(`${BADGE}?${query}`, { Accept: "application/json" });
    assert.equal(forJson, status);
    assert.equal(headers.get("content-type")?.startsWith("application/json"), status >= 400);
    assert.equal(answer.headers.get("content-type"), "image/svg+xml; charset=utf-8");
    const picture = readPicture(answer.body);
    checkTexts(picture);
    assert.equal(picture.height, 20);
    const [label, message] = picture.texts.map(({ text }) => text);
    return { title: picture.title, label, message, style: picture.style, headers: answer.headers };
  }

  test("a badge says the rank in a ranking and its window, and the date in its title", async () => {
    const { headers, style: _, ...said } = await badge("repo=github:big/rust&ranking=stars-gained");
    assert.deepEqual(said, {
      title: "big/rust: #1 by stars gained over 24 hours, as of 30 Apr 2026, by Sidereal",
      label: "Sidereal",
      message: "#1 by stars gained · 24 hours",
    });
    assert.equal(headers.get("cache-control"), "public, max-age=300, stale-while-revalidate=3600");
    const messages = {
      "repo=github:top/go&ranking=stars-gained": "#2 by stars gained · 24 hours",
      "repo=github:top/go&ranking=stars-gained&scope=language": "#1 by stars gained in Go · 24 hours",
      "repo=github:next/go&ranking=stars&scope=language&window=7d": "#2 by stars in Go",
    };
    for (const [query, message] of Object.entries(messages))
      assert.equal((await badge(query)).message, message);
  });

  test("the rank is the one that the detail has, in every ranking and window", async () => {
    const { body } = await world.get("/api/repos/github/top/go");
    const told = body.data.ranks.filter((rank: { scope: string }) =>
      ["overall", "language"].includes(rank.scope),
    );
    assert.ok(told.length > 4);
    for (const { ranking, window, scope, position } of told) {
      const over = window === null ? "" : `&window=${window}`;
      const { message } = await badge(`repo=github:top/go&ranking=${ranking}&scope=${scope}${over}`);
      assert.match(message ?? "", new RegExp(`^#${position} `));
    }
  });

  test("without a rank it says so, and among how many", async () => {
    const overall = await badge("repo=github:still/one&ranking=trending&window=7d");
    assert.equal(overall.message, "not among the first 1,000 trending · 7 days");
    assert.match(overall.title ?? "", /^still\/one: not among the first 1,000 trending over 7 days, as of/);
    const language = await badge("repo=github:still/one&scope=language");
    assert.match(language.message ?? "", /^not among the first 200 trending in its language/);
    assert.match((await badge("repo=github:lost/go")).message ?? "", / · gone$/);
  });

  test("a badge says whether a repository is trending, and on which rank", async () => {
    const { body } = await world.get("/api/repos/github/top/go");
    const { position } = body.data.ranks.find(
      (rank: { ranking: string; scope: string; window: string }) =>
        rank.ranking === "trending" && rank.scope === "overall" && rank.window === "24h",
    );
    const ranked = await badge("repo=github:top/go&kind=trending");
    assert.equal(ranked.message, `trending #${position} · 24 hours`);
    const inGo = await badge("repo=github:top/go&kind=trending&scope=language");
    assert.equal(inGo.message, "trending #1 in Go · 24 hours");
    assert.equal((await badge("repo=github:still/one&kind=trending")).message, "not trending now");
  });

  test("other kinds say the stars, and the stars gained in a window", async () => {
    const read = async (query: string) => {
      const { label, message } = await badge(query);
      return [label, message];
    };
    assert.deepEqual(await read("repo=github:top/go&kind=stars"), ["stars", "1,250"]);
    assert.deepEqual(await read("repo=github:top/go&kind=gain"), ["stars in 24 hours", "+150"]);
    assert.deepEqual(await read("repo=github:still/one&kind=gain"), ["stars in 24 hours", "±0"]);
    assert.deepEqual(await read("repo=github:old/name&kind=stars"), ["stars", "not known"]);
    assert.deepEqual(await read("repo=github:old/name&kind=gain&window=7d"), [
      "stars in 7 days",
      "not known yet",
    ]);
  });

  test("the text at the left can be another one, in any script", async () => {
    for (const label of ["我们的星", "نجوم", "<b>&", "⭐️ stars"])
      assert.equal(
        (await badge(`repo=github:top/go&kind=stars&label=${encodeURIComponent(label)}`)).label,
        label,
      );
    assert.equal((await badge("repo=github:top/go&kind=stars&label=%20")).label, "stars");
    await badge(`repo=github:top/go&label=${"x".repeat(41)}`, 400);
  });

  test("old data has its date, on grey, and nothing is said of now", async () => {
    const old = await createWorld(engine);
    const before = daily(900, 1_000, 1_100, 1_250).map((one) => ({
      ...one,
      capturedAt: one.capturedAt - 5 * DAY_MS,
    }));
    await old.record(observation("top/go", before), observation("still/one", [snapshot(5 * 24, 900)]));
    const fresh = await badge("repo=github:top/go&kind=stars");
    const messages = {
      "top/go&kind=stars": "1,250 · 25 Apr 2026",
      "top/go&kind=gain": "+150 to 25 Apr 2026",
      "top/go&kind=trending": "trending #1 · 24 hours to 25 Apr 2026",
      "top/go&kind=rank&ranking=stars": "#1 by stars · 25 Apr 2026",
      "still/one&kind=trending": "not trending · 25 Apr 2026",
    };
    for (const [query, message] of Object.entries(messages)) {
      const said = await badge(`repo=github:${query}`, 200, old);
      assert.equal(said.message, message);
      assert.match(said.title ?? "", /as of 25 Apr 2026, 5 days ago/);
      assert.notEqual(said.style, fresh.style);
    }
  });

  test("what is wrong is said in a badge with status 200, and to JSON with its status", async () => {
    const unknown = await badge("repo=github:no/such", 404);
    assert.deepEqual([unknown.label, unknown.message], ["Sidereal", "Not tracked here: github:no/such"]);
    assert.equal(unknown.headers.get("cache-control"), "no-store");
    assert.match(
      (await badge("repo=github:top/go&ranking=rising", 400)).message ?? "",
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
    const { message, headers } = await badge("repo=github:top/go", 500);
    assert.doesNotMatch(message ?? "", /secret/);
    assert.ok(message?.startsWith("Something went wrong here."));
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
});

const BRIEF = "public, max-age=10";
const USUAL = "public, max-age=300, stale-while-revalidate=3600";

onSqliteAndLong("Pictures of a repository that is being read for the first time", (engine) => {
  let world: World;

  before(async () => {
    world = await createWorld(engine, { SIDEREAL_PROVIDERS: "github", SIDEREAL_TRACK: "everyone" });
    await world.record(observation("a/one", daily(1, 2, 3), { at: NOW - 9 * 86_400_000 }));
    const asked = await world.send("POST", "/api/track", { repository: "github:o/new" });
    assert.equal(asked.status, 202);
  });
  const cached = async (path: string) => (await world.request(path)).headers.get("cache-control");

  test("say so, and are kept for ten seconds", async () => {
    for (const query of ["repo=github:O/New", "repo=github:a/one&repo=github:o/new"]) {
      const path = `/api/embed/chart.svg?${query}`;
      const { body } = await world.get(path);
      const texts = readPicture(body).texts.map(({ text }) => text);
      const name = query.includes("New") ? "github:O/New" : "github:o/new";
      assert.deepEqual(texts, ["Being read", name, "Sidereal"]);
      assert.equal(await cached(path), BRIEF);
    }
    const badge = "/api/embed/badge.svg?repo=github:o/new&kind=stars";
    assert.match((await world.get(badge)).body, /Being read, and here in a moment: github:o\/new/);
    assert.equal(await cached(badge), BRIEF);
    const card = await world.request("/api/embed/card.png?repo=github:o/new");
    assert.deepEqual(
      [card.status, card.headers.get("content-type"), card.headers.get("cache-control")],
      [200, "image/png", BRIEF],
    );
    const data = await world.get("/api/embed/chart?repo=github:o/new");
    assert.deepEqual([data.status, data.headers.get("retry-after")], [404, "10"]);
    const unknown = await world.get("/api/embed/chart?repo=github:o/new&repo=github:no/such");
    assert.equal(unknown.body.error.message, "Not tracked here: github:no/such");
  });

  test("are kept as briefly while its history arrives, and then as all others are", async () => {
    await world.record(observation("o/new", daily(5)));
    const paths = ["chart.svg", "badge.svg", "card.png"].map(
      (name) => `/api/embed/${name}?repo=github:o/new`,
    );
    for (const path of paths) assert.equal(await cached(path), BRIEF, path);
    await world.modules.database.durable.updateTable("wanted").set({ finished_at: NOW }).execute();
    await world.record(observation("a/one", daily(7)));
    for (const path of paths) assert.equal(await cached(path), USUAL, path);
    assert.equal(await cached("/api/embed/chart.svg?repo=github:a/one"), USUAL);
  });
});
