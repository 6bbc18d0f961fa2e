/** Counts beside a list: how many repositories it would have with other values of its filters. */
import { LRUCache } from "lru-cache";
import { EXACT_TOTAL, type Filters, isGrowthSort, type ListSpec, listKey } from "../spec.js";
import {
  BoundCounter,
  CodeCounter,
  type Counted,
  type Counter,
  type CountRequest,
  estimate,
  type FacetCounts,
  type Precision,
  TopicCounter,
  topOf,
  type ValueCounts,
  valuesOf,
} from "./counters.js";
import {
  type Dimension,
  type FoundIds,
  type NamedDimension,
  namesOf,
  type Test,
  testsOf,
} from "./filters.js";
import { Blocks, searchedOf } from "./matches.js";
import { keyCount, type Order, type OrderWithCells, orderName } from "./order.js";
import type { Facts, Parts, Topics } from "./parts.js";

/** The filters of each dimension, which do not limit its own counts. */
const FILTERS_OF: Readonly<Record<Dimension, readonly (keyof Filters)[]>> = {
  language: ["languages"],
  topic: ["topics"],
  provider: ["provider"],
  license: ["license"],
  stars: ["minStars", "maxStars"],
  created: ["createdAfter", "createdBefore"],
  pushed: ["pushedAfter"],
};
const DIMENSIONS = Object.keys(FILTERS_OF) as readonly Dimension[];

/** Maximum number of blocks read for a dimension, spread evenly over more. About 260,000 slots. */
const MOST_BLOCKS = 64;

/** Counts of dimensions that are remembered: a page shares most of them with the pages that it links to. */
const CAPACITY = 256;

/** Remembers the counts of one index. Evicts the least recently used. */
export class CountMemory extends LRUCache<string, Counted> {
  constructor() {
    super({ max: CAPACITY });
  }
}

interface CountOptions {
  ids: FoundIds;
  request: CountRequest;
  memory: CountMemory;
}

/** The parts that counting needs. */
interface CountedParts {
  facts: Facts;
  topics: Topics;
  stars: OrderWithCells;
  created: OrderWithCells;
  pushed: OrderWithCells;
}

/**
 * Counts the matches of a list by the values of each dimension, without the filters of that dimension. Undefined if the index
 * lacks what the list needs. Takes a pass over the candidates for each dimension that is filtered, and one for all others; none
 * reads more than MOST_BLOCKS blocks.
 */
export function countFacets(
  parts: Parts,
  spec: ListSpec,
  { ids, request, memory }: CountOptions,
): FacetCounts | undefined {
  const needed = neededOf(parts);
  const tests = testsOf(parts, spec, ids);
  const order = isGrowthSort(spec.sort) ? parts.orders.get(orderName(spec)) : undefined;
  if (needed === undefined || tests === undefined) return undefined;
  if (isGrowthSort(spec.sort) && order === undefined) return undefined;
  const filtered = new Set(tests.flatMap(({ dimension }) => dimension ?? []));
  const passes = [
    DIMENSIONS.filter((dimension) => !filtered.has(dimension)),
    ...DIMENSIONS.filter((dimension) => filtered.has(dimension)).map((dimension) => [dimension]),
  ];
  const counted = new Map<Dimension, Counted>();
  for (const dimensions of passes) {
    const keys = dimensions.map((dimension) => memoryKey(spec, dimension, request));
    const known = keys.map((key) => (key === undefined ? undefined : memory.get(key)));
    const missing = dimensions.filter((_, i) => known[i] === undefined);
    const found = countPass(needed, { dimensions: missing, tests, order, request });
    for (const [i, dimension] of dimensions.entries()) {
      const one = known[i] ?? found.get(dimension);
      if (one === undefined) continue;
      counted.set(dimension, one);
      if (keys[i] !== undefined) memory.set(keys[i], one);
    }
  }
  const isCut = (ids.scope?.length ?? 0) > EXACT_TOTAL;
  return presented(needed, counted, { filters: spec.filters, isCut, most: request.values });
}

function neededOf({ facts, topics, orders }: Parts): CountedParts | undefined {
  const [stars, created, pushed] = (["stars", "created", "pushed"] as const).map((name) => orders.get(name));
  if (facts === undefined || topics === undefined) return undefined;
  if (!hasCells(stars) || !hasCells(created) || !hasCells(pushed)) return undefined;
  return { facts, topics, stars, created, pushed };
}

function hasCells(order: Order | undefined): order is OrderWithCells {
  return order?.cells !== undefined;
}

