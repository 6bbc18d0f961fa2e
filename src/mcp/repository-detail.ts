import { z } from "../schema.js";
import { freshnessOutput, repositorySchema, rowSchema, trendSchema } from "./rows.js";

export const WINDOWS = ["24h", "7d", "30d"] as const;

const explainedTrend = trendSchema.extend({
  anomalies: z.array(
    z.object({
      kind: z.string(),
      measure: z.string(),
      at: z.string(),
      reason: z.string(),
      cleared: z.unknown().optional(),
    }),
  ),
});

export const detailSchema = z.object({
  data: repositorySchema.omit({ trend: true }).extend({
    asOf: z.string().nullable(),
    ageDays: z.number().nullable(),
    homepage: z.string().nullable(),
    license: z.string().nullable(),
    topics: z.array(z.string()),
    openIssues: z.number().nullable(),
    watchers: z.number().nullable(),
    createdAt: z.string().nullable(),
    pushedAt: z.string().nullable(),
    refreshedAt: z.string().nullable(),
    trends: z.object({
      "24h": explainedTrend.nullable(),
      "7d": explainedTrend.nullable(),
      "30d": explainedTrend.nullable(),
    }),
    ranks: z.array(
      z.object({
        ranking: z.string(),
        window: z.string().nullable(),
        scope: z.string(),
        name: z.string().nullable(),
        position: z.number(),
      }),
    ),
    previousFullNames: z.array(z.string()),
    dataQuality: z.object({
      snapshots: z.number(),
      firstSnapshotAt: z.string().nullable(),
      lastSnapshotAt: z.string().nullable(),
    }),
  }),
});
export type Detail = z.output<typeof detailSchema>["data"];

const nullableNumber = z.number().nullable();

export const growthSchema = z.object({
  window: z.enum(WINDOWS),
  from: z.string().describe("When the earlier snapshot compared was taken."),
  to: z.string(),
  starsGained: z.number().describe("The counted gain: without bursts and other doubtful movements."),
  starsChange: z.number().describe("The plain difference."),
  growthPercent: nullableNumber,
  forksGained: nullableNumber,
  countsRetainedStars: z
    .boolean()
    .describe("true: compares stars still held, as the forge reported them later, instead of totals."),
  confidence: z.number().describe("How well the growth is measured, from 0 to 1."),
  confidenceReasons: z.array(z.string()),
  reliable: z.boolean(),
  doubts: z.array(z.object({ kind: z.string(), measure: z.string(), at: z.string(), reason: z.string() })),
});

export const output = z.object({
  ...rowSchema.pick({
    id: true,
    repository: true,
    url: true,
    page: true,
    description: true,
    language: true,
    stars: true,
    forks: true,
    doubts: true,
  }).shape,
  ...freshnessOutput,
  license: z.string().nullable(),
  topics: z.array(z.string()),
  openIssues: nullableNumber,
  watchers: nullableNumber,
  createdAt: z.string().nullable(),
  pushedAt: z.string().nullable(),
  countedAt: z.string().nullable().describe("When the counts were true."),
  growth: z.array(growthSchema).describe("One for each window with two comparable snapshots."),
  ranks: z.array(z.string()).describe("Its best positions, in words."),
  previousNames: z.array(z.string()),
  snapshots: z.object({ stored: z.number(), firstAt: z.string().nullable(), lastAt: z.string().nullable() }),
});
