import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_OPEN } from "../../src/tracking/requests/wanted.js";
import { onSqliteAndLong } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { openMailbox } from "../support/mail.js";
import { ORIGIN, signIn } from "../support/members.js";
import { fieldOf, open, openPage, type Page, submit } from "../support/page.js";
import { createWorld, NOW, observation, type World } from "../support/world.js";

const OPEN = { SIDEREAL_PROVIDERS: "github,gitlab", SIDEREAL_TRACK: "everyone" };
const REFRESH = /<meta http-equiv="refresh" content="(\d+)"/;

/** The addresses that the forms of a page request. */
const offered = ({ html }: Page): string[] =>
  [
    ...html.matchAll(
      /<form method="post" action="\/track"[^>]*><input type="hidden" name="repository" value="([^"]*)"/g,
    ),
  ].flatMap(([, value = ""]) => value.split(" "));

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
    assert.ok(page.buttons.includes("Track group/sub/new"));
    assert.deepEqual(offered(await open(world, "/repos/codeberg/o/n")), []);
  });

  test("a search without a match, and a page that does not exist, have the field filled in", async () => {
    const world = await openWorld();
    const field = async (path: string) => fieldOf(await openPage(world, path), "repository")?.value;
    const search = (q: string) => field(`/explore?${new URLSearchParams({ q })}`);
    assert.equal(await search("zzzzqqqq"), "zzzzqqqq");
    assert.equal(await search("zzzz/qqqq"), "github:zzzz/qqqq", "an address needs one button alone");
    assert.equal(await search("https://gitlab.com/zzzz/qqqq/-/issues"), "gitlab:zzzz/qqqq");
    assert.equal(await search("known/one"), undefined);
    assert.equal(await field("/zzzzqqqq"), "zzzzqqqq");
  });

  test("unknown names on compare have one button, which leads back to the comparison as they are read", async () => {
    const world = await openWorld();
    const names = ["known/one", "a/new", "A/New", "gitlab:g/s/n", "nothing"];
    const query = names.map((name) => `repo=${encodeURIComponent(name)}`).join("&");
    const page = await openPage(world, `/compare?${query}`);
    assert.equal(page.status, 400);
    const [word, ...named] = offered(page);
    assert.deepEqual([word, named], ["nothing", ["github:A/New", "gitlab:g/s/n"]]);
    const next = `/compare?${query}`;
    const asked = await submit(world, "/track", { repository: named.join(" "), next });
    assert.deepEqual([asked.status, asked.location], [303, next]);
    const reading = await openPage(world, next);
    assert.deepEqual(offered(reading), ["nothing"]);
    assert.deepEqual(reading.headings.filter(([level]) => level === 2).slice(0, 2), [
      [2, "A/New"],
      [2, "g/s/n"],
    ]);
    assert.match(reading.html, REFRESH);
    const away = await submit(world, "/track", { repository: "o/n", next: "//evil.example/compare?" });
    assert.equal(away.location, "/repos/github/o/n");
  });

  test("the form leads to the progress, which reloads itself and is neither kept nor indexed", async () => {
    const world = await openWorld();
    const path = await request(world, "https://github.com/o/first/issues/5");
    assert.equal(path, "/repos/github/o/first");
    const page = await openPage(world, path);
    assert.equal(page.status, 200);
    assert.deepEqual(
      [page.headers.get("cache-control"), /name="robots" content="noindex"/.test(page.html)],
      ["no-store", true],
    );
    assert.match(page.text, /Waiting: no worker is running/);
    assert.match(page.html, REFRESH);
    assert.equal((await request(world, "O/First")).toLowerCase(), path, "joins the open request");
  });

  test("the progress shows each state, and ends on the page of the repository", async () => {
    const world = await openWorld();
    const path = await request(world, "o/first");
    const { write, read } = world.modules.database;
    const { public_id: id } = await read.selectFrom("wanted").selectAll().executeTakeFirstOrThrow();
    assert.equal((await open(world, `/track/${id}`)).location, path);
    const set = (change: Record<string, number | string | null>) =>
      write.updateTable("wanted").set(change).execute();
    await set({ repository_id: 1 });
    assert.match((await openPage(world, path)).text, /Reading its history …/);
    await set({ finished_at: NOW });
    const done = await open(world, path);
    assert.deepEqual([done.status, done.location], [302, "/repos/github/known/one"]);
    assert.equal(done.headers.get("cache-control"), "no-store");
    await set({ repository_id: null, failure: "gone" });
    const failed = await openPage(world, path);
    assert.match(failed.text, /no public repository/);
    assert.doesNotMatch(failed.html, REFRESH);
    assert.deepEqual([failed.status, offered(failed)], [404, ["github:o/first"]]);
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
    assert.equal(fieldOf(await openPage(world, "/track?repository=o%2Fn"), "repository")?.value, "o/n");
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
    const { id: _, ...row } = await write.selectFrom("wanted").selectAll().executeTakeFirstOrThrow();
    const rows = Array.from({ length: MAX_OPEN - 1 }, (_unused, i) => ({
      ...row,
      public_id: `sidt_${i}`,
      text: `o/${i}`,
      text_key: `o/${i}`,
    }));
    for (let i = 0; i < rows.length; i += 100)
      await write
        .insertInto("wanted")
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

  test("if accounts may request, visitors sign in and come back to the filled form", async () => {
    const world = await openWorld({ ...mailbox.settings, SIDEREAL_TRACK: "accounts" });
    assert.deepEqual(offered(await open(world, "/repos/github/o/n")), ["github:o/n"]);
    const asked = await submit(world, "/track", { repository: "https://github.com/o/n/pulls" });
    const next = "/track?repository=github%3Ao%2Fn";
    assert.deepEqual([asked.status, asked.location], [303, `/sign-in?next=${encodeURIComponent(next)}`]);
    assert.equal(fieldOf(await open(world, next), "repository")?.value, "github:o/n");
    const { cookie } = await signIn(world, mailbox, "ada@example.org");
    const own = { Cookie: cookie, Origin: ORIGIN };
    const done = await submit(world, "/track", { repository: "github:o/n" }, own);
    assert.equal(done.location, "/repos/github/o/n");
  });

  test("nothing is offered while requests are off, or while nobody can sign in", async () => {
    for (const env of [{ SIDEREAL_TRACK: "off" }, { SIDEREAL_TRACK: "accounts" }]) {
      const world = await openWorld(env);
      for (const path of ["/repos/github/o/n", "/explore?q=zzzz/qqqq", "/compare?repo=a/new"])
        assert.doesNotMatch((await open(world, path)).html, /method="post" action="\/track"/);
      assert.match((await open(world, "/track")).text, /operator of this service adds/);
    }
    const off = await openWorld({ SIDEREAL_TRACK: "off" });
    for (const [text, path] of [
      ["https://github.com/Known/One/issues/3", "/repos/github/known/one"],
      ["kite runner", "/explore?q=kite+runner"],
    ] as const) {
      const { status, location } = await open(off, `/track?${new URLSearchParams({ repository: text })}`);
      assert.deepEqual(
        [status, location],
        [302, path],
        "it opens what is tracked, and searches for the rest",
      );
    }
    assert.equal((await submit(off, "/track", { repository: "o/n" })).status, 403);
  });
});
