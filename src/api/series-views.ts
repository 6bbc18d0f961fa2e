import { openIssuesRule } from "../config/config.js";
import type { SumPoint } from "../growth/growth.js";
import { isoTime } from "../lib/clock.js";
import { idSchema, time, z } from "../lib/schema.js";
import {
  type Gap,
  type Seam,
  type Series,
  SNAPSHOT_SOURCES,
  type Snapshot,
  STEPS,
} from "../repositories/repositories.js";
import { freshnessFields, historySchema } from "./views.js";

/** Series as JSON: the schemas of their points and meta, and the functions that create the points. `null` always means unknown. */

const number = z.int().nullable();

/** Neighbouring points that cannot be compared. */
export const seamsSchema = z.array(z.object({ from: time, to: time })).openapi("Seams", {
  description:
    "Neighbouring points, one with all stars and one with stars still held (source BACKFILLED). The step between them is neither a gain nor a loss.",
});

export function seamsView(seams: readonly Seam[]): z.output<typeof seamsSchema> {
  return seams.map(({ from, to }) => ({ from: isoTime(from), to: isoTime(to) }));
}

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
        "OBSERVED by this service, IMPORTED from a file, or BACKFILLED: reported later by the forge. Stars of the first two are totals; of a BACKFILLED snapshot they are those given until then and still held when it was reported.",
    }),
  })
  .openapi("Snapshot");

export function snapshotView(snapshot: Snapshot): z.output<typeof snapshotSchema> {
  return {
    capturedAt: isoTime(snapshot.capturedAt),
    stars: snapshot.stars,
    forks: snapshot.forks,
    openIssues: snapshot.openIssues,
    watchers: snapshot.watchers,
    source: snapshot.source,
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
  .array(z.object({ from: time, to: time, missingCount: z.int() }))
  .openapi({ description: "Ranges between two points of the same basis with missing refreshes." });

export function gapsView(gaps: readonly Gap[]): z.output<typeof gapsSchema> {
  return gaps.map(({ from, to, missing }) => ({
    from: isoTime(from),
    to: isoTime(to),
    missingCount: missing,
  }));
}

export const betweenPoints = { gaps: gapsSchema, seams: seamsSchema };

export function seriesPartsView({ points, gaps, seams }: Pick<Series, "points" | "gaps" | "seams">) {
  return {
    points: points.map(snapshotView),
    gaps: gapsView(gaps),
    seams: seamsView(seams),
  };
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
  seams: seamsSchema,
  nextRefreshAt: time.nullable(),
});

export const sumPointSchema = z.object({ capturedAt: time, ...counts }).openapi("SumPoint");

export function sumPointView({ at, ...counts }: SumPoint): z.output<typeof sumPointSchema> {
  return { capturedAt: isoTime(at), ...counts };
}

/** What a sum is of. */
export const sumFields = {
  stepDays: z.int().openapi({ description: "Days between two points." }),
  repositoryCount: z.int().openapi({ description: "Repositories on the list." }),
  measuredCount: z.int().openapi({
    description:
      "How many of them are summed: those known at both ends, and those created in between, from 0. All points have the same.",
  }),
};
