import { syntheticRepository } from "../../bench/synthetic/synthetic.js";
import { DAY_MS, HOUR_MS } from "../../src/lib/clock.js";
import type { ArchiveFile } from "../../src/repositories/files.js";
import { SNAPSHOT_SOURCES } from "../../src/repositories/record-rules.js";
import type { Observation } from "../../src/repositories/repository.js";
import { NOW, observation, snapshot } from "./world.js";

/** Files of archives, one of them damaged. */
export const importedFiles: ArchiveFile[] = [4, 3, 2, 1].map((daysAgo) => ({
  source: "github-ranking",
  file: `ranking ${daysAgo} "é".csv`,
  capturedAt: NOW - daysAgo * DAY_MS,
  rows: daysAgo === 2 ? 10 : 30,
  zeros: 1,
  damage: daysAgo === 3 ? [{ kind: "ENCODING", reason: "9 rows" }] : [],
}));

/** A catalogue with everything in it that is easily lost. */
export const awkward: Observation[] = [
  ...Array.from({ length: 40 }, (_, i) =>
    syntheticRepository(i * 7, { repositories: 300, days: 5, seed: 3, end: NOW }),
  ),
  // Names changed, swapped, had again, lost to another, and of many groups.
  observation("o/first", [snapshot(90, 1)], { providerId: "a" }),
  observation("o/second", [snapshot(80, 2)], { providerId: "a" }),
  observation("o/first", [snapshot(70, 3)], { providerId: "a" }),
  observation("o/second", [snapshot(60, 3)], { providerId: "b", preferredId: 5_000 }),
  observation("O/First", [snapshot(50, 9)], { providerId: "c" }),
  // A name without ids that another repository has by now, which has become as large.
  observation("r/used", [snapshot(90, 5_000), snapshot(80, 5_100)], {
    facts: { createdAt: NOW - 900 * DAY_MS, availability: "AVAILABLE" },
  }),
  observation("r/used", [snapshot(70, 8)], {
    facts: { createdAt: NOW - 90 * DAY_MS, availability: "AVAILABLE" },
  }),
  observation("r/used", [snapshot(60, 5_000)], { facts: { createdAt: NOW - 90 * DAY_MS } }),
  observation("a/b/c/d", [snapshot(40, 0)], { provider: "GITLAB" }),
  observation("x/y", [], { provider: "FORGE_2", facts: { url: "https://forge.example/x/y" } }),
  // Ids of other forms than digits.
  ...[
    "gid://gitlab/Project/1",
    "0191d2ab-77c1-7b4e-9d0e-2f6a1c3b5d7e",
    "MDEw==",
    "a:b+c~d",
    "9".repeat(100),
  ].map((providerId, i) => observation(`ids/r${i}`, [snapshot(20, i)], { provider: "WORK", providerId })),
  // Told to be unknown, told to be none, and not told at all.
  observation("n/nulls", [snapshot(9, 1)], {
    facts: {
      description: null,
      language: null,
      fork: null,
      archived: false,
      topics: [],
      createdAt: null,
      watchers: 0,
    },
  }),
  observation("n/unsaid", [], { at: NOW - DAY_MS }),
  { ...observation("n/history-only", [snapshot(30, 5, { forks: 1 }), snapshot(20, 6)]), facts: {} },
  observation("n/undated", [], { at: null, facts: { stars: 4 }, discoveredAt: NOW - 99 * DAY_MS }),
  observation("n/text", [], {
    facts: { description: 'a "b", \\ / \u2028 😀 é', homepage: "not a url", license: "MIT OR X" },
  }),
  observation("n/archived", [snapshot(24, 7)], { source: "github-ranking" }),
  observation("n/gone", [snapshot(9, 7)], { facts: { availability: "GONE", pushedAt: NOW - HOUR_MS } }),
  observation(
    "n/sources",
    SNAPSHOT_SOURCES.map((source, i) => snapshot(9 - i, i, { source, watchers: i, openIssues: 0 })),
  ),
];
