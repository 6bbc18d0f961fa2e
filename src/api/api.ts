/**
 * The HTTP API: a table of routes, the contract and handler of each, and the views that turn records into JSON. Records and
 * queries belong to the modules. The HTTP front serves the routes.
 */

import { content, DEFAULT_LIMIT, type Reply, type Route, redirect } from "../http/http.js";
import { Dumps } from "../transfer/transfer.js";
import { llmsText } from "./index-document.js";
import { openApiDocument } from "./openapi.js";
import type { ApiServices, Operation } from "./operation.js";
import { API_ROUTES } from "./routes.js";

export { chartQuery, type Named, pngQuery, zoomOf } from "./embed-parameters.js";
export { getChartData, readChart } from "./embeds.js";
export { inputSchema } from "./input-schemas.js";
export { listNewHot, listRepositories, listRising, listTrending, pageMeta } from "./lists.js";
export { seriesQuery } from "./metrics.js";
export { hintFor } from "./missing-path.js";
export type { ApiServices, Operation } from "./operation.js";
export { errorPicture } from "./pictures.js";
export { detailSchema, getRepositoryByFullName, readDetail } from "./repositories.js";
export { gapsSchema, seriesPartsView, snapshotSchema } from "./series-views.js";
export { listSeveralMetrics, readSeveral } from "./several-metrics.js";
export { historyView, type RepositoryView, renamedView, repositoryView, trendSchema } from "./views.js";
export {
  addWatchlistItem,
  createWatchlist,
  listWatchlistRepositories,
  watchlistBody,
} from "./watchlists.js";

/** All routes of the API, over these modules. */
export function apiRoutes(given: Omit<ApiServices, "dumps">): Route[] {
  const { config } = given;
  const services: ApiServices = {
    ...given,
    dumps: config.dumps && new Dumps(config.dumps.folder),
  };
  const routes = API_ROUTES.map(
    ({ route, operation }): Route => ({ ...route, handle: operation.bind(services) }),
  );
  return [...routes, ...documentRoutes(services.config.baseUrl)];
}

/** The route of an operation: how it is limited, and its name in usage. */
export function routeOf(operation: Operation): Pick<Route, "method" | "path" | "limit"> {
  const found = API_ROUTES.find((one) => one.operation === operation);
  if (found === undefined) throw new Error(`${operation.id} has no route`);
  return found.route;
}

/** The OpenAPI document, built on the first request, where programs look for it, and the text for language models. */
function documentRoutes(baseUrl: string): Route[] {
  let document: string | undefined;
  const open = (
    path: string,
    { cost, form }: { cost: number; form: Route["form"] },
    handle: () => Reply,
  ): Route => ({
    method: "GET",
    path,
    access: "public",
    limit: { ...DEFAULT_LIMIT, cost },
    cache: { kind: "shared" },
    query: [],
    body: "none",
    form,
    handle,
  });
  const path = "/api/openapi.json";
  return [
    open(path, { cost: 3, form: "json" }, () => {
      document ??= JSON.stringify(openApiDocument(baseUrl));
      return content("application/json; charset=utf-8", document);
    }),
    open("/openapi.json", { cost: 1, form: "json" }, () => redirect(path, 301)),
    open("/llms.txt", { cost: 1, form: "file" }, () =>
      content("text/plain; charset=utf-8", llmsText(baseUrl)),
    ),
  ];
}
