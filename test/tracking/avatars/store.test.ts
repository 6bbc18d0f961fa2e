import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { type KyselyPlugin, sql } from "kysely";
import type { Database } from "../../../src/database/database.js";
import { DAY_MS, HOUR_MS } from "../../../src/lib/clock.js";
import { Avatars, readAvatarStatus } from "../../../src/tracking/avatars/avatars.js";
import type { DueAvatar } from "../../../src/tracking/avatars/store.js";
import { leaseAvatar } from "../../support/avatars.js";
import { onBothEngines } from "../../support/engines.js";
import { colouredPng } from "../../support/forge/avatars.js";
import { ManualClock } from "../../support/manual-clock.js";
import { countStatements } from "../../support/statements.js";

const NOW = Date.UTC(2026, 4, 1);
const MANY_BYTES = 32 * 2 ** 20;
const owner = (name: string, provider = "GITHUB") => ({ provider, owner: name });

onBothEngines("The stored avatars", (engine) => {
  let database: Database;
  let clock: ManualClock;
  let avatars: Avatars;
  beforeEach(async () => {
    database = await engine.open();
    clock = new ManualClock(NOW);
    avatars = open();
  });
  const open = (maxBytes = MANY_BYTES, from = database) => new Avatars({ database: from, clock, maxBytes });
  const claimed = async (from = avatars, provider = "GITHUB"): Promise<DueAvatar> => {
    const due = await from.store.claim(provider);
    assert.ok("owner" in due, "nothing is due");
    return due;
  };
  /** The versions that a page shows half a minute later. */
  const shown = async (...names: string[]) => {
    clock.advance(30_000);
    await avatars.update();
    await avatars.settled();
    return names.map((name) => avatars.versionOf("GITHUB", name));
  };
  const leased = (name: string) => leaseAvatar(database, owner(name));
  const storedImages = async () =>
    (await database.read.selectFrom("avatar_images").select("version").execute()).length;

  test("are fetched in the order of the lists, each by one worker at a time", async () => {
    await avatars.store.want([owner("second"), owner("First"), owner("else", "GITLAB"), owner("SECOND")]);
    clock.advance(1_000);
    assert.deepEqual(await claimed(), {
      provider: "GITHUB",
      owner: "SECOND",
      address: null,
      etag: null,
      failures: 0,
      leasedUntil: clock.now() + 600_000,
    });
    clock.advance(1);
    assert.equal((await claimed()).owner, "First");
    const wait = await avatars.store.claim("GITHUB");
    assert.ok("waitMs" in wait && wait.waitMs <= 10 * 60_000);
    // A worker that is killed leaves its lease.
    clock.advance(wait.waitMs);
    assert.equal((await claimed()).owner, "SECOND");
  });

  test("whose worker took longer than its lease are left to the one that has claimed them since", async () => {
    await avatars.store.want([owner("octo")]);
    const late = await claimed();
    clock.advance(10 * 60_000);
    const next = await claimed();
    await avatars.store.keep(late, colouredPng("late"), null);
    await avatars.store.clear(late, "status 404");
    await avatars.store.postpone(late, "unreachable");
    await avatars.store.release(late, 0);
    await avatars.store.confirm(late);
    assert.equal(await storedImages(), 0);
    assert.ok("waitMs" in (await avatars.store.claim("GITHUB")), "the other lease holds");
    await avatars.store.keep(next, colouredPng("next"), null);
    assert.equal(await storedImages(), 1);
  });

  test("are shown with a version that changes with the image, whatever the capitals of the owner", async () => {
    await avatars.store.want([owner("Octo")]);
    assert.deepEqual(await shown("octo"), [undefined]);
    const [one, other] = [colouredPng("one"), colouredPng("other")];
    await avatars.store.keep(await leased("octo"), one, '"tag"');
    const [version] = await shown("OCTO");
    assert.match(version ?? "", /^[0-9a-f]{32}$/);
    assert.deepEqual(Buffer.from((await avatars.image(version ?? "")) ?? []), one);
    await avatars.store.keep(await leased("octo"), other, null);
    const [next] = await shown("octo");
    assert.notEqual(next, version);
    assert.equal(await avatars.image("0".repeat(32)), undefined);
    await avatars.store.clear(await leased("octo"), "status 404");
    assert.deepEqual(await shown("octo"), [undefined]);
  });

  test("are read again only when one has changed", async () => {
    await avatars.store.want([owner("octo")]);
    await avatars.store.keep(await leased("octo"), colouredPng("one"), null);
    const [version] = await shown("octo");
    await database.write.deleteFrom("avatars").execute();
    for (let i = 0; i < 5; i++) await avatars.update();
    assert.equal(avatars.versionOf("GITHUB", "octo"), version);
    assert.deepEqual(await shown("octo"), [undefined]);
    assert.equal(await avatars.image(version ?? ""), undefined);
  });

  test("are found by other processes as soon as a page shows them, and unknown versions cost a read a second", async () => {
    const { database: counted, statements } = countStatements(database);
    const other = open(MANY_BYTES, counted);
    await other.update();
    await avatars.store.want([owner("octo")]);
    await avatars.store.keep(await leased("octo"), colouredPng("one"), null);
    clock.advance(1_000);
    await avatars.update();
    const version = avatars.versionOf("GITHUB", "octo") ?? assert.fail("the page shows no image");
    const [first, second] = await Promise.all([other.image(version), other.image(version)]);
    for (const png of [first, second]) assert.deepEqual(Buffer.from(png ?? []), colouredPng("one"));
    const before = statements();
    for (let i = 0; i < 50; i++) {
      clock.advance(100);
      await Promise.all(
        [2 * i, 2 * i + 1].map((n) => other.image(n.toString(16).padStart(version.length, "0"))),
      );
      assert.equal(await other.image("no version"), undefined);
    }
    assert.equal(statements() - before, 5);
  });

  test("are kept when another owner's equal image is removed at the same time", async () => {
    await avatars.store.want([owner("before"), owner("after")]);
    await avatars.store.keep(await leased("before"), colouredPng("same"), null);
    await avatars.store.clear(await leased("before"), "status 404");
    let evicting: Promise<number> | undefined;
    const inserts = new WeakSet<object>();
    const evictAfterInsert: KyselyPlugin = {
      transformQuery({ node, queryId }) {
        if (node.kind === "InsertQueryNode") inserts.add(queryId);
        return node;
      },
      async transformResult({ queryId, result }) {
        if (!inserts.has(queryId)) return result;
        evicting ??= avatars.store.evict();
        // Enough time for an eviction that does not wait.
        for (let i = 0; i < 50; i++) await sql`select 1`.execute(database.read);
        return result;
      },
    };
    const slow = open(MANY_BYTES, { ...database, write: database.write.withPlugin(evictAfterInsert) });
    await slow.store.keep(await leased("after"), colouredPng("same"), null);
    assert.equal(await (evicting ?? assert.fail("nothing was inserted")), 0);
    const [version] = await shown("after");
    assert.deepEqual(Buffer.from((await avatars.image(version ?? "")) ?? []), colouredPng("same"));
  });

  test("of owners with the same image share it, and it goes with the last of them", async () => {
    await avatars.store.want([owner("one"), owner("two")]);
    for (const name of ["one", "two"])
      await avatars.store.keep(await leased(name), colouredPng("same"), null);
    assert.equal(await storedImages(), 1);
    await avatars.store.clear(await leased("one"), "status 404");
    await avatars.store.evict();
    assert.equal(await storedImages(), 1);
    const [, version] = await shown("one", "two");
    assert.ok((await avatars.image(version ?? "")) !== undefined);
    await avatars.store.clear(await leased("two"), "status 404");
    await avatars.store.evict();
    assert.equal(await storedImages(), 0);
  });

  test("are removed a week after their owner was last on a list", async () => {
    await avatars.store.want([owner("left"), owner("stays")]);
    for (const name of ["left", "stays"])
      await avatars.store.keep(await leased(name), colouredPng(name), null);
    clock.advance(6 * DAY_MS);
    await avatars.store.want([owner("stays")]);
    assert.equal(await avatars.store.evict(), 0);
    clock.advance(DAY_MS + HOUR_MS);
    assert.equal(await avatars.store.evict(), 1);
    const [left, stays] = await shown("left", "stays");
    assert.equal(left, undefined);
    assert.ok(stays !== undefined);
    assert.equal(await storedImages(), 1);
  });

  test("stay within their size: those that left the lists go first, and less visible ones do not come", async () => {
    await avatars.store.want([owner("old")]);
    clock.advance(DAY_MS);
    await avatars.store.want([owner("new"), owner("next")]);
    const [old, young] = [colouredPng("old"), colouredPng("new")];
    const full = open(old.length + young.length);
    await avatars.store.keep(await leased("old"), old, null);
    await avatars.store.keep(await leased("new"), young, null);
    clock.advance(HOUR_MS);
    assert.equal((await claimed(full)).owner, "next", "it is more visible than one that left");
    const small = open(young.length);
    assert.equal(await small.store.evict(), 1);
    clock.advance(HOUR_MS);
    const due = await small.store.claim("GITHUB");
    assert.ok("waitMs" in due, "an avatar without room is due");
    const [gone, kept] = await shown("old", "new");
    assert.deepEqual([gone, kept !== undefined], [undefined, true]);
    const none = open(0);
    assert.equal(none.isOn, false);
    assert.ok((await none.store.evict()) > 0);
    assert.deepEqual([await storedImages(), await shown("new")], [0, [undefined]]);
  });

  test("of more visible owners take the place of others, which come back when there is room", async () => {
    const names = ["first", "second", "third"];
    const size = names.reduce((sum, name) => sum + colouredPng(name).length, 0);
    const full = open(size);
    await avatars.store.want(names.map((name) => owner(name)));
    for (const name of names) await full.store.keep(await leased(name), colouredPng(name), null);
    clock.advance(HOUR_MS);
    // The last one is overtaken by another and by a new one.
    await avatars.store.want(["new", "first", "third", "second", "worst"].map((name) => owner(name)));
    assert.equal((await claimed(full)).owner, "new");
    assert.ok("waitMs" in (await full.store.claim("GITHUB")), "the worst would be fetched in vain");
    await full.store.keep(await leased("new"), colouredPng("second"), null);
    const images = await shown("new", "first", "third", "second", "worst");
    assert.deepEqual(
      images.map((version) => version !== undefined),
      [true, true, true, false, false],
    );
    const larger = open(MANY_BYTES);
    assert.deepEqual([(await claimed(larger)).owner, (await claimed(larger)).owner], ["second", "worst"]);
  });

  test("have the address that the forge reports, the first one immediately, another one within a day", async () => {
    const note = (avatarUrl: string | null) =>
      avatars.store.noteAddresses(database.write, "GITLAB", [
        { owner: "Group/Sub", avatarUrl },
        { owner: "unwanted", avatarUrl: "https://gitlab.com/2.png" },
      ]);
    await avatars.store.want([owner("group/sub", "GITLAB")]);
    await avatars.store.release(await claimed(avatars, "GITLAB"), 7 * DAY_MS);
    await note(null);
    assert.ok("waitMs" in (await avatars.store.claim("GITLAB")));
    await note("https://gitlab.com/1.png");
    const due = await claimed(avatars, "GITLAB");
    assert.equal(due.address, "https://gitlab.com/1.png");
    await avatars.store.keep(due, colouredPng("one"), '"tag"');
    await note("https://gitlab.com/1.png");
    assert.ok("waitMs" in (await avatars.store.claim("GITLAB")));
    for (const path of ["3.png", "4.png", "3.png"]) await note(`https://gitlab.com/${path}`);
    const wait = await avatars.store.claim("GITLAB");
    assert.ok("waitMs" in wait && wait.waitMs > DAY_MS - HOUR_MS && wait.waitMs <= DAY_MS);
    clock.advance(DAY_MS);
    const again = await claimed(avatars, "GITLAB");
    assert.deepEqual([again.address, again.etag], ["https://gitlab.com/3.png", null]);
    assert.equal((await database.read.selectFrom("avatars").select("owner").execute()).length, 1);
  });

  test("outlive some failures, which are further and further apart", async () => {
    await avatars.store.want([owner("octo")]);
    await avatars.store.keep(await leased("octo"), colouredPng("one"), null);
    clock.advance(30 * DAY_MS);
    const waits: number[] = [];
    for (let failures = 0; failures < 7; failures++) {
      await avatars.store.postpone(await claimed(), "unreachable: no usable response");
      const wait = await avatars.store.claim("GITHUB");
      assert.ok("waitMs" in wait);
      waits.push(wait.waitMs / HOUR_MS);
      clock.advance(wait.waitMs);
    }
    assert.deepEqual(waits, [1, 3, 9, 27, 81, 168, 168]);
    assert.ok((await shown("octo"))[0] !== undefined);
    await avatars.store.postpone(await claimed(), "unreachable: no usable response");
    assert.deepEqual(await shown("octo"), [undefined]);
    assert.deepEqual(await readAvatarStatus(database.read, "GITHUB", clock.now()), {
      wanted: 1,
      images: 0,
      bytes: 0,
      due: 0,
      problems: [{ problem: "unreachable: no usable response", owners: 1 }],
    });
  });
});
