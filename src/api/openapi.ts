import { OpenAPIRegistry, OpenApiGeneratorV31 } from "@asteasolutions/zod-to-openapi";
import { type Access, pathPattern, RATE_HEADERS } from "../http/http.js";
import { z } from "../schema.js";
import { errorResponses, type OperationContract, type ResponseContract } from "./operation.js";
import { API_ROUTES, type ApiRoute } from "./routes.js";

/** The credentials for each kind of access. A key is accepted, and checked, on every route. */
const SECURITY: Readonly<Record<Access, Record<string, string[]>[]>> = {
  public: [{}, { bearerKey: [] }, { headerKey: [] }],
  token: [{}, { bearerKey: [] }, { headerKey: [] }],
  browser: [{}],
  session: [{ session: [] }],
};

const SECURITY_SCHEMES = {
  bearerKey: { type: "http", scheme: "bearer", description: "An API key." },
  headerKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "An API key." },
  session: {
    type: "apiKey",
    in: "cookie",
    name: "sidereal.session_token",
    description:
      "Set by signing in. Under https the name begins with __Host-, or with __Secure- below a path.",
  },
} as const;

const rateHeaders = z.object(
  Object.fromEntries(
    Object.entries(RATE_HEADERS).map(([name, description]) => [
      name,
      z.string().optional().openapi({ description }),
    ]),
  ),
);

/** The responses of an operation, with rate limit headers and the 429 response. */
function limitedResponses({ responses }: OperationContract): Record<string, ResponseContract> {
  const all = { ...responses, 429: errorResponses("RATE_LIMITED")[429] };
  return Object.fromEntries(
    Object.entries(all).flatMap(([status, response]) => {
      if (response === undefined) return [];
      const own = response.headers?.shape ?? {};
      const wait = status === "429" ? { "Retry-After": z.string() } : {};
      return [[status, { ...response, headers: rateHeaders.extend({ ...own, ...wait }) }]];
    }),
  );
}

function register(registry: OpenAPIRegistry, { route, operation }: ApiRoute): void {
  const { id, tags, summary, description, params, query, headers, body } = operation;
  registry.registerPath({
    method: route.method.toLowerCase() as "get" | "post" | "patch" | "delete",
    path: pathPattern(route),
    operationId: id,
    tags: [...tags],
    summary,
    ...(description === undefined ? {} : { description }),
    request: {
      ...(params === null ? {} : { params }),
      ...(query === null ? {} : { query }),
      ...(headers === undefined ? {} : { headers }),
      ...(body === null
        ? {}
        : { body: { required: true, content: { "application/json": { schema: body } } } }),
    },
    responses: limitedResponses(operation),
    security: SECURITY[route.access],
    "x-rate-limit-bucket": route.limit.bucket,
  });
}

/** The OpenAPI 3.1 document of all routes, generated from the validation schemas. */
export function openApiDocument(baseUrl: string) {
  const registry = new OpenAPIRegistry();
  for (const [name, scheme] of Object.entries(SECURITY_SCHEMES))
    registry.registerComponent("securitySchemes", name, scheme);
  for (const route of API_ROUTES) register(registry, route);
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: "3.1.0",
    info: {
      title: "Sidereal",
      version: "0.1.0",
      description:
        "Repositories of several forges, their snapshots over time, and their growth. Errors are { data: null, error }, or RFC 9457 for callers that accept application/problem+json. Identifiers are strings; times are ISO 8601 in UTC with milliseconds.",
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    servers: [{ url: baseUrl }],
  });
}
