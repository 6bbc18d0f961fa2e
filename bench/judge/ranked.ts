/** What a ranked place can be wrong about, and how far measured and published figures agree. */
import { median } from "../../src/repositories/series.js";

/** A name that ended while another began. Names are in lower case. */
export interface Succession {
  before: string;
  after: string;
  /** Date of the first file with the new name. */
  since: string;
}

/** The pairs of `inferred-renames.csv` that changed more than letter case. */
export function readSuccessions(csv: string): Succession[] {
  const nameOf = (url = "") => url.replace(/^https:\/\/[^/]+\//, "").toLowerCase();
  return csv
    .trim()
    .split("\n")
    .slice(1)
    .flatMap((line): Succession[] => {
      const [since = "", kind, before, after] = line.trim().split(",");
      return kind === "ren" ? [{ since, before: nameOf(before), after: nameOf(after) }] : [];
    });
}

/** A day of an archive: what its newest file holds, and which names have a successor by then. */
export interface Day {
  date: string;
  present: ReadonlySet<string>;
  successions: readonly Succession[];
}

/** A place of a list, in lower case, with the time of the reading it rests on; null: it has no trend. */
export interface Placed {
  name: string;
  to: number | null;
}

export interface Faults {
  places: number;
  /** Places whose repository is not in the newest file, or whose growth ends before it. */
  stale: number;
  /** Places of names that have a successor and are gone. */
  superseded: number;
  /** Places of a name whose successor is in the same list. */
  twice: number;
}

export const NO_FAULTS: Faults = { places: 0, stale: 0, superseded: 0, twice: 0 };

/** The faults of the places of one list. `at`: capture time of the newest file. */
export function faultsOf(placed: readonly Placed[], day: Day, at: number): Faults {
  const gone = day.successions.filter(({ before, since }) => since <= day.date && !day.present.has(before));
  const names = new Set(placed.map(({ name }) => name));
  return {
    places: placed.length,
    stale: placed.filter(({ name, to }) => !day.present.has(name) || (to !== null && to < at)).length,
    superseded: placed.filter(({ name }) => gone.some(({ before }) => before === name)).length,
    twice: gone.filter(({ before, after }) => names.has(before) && names.has(after)).length,
  };
}

export function addFaults(sum: Faults, more: Faults): Faults {
  return {
    places: sum.places + more.places,
    stale: sum.stale + more.stale,
    superseded: sum.superseded + more.superseded,
    twice: sum.twice + more.twice,
  };
}

/** Names that a list without the damage does not have in its first hundred. */
export function falsePlaces(damaged: readonly string[], undamaged: readonly string[]): string[] {
  const known = new Set(undamaged);
  return damaged.filter((name) => !known.has(name));
}

/** A measured and a published gain of one repository. */
export type Pair = readonly [measured: number, published: number];

/** Pearson's correlation, from -1 to 1; NaN for fewer than two pairs. */
export function correlation(pairs: readonly Pair[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [mx, my] = [mean(pairs.map(([x]) => x)), mean(pairs.map(([, y]) => y))];
  let [xy, xx, yy] = [0, 0, 0];
  for (const [x, y] of pairs) {
    xy += (x - mx) * (y - my);
    xx += (x - mx) ** 2;
    yy += (y - my) ** 2;
  }
  return xy / Math.sqrt(xx * yy);
}

/** The median distance of measured and published gains. */
export function medianError(pairs: readonly Pair[]): number {
  return median(pairs.map(([measured, published]) => Math.abs(measured - published)));
}

/** How many names of a published list are in the first places of ours. */
export function shared(ours: readonly string[], published: ReadonlySet<string>, first: number): number {
  return ours.slice(0, first).filter((name) => published.has(name)).length;
}
