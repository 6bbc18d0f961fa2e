import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { CommandWorld } from "../support/command.js";
import { START } from "../support/forge/world.js";
import { contentOf, startPublishing } from "../support/publishing.js";

const world = new CommandWorld();

const start = (t: TestContext) => startPublishing(t, world, { begin: START });

test("publish writes pictures, the state and the blocks of a README; a quiet day changes no byte", async (t) => {
  const { clock, at, list, run, names, freeze, forge } = await start(t);
  const [a = "", b = "", c = ""] = names;
  list("# what we watch", a, `${forge.url}/${b}  # by its page`, "");
  writeFileSync(
    at("README.md"),
    `# Mine\n\n<!-- sidereal -->\nold\n<!-- /sidereal -->\n\n<!-- sidereal github:${b} --><!-- /sidereal -->\n`,
  );
  freeze();
  const readme = ["--readme", at("README.md")];
  const first = await run(...readme);
  assert.equal(first.code, 0, first.stderr);
  assert.deepEqual(
    first.report.repositories.map((one: { repository: string; gained: number }) => [
      one.repository,
      one.gained,
    ]),
    [a, b].map((name) => [`github:${name}`, null]),
  );
  const [state, out] = [contentOf(at("state")), contentOf(at("out"))];
  for (const name of [a, b])
    for (const kind of ["charts", "badges"]) assert.match(out[`${kind}/github/${name}.svg`] ?? "", /^<svg /);
  const text = readFileSync(at("README.md"), "utf8");
  assert.equal(text.split(`](out/charts/github/${b}.svg)`).length, 3, text);
  assert.doesNotMatch(text, /old/);
  assert.ok(Object.keys(state).some((name) => /^snapshots\/2026-01-observed\.ndjson$/.test(name)));
  // As a run leaves it that is killed.
  writeFileSync(at("state", "snapshots", "2026-01-observed.ndjson.partial"), "cut off\n");
  forge.counters.reset();
  clock.pass(1);
  const quiet = await run(...readme);
  assert.equal(quiet.code, 0, quiet.stderr);

  assert.deepEqual(contentOf(at("state")), state);
  assert.deepEqual(contentOf(at("out")), out);
  assert.deepEqual([quiet.report.isChanged, quiet.report.isDrawn], [false, false]);
  assert.equal(readFileSync(at("README.md"), "utf8"), text);
  // A quiet day takes one request for a hundred repositories.
  assert.equal(forge.counters.requests, 1);
  list(a, b, c);
  const added = await run();
  assert.equal(added.code, 0, added.stderr);
  assert.deepEqual([added.report.isChanged, added.report.isDrawn], [true, true]);
});

test("publish keeps a renamed repository's files, a deleted one's history, and all of it while the forge is down", async (t) => {
  const { clock, catalogue, at, list, run, names, forge } = await start(t);
  const [a = "", b = ""] = names;
  list(a, b);
  assert.equal((await run()).code, 0);
  const [first = 0, second = 0] = catalogue.ids();
  clock.pass(1);
  catalogue.add({ id: first, at: clock.now() - 1_000, kind: "renamed", to: "acme/renamed" });
  const renamed = await run();
  assert.equal(renamed.code, 0, renamed.stderr);
  assert.equal(renamed.report.repositories[0].repository, "github:acme/renamed");
  assert.match(contentOf(at("out"))[`charts/github/${a}.svg`] ?? "", /acme\/renamed/);
  const lines = contentOf(at("state"))["repositories.ndjson"] ?? "";
  assert.equal(lines.split('"type":"repository"').length, 3, lines);
  clock.pass(1);
  const before = [contentOf(at("state")), contentOf(at("out"))];
  forge.switches.fault = () => "status-502";
  const down = await run();
  assert.equal(down.code, 3);
  assert.match(down.stderr, /The forge did not respond/);
  assert.deepEqual([contentOf(at("state")), contentOf(at("out"))], before);
  forge.switches.fault = null;
  clock.pass(1);
  catalogue.add({ id: second, at: clock.now() - 1_000, kind: "deleted", to: null });
  const deleted = await run();
  assert.equal(deleted.code, 3);
  assert.match(deleted.stderr, new RegExp(`github:${b}: The forge has no public repository`));
  assert.match(contentOf(at("state"))["repositories.ndjson"] ?? "", /"availability":"GONE"/);
  assert.match(contentOf(at("out"))[`charts/github/${b}.svg`] ?? "", /gone, last seen/);
});

test("publish reports each mistake in a list by its line, and publishes the rest", async (t) => {
  const { list, run, names, forge } = await start(t);
  const [a = ""] = names;
  list(
    a,
    "githb:a/b",
    "no/such",
    "kite",
    "x".repeat(600),
    `${a}`,
    "https://example.org/a/b",
    '"><script>::set-output name=x::y',
  );
  const { code, report } = await run();
  assert.equal(code, 3);
  assert.deepEqual(
    report.repositories.map((one: { repository: string }) => one.repository),
    [`github:${a}`],
  );
  assert.deepEqual(
    report.problems.map((problem: string) => problem.split(": ")[0]),
    ["line 2", "line 4", "line 5", "line 7", "line 8", "github:no/such"],
  );
  assert.ok(!JSON.stringify(report.problems).includes("set-output"));
  const owner = a.split("/")[0];
  list(`@${owner}`);
  const all = await run();
  const owned = forge.catalogue.ownedBy(owner ?? "", Date.now()).map(({ fullName }) => `github:${fullName}`);
  assert.deepEqual(
    all.report.repositories.map((one: { repository: string }) => one.repository),
    owned,
  );
});

test("the state goes into a service and back, and merging two of its branches loses nothing", async (t) => {
  const { clock, at, list, run, names } = await start(t);
  const [a = "", b = ""] = names;
  list(a, b);
  assert.equal((await run()).code, 0);
  clock.pass(1);
  assert.equal((await run()).code, 0);
  const state = contentOf(at("state"));
  // As git merges with `merge=union`: the lines of both sides, some twice.
  for (const [name, text] of Object.entries(state))
    if (name.endsWith(".ndjson"))
      writeFileSync(at("state", name), text + text.split("\n").slice(1).reverse().join("\n"));
  const dataDir = world.newDataDir();
  const files = Object.keys(state)
    .filter((name) => name.endsWith(".ndjson"))
    .map((name) => at("state", name));
  const imported = await world.runHere(dataDir, ["import", ...files], {}, clock);
  assert.equal(imported.code, 0, imported.stderr);
  const exported = await world.runHere(
    dataDir,
    ["export", "--format", "state", "--out", at("back")],
    {},
    clock,
  );
  assert.equal(exported.code, 0, exported.stderr);
  // What only saves requests is no part of a catalogue.
  delete state["node-ids.json"];
  assert.deepEqual(contentOf(at("back")), state);
});

test("publish refuses a damaged state, and leaves it as it is", async (t) => {
  const { at, list, run, names } = await start(t);
  list(names[0] ?? "");
  assert.equal((await run()).code, 0);
  const path = at("state", "repositories.ndjson");
  writeFileSync(path, `${readFileSync(path, "utf8")}<<<<<<< ours\n`);
  const before = contentOf(at("state"));
  const { code, stderr } = await run();
  assert.equal(code, 1);
  assert.match(stderr, /^The state cannot be read: .*repositories\.ndjson:3: the line is not JSON/);
  assert.deepEqual(contentOf(at("state")), before);
});
