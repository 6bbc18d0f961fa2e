import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { DAY_MS, isoDay } from "../../src/lib/clock.js";
import { CommandWorld } from "../support/command.js";
import { START } from "../support/forge/world.js";
import { contentOf, startPublishing } from "../support/publishing.js";

const world = new CommandWorld();

const DAYS = 60;
/** What the forge does on days other than respond. */
const FAULTS = new Map<number, "quota" | "status-502" | "status-401" | "403-secondary">([
  [30, "quota"],
  ...[33, 34, 35].map((day) => [day, "status-502"] as const),
  [40, "status-401"],
  [41, "403-secondary"],
]);
const RENAMED_ON = 10;
const DELETED_ON = 20;

test("sixty days of a workflow: its colour is that of the day, and several days without readings are a gap", async (t) => {
  const publishing = await startPublishing(t, world, { begin: START, repositories: 5 });
  const { clock, catalogue, forge, at, list, run, names, freeze } = publishing;
  const [quiet = "", fresh = "", loud = "", renamed = "", deleted = ""] = names;
  const ids = catalogue.ids();
  list(...names);
  writeFileSync(at("README.md"), "# Ours\n\n<!-- sidereal -->\n<!-- /sidereal -->\n");
  freeze();
  catalogue.override(ids[1] ?? 0, { createdAt: START - 3_600_000, stars: 0 });
  const git = (...args: string[]) => {
    const ran = spawnSync("git", args, { cwd: at(), encoding: "utf8", maxBuffer: 1e9 });
    assert.equal(ran.status, 0, ran.stderr);
    return ran.stdout;
  };
  git("init", "--quiet", "--initial-branch=sidereal");
  const gained = (place: number, stars: number) => {
    const id = ids[place] ?? 0;
    catalogue.override(id, { stars: (catalogue.get(id, clock.now())?.stars ?? 0) + stars });
  };
  const days: { day: number; code: number | null; said: string; requests: number; isCommit: boolean }[] = [];
  for (let day = 0; day <= DAYS; day++) {
    if (day > 0) clock.pass(1);
    if (day % 4 === 3) gained(0, 1);
    if (day > 45) gained(1, 2);
    gained(2, 300 + ((day * 37) % 90));
    gained(3, day % 2);
    if (day === RENAMED_ON)
      catalogue.add({ id: ids[3] ?? 0, at: clock.now() - 1_000, kind: "renamed", to: "acme/renamed" });
    if (day === DELETED_ON)
      catalogue.add({ id: ids[4] ?? 0, at: clock.now() - 1_000, kind: "deleted", to: null });
    const fault = FAULTS.get(day);
    forge.switches.fault = fault === undefined || fault === "quota" ? null : () => fault;
    if (fault === "quota") forge.spend("ghp_ofTheTest", "graphql", 5_000);
    forge.counters.reset();
    const site = day === DAYS ? ["--site", at("site")] : [];
    const { code, stderr } = await run("--readme", at("README.md"), ...site);
    git("add", "state", "out", "README.md");
    const isCommit = git("status", "--porcelain", "--untracked-files=no") !== "";
    if (isCommit) git("-c", "user.name=A", "-c", "user.email=a@localhost", "commit", "--quiet", "-m", "x");
    days.push({ day, code, said: stderr.trim(), requests: forge.counters.requests, isCommit });
  }

  // As `publish.sh` colours a run: 3 is a warning.
  const isRed = ({ code }: { code: number | null }) => code !== 0 && code !== 3;
  assert.deepEqual(
    days.filter(isRed).map(({ day }) => day),
    [...FAULTS.keys()],
  );
  // One for all, one for a lost repository, and one for each star history of the first day.
  for (const { day, requests } of days.slice(1))
    assert.ok(requests <= (FAULTS.has(day) ? 5 : 3), `day ${day}: ${requests}`);
  const gapsOf = (name: string): [string, string][] =>
    JSON.parse(contentOf(at("site"))[`repos/github/${name}/snapshots.json`] ?? "").meta.gaps.map(
      ({ from, to }: { from: string; to: string }) => [from.slice(0, 10), to.slice(0, 10)],
    );
  const dayOf = (day: number) => isoDay(START + day * DAY_MS);
  // A single day, such as that between 29 and 31, is none.
  const missed = [
    [32, 36],
    [39, 42],
  ].map((ends) => ends.map(dayOf));
  const published = [quiet, fresh, loud, "acme/renamed"];
  for (const name of published) assert.deepEqual(gapsOf(name), missed, name);
  assert.match(contentOf(at("out"))[`${fresh}.svg`] ?? "", /; no readings between [^,"]+, between /);
  assert.match(contentOf(at("out"))[`${renamed}.svg`] ?? "", /acme\/renamed/);
  assert.match(contentOf(at("out"))[`${deleted}.svg`] ?? "", /gone, last seen/);
  const { "7d": week } = JSON.parse(contentOf(at("site"))[`repos/github/${quiet}/repository.json`] ?? "").data
    .trends;
  assert.deepEqual([Math.round(week.hours), week.reliable], [168, true]);

  git("gc", "--quiet");
  const objects = spawnSync("git", ["cat-file", "--batch-check=%(objectsize:disk) %(rest)"], {
    cwd: at(),
    input: git("rev-list", "--objects", "--all"),
    encoding: "utf8",
  }).stdout.split("\n");
  const bytesIn = (folder: string) =>
    objects
      .filter((line) => line.split(" ")[1]?.startsWith(folder))
      .reduce((sum, line) => sum + Number(line.split(" ")[0]), 0);
  const state = bytesIn("state");
  const kibibytes = (bytes: number) => `${Math.round(bytes / 1_024)} KiB`;
  t.diagnostic(`in git: state ${kibibytes(state)}, pictures ${kibibytes(bytesIn("out"))}`);
  t.diagnostic(`commits: ${days.filter(({ isCommit }) => isCommit).length} of ${days.length} runs`);
  for (const { day, code, said, requests, isCommit } of days)
    if (code !== 0 || day === 0 || day === RENAMED_ON || day === DAYS)
      t.diagnostic(
        [`day ${day}`, `code ${code}`, isRed({ code }) ? "red" : "green", `${requests} requests`]
          .concat(isCommit ? "commit" : "no commit", said.split("\n").join(" | "))
          .join(", "),
      );
  assert.ok(state < 60_000, kibibytes(state));
});
