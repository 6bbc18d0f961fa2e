import { Catalog } from "../../src/catalog/catalog.js";
import type { Database } from "../../src/database/database.js";
import { type ListSpec, Lists } from "../../src/lists/lists.js";
import { Rankings } from "../../src/rankings/rankings.js";
import { ManualClock } from "./manual-clock.js";
import { NOW } from "./world.js";

/** A list of all repositories by stars, 25 a page, but for what is given. */
export function listOf(more: Partial<ListSpec> = {}): ListSpec {
  return {
    scope: { kind: "all" },
    filters: {},
    sort: "stars",
    direction: "desc",
    window: "24h",
    page: { limit: 25, offset: 0 },
    ...more,
  };
}

/** The lists of a database, which remember nothing yet. */
export function openLists(database: Database, clock = new ManualClock(NOW)): Lists {
  return new Lists(database, new Catalog(database, clock), new Rankings(database, clock));
}
