import assert from "node:assert/strict";
import { before, test } from "node:test";
import { sql } from "kysely";
import { createToken, hashToken } from "../../src/lib/tokens.js";
import { errorOf } from "../support/answers.js";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { type Member, ORIGIN, signIn } from "../support/members.js";
import { open, submit } from "../support/page.js";
import { changes, createList, NO_LIST, reads } from "../support/watchlists.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";
import { parseXml, type XmlElement } from "../support/xml.js";

const ATOM = "{http://www.w3.org/2005/Atom}";
const FEED = new RegExp(`${ORIGIN}(/api/watchlists/(sidf_\\w+)/feed\\.atom)`);

const texts = (element: XmlElement, name: string): string[] =>
  element.children.filter((child) => child.name === ATOM + name).map(({ text }) => text);
const entriesOf = (feed: XmlElement) => feed.children.filter(({ name }) => name === `${ATOM}entry`);
const titlesOf = (feed: XmlElement) => entriesOf(feed).flatMap((entry) => texts(entry, "title"));
const idsOf = (feed: XmlElement) => entriesOf(feed).flatMap((entry) => texts(entry, "id"));

onSqliteAndLong("The feed of a watchlist", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let people = 0;
  before(async () => {
    world = await createWorld(engine, mailbox.settings);
    const grown = daily(...Array.from({ length: 31 }, (_, i) => 100 + i * 30));
    await world.record(
      observation("a/fast", grown, { facts: { description: "<b>&" } }),
      observation("b/slow", daily(...Array.from({ length: 31 }, (_, i) => 100 + i)), {
        providerId: "2",
        at: NOW - 3_600_000,
      }),
      observation("c/same", daily(...Array.from({ length: 31 }, () => 7))),
      observation("d/gone", [snapshot(30, 7)], { facts: { availability: "GONE" } }),
      observation("e/other", grown),
    );
    await world.record(observation("b/new-name", [snapshot(0, 130)], { providerId: "2", at: NOW }));
  });
  /** Somebody whose watchlist has these repositories. */
  const owner = async (...ids: number[]): Promise<Member> => {
    const member = await signIn(world, mailbox, `feed-${++people}@example.org`);
    for (const id of ids)
      await submit(world, "/watchlist/items", { repositoryId: String(id), next: "/" }, member.headers);
    return member;
  };
  const createFeed = async ({ headers }: Member) => {
    const page = await submit(world, "/watchlist/feed", {}, headers);
    assert.equal(page.status, 200);
    assert.equal(page.headers.get("cache-control"), "no-store");
    const [, path = "", token = ""] = FEED.exec(page.html) ?? [];
    assert.match(token, /^sidf_[0-9A-Za-z]{36}$/);
    return { path, token };
  };
  const read = async (path: string) => parseXml(await (await world.request(path)).text());

  test("says what grew most first, what was renamed and what is gone; nothing of what stayed the same", async () => {
    const { path, token } = await createFeed(await owner(1, 2, 3, 4));
    const response = await world.request(path);
    assert.equal(response.status, 200);
    assert.deepEqual(
      ["content-type", "cache-control", "referrer-policy", "x-robots-tag", "link"].map((name) =>
        response.headers.get(name),
      ),
      ["application/atom+xml; charset=utf-8", "private, no-cache", "no-referrer", "noindex", null],
    );
    const text = await response.text();
    assert.ok(!text.includes(token), "entries that readers share do not reveal the address");
    const feed = parseXml(text);
    assert.deepEqual(titlesOf(feed), [
      "b/new-name was renamed from b/slow",
      "d/gone is no longer available",
      "a/fast +210 stars in 7 days",
      "b/new-name +7 stars in 7 days",
    ]);
    assert.deepEqual(idsOf(feed), [
      `${ORIGIN}/watchlist#2-renamed-7d-2026-04-27`,
      `${ORIGIN}/watchlist#4-gone-2026-04-29`,
      `${ORIGIN}/watchlist#1-7d-2026-04-27`,
      `${ORIGIN}/watchlist#2-7d-2026-04-27`,
    ]);
    for (const entry of entriesOf(feed))
      for (const name of ["title", "updated", "summary"]) assert.equal(texts(entry, name).length, 1, name);
    const etag = response.headers.get("etag") ?? "";
    const again = await world.request(path, { headers: { "If-None-Match": etag } });
    assert.equal(again.status, 304);
    const daily = await read(`${path}?window=24h`);
    assert.ok(titlesOf(daily).includes("a/fast +30 stars in 24 hours"));
    assert.equal(errorOf(await world.get(`${path}?window=1y`)).status, 400);
  });

  test("has at most fifty entries about growth", async () => {
    const own = await createWorld(engine, mailbox.settings);
    await own.record(...Array.from({ length: 60 }, (_, i) => observation(`many/r${i}`, daily(1, 2 + i))));
    const ids = Array.from({ length: 60 }, (_, i) => String(i + 1));
    const { shareToken } = await createList(own, { ids });
    const text = await (await own.request(`/api/watchlists/${shareToken}/feed.atom?window=24h`)).text();
    const titles = titlesOf(parseXml(text));
    assert.equal(titles.length, 50);
    assert.equal(titles[0], "many/r59 +60 stars in 24 hours");
  });

  test("an address is shown once, stored as a hash, and ends when it is replaced or revoked", async () => {
    const member = await owner(1);
    assert.ok((await open(world, "/watchlist", member.headers)).buttons.includes("Create a feed address"));
    const first = await createFeed(member);
    const page = await open(world, "/watchlist", member.headers);
    assert.ok(!page.html.includes("sidf_"));
    assert.ok(page.buttons.includes("Replace the address"));
    const { rows } = await sql<Record<string, unknown>>`select * from watchlists`.execute(
      world.modules.database.read,
    );
    assert.ok(!JSON.stringify(rows).includes(first.token));
    assert.ok(rows.some((row) => row.feed_token_hash === hashToken(first.token)));
    const second = await createFeed(member);
    assert.equal(await statusOf(first.path), 404);
    assert.equal(await statusOf(second.path), 200);
    const revoked = await submit(world, "/watchlist/feed/revoke", {}, member.headers);
    assert.deepEqual([revoked.status, revoked.location], [303, "/watchlist#feed"]);
    assert.deepEqual(errorOf(await world.get(second.path)), NO_LIST);
    assert.ok((await open(world, "/watchlist", member.headers)).buttons.includes("Create a feed address"));
  });

  const statusOf = async (path: string) => (await world.request(path)).status;

  test("a feed token reads the feed and nothing else", async () => {
    const { token } = await createFeed(await owner(1));
    for (const answer of [...(await reads(world, token)), ...(await changes(world, token))])
      assert.deepEqual(errorOf(answer), NO_LIST);
    assert.equal((await open(world, `/watchlists/${token}`)).status, 404);
    assert.equal((await open(world, `/cards/watchlists/${token}`)).status, 404);
    assert.equal((await submit(world, `/watchlists/${token}/delete`)).status, 404);
    assert.equal(errorOf(await world.get("/api/me", { Authorization: `Bearer ${token}` })).status, 401);
    assert.equal(await statusOf(`/api/watchlists/${token}/feed.atom`), 200);
  });

  test("nobody but the owner makes or ends it, and a feed shows its owner's list alone", async () => {
    const mine = await createFeed(await owner(1));
    const other = await owner(5);
    await submit(world, "/watchlist/feed/revoke", {}, other.headers);
    for (const path of ["/watchlist/feed", "/watchlist/feed/revoke"]) {
      const visitor = await submit(world, path);
      assert.equal(visitor.status, 303);
      assert.match(visitor.location ?? "", /^\/sign-in/);
    }
    assert.deepEqual(titlesOf(await read(mine.path)), ["a/fast +210 stars in 7 days"]);
    const theirs = await createFeed(other);
    assert.deepEqual(titlesOf(await read(theirs.path)), ["e/other +210 stars in 7 days"]);
  });

  test("ends with the account", async () => {
    const member = await owner(1);
    const { path } = await createFeed(member);
    const gone = await submit(world, "/account/delete", { confirmation: "delete" }, member.headers);
    assert.equal(gone.status, 303);
    assert.deepEqual(errorOf(await world.get(path)), NO_LIST);
  });

  test("of a list without an owner is read by its share token, until the list is deleted", async () => {
    const { token, shareToken } = await createList(world, { ids: ["1"], name: "Team" });
    const path = `/api/watchlists/${shareToken}/feed.atom`;
    const feed = await read(path);
    assert.deepEqual(texts(feed, "title"), ["Sidereal, Team: stars gained in 7 days"]);
    assert.deepEqual(titlesOf(feed), ["a/fast +210 stars in 7 days"]);
    assert.ok((await open(world, `/watchlists/${shareToken}`)).links.includes(path));
    const edit = errorOf(await world.get(`/api/watchlists/${token}/feed.atom`));
    assert.deepEqual([edit.status, edit.code], [403, "FORBIDDEN"]);
    await world.send("DELETE", `/api/watchlists/${token}`);
    assert.deepEqual(errorOf(await world.get(path)), NO_LIST);
  });

  test("every token that has no feed gets the same 404", async () => {
    for (const token of [createToken("sidf"), createToken("sidr"), createToken("sidw"), "sidf_x", "x"])
      assert.deepEqual(errorOf(await world.get(`/api/watchlists/${token}/feed.atom`)), NO_LIST, token);
  });
});
