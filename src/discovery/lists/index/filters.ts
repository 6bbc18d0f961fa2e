/** Translates the filters and the scope of a list into conditions on slots, with the slots that meet each if they are known. */
import { type Filters, foldedLicense, type ListSpec } from "../spec.js";
import { BitsCondition, CodesCondition, type Condition, RangeCondition, SetCondition } from "./conditions.js";
import { type CodeRange, codeAtMost, keyCount, type Order, piecesInRange } from "./order.js";
import {
  ARCHIVED,
  type Facts,
  FORK,
  type Groups,
  LISTED,
  type Names,
  type Parts,
  TRUST_BITS,
} from "./parts.js";

/** What the values of a filter, or of several that belong together, are counted as. */
export type Dimension = "language" | "topic" | "provider" | "license" | "stars" | "created" | "pushed";

/** A condition of a list, with the slots that meet it if they are known without a search. */
export interface Test {
  condition: Condition;
  /** Absent for what is not counted by value: the scope, archived, forks, trust. */
  dimension?: Dimension;
  candidates?: Candidates | undefined;
  /** For a condition on the key of an order: which one, and the codes that meet it. */
  range?: { sort: ListSpec["sort"]; codes: CodeRange };
}

/** Ids read from the database for what the index does not hold. */
export interface FoundIds {
  /** Repositories in the scope of the list; undefined for everything. */
  scope?: readonly number[] | undefined;
  /** Repositories with one of the list's rare topics. */
  rareTopics: readonly number[];
}

/** Topics of the filters that the index does not hold. */
export function rareTopics({ topics }: Parts, filters: Filters): string[] {
  return (filters.topics ?? []).filter((topic) => !topics?.names.includes(topic));
}

/** Translates the filters and the scope. Undefined if a part that they need is missing. */
export function testsOf(
  parts: Parts,
  { filters, window }: Pick<ListSpec, "filters" | "window">,
  ids: FoundIds,
): Test[] | undefined {
  const { facts, trust } = parts;
  if (facts === undefined) return undefined;
  const tests: (Test | undefined)[] = [flagsTest(facts, filters)];
  const { provider, languages, license, topics, reliableOnly, excludeAnomalous } = filters;
  if (provider !== undefined) tests.push(namesTest("provider", facts, (name) => name === provider));
  if (license !== undefined) {
    const wanted = foldedLicense(license);
    tests.push(namesTest("license", facts, (name) => foldedLicense(name) === wanted));
  }
  if (languages !== undefined)
    tests.push(namesTest("language", facts, (name) => languages.includes(name.toLowerCase())));
  if (reliableOnly || excludeAnomalous) {
    const bits = TRUST_BITS[window];
    const mask = (reliableOnly ? bits.reliable : 0) | (excludeAnomalous ? bits.clean : 0);
    tests.push(trust && { condition: new BitsCondition(trust, mask, mask) });
  }
  for (const range of rangesOf(filters)) tests.push(rangeTest(parts, range));
  if (topics !== undefined) {
    const test = topicsTest(parts, topics, setOf(facts, ids.rareTopics));
    tests.push(test && { ...test, dimension: "topic" });
  }
  if (ids.scope !== undefined) tests.push(setTest(setOf(facts, ids.scope)));
  const complete = tests.filter((test) => test !== undefined);
  return complete.length < tests.length ? undefined : complete;
}

function flagsTest(facts: Facts, { archived, fork }: Filters): Test {
  const mask = LISTED | (archived === undefined ? 0 : ARCHIVED) | (fork === undefined ? 0 : FORK);
  const value = LISTED | (archived ? ARCHIVED : 0) | (fork ? FORK : 0);
  const slots = archived ? facts.archived : fork ? facts.forks : undefined;
  return { condition: new BitsCondition(facts.flags, mask, value), candidates: slots && candidatesOf(slots) };
}

/** Dimensions whose values are names of which each repository has one at most. */
export type NamedDimension = "language" | "provider" | "license";

/** The names of a dimension, and the repositories of each if they are grouped. */
export function namesOf(facts: Facts, dimension: NamedDimension): { names: Names; groups?: Groups } {
  if (dimension === "language") return { names: facts.languages, groups: facts.byLanguage };
  if (dimension === "license") return { names: facts.licenses, groups: facts.byLicense };
  return { names: facts.providers };
}

function namesTest(
  dimension: NamedDimension,
  facts: Facts,
  isWanted: (name: string) => boolean,
): Test | undefined {
  const { codes, names, isComplete } = namesOf(facts, dimension).names;
  if (!isComplete) return undefined;
  const wanted = names.flatMap((name, i) => (isWanted(name) ? i : []));
  const table = new Uint8Array(names.length + 1);
  for (const i of wanted) table[i + 1] = 1;
  return {
    dimension,
    condition: new CodesCondition(codes, table),
    candidates: candidatesOfNames(facts, dimension, wanted),
  };
}

