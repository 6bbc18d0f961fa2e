/**
 * The HTTP API: routes, what goes in and out of them, and the rules that hold for all. It holds no records and no
 * queries; those are the modules'. `server.ts` puts it on a port.
 */

import { OpenAPIHono } from "@hono/zod-openapi";
import type { Hono } from "hono";
import type { Config } from "../config.js";
import { PngRenderer } from "../embeds/embeds.js";
import { AppError } from "../errors.js";
import type { Logger } from "../log.js";
import type { Members, Modules } from "../modules.js";
import { validationError } from "../validation.js";
import { GUARDS, SECURITY_SCHEMES } from "./access.js";
import { createRequestId } from "./answer.js";
import { type ApiApp, type ApiContext, type ApiEnv, errorForm, errorResponse } from "./endpoint.js";
import { toAppError } from "./faults.js";
import { Gate } from "./gate.js";
import { finishHeaders, isForPage } from "./headers.js";
import type { Meter } from "./meter.js";
import { errorPicture, isPicturePath } from "./pictures.js";
import { ROUTES } from "./routes.js";

export { listen } from "./listen.js";
export { Meter } from "./meter.js";
export { createFront, createHttpServer, type Front, type FrontOptions } from "./server.js";

export interface ApiOptions {
  modules: Modules;
  members: Members;
  config: Config;
  log: Logger;
  meter: Meter;
  /** Pages to be answered beside the API, under the same rules. */
  pages?: PageApp;
}

/** Pages for people. */
export interface PageApp {
  app: Hono;
  /** The page that tells an error. */
  error(error: AppError, request: Request): Promise<Response>;
}

/** Embeds that are made at a time, and that may wait. */
const MAX_EMBEDS = 4;
const MAX_WAITING_EMBEDS = 200;

/** The application without a port: a request in, an answer out. */
export function createApi({ modules, members, config, log, meter, pages }: ApiOptions): ApiApp {
  const app: ApiApp = new OpenAPIHono<ApiEnv>({
    defaultHook: (result, context) => {
      if (result.success) return;
      const { error, target } = result;
      const queries = target === "query" ? context.req.queries() : undefined;
      throw validationError(error, target === "json" ? "body" : target, queries);
    },
  });
  const pictures = new PngRenderer();
  const gate = new Gate(MAX_EMBEDS, MAX_WAITING_EMBEDS);
  app.use(async (context, next) => {
    context.set("modules", modules);
    context.set("members", members);
    context.set("config", config);
    context.set("meter", meter);
    context.set("pictures", pictures);
    context.set("gate", gate);
    context.set("requestId", createRequestId());
    await next();
    finishHeaders(context.res.headers, context.req.path, context.var.requestId);
  });
  for (const endpoint of ROUTES) endpoint.register(app, endpoint.access, GUARDS[endpoint.access]);
  for (const [name, scheme] of Object.entries(SECURITY_SCHEMES))
    app.openAPIRegistry.registerComponent("securitySchemes", name, scheme);
  serveDocument(app);
  if (pages !== undefined) app.route("/", pages.app);
  refuseOtherMethods(app);
  const refuse = async (error: AppError, { req, var: { requestId } }: ApiContext): Promise<Response> => {
    const accept = req.header("accept");
    if (isPicturePath(req.path) && errorForm(accept) === "any")
      return errorPicture(error, req.url, requestId);
    if (pages === undefined || !isForPage(req.path, accept)) return errorResponse(error, requestId, accept);
    try {
      return await pages.error(error, req.raw);
    } catch (cause) {
      // Whoever is signed in cannot even be looked up.
      log.error({ requestId, err: cause }, "the page of an error could not be made");
      return errorResponse(error, requestId, accept);
    }
  };
  app.notFound((context) => refuse(new AppError("NOT_FOUND", "There is nothing at this address."), context));
  app.onError(async (error, context) => {
    const known = toAppError(error);
    const { requestId } = context.var;
    if (known.status >= 500) log.error({ requestId, err: error, cause: known.cause }, "a request failed");
    const response = await refuse(known, context);
    finishHeaders(response.headers, context.req.path, requestId);
    return response;
  });
  return app;
}

/** The contract itself, made from the same schemas that validate. */
function serveDocument(app: ApiApp): void {
  let document: string | undefined;
  app.get("/api/openapi.json", (context) => {
    document ??= JSON.stringify(openApiDocument(app, context.var.config.baseUrl));
    return context.body(document, 200, { "Content-Type": "application/json; charset=utf-8" });
  });
}

/** The OpenAPI 3.1 document of all routes. */
export function openApiDocument(app: ApiApp, baseUrl: string) {
  return app.getOpenAPI31Document({
    openapi: "3.1.0",
    info: {
      title: "Sidereal",
      version: "0.1.0",
      description:
        "Repositories of several forges, their snapshots over time, and what has grown. Errors come as { data: null, error }, or as RFC 9457 for those who accept application/problem+json. Identifiers are strings; times are ISO 8601 in UTC with milliseconds.",
      license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    servers: [{ url: baseUrl }],
  });
}

/** Answers the methods a path does not have: OPTIONS with what it has, all others with 405. */
function refuseOtherMethods(app: ApiApp): void {
  const patterns = Map.groupBy(
    app.routes.filter((route) => route.method !== "ALL"),
    (route) => route.path,
  );
  for (const [pattern, routes] of patterns) {
    const methods = new Set(routes.map((route) => route.method));
    if (methods.has("GET")) methods.add("HEAD");
    methods.add("OPTIONS");
    const allow = [...methods].sort().join(", ");
    app.all(pattern, (context) => {
      if (context.req.method !== "OPTIONS") {
        const method = context.req.method.slice(0, 20);
        throw new AppError("METHOD_NOT_ALLOWED", `${method} is not possible here; ${allow} are.`, {
          headers: { Allow: allow },
        });
      }
      return context.body(null, 204, {
        Allow: allow,
        "Access-Control-Allow-Methods": allow,
        "Access-Control-Allow-Headers": "Authorization, X-API-Key, Content-Type, If-None-Match, If-Match",
        "Access-Control-Max-Age": "7200",
        "Cache-Control": "public, max-age=7200",
      });
    });
  }
}
