import { idParameter, providerParameter, RANK_SCOPES, windowParameter } from "../discovery/discovery.js";
import { endOfGrowth, SCORE_VERSION, WINDOWS, type Window, windowMs } from "../growth/growth.js";
import { type HttpRequest, json, type Reply } from "../http/http.js";
import { basePathOf } from "../lib/base-url.js";
import { timeOrNull } from "../lib/clock.js";
import { AppError, invalidParameter } from "../lib/errors.js";
import { orNull, time, z } from "../lib/schema.js";
import {
  type CurrentlyDescribed,
  isStale,
  type Repository,
  repositoryId,
  splitFullName,
} from "../repositories/repositories.js";
import { type ApiServices, dataResponse, operation } from "./operation.js";
import {
  freshnessFields,
  freshnessView,
  historySchema,
  historyView,
  rankingSchema,
  repositorySchema,
  repositoryView,
  trendSchema,
  trendView,
} from "./views.js";

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
    history: historySchema,
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

function each<T>(value: (window: Window) => T): Record<Window, T> {
  return Object.fromEntries(WINDOWS.map((window) => [window, value(window)])) as Record<Window, T>;
}

const detailQuery = z.object({
  explain: z
    .enum(["true", "false"])
    .default("false")
    .openapi({ description: "true: include an explanation of each score." }),
  window: windowParameter.openapi({ description: "The window of `trend`; `trends` has all of them." }),
});

/** The response to a previous name, or to the id of a repository that was joined to another one. */
export const movedResponse = {
  ...dataResponse(
    "A previous name or id; the current one is in Location.",
    z.object({ location: z.string() }),
  ),
  headers: z.object({ Location: z.string() }),
};

const ofDetail = {
  tags: ["Repositories"],
  query: detailQuery,
  responses: { 200: dataResponse("The repository.", detailSchema), 301: movedResponse },
  errors: ["NOT_FOUND"],
} as const;

const fullNameParameter = z
  .string()
  .max(400)
  .refine((text) => splitFullName(text) !== undefined, "must be of the form owner/name")
  .openapi({ example: "facebook/react" });

const BY_NAME =
  "must be an id of 1 to 19 digits; a repository by name is /api/repos/{provider}/{owner}/{name} or /api/repos/{provider}/by-full-name?fullName={owner}/{name}";

/** An id. Any other text is refused with the ways to request a repository by name. */
const idOrHint = z
  .string()
  .refine((text) => repositoryId(text) !== undefined, BY_NAME)
  .pipe(idParameter);

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
  services: Pick<ApiServices, "modules" | "clock">;
  query: { explain: "true" | "false"; window: Window };
}

