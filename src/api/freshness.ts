import { ageInDays, timeOrNull } from "../lib/clock.js";
import { z } from "../lib/schema.js";

/** How recent the growth in a response is: beside every growth, so that nobody takes old growth for that of today. */
export const freshnessFields = {
  asOf: z.iso.datetime({ precision: 3 }).nullable().openapi({
    description: "End of the windows: the time of the newest snapshot. null: there are no snapshots.",
  }),
  ageDays: z.int().nullable().openapi({ description: "Days in UTC from asOf to the response." }),
};

/** These fields. `now`: of the response. */
export function freshnessView(
  asOf: number | null,
  now: number,
): { asOf: string | null; ageDays: number | null } {
  return { asOf: timeOrNull(asOf), ageDays: ageInDays(asOf, now) };
}
