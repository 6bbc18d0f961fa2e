import { OpenAPIRegistry, OpenApiGeneratorV31 } from "@asteasolutions/zod-to-openapi";
import { type Access, pathPattern, type RateLimit } from "../http/http.js";
import type { ErrorCode } from "../lib/errors.js";
import { DOCS_PAGE } from "../lib/page-addresses.js";
import { readVersion } from "../lib/version.js";
import { completeDocument, type Document } from "./openapi-parts.js";
import { COMMON_ERRORS, errorResponses, type ResponseContract } from "./operation.js";
import { API_ROUTES, type ApiRoute } from "./routes.js";

/** The credentials for each kind of access. A key is accepted, and checked, on every route. */
const SECURITY: Readonly<Record<Access, Record<string, string[]>[]>> = {
  public: [{}, { bearerKey: [] }, { headerKey: [] }],
  token: [{}, { bearerKey: [] }, { headerKey: [] }],
  browser: [{}],
  session: [{ session: [] }],
  key: [{ bearerKey: [] }, { headerKey: [] }],
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

/** The errors of an operation, besides those that every operation can return. */
function errorsOf({
  route: { access, method },
  operation: { query, body, errors = [] },
}: ApiRoute): ErrorCode[] {
  const isChange = (access === "session" || access === "browser") && method !== "GET";
  return [
    ...(access === "session" || access === "key" ? ["UNAUTHENTICATED" as const] : []),
    ...(query !== null || body !== null ? ["VALIDATION_FAILED" as const] : []),
    ...(isChange ? ["FORBIDDEN" as const] : []),
    ...(body === null ? [] : (["PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const)),
    ...errors,
  ];
}

/** The responses of an operation. Those of errors are for callers that accept JSON, if others get a picture with status 200. */
function responsesOf(one: ApiRoute): Record<string, ResponseContract> {
  return {
    ...COMMON_ERRORS,
    ...errorResponses(...new Set(errorsOf(one))),
    ...one.operation.responses,
  };
}

/** The bucket of an operation, and of lists the one with a `q` that is not empty. */
function bucketOf({ bucket }: RateLimit): Record<string, string> {
  if (typeof bucket === "string") return { "x-rate-limit-bucket": bucket };
  return { "x-rate-limit-bucket": bucket.without, "x-rate-limit-bucket-with-q": bucket.withQ };
}

function register(registry: OpenAPIRegistry, one: ApiRoute): void {
  const { route, operation } = one;
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
      ...(headers === null ? {} : { headers }),
      ...(body === null
        ? {}
        : { body: { required: true, content: { "application/json": { schema: body } } } }),
    },
    responses: responsesOf(one),
    ...(route.access === "public" || route.access === "token" ? {} : { security: SECURITY[route.access] }),
    ...bucketOf(route.limit),
  });
}

/** The OpenAPI 3.1 document of all routes, generated from the validation schemas. */
export function openApiDocument(baseUrl: string) {
  const registry = new OpenAPIRegistry();
  for (const [name, scheme] of Object.entries(SECURITY_SCHEMES))
    registry.registerComponent("securitySchemes", name, scheme);
  // First without null, so that a component is the record itself.
  for (const route of API_ROUTES) register(registry, route);
  const document = new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: "3.1.0",
    info: {
      title: "Sidereal",
      version: readVersion(),
      description:
        "Repositories of several forges, their snapshots over time, and their growth. Errors are { data: null, error }, or RFC 9457 for callers that accept application/problem+json. Identifiers are strings; times are ISO 8601 in UTC with milliseconds. Every response has an X-Request-Id, the headers about rate limits and X-Ignored-Parameters, as listed for a 304.",
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    servers: [{ url: baseUrl }],
    security: SECURITY.public,
    externalDocs: { description: "The API reference", url: `${baseUrl}${DOCS_PAGE}` },
  });
  const streams = API_ROUTES.filter(({ route }) => route.limit.streams).map(({ operation }) => operation.id);
  completeDocument(document as unknown as Document, new Set(streams));
  return document;
}
