import { basePathOf } from "../base-url.js";
import { isStale, type Repository, splitFullName } from "../catalog/catalog.js";
import { isoTime } from "../clock.js";
import { AppError, invalidParameter } from "../errors.js";
import { json, type Reply } from "../http/http.js";
import { providerParameter } from "../lists/lists.js";
import { RANK_SCOPES, SCORE_VERSION, WINDOWS, windowMs } from "../rankings/rankings.js";
import { orNull, time, z } from "../schema.js";
import { freshnessFields, freshnessView } from "./freshness.js";
import { type ApiServices, dataResponse, errorResponses, operation } from "./operation.js";
import { renamesSchema, renamesView } from "./rename-view.js";
import { rankingSchema, repositorySchema, repositoryView, trendSchema, trendView } from "./views.js";

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
  .openapi({ description: "true: include an explanation of each score." });

const detailSchema = repositorySchema
  .omit({ trend: true })
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
        description: "With explain=true: the terms of each score and the version of the formulas.",
      }),
    previousFullNames: z.array(z.string()).openapi({ description: "Most recent first." }),
    renames: renamesSchema
      .optional()
      .openapi({ description: "Suspected and accepted renames; absent without any." }),
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

const detailResponses = {
  200: dataResponse("The repository.", detailSchema),
  301: {
    ...dataResponse("A previous name; the current one is in Location.", z.object({ location: z.string() })),
    headers: z.object({ Location: z.string() }),
  },
  ...errorResponses("VALIDATION_FAILED", "NOT_FOUND"),
};

const fullNameParameter = z
  .string()
  .max(400)
  .refine((text) => splitFullName(text) !== undefined, "must be of the form owner/name")
  .openapi({ example: "facebook/react" });

/** The address of a repository in the same form as the requested address. */
type AddressOf = (repository: Repository) => string;

const segments = (...parts: string[]): string => parts.map(encodeURIComponent).join("/");

const byQuery: AddressOf = ({ provider, fullName }) =>
  `/api/repos/${provider}/by-full-name?${new URLSearchParams({ fullName })}`;
const byPath: AddressOf = ({ provider, fullName }) =>
  `/api/repos/${provider}/by-full-name/${segments(...fullName.split("/"))}`;
/** An owner called `by-full-name` would match that route. */
const byParts: AddressOf = (repository) => {
  const { provider, owner, name } = repository;
  return owner === "by-full-name" ? byQuery(repository) : `/api/repos/${segments(provider, owner, name)}`;
};

interface DetailRequest {
  services: ApiServices;
  provider: string;
  fullName: string;
  explain: "true" | "false";
  addressOf: AddressOf;
}

/** The detail of a repository; for a previous name a redirect that keeps the form and query of the request. */
async function detail({ services, provider, fullName, explain, addressOf }: DetailRequest): Promise<Reply> {
  const { catalog, rankings } = services.modules;
  const isExplained = explain === "true";
  const found = await catalog.describe(provider, fullName);
  if (found === undefined) throw new AppError("NOT_FOUND", "There is no repository with this name.");
  const { repository } = found;
  if (found.isPreviousName) {
    const address = addressOf(repository);
    const location = isExplained ? `${address}${address.includes("?") ? "&" : "?"}explain=true` : address;
    const body = { data: { location: basePathOf(services.config.baseUrl) + location } };
    return json(body, { status: 301, headers: { Location: location } });
  }
  const { previousNames, stored, asOf } = found;
  const [{ trends, ranks }, recency, suspected] = await Promise.all([
    rankings.standing(repository.id),
    catalog.recency(),
    catalog.renamesOf(repository.id),
  ]);
  const renames = renamesView(suspected, repository.id);
  const isStaleNow = isStale(repository, recency);
  const { trend: _, ...record } = repositoryView({ repository, trend: undefined, isStale: isStaleNow });
  const each = <T>(value: (window: (typeof WINDOWS)[number]) => T) =>
    Object.fromEntries(WINDOWS.map((window) => [window, value(window)])) as Record<
      (typeof WINDOWS)[number],
      T
    >;
  const data: Detail = {
    ...record,
    ...freshnessView(asOf, services.clock.now()),
    trends: each((window) => {
      const trend = trends[window];
      return trend === null ? null : trendView(trend);
    }),
    ranks,
    ...(isExplained
      ? { explanation: { version: SCORE_VERSION, windows: await rankings.explain(repository.id) } }
      : {}),
    previousFullNames: previousNames.map((name) => name.fullName),
    ...(renames === undefined ? {} : { renames }),
    dataQuality: {
      snapshots: stored.snapshots,
      firstSnapshotAt: stored.firstSnapshotAt === null ? null : isoTime(stored.firstSnapshotAt),
      lastSnapshotAt: stored.lastSnapshotAt === null ? null : isoTime(stored.lastSnapshotAt),
      coverage: each((window) => {
        const trend = trends[window];
        return trend === null
          ? 0
          : Math.min(1, Math.round(((trend.to - trend.from) / windowMs(window)) * 1000) / 1000);
      }),
    },
  };
  return json({ data });
}

export const getRepository = operation({
  id: "getRepository",
  tags: ["Repositories"],
  summary: "One repository by provider, owner and name",
  description:
    "Case-insensitive. Write slashes in the owner as %2F, or use by-full-name. A previous name redirects with 301.",
  params: z.object({
    provider: providerParameter,
    owner: z.string().max(300),
    name: z.string().max(100),
  }),
  query: z.object({ explain: explainParameter }),
  body: null,
  responses: detailResponses,
  handle: ({ params, query: { explain }, services }) => {
    const { provider, owner, name } = params;
    if (name.includes("/")) throw invalidParameter("name", "cannot hold a slash");
    if (splitFullName(`${owner}/${name}`) === undefined)
      throw invalidParameter("owner", "owner and name must be those of a repository");
    return detail({ services, provider, fullName: `${owner}/${name}`, explain, addressOf: byParts });
  },
});

export const getRepositoryByFullName = operation({
  id: "getRepositoryByFullName",
  tags: ["Repositories"],
  summary: "One repository by its full name, in the query",
  params: z.object({ provider: providerParameter }),
  query: z.object({ fullName: fullNameParameter, explain: explainParameter }),
  body: null,
  responses: detailResponses,
  handle: ({ params: { provider }, query, services }) =>
    detail({ services, provider, ...query, addressOf: byQuery }),
});

export const getRepositoryByFullNamePath = operation({
  id: "getRepositoryByFullNamePath",
  tags: ["Repositories"],
  summary: "One repository by its full name, in the path",
  description: "Slashes may be literal or %2F. The path is decoded once.",
  params: z.object({ provider: providerParameter, fullName: fullNameParameter }),
  query: z.object({ explain: explainParameter }),
  body: null,
  responses: detailResponses,
  handle: ({ params, query, services }) => detail({ services, ...params, ...query, addressOf: byPath }),
});
