import assert from "node:assert/strict";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { DAY_MS, HOUR_MS, isoTime } from "../../src/lib/clock.js";
import { CommandWorld } from "../support/command.js";
import { START } from "../support/forge/world.js";
import { contentOf, startPublishing } from "../support/publishing.js";

const world = new CommandWorld();

async function start(t: TestContext) {
  const publishing = await startPublishing(t, world, { begin: START });
  const { at, forge } = publishing;
  /** Readings of all repositories in the state, by time. */
  const readings = () =>
    Object.entries(contentOf(at("state")))
      .filter(([name]) => name.includes("observed-"))
      .flatMap(([, text]) => text.trim().split("\n").slice(1))
      .map((line) => JSON.parse(line));
  const chart = (name: string) => contentOf(at("out"))[`${name}.svg`] ?? "";
  const published = (): { history: string; since: string }[] =>
    JSON.parse(contentOf(at("out"))["repositories.json"] ?? "").repositories;
  const pages = () => forge.counters.byKind.history ?? 0;
  return { ...publishing, readings, chart, published, pages };
}

/** The quota of a forge ends with a page of a star history. */
const quotaEndsAt = (page: number) => (request: { path: string; query: URLSearchParams }) =>
  request.path.endsWith("/stargazers/history") && Number(request.query.get("page")) >= page
    ? ({ name: "403-secondary", retryAfterSeconds: 3_600 } as const)
    : undefined;

test("days on which a run read the same counts are no gaps, and days without a run are", async (t) => {
  const { clock, list, run, at, names, freeze, forge, readings } = await start(t);
  const [quiet = "", other = ""] = names;
  list(quiet, other);
  freeze();
  assert.equal((await run()).code, 0);
  for (let day = 1; day <= 8; day++) {
    clock.pass(1);
    const isDown = day === 4 || day === 5;
    forge.switches.fault = isDown ? () => "status-502" : null;
    assert.equal((await run()).code, isDown ? 4 : 0);
  }
  assert.equal(readings().length, 2 + 6, "each day is a line, and the first one of each repository");
  assert.ok(readings().every(({ entries }) => entries.length <= 2));
  const [id = 0] = forge.catalogue.ids();
  const stars = (forge.catalogue.get(id, clock.now())?.stars ?? 0) + 3;
  forge.catalogue.override(id, { stars });
  clock.pass(1);
  const { report } = await run("--site", at("site"));
  assert.deepEqual([report.isChanged, report.drawn], [true, 1]);
  const page = (file: string) => JSON.parse(contentOf(at("site"))[`repos/github/${quiet}/${file}`] ?? "");
  const [gap, ...others] = page("snapshots.json").meta.gaps;
  assert.equal(Math.round((Date.parse(gap.to) - Date.parse(gap.from)) / DAY_MS), 3);
  assert.deepEqual(others, []);
  const { "24h": day, "7d": week } = page("repository.json").data.trends;
  for (const { starsDelta, hours, reliable } of [day, week])
    assert.deepEqual([starsDelta, reliable, Math.round(hours) % 24], [3, true, 0]);
});

test("part of a star history is kept, published as a part, and continued by the next run", async (t) => {
  const { list, run, names, forge, chart, published, pages, at, clock } = await start(t);
  const [long = "", next = ""] = names;
  list(long, next);
  forge.switches.fault = quotaEndsAt(3);
  const first = await run();
  assert.equal(first.code, 3);
  const said = first.stderr.split("\n");
  assert.match(said[0] ?? "", new RegExp(`${long}: .* Reading its star history: back to \\d+ Nov 2024\\.$`));
  assert.match(said[1] ?? "", new RegExp(`${next}: .* Its star history is not read yet\\.$`));
  const states = () => [published().map(({ history }) => history), pages()];
  assert.deepEqual(states(), [["READING", "WAITING"], 3]);
  assert.deepEqual(
    first.report.repositories.map(({ history }: { history: { state: string } }) => history.state),
    ["READING", "WAITING"],
  );
  assert.match(chart(long), /since \d+ \w+ 2024/);
  assert.doesNotMatch(chart(long), /gaps? in the data/);
  assert.match(chart(next), /First seen on 7 Jan 2026\. Its star history is not read yet\./);
  clock.pass(1);
  forge.switches.fault = null;
  forge.counters.reset();
  const second = await run();
  assert.equal(second.code, 0, second.stderr);
  const read = pages();
  assert.deepEqual(states(), [["WHOLE", "WHOLE"], read]);
  for (const name of [long, next]) assert.doesNotMatch(chart(name), /read yet|Reading|since/);
  const [{ since = "" } = {}] = published();
  const { createdAt = 0 } = forge.catalogue.find(long, clock.now())?.repository ?? {};
  assert.ok(Date.parse(since) - createdAt < 8 * DAY_MS, since);
  // Read again from the first page, as nothing says how far it was read, it is the same but for the days in between.
  rmSync(at("state"), { recursive: true });
  forge.counters.reset();
  assert.equal((await run()).code, 0);
  assert.equal(pages(), read + 2, "no page was paid twice");
});

