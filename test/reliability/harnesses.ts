import { connections } from "./connections.js";
import { limits } from "./limits.js";
import { stop } from "./stop.js";
import type { Harness } from "./support/harness.js";

/** All harnesses, in the order of their tables. */
export const HARNESSES: readonly Harness[] = [connections, limits, stop];
