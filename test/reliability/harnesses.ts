import { connections } from "./connections.js";
import { databaseAway } from "./database-away.js";
import { expensive } from "./expensive/expensive.js";
import { fuzzHarness } from "./fuzz/harness.js";
import { hostileData } from "./hostile-data.js";
import { kills } from "./kills.js";
import { limits } from "./limits.js";
import { losses } from "./losses.js";
import { malformedHarness } from "./malformed/harness.js";
import { overload } from "./overload.js";
import { powerCuts } from "./power-cuts.js";
import { stop } from "./stop.js";
import type { Harness } from "./support/harness.js";

/** All harnesses, in the order of their tables. */
export const HARNESSES: readonly Harness[] = [
  connections,
  databaseAway,
  expensive,
  fuzzHarness,
  hostileData,
  kills,
  limits,
  losses,
  malformedHarness,
  overload,
  powerCuts,
  stop,
];
