import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS } from "../../src/lib/clock.js";
import { MAX_PASTED } from "../../src/tracking/requests/requests.js";
import { onSqliteAndLong } from "../support/engines.js";
import { limits } from "../support/limits.js";
import { openMailbox } from "../support/mail.js";
import { signIn } from "../support/members.js";
import { open, openPage, submit } from "../support/page.js";
import { createWorld, NOW, observation, type World } from "../support/world.js";

const OPEN = {
  SIDEREAL_PROVIDERS: "github,gitlab",
  SIDEREAL_TRACK: "everyone",
  ...limits("tracked=1000000"),
};

onSqliteAndLong("Requesting several repositories", (engine) => {
  const mailbox = openMailbox();
  const openWorld = async (env: Record<string, string> = {}) => {
    const world = await createWorld(engine, { ...OPEN, ...env });
    await world.record(observation("known/one", [], { facts: { stars: 7 } }));
    return world;
  };
  const requests = (world: World) =>
    world.modules.database.read
      .selectFrom("wanted")
      .selectAll()
      .where("kind", "=", "repository")
      .orderBy("id")
      .execute();
  const paste = async (world: World, repository: string) => {
    const { status, location } = await submit(world, "/track", { repository });
    assert.equal(status, 303);
    assert.match(location ?? "", /^\/track\/lists\/sidt_/);
    return location ?? "";
  };

  test("finds the links in a text, requests each once, and shows what becomes of them", async () => {
    const world = await openWorld();
    const path = await paste(
      world,
      `# Awesome\n- [One](https://github.com/Known/One) and [two](https://github.com/a/two#readme)\n- https://gitlab.com/g/s/three.git\n- again https://github.com/A/Two, elsewhere https://example.org/a/b`,
    );
    assert.deepEqual(
      (await requests(world)).map((row) => [row.provider, row.text, row.is_batch]),
      [
        ["GITHUB", "a/two", 1],
        ["GITLAB", "g/s/three", 1],
      ],
    );
    const page = await openPage(world, path);
    assert.deepEqual(
      ["Named", "Tracked before", "Added", "Waiting"].map((name) => page.facts.get(name)),
      ["3", "1", "0", "2"],
    );
    assert.match(page.html, /<noscript><meta http-equiv="refresh" content="3"\/?><\/noscript>/);
    assert.equal(page.headers.get("cache-control"), "no-store");
    const { write } = world.modules.database;
    const set = (name: string, change: object) =>
      write.updateTable("wanted").set(change).where("text", "=", name).execute();
    await set("a/two", { repository_id: 1, finished_at: NOW });
    await set("g/s/three", { failure: "gone", finished_at: NOW });
    const done = await openPage(world, path);
    assert.deepEqual(
      ["Added", "Waiting", "Not found"].map((name) => done.facts.get(name)),
      ["1", "0", "1"],
    );
    assert.match(done.text, /g\/s\/three: The forge has no public repository/);
    assert.doesNotMatch(done.html, /http-equiv="refresh"/);
  });

  /** The names in the field of those that were left out. */
  const leftOut = async (world: World, path: string) => {
    const { html, facts } = await openPage(world, path);
    const [, names = ""] = /<textarea[^>]*>([^<]*)<\/textarea>/.exec(html) ?? [];
    assert.equal(facts.get("Left out"), `${names.split("\n").length} see below`);
    return names.split("\n");
  };

  test("takes a bounded number of repositories, and names the others", async () => {
    const world = await openWorld();
    const many = Array.from({ length: MAX_PASTED + 2 }, (_, i) => `o/r${i}`).join("\n");
    const path = await paste(world, many);
    assert.equal((await requests(world)).length, MAX_PASTED);
    assert.deepEqual(await leftOut(world, path), [`github:o/r${MAX_PASTED}`, `github:o/r${MAX_PASTED + 1}`]);
    assert.equal((await submit(world, "/track", { repository: "x ".repeat(40_000) })).status, 413);
  });

  test("requests as many as the daily quota has left, names the others, and takes them the day after", async () => {
    const world = await openWorld(limits("tracked=3"));
    assert.equal((await submit(world, "/track", { repository: "o/first" })).status, 303);
    const path = await paste(world, "known/one\no/a\no/b\no/c\no/d");
    assert.deepEqual(
      (await requests(world)).map((row) => row.text),
      ["o/first", "o/a", "o/b"],
    );
    const rest = await leftOut(world, path);
    assert.deepEqual(rest, ["github:o/c", "github:o/d"]);
    const refused = await submit(world, "/track", { repository: rest.join("\n") });
    assert.equal(refused.status, 429, "none fits");
    assert.equal((await submit(world, "/track", { repository: "o/e" })).status, 429);
    world.clock.advance(DAY_MS);
    await paste(world, rest.join("\n"));
    assert.equal((await requests(world)).length, 5);
  });

  test("a text without links, or of hostile ones, requests nothing and is shown as text", async () => {
    const world = await openWorld();
    for (const repository of [
      "no links here at all",
      `<script>alert(1)</script> "><b>x</b>`,
      "https://169.254.169.254/latest/meta http://localhost:80/a/b file:///etc/passwd",
      "javascript:alert(1) //evil.example/a/b",
    ]) {
      const page = await submit(world, "/track", { repository });
      assert.equal(page.status, 400, repository);
      assert.equal(page.alerts.length, 1);
      assert.doesNotMatch(page.html, /<script>alert|<b>x/);
    }
    assert.deepEqual(await requests(world), []);
    assert.equal((await open(world, "/track/lists/sidt_unknown")).status, 404);
  });

  test("if accounts may, visitors sign in first; if nobody may, it is refused", async () => {
    const world = await openWorld({ ...mailbox.settings, SIDEREAL_TRACK: "accounts" });
    assert.match((await submit(world, "/track", { repository: "o/a\no/b" })).location ?? "", /^\/sign-in/);
    const off = await openWorld({ SIDEREAL_TRACK: "off" });
    assert.equal((await submit(off, "/track", { repository: "o/a\no/b" })).status, 403);
  });

  test("operators may without a quota, and alone have a README read", async () => {
    const world = await openWorld({
      ...mailbox.settings,
      SIDEREAL_OPERATORS: "ann@example.org",
      SIDEREAL_TRACK: "off",
      ...limits("tracked=1"),
    });
    const ann = await signIn(world, mailbox, "ann@example.org");
    const bob = await signIn(world, mailbox, "bob@example.org");
    const send = (repository: string, headers: Record<string, string>) =>
      submit(world, "/track", { repository, as: "links" }, headers);
    assert.match((await send("o/a\no/b\no/c", ann.headers)).location ?? "", /^\/track\/lists\//);
    const asked = await send("https://github.com/sindresorhus/awesome", ann.headers);
    const page = await openPage(world, asked.location ?? "", ann.headers);
    assert.match(page.text, /waits to be read on GitHub/);
    const lists = await world.modules.database.read
      .selectFrom("wanted")
      .selectAll()
      .where("kind", "in", ["links", "readme"])
      .execute();
    assert.deepEqual(
      lists.map((row) => [row.text, row.finished_at === null]),
      [
        ["", false],
        ["sindresorhus/awesome", true],
      ],
    );
    assert.equal((await send("o/list", bob.headers)).status, 403);
    const readme = { repository: "https://github.com/o/list/blob/main/README.md" };
    const choice = await submit(world, "/track", readme, ann.headers);
    assert.equal(choice.status, 200);
    assert.deepEqual(
      choice.buttons.filter((name) => name.startsWith("Track ")),
      ["Track o/list", "Track what its README links to"],
    );
  });
});
