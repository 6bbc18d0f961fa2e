import { openIssuesRule } from "../config/config.js";
import type { Hole, StoredPoint, StoredSeries, SumPoint } from "../growth/growth.js";
import { isoTime } from "../lib/clock.js";
import { idSchema, time, z } from "../lib/schema.js";
import { SNAPSHOT_SOURCES, STEPS } from "../repositories/repositories.js";
import { freshnessFields, historySchema } from "./views.js";

/** Series as JSON: the schemas of their points and meta, and the functions that create the points. `null` always means unknown. */

const number = z.int().nullable();

/** The counts of a snapshot, or sums of them. */
const counts = {
  stars: z.int(),
  forks: number,
  openIssues: number.openapi({ description: openIssuesRule() }),
  watchers: number,
};

export const snapshotSchema = z
  .object({
    capturedAt: time,
    ...counts,
    source: z.enum(SNAPSHOT_SOURCES).openapi({
      description:
        "OBSERVED by this service, IMPORTED from a file, or BACKFILLED: of the star history of the forge. Stars of the first two are totals; of a BACKFILLED snapshot they are those given until then, without stars that were taken back before the history was read.",
    }),
    counts: z.boolean().openapi({
      description:
        "Whether it counts for growth and charts; false: it failed, waits for the next one to confirm it, or was soon taken back.",
    }),
  })
  .openapi("Snapshot");

export function snapshotView(snapshot: StoredPoint): z.output<typeof snapshotSchema> {
  return {
    capturedAt: isoTime(snapshot.capturedAt),
    stars: snapshot.stars,
    forks: snapshot.forks,
    openIssues: snapshot.openIssues,
    watchers: snapshot.watchers,
    source: snapshot.source,
    counts: snapshot.counts,
  };
}

export const stepParameter = z.enum(STEPS).default("all").openapi({
  description:
    "The finest step of the points: all snapshots, or the last one of each step (UTC, weeks from Monday).",
});

export const thinningFields = {
  resolution: z.enum(STEPS),
  thinned: z.boolean().openapi({ description: "Whether points are left out beyond `step`." }),
};

export const gapsSchema = z
  .array(z.object({ from: time, to: time }))
  .openapi({ description: "Ranges between two points in which nobody looked." });

export function gapsView(gaps: readonly Hole[]): z.output<typeof gapsSchema> {
  return gaps.map(({ from, to }) => ({ from: isoTime(from), to: isoTime(to) }));
}

export function seriesPartsView({ points, gaps }: StoredSeries) {
  return { points: points.map(snapshotView), gaps: gapsView(gaps) };
}

export const seriesMetaSchema = z.object({
  repositoryId: idSchema,
  window: z.enum(["30d", "90d", "all"]).nullable().openapi({ description: "null with from." }),
  from: time.nullable().openapi({ description: "Start of the window or first day; null for all." }),
  to: time.nullable().openapi({ description: "End of the last day, exclusive; null without to." }),
  ...freshnessFields,
  lastSeenAt: time.nullable(),
  stale: z.boolean().openapi({ description: "See Repository." }),
  history: historySchema,
  ...thinningFields,
  pointCount: z.int(),
  gaps: gapsSchema,
  nextRefreshAt: time.nullable(),
});

export const sumPointSchema = z.object({ capturedAt: time, ...counts }).openapi("SumPoint");

export function sumPointView({ at, ...counts }: SumPoint): z.output<typeof sumPointSchema> {
  return { capturedAt: isoTime(at), ...counts };
}

/** Fields that describe a sum. */
export const sumFields = {
  stepDays: z.int().openapi({ description: "Days between two points." }),
  repositoryCount: z.int().openapi({ description: "Repositories on the list." }),
  measuredCount: z.int().openapi({
    description:
      "How many of them are summed: those known at both ends, and those created in between, from 0. All points have the same.",
  }),
};
