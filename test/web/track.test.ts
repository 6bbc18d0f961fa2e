import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_OPEN } from "../../src/tracking/requests/track-requests.js";
import { onSqliteAndLong } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { openMailbox } from "../support/mail.js";
import { ORIGIN, signIn } from "../support/members.js";
import { open, openPage, type Page, submit } from "../support/page.js";
import { createWorld, NOW, observation, type World } from "../support/world.js";

const OPEN = { SIDEREAL_PROVIDERS: "github,gitlab", SIDEREAL_TRACK: "everyone" };
const REFRESH = /<meta http-equiv="refresh" content="(\d+)"/;

/** The addresses that the forms of a page request. */
const offered = ({ html }: Page): (string | undefined)[] =>
  [
    ...html.matchAll(
      /<form method="post" action="\/track"[^>]*><input type="hidden" name="repository" value="([^"]*)"/g,
    ),
  ].map(([, value]) => value);

onSqliteAndLong("The pages that request repositories", (engine) => {
  const mailbox = openMailbox();
  const openWorld = async (env: Record<string, string> = {}) => {
    const world = await createWorld(engine, { ...OPEN, ...env });
    await world.record(observation("known/one", [], { facts: { stars: 7 } }));
    return world;
  };
  /** Requests a repository by the form; the path of its progress. */
  const request = async (world: World, repository: string) => {
    const { status, location } = await submit(world, "/track", { repository });
    assert.equal(status, 303);
    return location ?? "";
  };

  test("a repository that is not tracked has a button, also under its clone URL", async () => {
    const world = await openWorld();
    const page = await openPage(world, "/repos/gitlab/group/sub/new.git");
    assert.deepEqual([page.status, offered(page)], [404, ["gitlab:group/sub/new"]]);
    assert.ok(page.buttons.includes("Track this repository"));
    assert.deepEqual(offered(await open(world, "/repos/codeberg/o/n")), []);
  });

  test("a search without a match offers the repository that it names", async () => {
    const world = await openWorld();
    const search = async (q: string, more = "") =>
      offered(await openPage(world, `/explore?${new URLSearchParams({ q })}${more}`));
    assert.deepEqual(await search("zzzz/qqqq"), ["github:zzzz/qqqq"]);
    assert.deepEqual(await search("https://gitlab.com/zzzz/qqqq/-/issues"), ["gitlab:zzzz/qqqq"]);
    assert.deepEqual(await search("zzzzqqqq"), []);
    assert.deepEqual(await search("known/one"), []);
    assert.deepEqual(await search("known/one", "&minStars=1000"), [], "known, only filtered out");
  });

  test("unknown names on compare each have a button", async () => {
    const world = await openWorld();
    const names = ["known/one", "a/new", "A/New", "gitlab:g/s/n", "nothing"];
    const query = names.map((name) => `repo=${encodeURIComponent(name)}`).join("&");
    const page = await openPage(world, `/compare?${query}`);
    assert.equal(page.status, 400);
    assert.deepEqual(offered(page), ["github:A/New", "gitlab:g/s/n"]);
  });

  test("the form leads to the progress, which reloads itself and is neither kept nor indexed", async () => {
    const world = await openWorld();
    const path = await request(world, "https://github.com/o/first/issues/5");
    assert.match(path, /^\/track\/sidt_[0-9A-Za-z]{36}$/);
    const page = await openPage(world, path);
    assert.equal(page.status, 200);
    assert.deepEqual(
      ["cache-control", "x-robots-tag"].map((name) => page.headers.get(name)),
      ["no-store", "noindex"],
    );
    assert.equal(page.facts.get("Position"), "1");
    assert.match(page.facts.get("Estimated wait") ?? "", /no worker/);
    assert.match(page.html, REFRESH);
    assert.equal(await request(world, "O/First"), path, "joins the open request");
    const second = await openPage(world, await request(world, "github:o/second"));
    assert.equal(second.facts.get("Position"), "2");
  });

  test("the progress shows each state, and ends on the page of the repository", async () => {
    const world = await openWorld();
    const path = await request(world, "o/first");
    const { write } = world.modules.database;
    const set = (change: Record<string, number | string | null>) =>
      write.updateTable("track_requests").set(change).execute();
    await set({ repository_id: 1 });
    const recorded = await openPage(world, path);
    assert.ok(recorded.links.includes("/repos/github/known/one"));
    assert.match(recorded.html, REFRESH);
    await set({ pages: 1_234 });
    assert.match((await openPage(world, path)).text, /1,234 pages/);
    await set({ finished_at: NOW });
    const done = await open(world, path);
    assert.deepEqual([done.status, done.location], [302, "/repos/github/known/one"]);
    assert.equal(done.headers.get("cache-control"), "no-store");
    await set({ repository_id: null, failure: "gone" });
    const failed = await openPage(world, path);
    assert.match(failed.text, /no public repository/);
    assert.doesNotMatch(failed.html, REFRESH);
    assert.ok(failed.links.includes("/track?repository=github%3Ao%2Ffirst"));
  });

  test("a known repository is opened, and a wrong address stays in the form with the reason", async () => {
    const world = await openWorld();
    assert.equal(await request(world, "KNOWN/one"), "/repos/github/known/one");
    for (const repository of ["https://bitbucket.org/o/n", "", '"><b>x', "x".repeat(2_001)]) {
      const page = await submit(world, "/track", { repository });
      assert.equal(page.status, 400);
      assert.equal(page.alerts.length, 1);
      assert.doesNotMatch(page.html, /<b>x/);
    }
    assert.deepEqual([(await open(world, "/track/sidt_unknown")).status], [404]);
    assert.equal((await openPage(world, "/track?repository=o%2Fn")).html.includes(">o/n</textarea>"), true);
  });

  test("a daily quota is a 429 and a full queue a 503, as pages that say when to try again", async () => {
    const world = await openWorld(limits("tracked=1"));
    await request(world, "o/first");
    const over = await submit(world, "/track", { repository: "o/second" });
    assert.deepEqual([over.status, over.headers.get("retry-after")], [429, "43200"]);
    assert.doesNotMatch(over.text, /per minute/);
    const full = await openWorld();
    await request(full, "o/first");
    const { write } = full.modules.database;
    const { id: _, ...row } = await write.selectFrom("track_requests").selectAll().executeTakeFirstOrThrow();
    const rows = Array.from({ length: MAX_OPEN - 1 }, (_unused, i) => ({
      ...row,
      public_id: `sidt_${i}`,
      full_name: `o/${i}`,
      name_key: `o/${i}`,
    }));
    for (let i = 0; i < rows.length; i += 100)
      await write
        .insertInto("track_requests")
        .values(rows.slice(i, i + 100))
        .execute();
    const refused = await submit(full, "/track", { repository: "o/late" });
    assert.deepEqual([refused.status, refused.headers.get("retry-after")], [503, "600"]);
  });

  test("other sites cannot request repositories", async () => {
    const world = await openWorld();
    const page = await submit(world, "/track", { repository: "o/n" }, { Origin: "https://evil.example" });
    assert.equal(page.status, 403);
  });

  test("where accounts may request, visitors sign in and come back to the filled form", async () => {
    const world = await openWorld({ ...mailbox.settings, SIDEREAL_TRACK: "accounts" });
    assert.deepEqual(offered(await open(world, "/repos/github/o/n")), ["github:o/n"]);
    const asked = await submit(world, "/track", { repository: "https://github.com/o/n/pulls" });
    const next = "/track?repository=github%3Ao%2Fn";
    assert.deepEqual([asked.status, asked.location], [303, `/sign-in?next=${encodeURIComponent(next)}`]);
    assert.match((await open(world, next)).html, />github:o\/n<\/textarea>/);
    const { cookie } = await signIn(world, mailbox, "ada@example.org");
    const own = { Cookie: cookie, Origin: ORIGIN };
    const done = await submit(world, "/track", { repository: "github:o/n" }, own);
    assert.match(done.location ?? "", /^\/track\/sidt_/);
  });

  test("nothing is offered while requests are off, or while nobody can sign in", async () => {
    for (const env of [
      { SIDEREAL_TRACK: "off" },
      { SIDEREAL_TRACK: "accounts" },
      { SIDEREAL_PROVIDERS: "" },
    ]) {
      const world = await openWorld(env);
      for (const path of ["/repos/github/o/n", "/explore?q=zzzz/qqqq", "/compare?repo=a/new"])
        assert.doesNotMatch((await open(world, path)).html, /action="\/track"/);
      assert.equal((await open(world, "/track")).status, 404);
    }
    const off = await openWorld({ SIDEREAL_TRACK: "off" });
    assert.equal((await submit(off, "/track", { repository: "o/n" })).status, 403);
  });
});
