import { RANK_SCOPES, type Standing } from "../discovery/discovery.js";
import {
  type Explanation,
  endOfGrowth,
  SCORE_VERSION,
  WINDOWS,
  type Window,
  windowMs,
} from "../growth/growth.js";
import { timeOrNull } from "../lib/clock.js";
import { orNull, time, z } from "../lib/schema.js";
import type { CurrentlyDescribed } from "../repositories/repositories.js";
import { freshnessFields, freshnessView } from "./freshness.js";
import { rankingSchema, repositorySchema, repositoryView, trendSchema, trendView } from "./views.js";

/** The detail of a repository as JSON. */

const byWindow = <T extends z.ZodType>(value: T) => z.object({ "24h": value, "7d": value, "30d": value });

const rankSchema = z
  .object({
    ranking: rankingSchema,
    window: z.enum(WINDOWS).nullable().openapi({ description: "null for the ranking by stars." }),
    scope: z.enum(RANK_SCOPES),
    name: z.string().nullable().openapi({ description: "The provider, language or topic; null overall." }),
    position: z.int().min(1),
  })
  .openapi("Rank");

const explainedScore = z
  .object({
    score: z.number().nullable(),
    formula: z.string(),
    values: z.record(z.string(), z.number()).openapi({
      description:
        "The known values in the formula. Gains are those that count, scaled to the length of the window.",
    }),
  })
  .openapi("ExplainedScore");

const explanationSchema = z
  .object({
    trending: explainedScore,
    rising: explainedScore,
    newHot: explainedScore,
    starMomentum: explainedScore,
    forkMomentum: explainedScore,
    activity: explainedScore,
  })
  .openapi("Explanation");

/** A repository in a list with everything else that is known about it. */
export const detailSchema = repositorySchema
  .extend({
    ...freshnessFields,
    trends: byWindow(orNull(trendSchema)),
    ranks: z.array(rankSchema).openapi({
      description:
        "Its ranks overall and within its provider, language and topics, as deep as ranks are stored.",
    }),
    explanation: z
      .object({ version: z.int(), windows: byWindow(orNull(explanationSchema)) })
      .optional()
      .openapi({
        description:
          "With explain=true: the formula and the values of each score, and the version of the formulas.",
      }),
    previousFullNames: z.array(z.string()).openapi({ description: "Most recent first." }),
    dataQuality: z.object({
      snapshots: z.int(),
      firstSnapshotAt: time.nullable(),
      lastSnapshotAt: time.nullable(),
      coverage: byWindow(z.number().min(0).max(1)).openapi({
        description: "The share of each window between the two compared snapshots; 0 without a trend.",
      }),
    }),
  })
  .openapi("RepositoryDetail");

type Detail = z.output<typeof detailSchema>;

interface Known {
  found: CurrentlyDescribed;
  isStale: boolean;
  standing: Standing;
  /** The window of `trend`. */
  window: Window;
  /** Absent: it was not requested. */
  explanation?: Record<Window, Explanation | null>;
  now: number;
}

export function detailView({ found, isStale, standing, window, explanation, now }: Known): Detail {
  const { repository, previousNames } = found;
  const { trends, ranks, stored } = standing;
  return {
    ...repositoryView({ repository, trend: trends[window] ?? undefined, isStale }),
    ...freshnessView(endOfGrowth(Object.values(trends), repository.countedAt), now),
    trends: each((one) => {
      const trend = trends[one];
      return trend === null ? null : trendView(trend);
    }),
    ranks,
    ...(explanation && { explanation: { version: SCORE_VERSION, windows: explanation } }),
    previousFullNames: previousNames.map((name) => name.fullName),
    dataQuality: {
      snapshots: stored.snapshots,
      firstSnapshotAt: timeOrNull(stored.firstSnapshotAt),
      lastSnapshotAt: timeOrNull(stored.lastSnapshotAt),
      coverage: each((one) => {
        const trend = trends[one];
        return trend === null
          ? 0
          : Math.min(1, Math.round(((trend.to - trend.from) / windowMs(one)) * 1000) / 1000);
      }),
    },
  };
}

function each<T>(value: (window: Window) => T): Record<Window, T> {
  return Object.fromEntries(WINDOWS.map((window) => [window, value(window)])) as Record<Window, T>;
}