export async function readDetail(
  { repository, previousNames }: CurrentlyDescribed,
  { services, query: { explain, window } }: DetailRequest,
): Promise<z.output<typeof detailSchema>> {
  const { catalog, rankings } = services.modules;
  const { id, countedAt } = repository;
  const now = services.clock.now();
  const [{ trends, ranks, stored }, recency, historyState, explanation] = await Promise.all([
    rankings.standing(id),
    catalog.recency(),
    catalog.historyState(id),
    explain === "true" ? rankings.explain(id) : undefined,
  ]);
  const isRepositoryStale = isStale(repository, recency);
  return {
    ...repositoryView({ repository, trend: trends[window] ?? undefined, isStale: isRepositoryStale }),
    ...freshnessView(endOfGrowth(Object.values(trends), countedAt), now),
    trends: each((one) => {
      const trend = trends[one];
      return trend === null ? null : trendView(trend);
    }),
    ranks,
    ...(explanation && { explanation: { version: SCORE_VERSION, windows: explanation } }),
    history: historyView(historyState, now),
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

async function detail(found: CurrentlyDescribed, request: DetailRequest): Promise<Reply> {
  return json({ data: await readDetail(found, request) });
}

interface Redirected {
  services: ApiServices;
  http: HttpRequest;
}

/** A redirect to the current address, which keeps the parameters of the request. */
function moved(address: string, { services, http }: Redirected): Reply {
  const [path = "", own] = address.split("?");
  const query = new URLSearchParams(own);
  for (const [name, value] of http.query) if (!query.has(name)) query.append(name, value);
  const location = query.size === 0 ? path : `${path}?${query}`;
  const body = { data: { location: basePathOf(services.config.baseUrl) + location } };
  return json(body, { status: 301, headers: { Location: location } });
}

/** The redirect of an address below the id of a repository that was joined to another one; undefined for others. */
export async function movedFrom(
  { id, availability }: Pick<Repository, "id" | "availability">,
  suffix: "" | "/metrics" | "/ranks",
  request: Redirected,
): Promise<Reply | undefined> {
  if (availability !== "RENAMED") return undefined;
  const to = (await request.services.modules.catalog.renamedTo([id])).get(id);
  return to && moved(`/api/repos/${to.id}${suffix}`, request);
}

interface ByName extends Redirected {
  query: DetailRequest["query"];
  provider: string;
  fullName: string;
  addressOf: AddressOf;
}

/** The detail of the repository with a name; for a previous name a redirect that keeps the form of the request. */
async function detailByName({ provider, fullName, addressOf, ...request }: ByName): Promise<Reply> {
  const found = await request.services.modules.catalog.describe(provider, fullName);
  if (found === undefined) throw new AppError("NOT_FOUND", "No repository has this name.");
  return found.isPreviousName ? moved(addressOf(found.repository), request) : detail(found, request);
}

export const getRepositoryById = operation({
  ...ofDetail,
  id: "getRepositoryById",
  summary: "One repository by its id",
  description:
    "The id of a repository that was joined to the one with its new name redirects there with 301.",
  params: z.object({ id: idOrHint }),
  handle: async ({ params: { id }, query, services, http }) => {
    const { catalog } = services.modules;
    const found = await catalog.describeById(id);
    if (found === undefined) throw new AppError("NOT_FOUND", "No repository has this id.");
    return (await movedFrom(found.repository, "", { services, http })) ?? detail(found, { services, query });
  },
});

export const getRepository = operation({
  ...ofDetail,
  id: "getRepository",
  summary: "One repository by provider, owner and name",
  description:
    "Case-insensitive. Write slashes in the owner as %2F, or use by-full-name. A previous name redirects with 301.",
  params: z.object({
    provider: providerParameter,
    owner: z.string().max(300),
    name: z.string().max(100),
  }),
  handle: ({ params, query, services, http }) => {
    const { provider, owner, name } = params;
    if (name.includes("/")) throw invalidParameter("name", "cannot hold a slash");
    if (splitFullName(`${owner}/${name}`) === undefined)
      throw invalidParameter("owner", "owner and name must be those of a repository");
    const fullName = `${owner}/${name}`;
    return detailByName({ services, http, query, provider, fullName, addressOf: byParts });
  },
});

export const getRepositoryByFullName = operation({
  ...ofDetail,
  id: "getRepositoryByFullName",
  summary: "One repository by its full name, in the query",
  params: z.object({ provider: providerParameter }),
  query: detailQuery.extend({ fullName: fullNameParameter }),
  handle: ({ params: { provider }, query, services, http }) =>
    detailByName({ services, http, query, provider, fullName: query.fullName, addressOf: byQuery }),
});

export const getRepositoryByFullNamePath = operation({
  ...ofDetail,
  id: "getRepositoryByFullNamePath",
  summary: "One repository by its full name, in the path",
  description: "Slashes may be literal or %2F. The path is decoded once.",
  params: z.object({ provider: providerParameter, fullName: fullNameParameter }),
  handle: ({ params, query, services, http }) =>
    detailByName({ services, http, query, ...params, addressOf: byPath }),
});
