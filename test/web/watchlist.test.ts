import assert from "node:assert/strict";
import { before, test } from "node:test";
import { VISIT_MS } from "../../src/watchlists/changes.js";
import { onSqlite } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { type Member, signIn } from "../support/members.js";
import {
  followLink,
  linkTo,
  numbersIn,
  open,
  problemsOf,
  repositoriesIn,
  rowsOf,
  sinceIn,
  submit,
} from "../support/page.js";
import { createWorld, daily, NOW, observation, snapshot, type World } from "../support/world.js";

/** The form that offers to save the second repository. */
const OFFERED = /<input type="hidden" name="repositoryId" value="2"\/>/;
/** Full names of repositories in texts. */
const namesIn = (texts: readonly string[]) => texts.join(" ").match(/\w+\/\w+/g);

const PENDING = "__Host-sidereal.saving";

onSqlite("The page of a personal watchlist", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let people = 0;
  const newAddress = () => `list-${++people}@example.org`;
  const somebody = (): Promise<Member> => signIn(world, mailbox, newAddress());
  before(async () => {
    world = await createWorld(engine, mailbox.settings);
    await world.record(
      observation("one/one", daily(100, 110, 125), { facts: { description: "<i>first</i>", stars: 125 } }),
      observation("two/two", daily(50, 60, 90), { facts: { stars: 90 } }),
      observation("three/three", daily(5, 6, 7), { facts: { stars: 7 } }),
      ...Array.from({ length: 60 }, (_, i) => observation(`many/r${i}`, daily(1, 2))),
    );
  });
  const save = (id: number | string, headers: Record<string, string>, next = "/") =>
    submit(world, "/watchlist/items", { repositoryId: String(id), next }, headers);

  test("explains itself to visitors", async () => {
    const page = await open(world, "/watchlist");
    assert.equal(page.status, 200);
    assert.match(page.html, /href="\/sign-in\?next=%2Fwatchlist"/);
    assert.match(page.html, /href="\/watchlists"/);
    const offer = await open(world, "/watchlist?save=2");
    assert.ok(offer.text.includes("two/two"));
    assert.match(offer.html, /href="\/sign-in\?next=%2Fwatchlist%3Fsave%3D2"/);
    assert.match(offer.html, /<link rel="canonical" href="https:\/\/sidereal\.example\/watchlist"/);
    for (const wrong of ["x", "0", "999999", "-1", "2 or 1=1"])
      assert.ok(
        (await open(world, `/watchlist?save=${encodeURIComponent(wrong)}`)).links.includes(
          "/sign-in?next=%2Fwatchlist",
        ),
        wrong,
      );
  });

  test("says what happened and what comes next, and sorts by the numbers of its rows", async () => {
    const { headers } = await somebody();
    assert.match((await open(world, "/watchlist", headers)).text, /Your watchlist is empty/);
    for (const id of [3, 1, 2]) {
      const saved = await save(id, headers, "/explore?page=2");
      assert.deepEqual([saved.status, saved.location], [303, "/explore?page=2"]);
    }
    const page = await open(world, "/watchlist?window=24h", headers);
    assert.deepEqual(
      [page.status, page.headers.get("cache-control"), page.headers.get("x-robots-tag")],
      [200, "no-store", "noindex"],
    );
    assert.equal(linkTo(page.html, "Watchlist (3)")?.pathname, "/watchlist");
    // Gains of 30, 15 and 1 in the last day, and of 20 a day of two/two.
    assert.match(
      page.text,
      /My watchlist two gained most: 30 in 24 hours\. Next: two passes 100 in a day\. .*3 repositories 222 24 hours \+46 7 days –/,
    );
    assert.match(page.html, /aria-label="Stars gained a day, 29 Apr 2026 to 30 Apr 2026: 46 on 30 Apr 2026/);
    assert.deepEqual(rowsOf(page.html, "list")[1]?.slice(2), ["200 in 6 days", "", "", "+15", "–", "125"]);
    for (const [query, order] of [
      ["", ["two/two", "one/one", "three/three"]],
      ["?order=asc", ["three/three", "one/one", "two/two"]],
      ["?sort=stars", ["one/one", "two/two", "three/three"]],
    ] as const)
      assert.deepEqual(repositoriesIn((await open(world, `/watchlist${query}`, headers)).html), order, query);
    assert.equal(linkTo(page.html, "24 hours")?.searchParams.get("order"), "asc");
    assert.equal(linkTo(page.html, "7 days")?.search, "?window=7d&sort=stars-gained");
    const byStars = await open(world, "/watchlist?sort=stars&window=30d", headers);
    assert.match(byStars.text, /Stars▼ 24 hours 7 days 30 days/);
  });

  test("compares and removes those that are chosen, and shares all, without scripts", async () => {
    const { headers } = await somebody();
    for (const id of [3, 1, 2]) await save(id, headers);
    const page = await open(world, "/watchlist?sort=stars", headers);
    assert.match(page.html, /<form action="\/compare"/);
    assert.equal(linkTo(page.html, "Picture")?.pathname, "/embed");
    const boxes = [...page.html.matchAll(/<input type="checkbox" name="repo" value="([^"]*)"/g)];
    assert.deepEqual(
      boxes.map(([, name]) => name),
      ["github:one/one", "github:two/two", "github:three/three"],
    );
    assert.match(
      page.html,
      /formmethod="post" formaction="\/watchlist\/items\/remove" name="next" value="\/watchlist\?sort=stars"/,
    );
    const remove = (repo: string[]) =>
      submit(
        world,
        "/watchlist/items/remove",
        [["next", "/watchlist?sort=stars"], ...repo.map((name) => ["repo", name])],
        headers,
      );
    for (const repo of [[], ["github:no/body", "two/two"], ["github:one/one", "github:three/three"]]) {
      const removed = await remove(repo);
      assert.deepEqual([removed.status, removed.location], [303, "/watchlist?sort=stars"]);
    }
    assert.deepEqual(repositoriesIn((await open(world, "/watchlist", headers)).html), ["two/two"]);
    const shared = await open(world, "/watchlists", headers);
    assert.match(shared.html, />github:two\/two<\/textarea>/);
  });

  test("adds a repository by its name, and offers what a misspelt one may mean", async () => {
    const { headers } = await somebody();
    const add = (repository: string, more: Record<string, string> = {}) =>
      submit(world, "/watchlist/items", { repository, next: "/watchlist?window=7d", ...more }, headers);
    const added = await add("https://github.com/two/two");
    assert.deepEqual([added.status, added.location], [303, "/watchlist?window=7d"]);
    const unknown = await add("tw");
    assert.equal(unknown.status, 400);
    assert.deepEqual(unknown.alerts, ["This is not tracked here."]);
    assert.match(unknown.html, /<button type="submit" name="repository" value="github:two\/two">two\/two</);
    assert.match(unknown.html, /name="repository"[^>]*value="tw"/);
    assert.deepEqual(repositoriesIn(unknown.html), ["two/two"], "the list is still shown");
    assert.equal((await add("")).status, 400);
    assert.equal((await add("x".repeat(5_000))).status, 400);
    assert.equal((await add("github:two/two")).status, 303);
    assert.deepEqual(repositoriesIn((await open(world, "/watchlist", headers)).html), ["two/two"]);
    const visitor = await submit(world, "/watchlist/items", { repository: "one/one", next: "/watchlist" });
    assert.equal(visitor.location, "/sign-in?next=%2Fwatchlist%3Fsave%3D1");
    const astray = await submit(world, "/watchlist/items", { repository: "no/body" });
    assert.equal(astray.location, "/sign-in?next=%2Fwatchlist");
  });

  test("an empty list offers what is trending, to begin with", async () => {
    const { headers } = await somebody();
    const page = await open(world, "/watchlist", headers);
    assert.match(page.html, /aria-label="Save (?:one|two)\/(?:one|two)"/);
    const saved = await submit(world, "/watchlist/items", { repositoryId: "2", next: "/watchlist" }, headers);
    assert.deepEqual([saved.status, saved.location], [303, "/watchlist"]);
  });

  test("invalid parameters are reported and ignored", async () => {
    const { headers } = await somebody();
    await save(1, headers);
    const page = await open(world, "/watchlist?window=9d&sort=size&page=0", headers);
    assert.deepEqual([page.status, problemsOf(page).toSorted()], [400, ["page", "sort", "window"]]);
    assert.deepEqual(repositoriesIn(page.html), ["one/one"]);
  });

  test("a long list has pages that keep its other parameters", async () => {
    const { headers } = await somebody();
    const ids = Array.from({ length: 60 }, (_, i) => String(i + 4));
    assert.equal((await world.send("POST", "/api/me/watchlist", { ids }, headers)).status, 201);
    const first = await open(world, "/watchlist?window=7d", headers);
    assert.equal(repositoriesIn(first.html).length, 50);
    assert.equal(linkTo(first.html, "Next →")?.search, "?window=7d&page=2");
    const second = await open(world, "/watchlist?window=7d&page=2", headers);
    assert.equal(repositoriesIn(second.html).length, 10);
    assert.equal(linkTo(second.html, "← Previous")?.search, "?window=7d");
    const beyond = await open(world, "/watchlist?window=7d&page=9", headers);
    assert.equal(linkTo(beyond.html, "Back to the first page")?.search, "?window=7d");
  });

  test("repositories selected before sign-in are saved after it, once", async () => {
    const first = await save(1, {}, "/explore");
    assert.deepEqual([first.status, first.location], [303, "/sign-in?next=%2Fexplore%3Fsave%3D1"]);
    assert.match(
      first.headers.getSetCookie()[0] ?? "",
      /^__Host-sidereal\.saving=1; Max-Age=3600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    const second = await save(2, { Cookie: first.cookies.join("; ") });
    assert.deepEqual(second.cookies, [`${PENDING}=1.2`]);
    const starred = { Cookie: `${PENDING}=1.2` };
    const offer = await open(world, "/sign-in?next=%2Fexplore", starred);
    assert.equal(linkTo(offer.html, "create a shared list of one/one, two/two")?.pathname, "/watchlists");
    const list = await open(world, "/watchlists", starred);
    assert.match(list.html, /github:one\/one\ngithub:two\/two<\/textarea>/);
    const sent = await submit(
      world,
      "/sign-in",
      { email: newAddress(), next: "/watchlist?save=2" },
      { Cookie: `${PENDING}=1.2` },
    );
    const signedIn = await followLink(world, mailbox, [`${PENDING}=1.2`, ...sent.cookies].join("; "));
    const session = signedIn.cookies.join("; ");
    const page = await open(world, signedIn.location ?? "", { Cookie: `${session}; ${PENDING}=1.2` });
    assert.deepEqual(namesIn(page.notices), ["one/one", "two/two"]);
    assert.deepEqual(repositoriesIn(page.html), ["two/two", "one/one"]);
    assert.deepEqual(page.headers.getSetCookie(), [
      `${PENDING}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure`,
    ]);
    // Again, as with the back button: nothing is doubled.
    const again = await open(world, "/docs", { Cookie: `${session}; ${PENDING}=1.2` });
    assert.deepEqual(namesIn(again.notices), ["one/one", "two/two"]);
    assert.deepEqual(repositoriesIn((await open(world, "/watchlist", { Cookie: session })).html), [
      "two/two",
      "one/one",
    ]);
  });

  test("sign-in names what it saves, on every page until it is done", async () => {
    const sent = await save(2, {}, "/explore?page=2");
    const page = await open(world, sent.location ?? "");
    assert.deepEqual(page.headings[0], [1, "Sign in to save two/two"]);
    assert.match(page.html, /<title>Sign in to save two\/two ·/);
    const wrong = await submit(world, "/sign-in", {
      email: "nobody",
      next: new URL(sent.location ?? "", "http://x").searchParams.get("next") ?? "",
    });
    assert.deepEqual([wrong.status, wrong.headings[0]], [400, [1, "Sign in to save two/two"]]);
    const cookie = sent.cookies.map((one) => one.split(";")[0]).join("; ");
    assert.match((await open(world, "/sign-in/sent", { Cookie: cookie })).text, /we save two\/two/);
    assert.doesNotMatch((await open(world, "/sign-in/sent")).text, /we save/);
    assert.deepEqual((await open(world, "/sign-in?next=%2F%3Fsave%3D999999")).headings[0], [1, "Sign in"]);
  });

  test("a prefetched page saves nothing, and leaves the save and its notice to the next page", async () => {
    const { cookie } = await somebody();
    const headers = { Cookie: `${cookie}; ${PENDING}=1` };
    for (const [name, value] of [
      ["Sec-Purpose", "prefetch"],
      ["Sec-Purpose", "prefetch;prerender"],
      ["Purpose", "prefetch"],
      ["X-Moz", "prefetch"],
    ] as const) {
      const fetched = await open(world, "/docs", { ...headers, [name]: value });
      assert.deepEqual([fetched.status, fetched.cookies], [200, []], `${name}: ${value}`);
      assert.deepEqual(fetched.notices, []);
      assert.match((await open(world, "/watchlist", { Cookie: cookie })).text, /Your watchlist is empty/);
    }
    const opened = await open(world, "/docs", headers);
    assert.deepEqual(namesIn(opened.notices), ["one/one"]);
    assert.equal(opened.cookies.length, 1);
  });

  test("in another browser the page after sign-in offers to save it", async () => {
    const { headers } = await somebody();
    const page = await open(world, "/explore?q=x&save=2", headers);
    assert.match(page.html, /<input type="hidden" name="next" value="\/explore\?q=x"\/>/);
    assert.ok(page.text.includes("two/two"));
    assert.match(page.html, OFFERED);
    assert.equal((await save(2, headers, "/watchlist")).location, "/watchlist");
    const saved = await open(world, "/explore?q=x&save=2", headers);
    assert.doesNotMatch(saved.html, OFFERED);
  });

  test("an invalid cookie is ignored and blocks no page", async () => {
    const { cookie } = await somebody();
    for (const value of ["", "x", "0", "999999", "1;2", "-5", "1e3"]) {
      const page = await open(world, "/docs", { Cookie: `${cookie}; ${PENDING}=${value}` });
      assert.equal(page.status, 200, value);
      assert.match(page.headers.getSetCookie()[0] ?? "", /Max-Age=0/, value);
    }
    assert.equal((await open(world, "/docs", { Cookie: `${PENDING}=1` })).headers.get("set-cookie"), null);
    const twenty = Array.from({ length: 40 }, (_, i) => i + 1).join(".");
    const kept = await save(60, { Cookie: `${PENDING}=${twenty}` });
    assert.equal(
      kept.cookies[0],
      `${PENDING}=${[...Array.from({ length: 19 }, (_, i) => i + 22), 60].join(".")}`,
    );
  });

  test("a full watchlist is reported, and pages still work", async () => {
    const own = await createWorld(engine, mailbox.settings);
    await own.record(...Array.from({ length: 501 }, (_, i) => observation(`full/r${i}`, daily(1, 2))));
    const { headers, cookie } = await signIn(own, mailbox, newAddress());
    const ids = Array.from({ length: 500 }, (_, i) => String(i + 1));
    assert.equal((await own.send("POST", "/api/me/watchlist", { ids }, headers)).status, 201);
    const page = await open(own, "/docs", { Cookie: `${cookie}; ${PENDING}=501` });
    assert.equal(page.status, 200);
    const [notice = ""] = page.notices;
    assert.deepEqual(namesIn([notice]), ["full/r500"]);
    assert.ok(numbersIn(notice).includes("500"));
    const refused = await submit(own, "/watchlist/items", { repositoryId: "501" }, headers);
    assert.equal(refused.status, 409);
    assert.ok(numbersIn(refused.text).includes("500"));
  });

  test("only existing repositories can be saved", async () => {
    const { headers } = await somebody();
    assert.equal((await save("x", headers)).status, 400);
    assert.equal((await save(999_999, headers)).status, 404);
    assert.equal((await save(999_999, {})).status, 404);
    assert.equal((await save(1, headers, "https://evil.example")).location, "/watchlist");
    const page = await world.request("/watchlist/items", { headers: { Accept: "text/html" } });
    assert.deepEqual([page.status, page.headers.get("allow")], [405, "OPTIONS, POST"]);
  });

  test("shows the changes since the last visit", async () => {
    const own = await createWorld(engine, mailbox.settings);
    await own.record(observation("one/one", daily(100, 110), { facts: { stars: 110 }, providerId: "1" }));
    const { headers } = await signIn(own, mailbox, newAddress());
    await submit(own, "/watchlist/items", { repositoryId: "1" }, headers);
    const { watchlists } = own.modules;
    const since = async () => sinceIn(await open(own, "/watchlist", headers));
    assert.equal(await since(), "");
    await watchlists.flush();
    own.clock.advance(VISIT_MS);
    assert.equal(await since(), "Since your last visit, less than an hour ago: no new stars.");
    await watchlists.flush();
    own.clock.advance(4 * 3_600_000);
    const at = NOW + 2 * 3_600_000;
    await own.record(
      observation("one/uno", [snapshot(-2, 150)], {
        at,
        facts: { stars: 150, archived: true },
        providerId: "1",
      }),
    );
    // A page that is fetched beforehand is no visit.
    const fetched = await open(own, "/watchlist", { ...headers, "Sec-Purpose": "prefetch" });
    assert.equal(sinceIn(fetched), "");
    assert.equal(
      await since(),
      "Since your last visit, 4 hours ago: +40 stars; one/uno was renamed from one/one; one/uno was archived.",
    );
  });

  test("stars in lists show what is saved, and lead visitors to sign-in", async () => {
    const { headers } = await somebody();
    await save(1, headers);
    const csv = /href="(\/api\/me\/watchlist\?[^"]*format=csv)"/.exec(
      (await open(world, "/watchlist?window=7d&sort=stars", headers)).html,
    );
    const table = await world.request((csv?.[1] ?? "").replaceAll("&amp;", "&"), { headers });
    assert.equal(table.status, 200);
    assert.match(table.headers.get("content-type") ?? "", /^text\/csv/);
    const page = await open(world, "/explore", headers);
    assert.match(
      page.html,
      /items\/remove" data-save="1" data-name="one\/one" aria-label="Remove one\/one from/,
    );
    assert.match(page.html, /items" data-save="2" data-name="two\/two" aria-label="Save two\/two"/);
    const form = /<button[^>]*form="([^"]*)"[^>]*data-save="2"/.exec(page.html)?.[1];
    assert.ok(page.html.includes(`<form method="post" action="/watchlist/items" id="${form}">`));
    assert.doesNotMatch((await open(world, "/explore")).html, /class="star saved"/);
  });
});
