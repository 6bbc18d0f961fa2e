/**
 * Metering: who is calling, whether they may, and what each API key was used for. It owns the table of allowances in memory and
 * the rows of usage, guarantees that the numbers it reports are true, and never fails a request because of counting. It knows
 * nothing of HTTP: what a request costs, and how limits are reported, is up to its callers.
 */
export { createTableMemory, type TableMemory } from "./allowance-table.js";
export { Callers, NO_ADDRESS, networkOf } from "./callers.js";
export { Limiter, type LimiterOptions } from "./limiter.js";
export {
  ACCOUNT_FACTOR,
  type Allowances,
  type Caller,
  type Decision,
  type Level,
  NETWORK_FACTOR,
  type Policy,
  tighter,
  WINDOW_SECONDS,
} from "./rates.js";
export { type AllowancesOptions, openAllowances } from "./shared-limiter.js";
export { type KeyedRequest, Usage, type UsageOptions } from "./usage.js";
export { TALLY_BOUNDS, type TallyBounds } from "./usage-tally.js";
export {
  type EndpointUsage,
  type FailedRequest,
  USAGE_PERIODS,
  type UsagePeriod,
  type UsageView,
} from "./usage-view.js";
