import { createRoute, z } from "@hono/zod-openapi";
import { type Repository, splitFullName } from "../catalog/catalog.js";
import { isoTime } from "../clock.js";
import { AppError, invalidParameter } from "../errors.js";
import { providerParameter } from "../lists/lists.js";
import { RANK_SCOPES, RANKINGS, SCORE_VERSION, WINDOWS, windowMs } from "../rankings/rankings.js";
import { type ApiContext, dataResponse, endpoint, errorResponses } from "./endpoint.js";
import { repositorySchema, repositoryView, trendSchema, trendView } from "./views.js";

const byWindow = <T extends z.ZodType>(value: T) => z.object({ "24h": value, "7d": value, "30d": value });

const rankSchema = z
  .object({
    ranking: z.enum(RANKINGS),
    window: z.enum(WINDOWS).nullable().openapi({ description: "null for the ranking by stars." }),
    scope: z.enum(RANK_SCOPES),
    name: z.string().nullable().openapi({ description: "Which provider, language or topic; null overall." }),
    position: z.int().min(1),
  })
  .openapi("Rank");

const explainedScore = z.object({
  score: z.number().nullable(),
  terms: z.array(z.object({ name: z.string(), value: z.number(), weight: z.number() })),
});

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

const explainParameter = z
  .enum(["true", "false"])
  .default("false")
  .openapi({ description: "true: also tell how the scores come about." });

const detailSchema = repositorySchema
  .omit({ trend: true })
  .extend({
    trends: byWindow(trendSchema.nullable()),
    ranks: z.array(rankSchema).openapi({
      description:
        "Its places in the rankings overall, of its provider, its language and its topics; none further down than places are kept.",
    }),
    explanation: z
      .object({ version: z.int(), windows: byWindow(explanationSchema.nullable()) })
      .optional()
      .openapi({
        description: "With explain=true: the terms each score is made of, and the version of the formulas.",
      }),
    previousFullNames: z.array(z.string()).openapi({ description: "The latest first." }),
    dataQuality: z.object({
      snapshots: z.int(),
      firstSnapshotAt: z.iso.datetime({ precision: 3 }).nullable(),
      lastSnapshotAt: z.iso.datetime({ precision: 3 }).nullable(),
      coverage: byWindow(z.number().min(0).max(1)).openapi({
        description:
          "The part of each window that lies between the two snapshots compared; 0 without a trend.",
      }),
    }),
  })
  .openapi("RepositoryDetail");

type Detail = z.output<typeof detailSchema>;

const detailResponses = {
  200: dataResponse("The repository.", detailSchema),
  301: {
    ...dataResponse("An earlier name; the present one is in Location.", z.object({ location: z.string() })),
    headers: z.object({ Location: z.string() }),
  },
  ...errorResponses("VALIDATION_FAILED", "NOT_FOUND"),
};

const fullNameParameter = z
  .string()
  .max(400)
  .refine((text) => splitFullName(text) !== undefined, "must be of the form owner/name")
  .openapi({ example: "facebook/react" });

/** The relative address of a repository's detail. */
function addressOf({ provider, owner, name, fullName }: Repository): string {
  // An owner of this name would be read as the route of it.
  if (owner === "by-full-name")
    return `/api/repos/${provider}/by-full-name?fullName=${encodeURIComponent(fullName)}`;
  return `/api/repos/${[provider, owner, name].map(encodeURIComponent).join("/")}`;
}

