import assert from "node:assert/strict";
import { before, test } from "node:test";
import { createToken } from "../../src/lib/tokens.js";
import { VISIT_MS } from "../../src/watchlists/changes.js";
import { onSqlite } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { openMailbox } from "../support/mail.js";
import { ORIGIN, signIn } from "../support/members.js";
import { fieldOf, numbersIn, open, problemsOf, repositoriesIn, sinceIn, submit } from "../support/page.js";
import { createWorld, daily, observation, snapshot, type World } from "../support/world.js";

onSqlite("The pages of lists without an account", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  before(async () => {
    world = await createWorld(engine, mailbox.settings);
    await world.record(
      observation("one/one", daily(100, 110, 125), { facts: { stars: 125 } }),
      observation("two/two", daily(50, 60, 90), { facts: { stars: 90 } }),
      observation("group/sub/deep", daily(5, 6), { provider: "GITLAB", facts: { stars: 6 } }),
    );
  });
  /** Makes a list by the form; the paths of both its links. */
  const make = async (fields: Record<string, string>) => {
    const page = await submit(world, "/watchlists", fields);
    const link = (id: string) =>
      new RegExp(`<pre id="${id}"><code>${ORIGIN}([^<]*)</code>`).exec(page.html)?.[1] ?? "";
    return { page, edit: link("edit-link"), share: link("share-link") };
  };

  test("a list is created from any kind of name, and both links are shown once", async () => {
    assert.ok((await open(world, "/watchlists")).buttons.includes("Create list"));
    const repositories =
      "one/one\r\n\r\nhttps://gitlab.com/group/sub/deep/-/issues\r\nONE/One\r\ngithub:two/two";
    const { page, edit, share } = await make({ name: " <b>Mine</b> ", repositories });
    assert.equal(page.status, 200);
    assert.deepEqual(
      ["cache-control", "referrer-policy", "x-robots-tag"].map((name) => page.headers.get(name)),
      ["no-store", "same-origin", "noindex"],
    );
    assert.match(edit, /^\/watchlists\/sidw_/);
    assert.match(share, /^\/watchlists\/sidr_/);
    const list = await open(world, edit);
    assert.deepEqual(repositoriesIn(list.html), ["two/two", "one/one", "group/sub/deep"]);
    assert.match(list.text, /<b>Mine<\/b>/);
    assert.doesNotMatch(list.html, /<b>Mine/);
    assert.doesNotMatch(list.html, /sidr_/);
  });

  test("a wrong name refuses no right one, and a refused form keeps its values", async () => {
    const repositories = "one/one\n<nobody>/here\nname";
    const { page } = await make({ name: "x".repeat(101), repositories });
    assert.equal(page.status, 400);
    assert.ok(page.alerts.join(" ").includes("100"));
    assert.match(page.html, /one\/one\n&lt;nobody>\/here\nname<\/textarea>/);
    const some = await make({ repositories });
    for (const part of ["<nobody>/here: not tracked here", "name: not tracked here"])
      assert.ok(some.page.text.includes(part), some.page.text);
    assert.deepEqual(repositoriesIn((await open(world, some.edit)).html), ["one/one"]);
    const long = await make({ repositories: "a/b\n".repeat(501) });
    assert.equal(long.page.status, 400);
    assert.ok(long.page.alerts.some((alert) => numbersIn(alert).includes("500")));
    const empty = await open(world, (await make({})).edit);
    assert.deepEqual(empty.headings[0], [1, "Watchlist"]);
    assert.deepEqual(repositoriesIn(empty.html), []);
  });

  test("the address is not leaked and the page not cached", async () => {
    const { edit, share } = await make({ repositories: "one/one" });
    for (const path of [edit, share]) {
      const { headers, html } = await open(world, path);
      assert.deepEqual(
        ["cache-control", "referrer-policy", "x-robots-tag"].map((name) => headers.get(name)),
        ["private, no-cache", "same-origin", "noindex"],
      );
      assert.doesNotMatch(html, /rel="canonical"|og:url/);
      assert.match(html, /<meta name="robots" content="noindex"\/>/);
    }
  });

  test("every invalid link is the same 404, and guessing is rate limited", async () => {
    const few = await createWorld(engine, limits("default=30"));
    const texts = new Set<string>();
    const statuses: number[] = [];
    for (const token of [createToken("sidw"), createToken("sidr"), "x", createToken("sidl")]) {
      const page = await open(few, `/watchlists/${token}`);
      statuses.push(page.status);
      if (page.status === 404) texts.add(page.text);
    }
    assert.deepEqual(statuses, [404, 404, 404, 429]);
    assert.equal(texts.size, 1);
  });

  test("the edit link changes the list", async () => {
    const { edit } = await make({ name: "Mine", repositories: "one/one" });
    const added = await submit(world, `${edit}/items`, { repository: "https://github.com/two/two" });
    assert.deepEqual([added.status, added.location], [303, edit]);
    const unknown = await submit(world, `${edit}/items`, { repository: "no/body" });
    assert.equal(unknown.status, 400);
    assert.equal(unknown.alerts.length, 1);
    assert.deepEqual(
      ["value", "aria-invalid"].map((name) => fieldOf(unknown, "repository")?.[name]),
      ["no/body", "true"],
    );
    const sorted = await open(world, `${edit}?window=7d&sort=stars`);
    assert.deepEqual(repositoriesIn(sorted.html), ["one/one", "two/two"]);
    assert.match(sorted.html, new RegExp(`name="next" value="${edit}\\?window=7d&amp;sort=stars"`));
    assert.match(sorted.html, new RegExp(`href="/api${edit}/repositories\\?window=7d"`));
    const removed = await submit(world, `${edit}/items/remove`, {
      repositoryId: "1",
      next: `${edit}?window=7d&sort=stars`,
    });
    assert.deepEqual([removed.status, removed.location], [303, `${edit}?window=7d&sort=stars`]);
    assert.deepEqual(repositoriesIn((await open(world, edit)).html), ["two/two"]);
    assert.equal((await submit(world, `${edit}/items/remove`, { repositoryId: "x" })).status, 400);
    const badName = await submit(world, `${edit}/rename`, { name: "" });
    assert.equal(badName.status, 400);
    assert.deepEqual(numbersIn(badName.alerts[0] ?? ""), ["1", "100"]);
    assert.equal((await submit(world, `${edit}/rename`, { name: "Yours" })).status, 303);
    assert.match((await open(world, edit)).html, /<h1><bdi>Yours<\/bdi><\/h1>/);
    const gone = await submit(world, `${edit}/delete`);
    assert.deepEqual([gone.status, gone.location], [303, "/watchlists/gone"]);
    assert.deepEqual((await open(world, "/watchlists/gone")).headings, [[1, "List deleted"]]);
    assert.equal((await open(world, edit)).status, 404);
  });

  test("the share link is read only", async () => {
    const { edit, share } = await make({ name: "Mine", repositories: "one/one\ntwo/two" });
    const page = await open(world, share);
    assert.deepEqual(repositoriesIn(page.html), ["two/two", "one/one"]);
    assert.doesNotMatch(page.html, /sidw_|action="\/watchlists|Remove/);
    assert.match(page.html, /<form action="\/compare"/, "what is chosen can be compared");
    for (const path of ["items", "items/remove", "rename", "delete"]) {
      const fields = { repository: "one/one", repositoryId: "1", name: "x" };
      assert.equal((await submit(world, `${share}/${path}`, fields)).status, 403, path);
    }
    assert.deepEqual(repositoriesIn((await open(world, edit)).html), ["two/two", "one/one"]);
  });

  test("a list is copied to the user's watchlist", async () => {
    const { share } = await make({ repositories: "one/one\ntwo/two" });
    assert.doesNotMatch((await open(world, share)).html, /\/copy"/);
    assert.equal((await submit(world, `${share}/copy`)).location, "/sign-in?next=%2Fwatchlist");
    const { headers } = await signIn(world, mailbox, "copy@example.org");
    assert.match((await open(world, share, headers)).html, new RegExp(`formaction="${share}/copy"`));
    const copied = await submit(world, `${share}/copy`, {}, headers);
    assert.deepEqual([copied.status, copied.location], [303, "/watchlist"]);
    assert.deepEqual(repositoriesIn((await open(world, "/watchlist", headers)).html), ["two/two", "one/one"]);
    assert.doesNotMatch((await open(world, share, headers)).html, /\/copy"/);
  });

  test("invalid parameters are reported and ignored", async () => {
    const { share } = await make({ repositories: "one/one" });
    const page = await open(world, `${share}?window=1y`);
    assert.deepEqual([page.status, problemsOf(page)], [400, ["window"]]);
    assert.deepEqual(repositoriesIn(page.html), ["one/one"]);
  });

  test("a returning browser sees the changes, by a cookie without the token", async () => {
    const own = await createWorld(engine);
    await own.record(observation("one/one", daily(100, 110), { facts: { stars: 110 } }));
    const { token, shareToken } = await own.modules.watchlists.create("Mine", [1]);
    const path = `/watchlists/${shareToken}`;
    const first = await open(own, path);
    assert.equal(sinceIn(first), "");
    assert.match(
      first.headers.getSetCookie()[0] ?? "",
      /^__Secure-sidereal\.seen=[0-9a-f]{12}-\d+-0; Max-Age=15552000; Path=\/watchlists; HttpOnly; SameSite=Lax; Secure$/,
    );
    own.clock.advance(VISIT_MS + 3_600_000);
    await own.record(observation("one/one", [snapshot(-1, 140)], { facts: { stars: 140 } }));
    const cookie = first.cookies[0] ?? "";
    // A page that is fetched beforehand is no visit.
    const fetched = await open(own, path, { Cookie: cookie, "Sec-Purpose": "prefetch" });
    assert.deepEqual(fetched.cookies, []);
    const second = await open(own, path, { Cookie: cookie });
    assert.equal(sinceIn(second), "Since your last visit, 1 hour ago: +30 stars.");
    // The other link of the list, and another browser, are on their first visit.
    for (const [other, headers] of [
      [`/watchlists/${token}`, { Cookie: cookie }],
      [path, {}],
      [path, { Cookie: "__Secure-sidereal.seen=x-1-1.zzzzzzzzzzzz-5-5.%00" }],
    ] as const)
      assert.equal(sinceIn(await open(own, other, headers)), "");
    let jar = cookie;
    for (let i = 0; i < 25; i++) {
      const made = await own.modules.watchlists.create("Other", []);
      jar = (await open(own, `/watchlists/${made.shareToken}`, { Cookie: jar })).cookies[0] ?? "";
    }
    assert.equal(jar.split(".").length - 1, 20);
  });
});
