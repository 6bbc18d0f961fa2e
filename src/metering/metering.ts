/**
 * Metering: who is calling, whether that is too often, and what each API key was used for. It owns the table of allowances
 * in memory and the rows of usage, and promises that the numbers it tells are true and that counting never fails a
 * request. It knows nothing of HTTP: what a request costs and how that is told is the API's.
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
export { type KeyedRequest, Usage, type UsageOptions } from "./usage.js";
export { TALLY_BOUNDS, type TallyBounds } from "./usage-tally.js";
export {
  type EndpointUsage,
  type FailedRequest,
  USAGE_PERIODS,
  type UsagePeriod,
  type UsageView,
} from "./usage-view.js";
