import type { Database } from "../../src/database/database.js";
import { buildIndex } from "../../src/discovery/lists/index/build.js";
import { ListIndex } from "../../src/discovery/lists/index/list-index.js";
import { Lists } from "../../src/discovery/lists/lists.js";
import type { ListSpec } from "../../src/discovery/lists/spec.js";
import { Rankings } from "../../src/discovery/rankings.js";
import { Search } from "../../src/discovery/search/search.js";
import { createLog } from "../../src/lib/log.js";
import { Catalog } from "../../src/repositories/repositories.js";
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
export function openLists(database: Database, clock = new ManualClock(NOW), index?: ListIndex): Lists {
  return new Lists({ ...partsOfLists(database, clock), ...(index && { index }) });
}

/** The modules that lists are read from. */
export function partsOfLists(database: Database, clock: ManualClock) {
  const catalog = new Catalog(database, clock);
  const rankings = new Rankings(database, clock, createLog("silent"));
  return { database, catalog, rankings, search: new Search(database, catalog, clock), clock };
}

/** Topics of fewer repositories are not in the index of tests, as in that of a large catalogue. */
const LEAST_OF_TOPIC = 64;

/** A list index of a database as it is now. */
export async function indexOf(
  database: Database,
  clock = new ManualClock(NOW),
  index = new ListIndex(clock),
): Promise<ListIndex> {
  await buildIndex({
    source: database,
    maxBytes: 1e9,
    clock,
    leastOfTopic: LEAST_OF_TOPIC,
    send: (message) => index.accept(message),
  });
  return index;
}
