/**
 * Metering: who is calling, whether that is too often, and what each API key was used for. It owns the table of allowances
 * in memory and the rows of usage, and promises that the numbers it tells are true and that counting never fails a
 * request. It knows nothing of HTTP: what a request costs and how that is told is the API's.
 */
export { Callers, NO_ADDRESS } from "./callers.js";
export {
  type Caller,
  type Decision,
  Limiter,
  type LimiterOptions,
  type Policy,
  WINDOW_SECONDS,
} from "./limiter.js";
export { type KeyedRequest, Usage, type UsageOptions } from "./usage.js";
export { TALLY_BOUNDS, type TallyBounds } from "./usage-tally.js";
export {
  type EndpointUsage,
  type FailedRequest,
  USAGE_PERIODS,
  type UsagePeriod,
  type UsageView,
} from "./usage-view.js";
