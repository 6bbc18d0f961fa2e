/**
 * The HTTP API: a table of routes, the contract and handler of each, and the views that turn records into JSON. Records and
 * queries belong to the modules. The HTTP front serves the routes.
 */

import { content, DEFAULT_LIMIT, type Route } from "../http/http.js";
import { Dumps } from "../transfer/transfer.js";
import { openApiDocument } from "./openapi.js";
import type { ApiServices } from "./operation.js";
import { API_ROUTES } from "./routes.js";

export { inputSchemas, type JsonSchema } from "./input-schemas.js";
export { hintFor } from "./missing-path.js";
export { openApiDocument } from "./openapi.js";
export type { ApiServices } from "./operation.js";
export { errorPicture } from "./pictures.js";

/** All routes of the API, over these modules. */
export function apiRoutes(given: Omit<ApiServices, "dumps">): Route[] {
  const { config } = given;
  const services: ApiServices = {
    ...given,
    dumps: config.dumps && new Dumps(config.dumps.folder),
  };
  const routes = API_ROUTES.map(
    ({ route, operation }): Route => ({ ...route, handle: (request) => operation.handle(request, services) }),
  );
  return [...routes, documentRoute(services.config.baseUrl)];
}

/** The OpenAPI document, built on the first request. */
function documentRoute(baseUrl: string): Route {
  let document: string | undefined;
  return {
    method: "GET",
    path: "/api/openapi.json",
    access: "public",
    limit: { ...DEFAULT_LIMIT, cost: 3 },
    cache: { kind: "shared" },
    query: [],
    body: "none",
    form: "json",
    handle: () => {
      document ??= JSON.stringify(openApiDocument(baseUrl));
      return content("application/json; charset=utf-8", document);
    },
  };
}
