import { attacks } from "./attacks.js";
import { connections } from "./connections.js";
import { databaseAway } from "./database-away.js";
import { disk } from "./disk.js";
import { expensive } from "./expensive/expensive.js";
import { followers } from "./followers.js";
import { fuzzHarness } from "./fuzz/harness.js";
import { hostileData } from "./hostile-data.js";
import { keyTiming } from "./key-timing.js";
import { kills } from "./kills.js";
import { limits } from "./limits.js";
import { losses } from "./losses.js";
import { malformedHarness } from "./malformed/harness.js";
import { overload } from "./overload.js";
import { postgresKills } from "./postgres-kills.js";
import { powerCuts } from "./power-cuts.js";
import { recovery } from "./recovery.js";
import { restoreKills } from "./restore-kills.js";
import { stop } from "./stop.js";
import type { Harness } from "./support/harness.js";
import { upgrade } from "./upgrade.js";

/** All harnesses, in the order of their tables. */
export const HARNESSES: readonly Harness[] = [
  attacks,
  connections,
  databaseAway,
  disk,
  expensive,
  followers,
  fuzzHarness,
  hostileData,
  keyTiming,
  kills,
  limits,
  losses,
  malformedHarness,
  overload,
  postgresKills,
  powerCuts,
  recovery,
  restoreKills,
  stop,
  upgrade,
];
