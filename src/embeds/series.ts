import type { SnapshotSource } from "../catalog/catalog.js";

/** The counts a chart can show, named as in the API. */
export const METRICS = ["stars", "forks", "openIssues"] as const;
export type Metric = (typeof METRICS)[number];

export const METRIC_NAMES: Readonly<Record<Metric, string>> = {
  stars: "Stars",
  forks: "Forks",
  openIssues: "Open issues",
};

/** A count at a time (ms since 1970), or at an age (ms). */
export interface ChartPoint {
  at: number;
  value: number;
  source: SnapshotSource;
}

/** A line of a chart. */
export interface ChartSeries {
  /** The full name of the repository, or another label. */
  name: string;
  /** Oldest first. Points whose value is not a count are ignored. */
  points: readonly ChartPoint[];
  /** Ranges in which counts are missing, from point to point. */
  gaps: readonly { from: number; to: number }[];
  /** A short note for readers. */
  note?: string;
}
