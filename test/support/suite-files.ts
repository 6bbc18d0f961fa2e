/** Test files that begin first, each in a process of its own: those that wait for other processes, and then those that compute long. */
export const FIRST: readonly string[] = [
  "redis/deployments",
  "examples/cluster",
  "database/replicas",
  "reliability/recovery",
  "browser/journeys",
  "doctor/doctor",
  "tracking/losses",
  "reliability/fuzz",
  "tracking/workers",
  "lists/plans",
  "tracking/walks",
  "tracking/tokens",
  "rankings/ranks",
  "transfer/damage",
  "avatars/shrink",
  "avatars/store",
];

/**
 * Folders and files whose tests have processes of their own: they start others, measure memory, change what a process
 * has once, or simulate days.
 */
export const ALONE: readonly string[] = [
  "tracking",
  "browser",
  "reliability",
  "install",
  "bundle",
  "embeds/png",
  "database/private-files",
];
