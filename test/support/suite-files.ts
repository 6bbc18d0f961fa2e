/**
 * Folders and files with tests of whole systems: services that are killed, attacked, upgraded or left without their database, and
 * clusters. They have a command of their own.
 */
export const SYSTEM: readonly string[] = [
  "reliability",
  "database/replicas",
  "examples/cluster",
  "redis/deployments",
];

/** Test files that mostly wait for other processes, and leave the processor to the rest of the run. */
export const WAITING: readonly string[] = [
  "database/replicas",
  "examples/cluster",
  "reliability/cluster-kills",
  "reliability/database-away",
  "redis/deployments",
];

/** Folders and files whose tests have processes of their own: they measure memory or time, or change what a process has once. */
export const ALONE: readonly string[] = [
  "reliability/attacks",
  "reliability/connections",
  "reliability/fuzz",
  "reliability/key-timing",
  "reliability/limits",
  "reliability/overload",
  "reliability/stop",
  "install",
  "bundle",
  "embeds/png",
  "database/private-files",
];

/** Seconds that the longest files take: the order of a run, and which files share a process, follow from it. */
export const SECONDS: Readonly<Record<string, number>> = {
  "database/replicas": 60,
  "tracking/request-lane": 30,
  "browser/pages": 35,
  "tracking/losses": 26,
  "doctor/doctor": 25,
  "reliability/fuzz": 21,
  "reliability/upgrade": 21,
  "tracking/avatars": 20,
  "browser/journeys": 17,
  "lists/plans": 19,
  "reliability/hostile-data": 17,
  "reliability/losses": 17,
  "examples/cluster": 16,
  "browser/explore": 12,
  "mcp/stdio": 14,
  "reliability/recovery": 14,
  "tracking/walks": 14,
  "api/stream-ends": 13,
  "browser/charts": 13,
  "lists/list-index": 13,
  "browser/layout": 12,
  "browser/palette": 12,
  "rankings/ranks": 12,
  "reliability/cluster-kills": 12,
  "reliability/restore-kills": 12,
  "backups/backups": 10,
  "api/parameters": 9,
  "tracking/backfill-lane": 9,
  "tracking/command": 9,
  "tracking/faults": 9,
  "tracking/gitlab": 9,
  "api/list-streamer": 8,
  "browser/passkeys": 8,
  "catalog/suspected-renames": 8,
  "cli/init": 8,
  "redis/deployments": 8,
  "reliability/database-away": 8,
  "search/blocks": 8,
  "tracking/quota": 8,
  "tracking/recheck": 8,
  "tracking/tokens": 8,
};

/** Seconds of every other file. */
export const SECONDS_OF_OTHERS = 1.5;
