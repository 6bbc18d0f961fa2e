import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { DAY_MS } from "../../src/lib/clock.js";
import type { DumpedRepository } from "../../src/repositories/repositories.js";
import { pastSnapshots } from "../../src/tracking/star-history.js";
import { writeState } from "../../src/transfer/transfer.js";
import { temporaryFolder } from "../support/imports.js";

const REPOSITORIES = 50;
const DAYS = 365;
const BEGIN = Date.UTC(2026, 0, 1);

/** Numbers below 1, the same in each run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A repository of up to ten years with the history of its stars: half of them gain one a week, some hundreds a day. */
function repositoryOf(id: number, chance: () => number): { dumped: DumpedRepository; perDay: number } {
  const perDay = id % 2 === 0 ? 1 / 7 : 0.3 * 10 ** (3 * chance());
  const age = Math.round(365 * (1 + 9 * chance()));
  const days = Array.from({ length: age }, (_, i) => ({
    day: BEGIN - (i + 1) * DAY_MS,
    gained: Math.floor(perDay * 2 * chance() + chance()),
  }));
  const stars = days.reduce((sum, { gained }) => sum + gained, 0);
  const createdAt = BEGIN - age * DAY_MS;
  const facts = {
    url: `https://forge.example/acme/project-${id}`,
    description: `Project ${id}, which does one thing well`,
    language: "TypeScript",
    topics: ["tools", `topic-${id}`],
    ...{ stars, forks: id, openIssues: id, watchers: id, fork: false, archived: false },
    ...{ availability: "AVAILABLE" as const, createdAt, pushedAt: BEGIN },
  };
  const names = { provider: "GITHUB", owner: "acme", name: `project-${id}`, fullName: `acme/project-${id}` };
  const repository = { id, ...names, ...facts, discoveredAt: BEGIN, refreshedAt: BEGIN, importSource: null };
  const dumped = {
    repository: { ...repository, homepage: null, license: "MIT", countedAt: BEGIN, nextRefreshAt: null },
    ...{ providerId: String(10_000_000 + id * 7_919), facts, factTimes: {}, previousNames: [] },
    snapshots: pastSnapshots({ days }, stars, BEGIN).snapshots,
    historyState: "WHOLE",
  };
  return { dumped: dumped as unknown as DumpedRepository, perDay };
}

/** The commands that put the files of a folder into a commit; those that it does not have stay as they were. */
function commitOf(folder: string, day: number): Buffer {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
  const head = `commit refs/heads/main\ncommitter A <a@localhost> ${BEGIN / 1_000 + day * 86_400} +0000\ndata 0\n`;
  const parts = files.flatMap((name) => {
    const text = readFileSync(join(folder, name));
    return [Buffer.from(`M 100644 inline ${name}\ndata ${text.length}\n`), text, Buffer.from("\n")];
  });
  return Buffer.concat([Buffer.from(head), ...parts]);
}

/** Runs git in a folder. */
function git(folder: string, args: readonly string[], input?: Buffer): Buffer {
  const { status, stdout, stderr } = spawnSync("git", args, {
    cwd: folder,
    maxBuffer: 1e9,
    ...(input && { input }),
  });
  assert.equal(status, 0, String(stderr));
  return stdout;
}

test("a year of the state of 50 repositories takes less than 1 MB in git", async (t) => {
  const folder = temporaryFolder();
  const chance = numbers(5);
  const all = Array.from({ length: REPOSITORIES }, (_, i) => repositoryOf(i + 1, chance));
  const commits: Buffer[] = [];
  for (let day = 0; day < DAYS; day++) {
    const at = BEGIN + day * DAY_MS;
    const capturedAt = at + 6 * 3_600_000 + Math.floor(chance() * 900_000);
    // The files of other months do not change.
    const month = new Date(at).setUTCDate(1);
    const page = all.map(({ dumped, perDay }) => {
      const { facts, snapshots } = dumped;
      facts.stars = (facts.stars ?? 0) + Math.floor(perDay * 2 * chance() + chance());
      if (chance() < 0.2) facts.pushedAt = capturedAt;
      const counts = { stars: facts.stars, forks: facts.forks ?? 0, openIssues: facts.openIssues ?? 0 };
      snapshots.push({ capturedAt, ...counts, watchers: facts.watchers ?? 0, source: "OBSERVED" });
      return { ...dumped, snapshots: snapshots.filter((one) => day === 0 || one.capturedAt >= month) };
    });
    await writeState({ dump: async (after) => (after > 0 ? [] : page) }, join(folder, "state"), at);
    commits.push(commitOf(folder, day));
  }
  const [first, repository] = ["first", "packed"].map((name) => join(folder, name));
  for (const one of [first, repository]) git(folder, ["init", "--quiet", "--bare", one ?? ""]);
  git(first ?? "", ["fast-import", "--quiet"], Buffer.concat(commits));
  // As loose objects, as single commits leave them.
  const packed = git(first ?? "", ["pack-objects", "--stdout", "--all", "--quiet"], Buffer.alloc(0));
  git(repository ?? "", ["unpack-objects", "-q"], packed);
  const head = String(git(first ?? "", ["rev-parse", "refs/heads/main"])).trim();
  git(repository ?? "", ["update-ref", "refs/heads/main", head]);
  git(repository ?? "", ["gc", "--quiet"]);
  const sizes = String(git(repository ?? "", ["count-objects", "--verbose"]));
  const kilobytes = Number(/size-pack: (\d+)/.exec(sizes)?.[1]);
  t.diagnostic(`${kilobytes} KiB`);
  assert.ok(kilobytes > 50 && kilobytes < 1_000, sizes);
});
