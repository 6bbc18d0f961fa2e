/**
 * Folders and files with tests of whole systems: services that are killed, attacked, upgraded or left without their database, and
 * clusters; and long proofs: days of tracking forges that misbehave, imports that are killed or attacked, and damaged stores. They
 * have a command of their own.
 */
export const SYSTEM: readonly string[] = [
  "client/generators",
  "publish/sixty-days",
  "reliability",
  "tracking/avatars",
  "tracking/endless-lists",
  "tracking/faults",
  "tracking/losses",
  "tracking/quota",
  "tracking/request-lane",
  "tracking/tokens",
  "tracking/walks",
  "transfer/bombs",
  "transfer/damage",
  "transfer/killed",
  "transfer/packed",
  "transfer/real-data",
];

/** Test files that mostly wait for other processes, and leave the processor to the rest of the run. */
export const WAITING: readonly string[] = ["reliability/database-away"];

/** Folders and files whose tests have processes of their own: they measure memory or time, or change what a process has once. */
export const ALONE: readonly string[] = [
  "reliability/attacks",
  "reliability/connections",
  "reliability/fuzz",
  "reliability/key-timing",
  "reliability/limits",
  "reliability/overload",
  "reliability/stop",
  "budgets",
  "install",
  "bundle",
  "charts/png",
  "http/garbage",
  "database/private-files",
];

/** Seconds that the longest files take: the order of a run, and which files share a process, follow from it. */
export const SECONDS: Readonly<Record<string, number>> = {
  "browser/pages": 39,
  "tracking/request-lane": 33,
  "tracking/losses": 32,
  "reliability/hostile-data": 27,
  "reliability/fuzz": 24,
  "reliability/recovery": 23,
  "tracking/avatars": 22,
  "reliability/losses": 21,
  "transfer/backup": 20,
  "transfer/check": 10,
  "reliability/restore-kills": 20,
  "reliability/followers": 60,
  "reliability/database-away": 19,
  "tracking/intervals": 18,
  "browser/journeys": 17,
  "browser/layout": 16,
  "reliability/upgrade": 16,
  "tracking/gitlab": 16,
  "tracking/walks": 16,
  "api/streams": 17,
  "browser/explore": 15,
  "tracking/faults": 15,
  "browser/palette": 14,
  "mcp/stdio": 14,
  "discovery/rankings/ranks": 14,
  "client/generators": 13,
  "transfer/damage": 13,
  "api/passkeys": 12,
  "browser/charts": 12,
  "cli/init": 12,
  "accounts/usage": 12,
  "reliability/power-cuts": 12,
  "reliability/postgres-kills": 11,
  "tracking/command": 11,
  "accounts/sign-in": 10,
  "api/conventions": 10,
  "api/parameters": 10,
  "reliability/expensive": 10,
  "tracking/quota": 10,
  "tracking/recheck": 10,
  "tracking/start": 10,
  "tracking/tokens": 10,
  "forges/github-forge": 9,
  "tracking/star-history": 9,
  "transfer/packed": 9,
  "api/access": 8,
  "repositories/sample": 8,
  "http/security-headers": 8,
  "growth/short-steps": 8,
  "reliability/disk": 8,
  "tracking/endless-lists": 8,
  "tracking/gogs": 8,
  "transfer/bombs": 8,
};

/** Seconds of every other file. */
export const SECONDS_OF_OTHERS = 1.5;
