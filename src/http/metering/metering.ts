/**
 * Metering: identifies callers, enforces rate limits, and records the usage of API keys. It owns the table of allowances in
 * memory and the usage tables. Reported counts are exact, and a failure to count never fails a request. It does not know HTTP:
 * callers decide what a request costs and how limits are reported.
 */

export { createTableMemory, Limiter, type TableMemory } from "./limiter.js";
export {
  type Allowances,
  accountCeiling,
  type Caller,
  type Decision,
  type Level,
  NETWORK_FACTOR,
  type Policy,
  quotaOf,
  tighter,
  WINDOW_SECONDS,
} from "./rates.js";
export { openAllowances } from "./shared-limiter.js";
