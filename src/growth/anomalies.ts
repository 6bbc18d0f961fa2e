import type { SnapshotSource } from "../repositories/repositories.js";

/**
 * Movements that make measured growth doubtful. They describe the figures, not who caused them or why: from outside, purges,
 * failed readings and campaigns look the same.
 */
export const ANOMALY_KINDS = ["FAILED_READING", "UNCONFIRMED", "RETURN", "BURST", "PURGE"] as const;
type AnomalyKind = (typeof ANOMALY_KINDS)[number];

/** The counts in which a movement can show. */
export const MEASURED_COUNTS = ["stars", "forks", "openIssues"] as const;
export type MeasuredCount = (typeof MEASURED_COUNTS)[number];

/** Their names in the middle of a sentence. */
export const COUNT_NAMES: Readonly<Record<MeasuredCount, string>> = {
  stars: "stars",
  forks: "forks",
  openIssues: "open issues",
};

export interface Anomaly {
  kind: AnomalyKind;
  /** The count that moved. */
  measure: MeasuredCount;
  /** Capture time of the first snapshot that shows it. */
  at: number;
  /** Capture time of the last snapshot that it concerns; the same as `at` for a single one. */
  until: number;
  /** A phrase with the figures. */
  reason: string;
  /** The count before and after. */
  before: number;
  after: number;
  /** Of a BURST, the part of the gain that counts. */
  counted?: number;
}

/** Kinds that make the growth of a window doubtful. A loss is what it is. */
const DOUBTFUL_KINDS: readonly AnomalyKind[] = ["FAILED_READING", "UNCONFIRMED", "RETURN", "BURST"];

export function isDoubtful(anomaly: Anomaly): boolean {
  return DOUBTFUL_KINDS.includes(anomaly.kind);
}

/** The counts of a repository at one time; null: unknown. */
export interface Reading {
  at: number;
  stars: number;
  forks: number | null;
  openIssues: number | null;
  watchers: number | null;
  source: SnapshotSource;
}

/** Smaller movements, in stars, are never anomalies. */
export const MIN_MOVEMENT = 80;

/** null if either count is unknown. */
export function difference(to: number | null, from: number | null): number | null {
  return to === null || from === null ? null : to - from;
}

const whole = new Intl.NumberFormat("en-US");

/** A count in the words of an anomaly: 12,345. */
export function countText(count: number): string {
  return whole.format(count);
}

/** A return takes back this part of the jump before it. */
export const REVERTED = 0.8;

/** A jump, up or down, and its return: one anomaly. */
export function returnOf(
  { measure, at, before, after }: Pick<Anomaly, "measure" | "at" | "before" | "after">,
  back: { at: number; count: number },
): Anomaly {
  return {
    kind: "RETURN",
    measure,
    at,
    until: back.at,
    reason: `from ${countText(before)} to ${countText(after)} ${COUNT_NAMES[measure]} and back to ${countText(back.count)}`,
    before,
    after: back.count,
  };
}
