import assert from "node:assert/strict";
import { before, test } from "node:test";
import { onSqliteAndLong } from "../support/engines.js";
import { openMailbox } from "../support/mail.js";
import { ageSessions, type Member, signIn } from "../support/members.js";
import { open, submit } from "../support/page.js";
import { createWorld, daily, observation, type World } from "../support/world.js";

const PAGE = "/operator/hidden";

onSqliteAndLong("The page that hides repositories", (engine) => {
  const mailbox = openMailbox();
  let world: World;
  let ann: Member;

  before(async () => {
    world = await createWorld(engine, { ...mailbox.settings, SIDEREAL_OPERATORS: "ann@example.org" });
    ann = await signIn(world, mailbox, "ann@example.org");
    await world.record(observation("evil/abuse", daily(5, 6)), observation("good/one", daily(5)));
  });
  const show = (query = "") => open(world, `${PAGE}${query}`, ann.headers);
  const send = (path: string, fields: Record<string, string>) => submit(world, path, fields, ann.headers);
  const target = "github:evil";

  test("says what would be hidden, hides it after a recent sign-in, and shows it again", async () => {
    const looked = await show("?target=GITHUB:Evil");
    assert.match(looked.text, /1 repository \(evil\/abuse\), on 0 watchlists/);
    await ageSessions(world, 60);
    const old = await send(PAGE, { target, reason: "spam" });
    assert.match(old.location ?? "", /^\/sign-in\?again=1/);
    await ageSessions(world, 0);
    assert.equal((await send(PAGE, { target, reason: "" })).status, 400);
    assert.equal((await send(PAGE, { target, reason: "spam", days: "soon" })).status, 400);
    assert.equal((await send(PAGE, { target: "evil", reason: "spam" })).status, 400);
    assert.equal((await send(PAGE, { target, reason: "spam", note: "ticket 7", days: "30" })).status, 303);
    assert.equal((await world.get("/api/repos/github/evil/abuse")).status, 404);
    assert.match((await show()).text, /github:evil 1 spam ticket 7 ann@example\.org/);
    assert.equal((await send(`${PAGE}/remove`, { target })).status, 303);
    assert.equal((await world.get("/api/repos/github/evil/abuse")).status, 200);
    const log = await open(world, "/operator/log", ann.headers);
    assert.match(log.text, /Unhidden target: github:evil/);
    assert.match(log.text, /Hidden target: github:evil, reason: spam, undo: sidereal unhide github:evil/);
  });

  test("refuses what is no name, and keeps a text as text", async () => {
    const wrong = await show(`?target=${encodeURIComponent("<b>*")}`);
    assert.equal(wrong.status, 400);
    assert.match(wrong.text, /It must be forge:owner\/name, forge:owner or forge:owner\/prefix\*/);
    assert.doesNotMatch(wrong.html, /<b>\*/);
  });
});