test("a star history without a day before the first reading is read once", async (t) => {
  const { clock, list, run, names, forge, catalogue, published, pages, freeze } = await start(t);
  freeze();
  const [id = 0] = catalogue.ids();
  catalogue.override(id, { createdAt: START - HOUR_MS, stars: 0 });
  list(names[0] ?? "");
  for (let day = 0; day < 3; day++) {
    forge.counters.reset();
    assert.equal((await run()).code, 0);
    assert.deepEqual([pages(), published()[0]?.history], [day === 0 ? 1 : 0, "WHOLE"]);
    clock.pass(1);
  }
});

test("without its progress, part of a star history is read again, and never taken for all of it", async (t) => {
  const { list, run, names, forge, published, pages, at, clock } = await start(t);
  list(names[0] ?? "");
  forge.switches.fault = quotaEndsAt(3);
  assert.equal((await run()).code, 3);
  // As a conflict of two branches leaves it, or a run that was killed.
  writeFileSync(at("state", "history-cursors.json"), "<<<<<<< ours\n");
  clock.pass(1);
  assert.equal((await run()).code, 3);
  assert.deepEqual(
    published().map(({ history }) => history),
    ["READING"],
  );
  writeFileSync(at("state", "history-cursors.json"), "");
  forge.switches.fault = () => "status-502";
  assert.equal((await run()).code, 4);
  assert.deepEqual(
    published().map(({ history }) => history),
    ["REFUSED"],
  );
  forge.switches.fault = null;
  forge.counters.reset();
  assert.equal((await run()).code, 0);
  assert.ok(pages() > 3);
  assert.deepEqual(
    published().map(({ history }) => history),
    ["WHOLE"],
  );
});

test("the state has one file of star histories a year, and one of readings a month", async (t) => {
  const { clock, list, run, names, at } = await start(t);
  list(names[0] ?? "", names[1] ?? "");
  assert.equal((await run()).code, 0);
  clock.pass(31);
  assert.equal((await run()).code, 0);
  const files = readdirSync(at("state", "snapshots"));
  assert.deepEqual(
    files.filter((name) => !/^backfilled-\d{4}\.ndjson$/.test(name)),
    ["observed-2026-01.ndjson", "observed-2026-02.ndjson"],
  );
  assert.equal(files.length, 13, String(files));
});

test("states of earlier versions are read and rewritten, and their star histories are not read again", async (t) => {
  const { list, run, names, at, forge, freeze } = await start(t);
  list(names[0] ?? "", names[1] ?? "");
  freeze();
  assert.equal((await run()).code, 0);
  const state = contentOf(at("state"));
  const header = state["repositories.ndjson"]?.split("\n")[0] ?? "";
  const old = new Map<string, string[]>();
  const add = (month: string, line: object) => {
    const name = at("state", "snapshots", `${month}.ndjson`);
    old.set(name, [...(old.get(name) ?? [header]), JSON.stringify({ type: "snapshot", ...line })]);
  };
  for (const [name, text] of Object.entries(state)) {
    if (!name.startsWith("snapshots/")) continue;
    for (const line of text.trim().split("\n").slice(1)) {
      const { type, entries, provider, fullName, providerId, capturedAt } = JSON.parse(line);
      for (const [first, second, stars, forks, openIssues, watchers] of entries)
        if (type === "history") {
          const time = isoTime(Date.parse(first));
          const named = { provider, fullName, providerId };
          add(`backfilled-${time.slice(0, 7)}`, {
            ...named,
            capturedAt: time,
            stars: second,
            source: "BACKFILLED",
          });
        } else {
          const counts = { stars, forks, openIssues, watchers, source: "OBSERVED" };
          // The first versions had the month before the source.
          const month = `${capturedAt.slice(0, 7)}-observed`;
          add(month, { provider, fullName: first, providerId: second, capturedAt, ...counts });
        }
    }
  }
  rmSync(at("state", "snapshots"), { recursive: true });
  rmSync(at("state", "history-cursors.json"));
  mkdirSync(at("state", "snapshots"));
  for (const [name, lines] of old) writeFileSync(name, `${lines.join("\n")}\n`);
  assert.ok(old.size > 30);
  forge.counters.reset();
  const { code, stderr } = await run();
  assert.equal(code, 0, stderr);
  assert.equal(forge.counters.requests, 1);
  assert.deepEqual(contentOf(at("state")), state);
});

test("a star history with fewer stars than the repository says so", async (t) => {
  const { clock, list, run, names, catalogue, chart, published } = await start(t);
  const [name = ""] = names;
  const [id = 0] = catalogue.ids();
  const known = catalogue.get(id, clock.now());
  const undated = 50_000;
  catalogue.override(id, { stars: (known?.stars ?? 0) + undated });
  list(name);
  assert.equal((await run()).code, 0);
  assert.match(chart(name), /50,\d\d\d stars of unknown days/);
  assert.ok(Date.parse(published()[0]?.since ?? "") <= (known?.createdAt ?? 0));
});
