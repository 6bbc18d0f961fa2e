/**
 * Metering: who is calling, and whether that is too often. It owns the table of allowances in memory and promises that the
 * numbers it tells are true. It knows nothing of HTTP: what a request costs and how that is told is the API's.
 */
export { Callers, NO_ADDRESS, networkOf } from "./callers.js";
export { Limiter, type LimiterOptions } from "./limiter.js";
export { type AllowancesOptions, openAllowances } from "./open.js";
export {
  type Allowances,
  type Caller,
  type Decision,
  NETWORK_FACTOR,
  type Policy,
  tighter,
  WINDOW_SECONDS,
} from "./rates.js";
export { createTableMemory, type TableMemory } from "./table.js";
export { UnderWay } from "./under-way.js";
