import type { Clock } from "../../../lib/clock.js";
import type { ListSpec } from "../spec.js";
import type { CountRequest, FacetCounts } from "./counters.js";
import { CountMemory, countFacets } from "./counts.js";
import { type FoundIds, rareTopics, testsOf } from "./filters.js";
import { orderName } from "./order.js";
import type { Part, Parts } from "./parts.js";
import { type Selection, select, selectFound } from "./select.js";

/** What the thread that builds the index sends. */
export type IndexMessage =
  | { kind: "part"; part: Part }
  /** All parts were read from this revision or a later one, beginning at this time (`Clock.monotonic`). */
  | { kind: "built"; revision: number; readAt: number; orders: readonly string[] }
  /** There is no index. */
  | { kind: "none" };

/** How old the index is: built from the present revision, recent enough for lists that are expensive without it, or unusable. */
export type Freshness = "current" | "recent" | "none";

/** An older index is used only if nothing has changed since it was built. */
const MAX_AGE_MS = 10 * 60_000;

/**
 * All listed repositories in memory: the facts that filters compare, and every order. It selects the ids of a page; rows are
 * read from the database. Parts are replaced one at a time while another thread builds the next index.
 */
export class ListIndex {
  #parts: Parts = { orders: new Map() };
  #revision: number | undefined;
  #readAt = Number.NEGATIVE_INFINITY;
  readonly #clock: Pick<Clock, "monotonic">;
  /** Whether a list was read from this index after the catalogue had changed, or could not be counted. */
  #wasOutdated = false;
  #version = 0;
  readonly #counts = new CountMemory();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  accept(message: IndexMessage): void {
    this.#counts.clear();
    switch (message.kind) {
      case "part":
        this.#replace(message.part);
        break;
      case "built": {
        const { revision, readAt, orders } = message;
        const kept = [...this.#parts.orders].filter(([name]) => orders.includes(name));
        this.#parts = { ...this.#parts, orders: new Map(kept) };
        this.#revision = revision;
        this.#readAt = readAt;
        this.#renew();
        break;
      }
      case "none":
        this.#parts = { orders: new Map() };
        this.#revision = undefined;
        this.#renew();
    }
  }

  #replace(part: Part): void {
    const { orders } = this.#parts;
    if (part.kind === "order")
      this.#parts = { ...this.#parts, orders: new Map(orders).set(part.name, part.order) };
    else if (part.kind === "facts") this.#parts = { ...this.#parts, facts: part.facts };
    else if (part.kind === "trust") this.#parts = { ...this.#parts, trust: part.trust };
    else this.#parts = { ...this.#parts, topics: part.topics };
  }

  #renew(): void {
    if (this.#wasOutdated) this.#version++;
    this.#wasOutdated = false;
  }

  /** Grows with each new index if a list was read from the one before it while that was not current, or could not be counted. */
  get version(): number {
    return this.#version;
  }

  /** How fresh the index is while the catalogue is at this revision. */
  freshness(revision: number): Freshness {
    if (this.#revision === undefined) return "none";
    if (this.#revision === revision) return "current";
    if (this.#clock.monotonic() - this.#readAt > MAX_AGE_MS) return "none";
    this.#wasOutdated = true;
    return "recent";
  }

  /** Topics of a list that the caller must look up in the database. */
  rareTopics({ filters }: ListSpec): string[] {
    return rareTopics(this.#parts, filters);
  }

  /**
   * Counts a list by the values of its filters; watchlists are not supported. Undefined if there is no index, or it lacks what the
   * list needs. Takes a few milliseconds, whatever the number of repositories: beyond 260,000 it counts a sample.
   */
  count(spec: ListSpec, ids: FoundIds, request: CountRequest): FacetCounts | undefined {
    const counts = countFacets(this.#parts, spec, { ids, request, memory: this.#counts });
    if (counts === undefined) this.missCounts();
    return counts;
  }

  /** Notes that a list is shown without counts, which it can have with the next index. */
  missCounts(): void {
    this.#wasOutdated = true;
  }

  /**
   * Selects the slots, which are ids, of a page; watchlists are not supported. Undefined if the index lacks what the list
   * needs. Takes a few milliseconds per million repositories at most.
   */
  select(spec: ListSpec, ids: FoundIds, most: number): Selection | undefined {
    const { facts, orders } = this.#parts;
    if (spec.sort === "relevance") {
      // The matches are in order.
      const { scope = [], rareTopics } = ids;
      const tests = testsOf(this.#parts, spec, { rareTopics });
      if (facts === undefined || tests === undefined) return undefined;
      return selectFound(spec.page, tests, { slots: facts.slots, ids: scope });
    }
    const order = orders.get(orderName({ sort: spec.sort, window: spec.window }));
    const tests = testsOf(this.#parts, spec, ids);
    if (facts === undefined || order === undefined || tests === undefined) return undefined;
    return select(spec, { slots: facts.slots, tests, order, most });
  }
}
