/**
 * Metering: who is calling, and whether that is too often. It owns the table of allowances in memory and promises that the
 * numbers it tells are true. It knows nothing of HTTP: what a request costs and how that is told is the API's.
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
