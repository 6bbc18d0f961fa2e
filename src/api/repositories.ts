import { idParameter, providerParameter, windowParameter } from "../discovery/discovery.js";
import type { Window } from "../growth/growth.js";
import { type HttpRequest, json, type Reply } from "../http/http.js";
import { basePathOf } from "../lib/base-url.js";
import { AppError, invalidParameter } from "../lib/errors.js";
import { z } from "../lib/schema.js";
import {
  type CurrentlyDescribed,
  isStale,
  type Repository,
  repositoryId,
  splitFullName,
} from "../repositories/repositories.js";
import { type ApiServices, dataResponse, operation } from "./operation.js";
import { detailSchema, detailView } from "./repository-detail.js";

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

const detailResponses = { 200: dataResponse("The repository.", detailSchema), 301: movedResponse };

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
  services: ApiServices;
  query: { explain: "true" | "false"; window: Window };
}

export async function readDetail(
  found: CurrentlyDescribed,
  { services, query }: Pick<DetailRequest, "query"> & { services: Pick<ApiServices, "modules" | "clock"> },
) {
  const { catalog, rankings } = services.modules;
  const { id } = found.repository;
  const [standing, recency, explanation] = await Promise.all([
    rankings.standing(id),
    catalog.recency(),
    query.explain === "true" ? rankings.explain(id) : undefined,
  ]);
  return detailView({
    ...{ found, standing, window: query.window, now: services.clock.now() },
    isStale: isStale(found.repository, recency),
    ...(explanation && { explanation }),
  });
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

interface ByName extends DetailRequest, Redirected {
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
  id: "getRepositoryById",
  tags: ["Repositories"],
  summary: "One repository by its id",
  description:
    "The id of a repository that was joined to the one with its new name redirects there with 301.",
  params: z.object({ id: idOrHint }),
  query: detailQuery,
  responses: detailResponses,
  errors: ["NOT_FOUND"],
  handle: async ({ params: { id }, query, services, http }) => {
    const { catalog } = services.modules;
    const found = await catalog.describeById(id);
    if (found === undefined) throw new AppError("NOT_FOUND", "No repository has this id.");
    return (await movedFrom(found.repository, "", { services, http })) ?? detail(found, { services, query });
  },
});

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
  query: detailQuery,
  responses: detailResponses,
  errors: ["NOT_FOUND"],
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
  id: "getRepositoryByFullName",
  tags: ["Repositories"],
  summary: "One repository by its full name, in the query",
  params: z.object({ provider: providerParameter }),
  query: detailQuery.extend({ fullName: fullNameParameter }),
  responses: detailResponses,
  errors: ["NOT_FOUND"],
  handle: ({ params: { provider }, query, services, http }) =>
    detailByName({ services, http, query, provider, fullName: query.fullName, addressOf: byQuery }),
});

export const getRepositoryByFullNamePath = operation({
  id: "getRepositoryByFullNamePath",
  tags: ["Repositories"],
  summary: "One repository by its full name, in the path",
  description: "Slashes may be literal or %2F. The path is decoded once.",
  params: z.object({ provider: providerParameter, fullName: fullNameParameter }),
  query: detailQuery,
  responses: detailResponses,
  errors: ["NOT_FOUND"],
  handle: ({ params, query, services, http }) =>
    detailByName({ services, http, query, ...params, addressOf: byPath }),
});
