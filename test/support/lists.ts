import type { Database } from "../../src/database/database.js";
import { Lists } from "../../src/discovery/lists.js";
import { LiveModel } from "../../src/discovery/live.js";
import type { ListSpec } from "../../src/discovery/query.js";
import { Rankings, Search } from "../../src/discovery/rankings.js";
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

/** The modules of discovery over a database, with a catalogue in memory of their own. */
export function discoveryOf(database: Database, clock = new ManualClock(NOW)) {
  const log = createLog("silent");
  const catalog = new Catalog(database, clock);
  const live = new LiveModel(database, catalog, { clock, log });
  const rankings = new Rankings(database, { clock, log, live });
  const lists = new Lists({ database, catalog, live, clock });
  return { catalog, live, rankings, lists, search: new Search(live, catalog) };
}
