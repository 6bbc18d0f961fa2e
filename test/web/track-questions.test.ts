import assert from "node:assert/strict";
import { test } from "node:test";
import { onSqliteAndLong } from "../support/engines.js";
import { fieldOf, open, openPage, type Page, submit } from "../support/page.js";
import { createWorld, NOW, observation, type World } from "../support/world.js";

const OPEN = { SIDEREAL_PROVIDERS: "github,codeberg", SIDEREAL_TRACK: "everyone" };
const REFRESH = /<noscript><meta http-equiv="refresh" content="1"/;

/** The hidden fields of a form per submit button. */
const hiddenBy = ({ html }: Page, button: string): Record<string, string> => {
  const form = [...html.matchAll(/<form.*?<\/form>/gs)].find(([one]) => one.includes(button))?.[0] ?? "";
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
  return Object.fromEntries(
    fields.map(([, name = "", value = ""]) => [name, value.replaceAll("&amp;", "&")]),
  );
};

onSqliteAndLong("The page of a question", (engine) => {
  const openWorld = async () => {
    const world = await createWorld(engine, OPEN);
    await world.record(observation("known/hono", [], { facts: { stars: 7 } }));
    return world;
  };
  /** Asks by the form. Returns the path of the question. */
  const ask = async (world: World, repository: string, next?: string) => {
    const fields = { repository, as: "name", ...(next !== undefined && { next }) };
    const { status, location } = await submit(world, "/track", fields);
    assert.equal(status, 303);
    assert.match(location ?? "", /^\/track\/questions\/sidt_/);
    return location ?? "";
  };
  /** What the worker stores once a forge has answered. */
  const answer = (world: World, provider: string, total: number, names: readonly string[]) =>
    world.modules.database.write
      .updateTable("wanted")
      .set({
        answer: JSON.stringify({
          total,
          candidates: names.map((fullName, i) => ({
            provider,
            fullName,
            stars: 1_000 - i,
            description: "<b>bold</b>",
          })),
        }),
        finished_at: NOW,
      })
      .where("provider", "=", provider)
      .execute();
  const requests = (world: World) =>
    world.modules.database.read
      .selectFrom("wanted")
      .select(["text", "is_batch"])
      .where("kind", "=", "repository")
      .orderBy("id")
      .execute();

  test("offers tracked repositories immediately, and those of each forge once it has answered", async () => {
    const world = await openWorld();
    const taken = await submit(world, "/track", { repository: "hono" });
    assert.equal(taken.location, "/repos/github/known/hono?asked=hono", "the only one with that name");
    const opened = await openPage(world, taken.location ?? "");
    assert.match(opened.text, /Not it\? Look for “hono” on the forges/);
    assert.deepEqual(hiddenBy(opened, "Look for “hono” on the forges"), { repository: "hono" });
    const path = await ask(world, "hono");
    const waiting = await openPage(world, path);
    assert.equal(waiting.status, 200);
    assert.match(waiting.text, /Asking GitHub …/);
    assert.ok(waiting.links.includes("/repos/github/known/hono"));
    assert.match(waiting.html, REFRESH);
    assert.equal(waiting.headers.get("cache-control"), "no-store");
    await answer(world, "GITHUB", 2, ["honojs/hono", "a/hono"]);
    await answer(world, "CODEBERG", 0, []);
    const page = await openPage(world, path);
    assert.doesNotMatch(page.html, /http-equiv="refresh"|<b>bold/);
    assert.match(page.text, /Codeberg has no such public repository/);
    assert.deepEqual(
      page.buttons.filter((name) => name.endsWith("/hono")),
      ["honojs/hono", "a/hono"],
    );
    const chosen = await submit(world, "/track", hiddenBy(page, "honojs/hono"));
    assert.equal(chosen.location, "/repos/github/honojs/hono");
    assert.equal((await open(world, "/track/questions/sidt_unknown")).status, 404);
  });

  test("tracks all repositories of an owner, or as many as are wanted of one with too many", async () => {
    const world = await openWorld();
    const path = await ask(world, "github.com/honojs");
    await answer(world, "GITHUB", 2, ["honojs/hono", "honojs/examples"]);
    const page = await openPage(world, path);
    assert.ok(page.buttons.includes("Track all 2"));
    await answer(world, "GITHUB", 20_000, ["honojs/hono", "honojs/examples"]);
    const large = await openPage(world, path);
    assert.match(large.text, /Of 20,000 repositories, those with the most stars, up to 2/);
    assert.equal(fieldOf(large, "most")?.value, "2");
    assert.equal((await submit(world, path, { most: "3" })).status, 400);
    assert.deepEqual(await requests(world), []);
    const { location } = await submit(world, path, { most: "1" });
    assert.match(location ?? "", /^\/track\/lists\/sidt_/);
    assert.deepEqual(
      (await requests(world)).map(({ text }) => text),
      ["honojs/hono"],
    );
  });

  test("says why a forge has no answer", async () => {
    const world = await openWorld();
    const path = await ask(world, "github.com/nobody");
    const failed = { failure: "gone", finished_at: NOW };
    await world.modules.database.write.updateTable("wanted").set(failed).execute();
    assert.match((await openPage(world, path)).text, /The forge has no owner with this name/);
  });

  test("of a comparison leads back to it, with the repository in place of the word", async () => {
    const world = await openWorld();
    const compared = "/compare?align=age&repo=hono&repo=github%3Aa%2Fb";
    const page = await openPage(world, compared);
    assert.match(page.html, /<title>Compare known\/hono/);
    const asking = hiddenBy(page, "Look for “hono” on the forges");
    assert.deepEqual(asking, { repository: "hono", next: compared });
    const path = await ask(world, "hono", compared);
    await answer(world, "GITHUB", 1, ["honojs/hono"]);
    const next = "/compare?align=age&repo=github%3Ahonojs%2Fhono&repo=github%3Aa%2Fb";
    const chosen = hiddenBy(await openPage(world, path), "honojs/hono");
    assert.deepEqual(chosen, { repository: "github:honojs/hono", next });
    assert.equal((await submit(world, "/track", chosen)).location, next);
    const away = path.replace(/next=.*/, "next=%2F%2Fevil.example%2F");
    assert.doesNotMatch((await openPage(world, away)).html, /evil\.example/);
  });

  test("is not needed for the names of a comparison, whose histories are read while people wait", async () => {
    const world = await openWorld();
    const next = "/compare?repo=a%2Fb&repo=c%2Fd";
    assert.equal((await submit(world, "/track", { repository: "a/b c/d", next })).location, next);
    assert.deepEqual(await requests(world), [
      { text: "a/b", is_batch: 0 },
      { text: "c/d", is_batch: 0 },
    ]);
  });

  test("sends nothing to a forge for other sites, and needs the rights of a request", async () => {
    const world = await openWorld();
    const stored = async () =>
      (await world.modules.database.read.selectFrom("wanted").selectAll().execute()).length;
    for (const repository of ["https://evil.example/honojs", "http://169.254.169.254/x", "//evil.example/x/"])
      assert.equal((await submit(world, "/track", { repository })).status, 400, repository);
    const off = await createWorld(engine, { ...OPEN, SIDEREAL_TRACK: "off" });
    assert.equal((await submit(off, "/track", { repository: "hono" })).status, 403);
    const from = { Origin: "https://evil.example", "Sec-Fetch-Site": "cross-site" };
    assert.equal((await submit(world, "/track", { repository: "hono" }, from)).status, 403);
    assert.equal(await stored(), 0);
  });
});
