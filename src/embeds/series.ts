import type { SnapshotSource } from "../catalog/catalog.js";

/** What a chart shows; the names as the API has them. */
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
  /** The full name of a repository, or of whatever else it is. */
  name: string;
  /** In the order of their times. Those that are no counts are left out. */
  points: readonly ChartPoint[];
  /** Where counts are missing, from one point to another. */
  gaps: readonly { from: number; to: number }[];
  /** What else a reader must know of it, in a few words. */
  note?: string;
}
