import assert from "node:assert/strict";
import { mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { type TestContext, test } from "node:test";
import { markdownText } from "../../src/charts/charts.js";
import { exactNumber } from "../../src/charts/numbers.js";
import { DAY_MS } from "../../src/lib/clock.js";
import { CommandWorld } from "../support/command.js";
import { START } from "../support/forge/world.js";
import { contentOf, startPublishing } from "../support/publishing.js";

const world = new CommandWorld();

const start = (t: TestContext) => startPublishing(t, world, { begin: START });

test("publish writes pictures, the state and the blocks of a README; a quiet day adds one line", async (t) => {
  const { clock, at, list, run, names, freeze, forge } = await start(t);
  const [a = "", b = "", c = ""] = names;
  list("# what we watch", a, `${forge.url}/${b}  # by its page`, "");
  writeFileSync(
    at("README.md"),
    `# Mine\n\n<!-- sidereal -->\nold\n<!-- /sidereal -->\n\n<!-- sidereal github:${b} -->\n<!-- /sidereal -->\n`,
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
    for (const folder of ["", "badges/"]) assert.match(out[`${folder}${name}.svg`] ?? "", /^<svg /);
  const text = readFileSync(at("README.md"), "utf8");
  assert.equal(text.split(`](out/${b}.svg)`).length, 3, text);
  assert.doesNotMatch(text, /old/);
  assert.ok(Object.keys(state).some((name) => /^snapshots\/observed-2026-01\.ndjson$/.test(name)));
  // As a run leaves it that is killed.
  writeFileSync(at("state", "snapshots", "observed-2026-01.ndjson.partial"), "cut off\n");
  forge.counters.reset();
  clock.pass(1);
  const quiet = await run(...readme);
  assert.equal(quiet.code, 0, quiet.stderr);

  const observed = "snapshots/observed-2026-01.ndjson";
  const { [observed]: readings = "", ...others } = contentOf(at("state"));
  assert.deepEqual({ ...others, [observed]: state[observed] }, state);
  const [added = "", ...more] = readings.slice(state[observed]?.length).trim().split("\n");
  assert.ok(readings.startsWith(state[observed] ?? "-"));
  assert.deepEqual([more, JSON.parse(added).entries.length], [[], 2]);
  assert.deepEqual(contentOf(at("out")), out);
  assert.deepEqual([quiet.report.isChanged, quiet.report.drawn], [false, 0]);
  assert.equal(readFileSync(at("README.md"), "utf8"), text);
  // A quiet day takes one request for a hundred repositories.
  assert.equal(forge.counters.requests, 1);
  const before = contentOf(at("state"));
  assert.equal((await run()).code, 0);
  assert.deepEqual(contentOf(at("state")), before, "started twice, it adds nothing");
  list(a, b, c);
  const longer = await run();
  assert.equal(longer.code, 0, longer.stderr);
  assert.deepEqual([longer.report.isChanged, longer.report.drawn], [true, 1]);
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
  assert.match(contentOf(at("out"))[`${a}.svg`] ?? "", /acme\/renamed/);
  const lines = contentOf(at("state"))["repositories.ndjson"] ?? "";
  assert.equal(lines.split('"type":"repository"').length, 3, lines);
  clock.pass(1);
  const before = [contentOf(at("state")), contentOf(at("out"))];
  forge.switches.fault = () => "status-502";
  const down = await run();
  assert.equal(down.code, 4, "nothing could be read");
  assert.match(down.stderr, /The forge did not respond/);
  assert.deepEqual([contentOf(at("state")), contentOf(at("out"))], before);
  forge.switches.fault = null;
  clock.pass(1);
  catalogue.add({ id: second, at: clock.now() - 1_000, kind: "deleted", to: null });
  const deleted = await run();
  assert.equal(deleted.code, 0, deleted.stderr);
  assert.deepEqual(deleted.report.gone, [`github:${b}: gone, last seen on 2026-01-08; its picture stays`]);
  assert.match(contentOf(at("state"))["repositories.ndjson"] ?? "", /"availability":"GONE"/);
  assert.match(contentOf(at("out"))[`${b}.svg`] ?? "", /gone, last seen/);
});

test("files of what has left the list go, unless a line that cannot be read may mean it; all others stay", async (t) => {
  const { clock, at, list, run, names, forge } = await start(t);
  const [a = "", b = ""] = names;
  const owner = b.split("/")[0] ?? "";
  const site = ["--site", at("site")];
  const filesOf = (name: string) =>
    [...Object.keys(contentOf(at("out"))), ...Object.keys(contentOf(at("site")))].filter((file) =>
      `/${file}`.includes(`/${name}`),
    );
  list(a, `@${owner}`);
  assert.equal((await run(...site)).code, 0);
  assert.ok(filesOf(b).length > 5, String(filesOf(b)));
  const own = ["out/mine.svg", "site/repos/github/mine.html", "site/CNAME"];
  for (const file of own) writeFileSync(at(file), "mine");
  clock.pass(1);
  const [id = 0] = forge.catalogue.ids();
  forge.catalogue.add({ id, at: clock.now() - 1_000, kind: "renamed", to: "acme/renamed" });
  assert.equal((await run(...site)).code, 0);
  const before = filesOf(b);
  forge.switches.fault = () => "status-502";
  const down = await run(...site);
  assert.equal(down.code, 4);
  const kept = forge.catalogue.ownedBy(owner, clock.now()).length;
  assert.match(
    down.stderr,
    new RegExp(`line 2: The forge did not respond[\\s\\S]*\n${kept} published before stay`),
  );
  assert.deepEqual(filesOf(b), before);
  forge.switches.fault = null;
  list(a, "githb:a/b");
  assert.equal((await run(...site)).code, 3);
  assert.deepEqual(filesOf(b), before, "a mistake in a line may be one in the name");
  list(a);
  const left = await run(...site);
  assert.equal(left.code, 0, left.stderr);
  assert.deepEqual(filesOf(b), []);
  assert.equal(filesOf(a).length, 2, "its pages have its new name");
  for (const file of own) assert.equal(readFileSync(at(file), "utf8"), "mine");
  const { "repositories.ndjson": state = "" } = contentOf(at("state"));
  assert.ok(state.includes(b), "the state keeps its history");
  list("# nothing");
  const emptied = await run(...site);
  assert.equal(emptied.code, 2);
  assert.equal(emptied.stderr, "the list names no repository\n");
  assert.equal(filesOf(a).length, 2);
});

test("a list of files that names one outside of its folder is refused, and deletes nothing", async (t) => {
  const { at, list, run, names, forge } = await start(t);
  const [a = "", b = ""] = names;
  list(a, b);
  const site = ["--site", at("site")];
  assert.equal((await run(...site)).code, 0);
  writeFileSync(at("mine.svg"), "mine");
  const [pictures, pages] = [at("out", "repositories.json"), at("site", "sidereal-site.json")];
  const read = (file: string) => JSON.parse(readFileSync(file, "utf8"));
  const { repositories, ...manifest } = read(pictures);
  const { files, ...ofSite } = read(pages);
  const wrong = [{ ...repositories[0] }, { ...repositories[1], chart: "../mine.svg" }];
  list(a);
  forge.counters.reset();
  for (const [file, changed] of [
    [pictures, { ...manifest, repositories: wrong }],
    [pages, { ...ofSite, files: [...files, "../mine.svg"] }],
  ] as const) {
    const before = readFileSync(file, "utf8");
    writeFileSync(file, JSON.stringify(changed));
    const { code, stderr } = await run(...site);
    assert.equal(code, 2);
    assert.ok(stderr.includes(`${file} was not written by this command, or is damaged`), stderr);
    writeFileSync(file, before);
  }
  assert.equal(forge.counters.requests, 0);
  assert.equal(readFileSync(at("mine.svg"), "utf8"), "mine");
});

test("files of others are not replaced, and links are not followed; all else is published", async (t) => {
  const { at, list, run, names } = await start(t);
  const [a = "", b = "", c = ""] = names;
  list(a, b);
  const site = ["--site", at("site")];
  const chart = `${a}.svg`;
  for (const file of [`out/${chart}`, "site/index.html", "site/about/index.html"]) {
    mkdirSync(dirname(at(file)), { recursive: true });
    writeFileSync(at(file), "mine");
  }
  mkdirSync(at("elsewhere", "github"), { recursive: true });
  symlinkSync(at("elsewhere"), at("out", "badges"));
  for (const run2 of [1, 2]) {
    const { code, stderr } = await run(...site);
    assert.equal(code, 3, `${run2}`);
    assert.ok(
      stderr.includes(`out: not written: ${chart}: it exists, and was not written by this command`),
      stderr,
    );
    assert.match(stderr, /site: not written: index\.html, about\/index\.html: it exists/);
    assert.match(stderr, /out: not written: badges.*: it is a link, or below one/);
  }
  for (const file of [`out/${chart}`, "site/index.html", "site/about/index.html"])
    assert.equal(readFileSync(at(file), "utf8"), "mine");
  assert.deepEqual(contentOf(at("elsewhere")), {});
  assert.match(contentOf(at("out"))[`${b}.svg`] ?? "", /^<svg /);
  // What has left the list would be below a link.
  const [owner = ""] = b.split("/");
  renameSync(at("out", owner), at("moved"));
  symlinkSync(at("moved"), at("out", owner));
  list(a, c);
  await run(...site);
  assert.ok(Object.keys(contentOf(at("moved"))).length > 0);
});

test("paths are checked before anything is requested", async (t) => {
  const { at, list, run, names, forge } = await start(t);
  list(names[0] ?? "");
  writeFileSync(at("file"), "mine");
  symlinkSync(at("file"), at("link.md"));
  mkdirSync(at("folder"));
  symlinkSync(at("folder"), at("link"));
  forge.counters.reset();
  for (const [args, problem] of [
    [["--readme", at("none.md")], /--readme: there is no file .*none\.md/],
    [["--readme", at("link.md")], /--readme: there is no file .*link\.md; links are not followed/],
    [["--out", at("file")], /file is not a folder/],
    [["--out", at("link")], /link is not a folder; links are not followed/],
    [["--site", at("link")], /link is not a folder/],
    [["--state", at("link")], /link is not a folder/],
  ] as const) {
    const { code, stderr } = await run(...args);
    assert.equal(code, 2, stderr);
    assert.match(stderr, problem);
  }
  const drawn = await world.run(at("data"), ["chart", names[0] ?? "", "--out", at("none", "a.svg")]);
  assert.equal(drawn.code, 2);
  assert.match(drawn.stderr, /--out: there is no folder/);
  assert.equal(forge.counters.requests, 0);
});

test("a name that was never read needs somebody to look after a week, and says since when", async (t) => {
  const { at, clock, list, run, names } = await start(t);
  const [a = ""] = names;
  list(a, "no/such");
  for (let day = 0; day < 8; day++) {
    const { code, stderr } = await run();
    assert.equal(code, day < 7 ? 3 : 4, `day ${day}`);
    assert.match(stderr, /^github:no\/such: The forge has no public repository with this name/m);
    if (day > 0) assert.match(stderr, /; it could not be read since 2026-01-07$/m);
    clock.pass(1);
  }
  list(a);
  assert.equal((await run()).code, 0);
  assert.ok(!("unread.json" in contentOf(at("state"))));
});

test("publish names one repository without a star history and reads the others, also on later days", async (t) => {
  const { clock, at, list, run, names, forge } = await start(t);
  const [a = "", b = "", c = ""] = names;
  const [odd] = forge.catalogue.ids();
  forge.switches.fault = ({ kind, path }) =>
    kind === "history" && (path.includes(`/repositories/${odd}/`) || path.includes(`/${a}/`))
      ? "status-404"
      : undefined;
  list(a, b);
  for (let day = 0; day < 3; day++) {
    const { code, stderr, report } = await run();
    assert.equal(code, 3);
    assert.match(stderr, new RegExp(`^github:${a}: GitHub gives no star history of it`));
    assert.equal(report.problems.length, 1);
    clock.pass(1);
    list(a, b, c);
  }
  for (const name of [b, c]) assert.doesNotMatch(contentOf(at("out"))[`${name}.svg`] ?? "", /First seen/);
});

test("an instance on which none of several repositories has a star history is taken to offer none", async (t) => {
  const { list, run, names, forge } = await start(t);
  forge.switches.hasHistory = false;
  list(...names.slice(0, 2));
  assert.equal((await run()).report.problems.length, 2);
  list(...names.slice(0, 3));
  assert.equal((await run()).code, 0);
});

test("pictures are drawn when their own counts move, otherwise at most weekly, and then alone", async (t) => {
  const { clock, at, list, run, names, freeze, catalogue } = await start(t);
  const [a = "", b = ""] = names;
  const [first = 0] = catalogue.ids();
  list(a, b);
  freeze();
  assert.equal((await run()).report.drawn, 2);
  const drawnOn = () => {
    const { repositories } = JSON.parse(contentOf(at("out"))["repositories.json"] ?? "");
    return repositories.map(({ drawn }: { drawn: string }) => drawn.slice(-2));
  };
  const foot = (name: string) => /as of (\d+ \w+)/i.exec(contentOf(at("out"))[`${name}.svg`] ?? "");
  const days: unknown[] = [];
  for (let day = 1; day <= 9; day++) {
    clock.pass(1);
    if (day === 3) catalogue.override(first, { stars: (catalogue.get(first, clock.now())?.stars ?? 0) + 1 });
    // Another count of the state, which no picture shows.
    if (day === 4) catalogue.override(first, { forks: 77 });
    days.push([(await run()).report.drawn, ...drawnOn()]);
    assert.equal(foot(a)?.[1], `${Number(drawnOn()[0])} Jan`);
  }
  assert.deepEqual(days, [
    [0, "07", "07"],
    [0, "07", "07"],
    [1, "10", "07"],
    [0, "10", "07"],
    [0, "10", "07"],
    [0, "10", "07"],
    [1, "10", "14"],
    [0, "10", "14"],
    [0, "10", "14"],
  ]);
});

test("the report has totals, gains, milestones, records and what is gone, and no name is markup in it", async (t) => {
  const { clock, list, run, runPlain, names, forge, freeze, catalogue } = await start(t);
  const [a = "", b = "", c = ""] = names;
  const [first = 0, second = 0] = catalogue.ids();
  freeze();
  catalogue.override(first, { stars: 9_000 });
  const said = async () => {
    const { code, stdout } = await runPlain();
    return `${code} ${stdout}`;
  };
  list(a, b, c);
  forge.switches.fault = () => "status-502";
  assert.match(
    await said(),
    /^4 ## Stars on 7 Jan 2026\n\n\*\*0 stars\*\* in 0 repositories, ±0 in 7 days\.\n0 of 3 read, none changed\. Pictures redrawn: 0\. Problems: 3\.\n$/,
  );
  forge.switches.fault = null;
  assert.match(
    await said(),
    /^0 [^|]* in 3 repositories, [^|]*\n3 of 3 read, 3 changed\. Pictures redrawn: 3\. Problems: 0\.\n\n\| Repository [\s\S]*\| 9,000 \| first reading \|/,
  );
  for (let day = 1; day < 8; day++) {
    clock.pass(1);
    catalogue.override(first, { stars: 9_000 + day });
    await run();
  }
  clock.pass(1);
  catalogue.override(first, { stars: 10_100 });
  catalogue.add({ id: second, at: clock.now() - 1_000, kind: "deleted", to: null });
  list(a, b);
  const { report, code } = await run();
  assert.equal(code, 0);
  assert.deepEqual(
    [report.newStars, report.newStarsInWeek, report.isChanged, report.drawn],
    [1_093, 1_099, true, 2],
  );
  const stars = catalogue.get(second, clock.now() - 2 * DAY_MS)?.stars ?? 0;
  assert.equal(report.totalStars, 10_100 + stars);
  assert.ok(
    report.markdown.includes(
      `**${exactNumber(report.totalStars)} stars** in 2 repositories, +1,093 since 14 Jan 2026, +1,099 in 7 days.\n1 of 2 read, 1 changed. Pictures redrawn: 2. Problems: 0.\n`,
    ),
    report.markdown,
  );
  const row = `| github:${markdownText(a)} | 10,100 | +1,093 | +1,099 | reached 10,000; +1,093 in a day, the most since 3 Dec 2024 |`;
  assert.ok(
    report.markdown.includes(`\n${row}\n\n- github:${markdownText(b)}: gone, last seen on 2026-01-14`),
    report.markdown,
  );
  assert.ok(report.markdown.includes(`- github:${markdownText(c)}: left the list\n`), report.markdown);
});

test("publish reports each mistake in a list by its line, and publishes the others", async (t) => {
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
  for (const name of ["node-ids.json", "history-cursors.json"]) delete state[name];
  // Nor does a service know of a history that it has not read whether it is whole.
  const unmarked = ([name, text]: [string, string]) => [name, text.replaceAll('"fromStart":true,', "")];
  assert.deepEqual(contentOf(at("back")), Object.fromEntries(Object.entries(state).map(unmarked)));
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