/** The repositories with one of the names; undefined if they are not grouped. */
function candidatesOfNames(
  { byProvider, byLanguage, byLicense }: Facts,
  dimension: NamedDimension,
  wanted: readonly number[],
): Candidates | undefined {
  if (dimension === "language") return candidatesOfGroups(byLanguage, wanted);
  if (dimension === "license") return candidatesOfGroups(byLicense, wanted);
  return wanted.includes(byProvider.leftOut) ? undefined : candidatesOfGroups(byProvider, wanted);
}

interface Range {
  sort: "stars" | "created" | "pushed";
  from: number;
  to: number;
}

/** The ranges of the filters. An unknown value is in none, so each begins at 0 at least. */
function rangesOf(filters: Filters): Range[] {
  const { minStars, maxStars, createdAfter, createdBefore, pushedAfter } = filters;
  const ranges: Range[] = [];
  const add = (sort: Range["sort"], from = 0, to = Number.MAX_SAFE_INTEGER) =>
    ranges.push({ sort, from: Math.max(0, from), to });
  if (minStars !== undefined || maxStars !== undefined) add("stars", minStars, maxStars);
  if (createdAfter !== undefined || createdBefore !== undefined)
    add("created", createdAfter, createdBefore === undefined ? undefined : createdBefore - 1);
  if (pushedAfter !== undefined) add("pushed", pushedAfter);
  return ranges;
}

const NOTHING = candidatesOf(new Uint32Array(0));

function rangeTest({ orders }: Parts, { sort, from, to }: Range): Test | undefined {
  const order = orders.get(sort);
  if (order?.cells === undefined) return undefined;
  const { keys, cells } = order;
  // Keys and bounds are whole numbers. Codes ascend from the highest key.
  const first = codeAtMost(keys, to);
  const last = Math.min(keyCount(keys), codeAtMost(keys, from - 1) - 1);
  if (last < first)
    return { dimension: sort, condition: new SetCondition(cells.length), candidates: NOTHING };
  return {
    dimension: sort,
    condition: new RangeCondition(cells, first, last),
    candidates: candidatesInRange(order, { first, last }),
    range: { sort, codes: { first, last } },
  };
}

/** Repositories with one of the topics; `set`: those with a rare one. */
function topicsTest({ topics }: Parts, wanted: readonly string[], set: SetCondition): Test | undefined {
  if (topics === undefined) return undefined;
  for (const topic of wanted) {
    const index = topics.names.indexOf(topic);
    if (index >= 0) set.add(topics.slots, topics.offsets[index], topics.offsets[index + 1]);
  }
  return setTest(set);
}

function setTest(set: SetCondition): Test {
  return { condition: set, candidates: candidatesOfSet(set) };
}

function setOf({ slots }: Facts, ids: readonly number[]): SetCondition {
  const set = new SetCondition(slots);
  set.add(Uint32Array.from(ids.filter((id) => id < slots)));
  return set;
}

/** Slots that include all matches of a list. */
export interface Candidates {
  size: number;
  /** The slots, each once. */
  slots(): Uint32Array;
  isAscending: boolean;
}

export function candidatesOf(slots: Uint32Array): Candidates {
  return { size: slots.length, slots: () => slots, isAscending: true };
}

/** The slots of some groups. */
function candidatesOfGroups({ offsets, slots }: Groups, groups: readonly number[]): Candidates {
  const parts = groups.map((group) => slots.subarray(offsets[group], offsets[group + 1]));
  return joined(parts, parts.length === 1);
}

/** The slots of a set. */
function candidatesOfSet(set: SetCondition): Candidates {
  return { size: set.size, slots: () => set.members(), isAscending: true };
}

/** The slots with a code in a range; undefined if that includes a run, whose slots would have to be searched for. */
export function candidatesInRange(order: Order, range: CodeRange): Candidates | undefined {
  const parts: Uint32Array[] = [];
  for (const piece of piecesInRange(order, range)) {
    if (piece.code !== undefined) return undefined;
    parts.push(order.slots.subarray(piece.from, piece.to));
  }
  return joined(parts, false);
}

function joined(parts: readonly Uint32Array[], isAscending: boolean): Candidates {
  const size = parts.reduce((sum, { length }) => sum + length, 0);
  const slots = () => {
    const [only] = parts;
    if (parts.length === 1 && only !== undefined) return only;
    const all = new Uint32Array(size);
    let end = 0;
    for (const part of parts) {
      all.set(part, end);
      end += part.length;
    }
    return all;
  };
  return { size, slots, isAscending };
}
