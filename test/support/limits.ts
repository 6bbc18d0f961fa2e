import { LIMIT_NAMES } from "../../src/config/limits.js";

/** The setting that raises all limits so far that no test reaches them, but for those in a list such as `default=4,heavy.account=3`. */
export function limits(lower = ""): { SIDEREAL_LIMITS: string } {
  return { SIDEREAL_LIMITS: [...LIMIT_NAMES.map((name) => `${name}=1000000`), lower].join() };
}

/** The setting with which all limits have their defaults. */
export const DEFAULT_LIMITS = { SIDEREAL_LIMITS: "" };
