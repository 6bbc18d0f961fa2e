/**
 * A year of the workflow in a bare repository, with all that happens to one: `node dist/bench/year.js FOLDER [days] [repositories]`.
 * Prints commits, runs that failed, and bytes in git; FOLDER gets the pictures of some days.
 */
import assert from "node:assert/strict";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandWorld } from "../test/support/command.js";
import type { FaultName } from "../test/support/forge/forge.js";
import { START } from "../test/support/forge/world.js";
import { startScript } from "../test/support/publishing.js";

const [, , target, days = "365", repositories = "10"] = process.argv;
if (target === undefined) throw new Error("Name a folder.");
const DAYS = Number(days);
/** The day of a year, in a shorter one too. */
const on = (day: number) => Math.round((day * DAYS) / 365);
const FAULTS = new Map<number, FaultName>([
  [on(200), "status-502"],
  [on(201), "status-502"],
  [on(240), "status-401"],
  [on(241), "403-secondary"],
]);
const [RENAMED, KILLED_READING, DELETED, NO_QUOTA] = [on(60), on(90), on(120), on(150)];
const [TWO_RUNS, KILLED_PUSHING, FORCED] = [on(180), on(210), on(270)];
const SHOWN = [1, 30, DAYS];

const ends: (() => unknown)[] = [];
const world = await startScript({ after: (end: () => unknown) => ends.push(end) }, new CommandWorld(), {
  begin: START,
  listed: Number(repositories),
});
const { clock, catalogue, ids, forge, git, bare, run, commits, show, setOne, clone } = world;
const hook = join(bare, "hooks", "pre-receive");
const stars = ids.map((id) => catalogue.get(id, clock.now())?.stars ?? 0);
/** 250 to 0.5 stars a day, of whole numbers, unevenly. */
const grow = (day: number) =>
  ids.forEach((id, i) => {
    const perDay = 250 * 0.002 ** (i / Math.max(1, ids.length - 1));
    stars[i] = (stars[i] ?? 0) + perDay * (0.5 + ((day * 37 + i * 61) % 100) / 100);
    setOne(id, Math.floor(stars[i] ?? 0));
  });

/** Somebody sets the branch back by some commits. */
function force(back: number): void {
  const at = clone();
  git(at, "push", "--quiet", "--force", "origin", `origin/sidereal~${back}:refs/heads/sidereal`);
  rmSync(at, { recursive: true });
}

function runsOn(day: number): Promise<{ code: number; stdout: string }[]> {
  if (day === KILLED_READING)
    return Promise.all([
      run({}, ({ pid }) => {
        forge.switches.fault = () => {
          forge.switches.fault = null;
          process.kill(-(pid ?? 0), "SIGKILL");
          return undefined;
        };
      }),
    ]);
  return Promise.all(day === TWO_RUNS ? [run(), run()] : [run()]);
}

const failed: string[] = [];
for (let day = 0; day <= DAYS; day++) {
  if (day > 0) clock.pass(1);
  grow(day);
  const [at, gone] = [clock.now() - 1_000, { kind: "deleted", to: null }] as const;
  if (day === RENAMED) catalogue.add({ id: ids[3] ?? 0, at, kind: "renamed", to: "acme/renamed" });
  if (day === DELETED) catalogue.add({ id: ids[4] ?? 0, at, ...gone });
  if (day === FORCED) force(on(10));
  const fault = FAULTS.get(day);
  forge.switches.fault = fault === undefined ? null : () => fault;
  if (day === NO_QUOTA) forge.spend("ghp_ofTheTest", "graphql", 5_000);
  // Of the whole group: git, the program and the script.
  if (day === KILLED_PUSHING) writeFileSync(hook, "#!/bin/sh\nkill -9 0\n", { mode: 0o755 });
  const runs = await runsOn(day);
  rmSync(hook, { force: true });
  for (const { code, stdout } of runs)
    if (code !== 0) failed.push(`day ${day}: ${code} ${stdout.trim().split("\n").at(-1)}`);
  if (SHOWN.includes(day)) writeFiles(day);
}

/** The pictures as the branch has them. */
function writeFiles(day: number): void {
  for (const file of git(bare, "ls-tree", "-r", "--name-only", "sidereal").split("\n")) {
    if (!/\.svg$|report\.md$/.test(file)) continue;
    const path = join(target ?? "", `day-${day}`, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, show(file));
  }
}

git(bare, "gc", "--quiet", "--prune=now");
const sums = new Map<string, { objects: number; bytes: number }>();
const kindOf = (type: string, path: string) => {
  if (type !== "blob") return type;
  if (path.startsWith("badges/")) return "badges";
  return path.endsWith(".svg") ? "charts" : path.startsWith("state/") ? "state" : path;
};
const described = git(
  bare,
  "cat-file",
  "--batch-all-objects",
  "--batch-check=%(objectname) %(objecttype) %(objectsize:disk)",
);
const paths = new Map(
  git(bare, "rev-list", "--objects", "sidereal")
    .split("\n")
    .map((line) => [line.slice(0, 40), line.slice(41)] as const),
);
for (const line of described.trim().split("\n")) {
  const [id = "", type = "", size] = line.split(" ");
  const path = paths.get(id);
  if (path === undefined) continue;
  const sum = sums.get(kindOf(type, path)) ?? { objects: 0, bytes: 0 };
  sums.set(kindOf(type, path), { objects: sum.objects + 1, bytes: sum.bytes + Number(size) });
}
const whole = [...sums.values()].reduce((total, { bytes }) => total + bytes, 0);
console.log(`${DAYS} days, ${ids.length} repositories: ${commits()} commits, ${whole} bytes after git gc`);
console.table([...sums].map(([kind, sum]) => ({ kind, ...sum, each: Math.round(sum.bytes / sum.objects) })));
console.log(failed.join("\n"));
assert.equal(git(bare, "fsck", "--strict").trim(), "");
for (const end of ends) await end();
process.exit(0);
