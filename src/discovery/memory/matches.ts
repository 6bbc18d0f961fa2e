/** Which repositories meet the filters of a list. */
import { type Dimension, eachFilter } from "../lists/filters.js";
import type { ListSpec } from "../lists/spec.js";
import type { Evaluation } from "./read-model.js";
import type { SlotSet } from "./slot-set.js";

interface Matching extends Pick<ListSpec, "filters" | "window"> {
  /** Absent: all listed ones. */
  among?: SlotSet | undefined;
  /** A dimension whose filters are left out. */
  except?: Dimension | undefined;
}

/** The listed repositories that meet the filters. */
export function matchesOf(evaluation: Evaluation, { filters, window, among, except }: Matching): SlotSet {
  const { columns } = evaluation.model;
  const set = evaluation.set().copy(columns.listed);
  if (among !== undefined) set.and(among);
  const tests = eachFilter(filters, (filter, value) =>
    filter.dimension === except ? [] : [filter.test(value, evaluation, window)],
  ).flat();
  for (const test of tests) {
    if (!("set" in test)) continue;
    if (test.isMember === true) set.and(test.set);
    if (test.isMember === false) set.andNot(test.set);
  }
  // Columns come last, as each costs time for all that are left, and the provider, which leaves most, comes last of them.
  for (const test of tests.reverse()) {
    if ("isWanted" in test)
      set.keepCodes(columns.named[test.column], columns.names[test.column].table(test.isWanted));
    else if ("column" in test)
      set.keepRange(columns.plain[test.column], test.first ?? 1, test.last ?? Number.POSITIVE_INFINITY);
  }
  return set;
}
