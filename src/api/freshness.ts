import type { CountedGroup } from "../discovery/discovery.js";
import { ageInDays, isoTime, timeOrNull } from "../lib/clock.js";
import { time, z } from "../lib/schema.js";

/** How recent the growth in a response is: beside every growth, so that nobody takes old growth for that of today. */
export const freshnessFields = {
  asOf: time.nullable().openapi({
    description:
      "When the counts were taken: of one repository its newest confirmed ones, at which its windows end; of several the median. null: there are none.",
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

/** When the counts of several repositories were taken. */
export const measuredFields = {
  measured: z
    .array(z.object({ from: time, to: time, repositoryCount: z.int() }).openapi("MeasuredGroup"))
    .openapi({
      description:
        "How many repositories were counted when, newest first: at most four groups with an hour or more between them, the last with all before it.",
    }),
};

export function measuredView(
  measured: readonly CountedGroup[],
): z.output<(typeof measuredFields)["measured"]> {
  return measured.map(({ from, to, repositories }) => ({
    from: isoTime(from),
    to: isoTime(to),
    repositoryCount: repositories,
  }));
}