/** The detail answer for a name, or the way to the present name. */
async function answerDetail(context: ApiContext, provider: string, fullName: string, isExplained: boolean) {
  const { catalog, rankings } = context.var.modules;
  const found = await catalog.findByName(provider, fullName);
  if (found === undefined) throw new AppError("NOT_FOUND", "There is no repository of this name.");
  const { repository } = found;
  if (found.isPreviousName) {
    const location = addressOf(repository);
    context.header("Location", location);
    return context.json({ data: { location } }, 301);
  }
  const [trends, names, range, ranks] = await Promise.all([
    rankings.trendsOf(repository.id),
    catalog.previousNames(repository.id),
    catalog.snapshotRange(repository.id),
    rankings.ranks(repository.id),
  ]);
  const { trend: _, ...record } = repositoryView(repository, undefined);
  const each = <T>(value: (window: (typeof WINDOWS)[number]) => T) =>
    Object.fromEntries(WINDOWS.map((window) => [window, value(window)])) as Record<
      (typeof WINDOWS)[number],
      T
    >;
  const data: Detail = {
    ...record,
    trends: each((window) => {
      const trend = trends[window];
      return trend === null ? null : trendView(trend);
    }),
    ranks,
    ...(isExplained
      ? { explanation: { version: SCORE_VERSION, windows: await rankings.explain(repository.id) } }
      : {}),
    previousFullNames: names.map((name) => name.fullName),
    dataQuality: {
      snapshots: range.snapshots,
      firstSnapshotAt: range.firstSnapshotAt === null ? null : isoTime(range.firstSnapshotAt),
      lastSnapshotAt: range.lastSnapshotAt === null ? null : isoTime(range.lastSnapshotAt),
      coverage: each((window) => {
        const trend = trends[window];
        return trend === null
          ? 0
          : Math.min(1, Math.round(((trend.to - trend.from) / windowMs(window)) * 1000) / 1000);
      }),
    },
  };
  return context.json({ data }, 200);
}

export const getRepository = endpoint(
  createRoute({
    method: "get",
    path: "/api/repos/{provider}/{owner}/{name}",
    operationId: "getRepository",
    tags: ["Repositories"],
    summary: "One repository by provider, owner and name",
    description:
      "Case does not matter. An owner with slashes is written with %2F, or use by-full-name. An earlier name answers 301.",
    request: {
      params: z.object({
        provider: providerParameter,
        owner: z.string().max(300),
        name: z.string().max(100),
      }),
      query: z.object({ explain: explainParameter }),
    },
    responses: detailResponses,
  }),
  (context) => {
    const { provider, owner, name } = context.req.valid("param");
    if (name.includes("/")) throw invalidParameter("name", "cannot hold a slash");
    if (splitFullName(`${owner}/${name}`) === undefined)
      throw invalidParameter("owner", "owner and name must be those of a repository");
    return answerDetail(context, provider, `${owner}/${name}`, context.req.valid("query").explain === "true");
  },
  { bucket: "default" },
);

export const getRepositoryByFullName = endpoint(
  createRoute({
    method: "get",
    path: "/api/repos/{provider}/by-full-name",
    operationId: "getRepositoryByFullName",
    tags: ["Repositories"],
    summary: "One repository by its full name, in the query",
    request: {
      params: z.object({ provider: providerParameter }),
      query: z.object({ fullName: fullNameParameter, explain: explainParameter }),
    },
    responses: detailResponses,
  }),
  (context) => {
    const { fullName, explain } = context.req.valid("query");
    return answerDetail(context, context.req.valid("param").provider, fullName, explain === "true");
  },
  { bucket: "default" },
);

export const getRepositoryByFullNamePath = endpoint(
  createRoute({
    method: "get",
    path: "/api/repos/{provider}/by-full-name/{fullName}",
    operationId: "getRepositoryByFullNamePath",
    tags: ["Repositories"],
    summary: "One repository by its full name, in the path",
    description: "Slashes are written as they are or as %2F. The path is decoded once.",
    request: {
      params: z.object({ provider: providerParameter, fullName: fullNameParameter }),
      query: z.object({ explain: explainParameter }),
    },
    responses: detailResponses,
  }),
  (context) => {
    const { provider, fullName } = context.req.valid("param");
    return answerDetail(context, provider, fullName, context.req.valid("query").explain === "true");
  },
  { bucket: "default", pattern: "/api/repos/:provider/by-full-name/:fullName{.+}" },
);
