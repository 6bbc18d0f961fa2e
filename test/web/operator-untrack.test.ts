import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { ageSessions, type Member, signIn } from "../support/members.js";
import { open, submit } from "../support/page.js";
import { createWorld, daily, NOW, observation, type World } from "../support/world.js";

const PAGE = "/operator/untrack";

onSqliteAndLong("The page that untracks a repository", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let ann: Member;

  before(async () => {
    world = await createWorld(engine, {
      ...mailbox.settings,
      SIDEREAL_OPERATORS: "ann@example.org",
      SIDEREAL_PROVIDERS: "codeberg",
    });
    ann = await signIn(world, mailbox, "ann@example.org");
    await world.record(
      observation("a/one", daily(5, 6, 7)),
      observation("b/two", daily(8), { provider: "CODEBERG" }),
    );
    await world.modules.database.write
      .updateTable("repositories")
      .set({ next_refresh_at: NOW, refresh_interval: 3_600_000 })
      .execute();
  });
  const show = (repository: string) => open(world, `${PAGE}?repository=${repository}`, ann.headers);
  const send = (fields: Record<string, string>) => submit(world, PAGE, fields, ann.headers);

  test("says what there is, stops reading it, and then offers only to delete it", async () => {
    const shown = await show("https://github.com/A/One");
    assert.match(shown.text, /Read on a schedule\. 3 snapshots since .*, on 0 watchlists\./);
    assert.match(shown.text, /Stop reading/);
    const stopped = await send({ repository: "github:a/one" });
    assert.deepEqual([stopped.status, stopped.location], [303, `${PAGE}?repository=github%3Aa%2Fone`]);
    const after = await show("a/one");
    assert.match(after.text, /Not read\. 3 snapshots/);
    assert.doesNotMatch(after.text, /Stop reading/);
  });

  test("of a forge that is read as a whole can only be deleted", async () => {
    const shown = await show("codeberg:b/two");
    assert.match(shown.text, /Codeberg is read as a whole/);
    assert.doesNotMatch(shown.text, /Stop reading/);
    assert.equal((await send({ repository: "codeberg:b/two" })).status, 400);
  });

  test("deletes with a box that is ticked, after a recent sign-in, and is an event", async () => {
    await ageSessions(world, 60);
    const old = await send({ repository: "github:a/one", deletes: "yes" });
    assert.match(old.location ?? "", /^\/sign-in\?again=1/);
    assert.equal((await show("a/one")).status, 200);
    await ageSessions(world, 0);
    const deleted = await send({ repository: "github:a/one", deletes: "yes" });
    assert.equal(deleted.status, 303);
    assert.match((await open(world, deleted.location ?? "", ann.headers)).text, /github:a\/one is deleted\./);
    assert.equal((await show("a/one")).status, 404);
    assert.equal((await send({ repository: "github:a/one", deletes: "yes" })).status, 404);
    const events = await world.modules.database.read.selectFrom("account_events").selectAll().execute();
    const own = events.filter(({ event }) => event.startsWith("repository_"));
    assert.deepEqual(
      own.map(({ event, detail }) => [event, JSON.parse(detail).target]),
      [
        ["repository_untracked", "github:a/one"],
        ["repository_deleted", "github:a/one"],
      ],
    );
    const log = await open(world, "/operator/log", ann.headers);
    assert.match(log.text, /ann@example\.org/);
    assert.match(log.text, /target: github:a\/one, undo: sidereal track github:a\/one/);
  });
});
