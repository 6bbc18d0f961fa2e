import type { Counts } from "./continuity.js";
import type { Likeness } from "./likeness.js";

/** SUSPECTED by the counts; ACCEPTED or REJECTED by the operator. */
export const RENAME_STATUSES = ["SUSPECTED", "ACCEPTED", "REJECTED"] as const;
export type RenameStatus = (typeof RENAME_STATUSES)[number];

/** Why one name seems to continue as another. */
export interface RenameEvidence extends Likeness {
  /** The archive with both names. */
  source: string;
  /** The last counts of the earlier name, and the first ones of the later name after it. */
  from: Counts;
  to: Counts;
  /** Whether the later name was in use before the earlier one: the repository got it back. */
  isReturn: boolean;
}

/** The evidence as short phrases, such as "37,171 → 38,212 stars". */
export function describeEvidence({ from, to, ...rest }: RenameEvidence): string[] {
  const count = (value: number) => value.toLocaleString("en-US");
  const { sameDescription, sameName, similarName, sameOwner, sameLanguage, isReturn } = rest;
  return [
    `${count(from.stars)} → ${count(to.stars)} stars`,
    ...(from.forks === null || to.forks === null ? [] : [`${count(from.forks)} → ${count(to.forks)} forks`]),
    ...(sameDescription ? ["same description"] : []),
    ...(sameName ? ["same name"] : similarName ? ["similar name"] : []),
    ...(sameOwner ? ["same owner"] : []),
    ...(sameLanguage ? ["same language"] : []),
    ...(isReturn ? ["a name it had before"] : []),
  ];
}
