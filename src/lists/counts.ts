/** What is counted beside a list: how many repositories it would have with other values of its filters. */
export interface CountRequest {
  /** Least stars that are offered. */
  minStars: readonly number[];
  /** Times of creation and of the last push that are offered. */
  createdAfter: readonly number[];
  pushedAfter: readonly number[];
  /** Most values of each kind, besides those in the filters. */
  values: number;
}

/** `sampled`: estimated from a part of the catalogue. `at-least`: counted among the best matches of a search that has more. */
export type Precision = "exact" | "sampled" | "at-least";

/** A value of a filter. */
export interface ValueCount {
  name: string;
  /** Repositories in the list with this value and all other filters; null if that is not known. */
  count: number | null;
}

/** Values by their counts, the highest first, and equal ones by name. None has the count 0 unless it is in the filters. */
export interface ValueCounts {
  precision: Precision;
  values: readonly ValueCount[];
}

/** The counts of the bounds of a request, in their order. */
export interface BoundCounts {
  precision: Precision;
  counts: readonly number[];
}

/**
 * How many repositories a list would have with one value in place of those of the same kind, and all other filters. Languages and
 * licenses that differ in case are one value.
 */
export interface FacetCounts {
  languages: ValueCounts;
  topics: ValueCounts;
  providers: ValueCounts;
  licenses: ValueCounts;
  minStars: BoundCounts;
  createdAfter: BoundCounts;
  pushedAfter: BoundCounts;
  /** Whether any repository has a license, a date of creation, a date of its last push. */
  known: { licenses: boolean; created: boolean; pushed: boolean };
}
