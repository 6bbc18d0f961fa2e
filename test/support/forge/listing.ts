import type { ForgeCatalogue, ForgeRepository } from "./catalogue.js";

/** The orders of Forgejo's search. */
export const LIST_ORDERS = ["alpha", "created", "updated", "size", "id", "stars", "forks"] as const;
export type ListOrder = (typeof LIST_ORDERS)[number];

/**
 * All public repositories at one moment, in the orders of the lists. Pages of a walk come from the same listing, so they neither
 * overlap nor leave gaps; the fields of rows are current.
 */
export class Listing {
  /** Indices in the catalogue, most stars first. */
  readonly byStars: Int32Array;
  readonly #stars: Int32Array;
  readonly #createdAt: Float64Array;
  readonly #isFork: Uint8Array;
  readonly #orders = new Map<ListOrder, Int32Array>();

  constructor(
    readonly catalogue: ForgeCatalogue,
    readonly at: number,
  ) {
    const { size } = catalogue;
    this.#stars = new Int32Array(size);
    this.#createdAt = new Float64Array(size);
    this.#isFork = new Uint8Array(size);
    const places = new Int32Array(size);
    let count = 0;
    for (let place = 0; place < size; place++) {
      const seen = catalogue.glance(place, at);
      if (seen === null) continue;
      this.#stars[place] = seen.stars;
      this.#createdAt[place] = seen.createdAt;
      this.#isFork[place] = seen.isFork ? 1 : 0;
      places[count++] = place;
    }
    const stars = this.#stars;
    this.#orders.set("id", places.slice(0, count));
    this.byStars = places.slice(0, count).sort((a, b) => (stars[b] ?? 0) - (stars[a] ?? 0) || a - b);
    this.#orders.set("stars", this.byStars.toReversed());
  }

  stars(place: number): number {
    return this.#stars[place] ?? 0;
  }

  createdAt(place: number): number {
    return this.#createdAt[place] ?? 0;
  }

  isFork(place: number): boolean {
    return this.#isFork[place] === 1;
  }

  /** Those with `least` to `most` stars, most stars first. */
  between(least: number, most: number): Int32Array {
    return this.byStars.subarray(this.#firstBelow(most + 1), this.#firstBelow(least));
  }

  /** All indices in an order, ascending. */
  inOrder(order: ListOrder): Int32Array {
    const known = this.#orders.get(order);
    if (known !== undefined) return known;
    const keys = new Map(
      Array.from(
        this.byStars,
        (place) => [place, key(order, this.catalogue.atPlace(place, this.at))] as const,
      ),
    );
    const sorted = this.byStars.toSorted((a, b) => {
      const [left = 0, right = 0] = [keys.get(a), keys.get(b)];
      return left < right ? -1 : left > right ? 1 : a - b;
    });
    this.#orders.set(order, sorted);
    return sorted;
  }

  /** The first position in the order by stars with fewer than `stars`. */
  #firstBelow(stars: number): number {
    let [low, high] = [0, this.byStars.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.stars(this.byStars[middle] ?? 0) >= stars) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function key(order: ListOrder, repository: ForgeRepository | undefined): string | number {
  if (repository === undefined) return 0;
  if (order === "alpha") return repository.fullName.toLowerCase();
  if (order === "created") return repository.createdAt;
  if (order === "updated") return repository.updatedAt;
  if (order === "forks") return repository.forks;
  return repository.id;
}