/** Undefined for a search: its matches are seldom wanted again. */
function memoryKey(spec: ListSpec, dimension: Dimension, request: CountRequest): string | undefined {
  if (spec.scope.kind !== "all") return undefined;
  const own = FILTERS_OF[dimension];
  const others = Object.entries(spec.filters).filter(([name]) => !own.some((one) => one === name));
  const list = listKey({
    ...spec,
    filters: Object.fromEntries(others),
    sort: isGrowthSort(spec.sort) ? spec.sort : "stars",
    direction: "desc",
  });
  return JSON.stringify([dimension, list, boundsOf(dimension, request)]);
}

function boundsOf(dimension: Dimension, request: CountRequest): readonly number[] {
  if (dimension === "stars") return request.minStars;
  if (dimension === "created") return request.createdAfter;
  return dimension === "pushed" ? request.pushedAfter : [];
}

interface Pass {
  dimensions: readonly Dimension[];
  /** Of the list; those of the dimensions are left out. */
  tests: readonly Test[];
  order: Order | undefined;
  request: CountRequest;
}

function countPass(
  parts: CountedParts,
  { dimensions, tests, order, request }: Pass,
): Map<Dimension, Counted> {
  if (dimensions.length === 0) return new Map();
  const { slots } = parts.facts;
  const others = tests.filter(({ dimension }) => dimension === undefined || !dimensions.includes(dimension));
  const searched = searchedOf(others, order, slots);
  const counters = dimensions.map((dimension) => counterOf(parts, dimension, request));
  const blocks = new Blocks(searched);
  const read = Math.min(blocks.length, MOST_BLOCKS);
  for (let i = 0; i < read; i++) {
    const kept = blocks.read(Math.floor((i * blocks.length) / read), searched.conditions);
    for (const counter of counters) counter.add(blocks.slots, kept);
  }
  const factor = read === 0 ? 1 : blocks.length / read;
  return new Map(dimensions.map((dimension, i) => [dimension, countedBy(counters[i], factor)]));
}

function countedBy(counter: Counter | undefined, factor: number): Counted {
  return { counts: counter?.counts() ?? new Uint32Array(0), factor };
}

function counterOf(parts: CountedParts, dimension: Dimension, request: CountRequest): Counter {
  const { facts, topics } = parts;
  switch (dimension) {
    case "language":
    case "provider":
    case "license": {
      const { codes, names } = namesOf(facts, dimension).names;
      return new CodeCounter(codes, names.length);
    }
    case "topic":
      return new TopicCounter(topics, facts.slots);
    case "stars":
    case "created":
    case "pushed":
      return new BoundCounter(parts[dimension], boundsOf(dimension, request));
  }
}

interface Presentation {
  filters: Filters;
  /** Whether the search of the list has more matches than those counted. */
  isCut: boolean;
  most: number;
}

/** The counts as callers see them. */
function presented(
  { facts, topics, created, pushed }: CountedParts,
  all: ReadonlyMap<Dimension, Counted>,
  { filters, isCut, most }: Presentation,
): FacetCounts {
  const of = (dimension: Dimension): Counted =>
    all.get(dimension) ?? { counts: new Uint32Array(0), factor: 1 };
  const precisionOf = ({ factor }: Counted): Precision =>
    factor > 1 ? "sampled" : isCut ? "at-least" : "exact";
  const named = (dimension: NamedDimension, chosen: readonly string[] = []): ValueCounts => {
    const counted = of(dimension);
    const named = namesOf(facts, dimension);
    const options = { chosen, most, absent: named.names.isComplete ? 0 : null } as const;
    return { precision: precisionOf(counted), values: topOf(valuesOf(named), counted, options) };
  };
  const bounds = (dimension: Dimension) => {
    const counted = of(dimension);
    return {
      precision: precisionOf(counted),
      counts: [...counted.counts].map((count) => estimate(count, counted)),
    };
  };
  const ofTopics = of("topic");
  // Rare topics are not in the index.
  const topicOptions = { chosen: filters.topics ?? [], most, absent: null };
  return {
    languages: named("language", filters.languages),
    providers: named("provider", filters.provider === undefined ? [] : [filters.provider.toLowerCase()]),
    licenses: named("license", filters.license === undefined ? [] : [filters.license.toLowerCase()]),
    topics: {
      precision: precisionOf(ofTopics),
      values: topOf({ names: topics.names }, ofTopics, topicOptions),
    },
    minStars: bounds("stars"),
    createdAfter: bounds("created"),
    pushedAfter: bounds("pushed"),
    known: {
      licenses: facts.byLicense.slots.length > 0,
      created: keyCount(created.keys) > 0,
      pushed: keyCount(pushed.keys) > 0,
    },
  };
}
