/**
 * Whether a replica can be read from. `lagging`: it is too far behind; `away`: it does not respond; `promoted`: it follows no
 * other server; `foreign`: it is no copy of this database; `diverged`: it follows an older history of it; `starting`: not known yet.
 */
export type ReplicaState = "ready" | "starting" | "lagging" | "away" | "promoted" | "foreign" | "diverged";

/** The states in words for people. */
export const REPLICA_WORDS: Readonly<Record<ReplicaState, string>> = {
  ready: "usable",
  starting: "not examined yet",
  lagging: "too far behind",
  away: "does not respond",
  promoted: "follows no other server",
  foreign: "is no copy of this database",
  diverged: "follows an older history of the primary",
};

export interface ReplicaStatus {
  /** Host and port. */
  name: string;
  state: ReplicaState;
  /** In ms, to about two seconds; null: unknown. */
  lagMs: number | null;
  /** Whether public reads of this process go to it. */
  isUsed: boolean;
}

/** A replica is a copy of another database: a mistake in the settings, whose message names the setting. */
export class ReplicaRefused extends Error {}

/** What the log says of a replica that cannot be read from. */
export const PROBLEMS: Readonly<Record<Exclude<ReplicaState, "ready" | "starting">, string>> = {
  lagging: "the replica is too far behind and is not read from",
  away: "the replica does not respond and is not read from",
  promoted: "the replica follows no other server any more and is not read from",
  foreign: "the replica is no copy of this database and is not read from",
  diverged: "the replica follows an older history of the primary and is not read from",
};
